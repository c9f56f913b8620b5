"""GPBoost's Vecchia approximation on the rows of bench_large.c: making the model (order and neighbours) with one likelihood, and predictions.

    vecchia.py N D M
"""

import json
import sys

import numpy as np

import common

NOISE, NEW, ELL = 0.09, 2000, 0.7

n, d, m = (int(word) for word in sys.argv[1:4])
x = common.random_points(common.SEED_X, n + NEW, d, np.float64)
y = np.sin(3 * x[:, 0]) + np.cos(2.5 * x[:, 1 if d > 1 else 0])
y += NOISE**0.5 * common.random_numbers(common.SEED_Y, n + NEW)
import gpboost  # noqa: E402

# matern 3/2 is parameterised alike: sqrt(3) r/ell
numbers = np.array([NOISE, 1.0, ELL])


def likelihood():
    model = gpboost.GPModel(gp_coords=x[:n], cov_function="matern", cov_fct_shape=1.5, gp_approx="vecchia", num_neighbors=m,
                            likelihood="gaussian", num_parallel_threads=common.THREADS)
    return model, -model.neg_log_likelihood(cov_pars=numbers, y=y[:n])


(model, value), cost = common.measure(likelihood)
_, again = common.measure(lambda: model.neg_log_likelihood(cov_pars=numbers * [1, 1, 1.01], y=y[:n]))
model.set_prediction_data(num_neighbors_pred=m)  # twice as many otherwise
found = model.predict(gp_coords_pred=x[n:], cov_pars=numbers, y=y[:n], predict_var=True, predict_response=False)
off, variance = y[n:] - found["mu"], found["var"] + NOISE
cost.update(log_likelihood=float(value), again_seconds=again["seconds"], rmse=float(np.sqrt(np.mean(off**2))),
            log_density=float(np.mean(-0.5 * (np.log(2 * np.pi * variance) + off**2 / variance))))
print(json.dumps(cost))
