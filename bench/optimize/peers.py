"""Other tools on the problems of problems.py, with their defaults: one line of CSV for each run.

    peers.py METHOD PROBLEM[,PROBLEM...] FIRST LAST [FILE]     seeds FIRST to LAST, appended to FILE
    peers.py METHOD seconds                                    seconds of one proposal with 200 evaluations of Hartmann-6, three times
    peers.py METHOD proposal                                   of one, as a line of JSON

METHOD is skopt, botorch, random or sobol. The regret is the function without noise at the point that the tool recommends,
less its least value: skopt's best observation; of BoTorch the point evaluated where the model's mean is least.
"""

import json
import sys
import time
import warnings

import numpy as np

from problems import CATEGORY, LOG, PROBLEMS, WHOLE

warnings.filterwarnings("ignore")


def from_cube(problem, u):
    """A point of the unit cube as values of the variables."""
    x = []
    for (_, kind, low, high), share in zip(problem.variables, u):
        if kind == CATEGORY:
            x.append(low[min(int(share * len(low)), len(low) - 1)])
        elif kind == WHOLE:
            x.append(int(min(low + int(share * (high - low + 1)), high)))
        elif kind == LOG:
            x.append(float(low * (high / low) ** share))
        else:
            x.append(float(low + share * (high - low)))
    return x


def run_points(problem, points, draw):
    xs = [from_cube(problem, u) for u in points]
    ys = [problem.observed(x, draw) for x in xs]
    return problem.regret(xs[int(np.argmin(ys))])


def run_random(problem, seed):
    draw = np.random.default_rng(seed)
    return run_points(problem, draw.random((problem.budget, len(problem.variables))), draw)


def run_sobol(problem, seed):
    from scipy.stats import qmc
    points = qmc.Sobol(len(problem.variables), seed=seed).random(problem.budget)
    return run_points(problem, points, np.random.default_rng(seed))


# ---- scikit-optimize ----

def skopt_space(problem):
    from skopt.space import Categorical, Integer, Real
    space = []
    for name, kind, low, high in problem.variables:
        if kind == CATEGORY:
            space.append(Categorical(list(low), name=name))
        elif kind == WHOLE:
            space.append(Integer(low, high, name=name))
        else:
            space.append(Real(low, high, prior="log-uniform" if kind == LOG else "uniform", name=name))
    return space


def run_skopt(problem, seed):
    from skopt import gp_minimize
    draw = np.random.default_rng(seed)
    found = gp_minimize(lambda x: problem.observed(x, draw), skopt_space(problem), n_calls=problem.budget,
                        random_state=seed)
    return problem.regret(found.x)


def seconds_skopt(problem, xs, ys):
    from skopt import Optimizer
    optimizer = Optimizer(skopt_space(problem), n_initial_points=10, random_state=0)
    optimizer.tell(xs[:-1], ys[:-1], fit=False)
    begin = time.perf_counter()
    optimizer.tell(xs[-1], ys[-1])
    optimizer.ask()
    return time.perf_counter() - begin


# ---- BoTorch ----

def botorch_columns(problem):
    """Whole numbers and categories as columns 0, 1, ...; reals in the cube."""
    discrete, categories = {}, []
    for i, (_, kind, low, high) in enumerate(problem.variables):
        if kind == CATEGORY:
            discrete[i] = list(range(len(low)))
            categories.append(i)
        elif kind == WHOLE:
            discrete[i] = list(range(high - low + 1))
    return discrete, categories


def botorch_values(problem, u):
    x = []
    for (_, kind, low, high), value in zip(problem.variables, u):
        if kind == CATEGORY:
            x.append(low[int(round(value))])
        elif kind == WHOLE:
            x.append(int(low + round(value)))
        else:
            x.append(float(low * (high / low) ** value if kind == LOG else low + value * (high - low)))
    return x


def botorch_bounds(problem):
    import torch
    discrete, _ = botorch_columns(problem)
    upper = [float(max(discrete[i])) if i in discrete else 1.0 for i in range(len(problem.variables))]
    return torch.tensor([[0.0] * len(upper), upper], dtype=torch.double)


def botorch_fit(problem, x, y):
    from botorch.fit import fit_gpytorch_mll
    from botorch.models import MixedSingleTaskGP, SingleTaskGP
    from botorch.models.transforms import Normalize, Standardize
    from gpytorch.mlls import ExactMarginalLogLikelihood
    _, categories = botorch_columns(problem)
    if categories:
        model = MixedSingleTaskGP(x, -y, cat_dims=categories)
    else:
        model = SingleTaskGP(x, -y, input_transform=Normalize(x.shape[1], bounds=botorch_bounds(problem)),
                             outcome_transform=Standardize(1))
    fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
    return model


def botorch_propose(problem, x, y):
    from botorch.acquisition import LogExpectedImprovement, qLogNoisyExpectedImprovement
    from botorch.optim import optimize_acqf
    from botorch.optim.optimize_mixed import optimize_acqf_mixed_alternating
    model = botorch_fit(problem, x, y)
    discrete, categories = botorch_columns(problem)
    if problem.noise:
        acquisition = qLogNoisyExpectedImprovement(model, x)
    else:
        acquisition = LogExpectedImprovement(model, best_f=(-y).max())
    if discrete:
        point, _ = optimize_acqf_mixed_alternating(
            acquisition, botorch_bounds(problem), q=1, raw_samples=512, num_restarts=10,
            discrete_dims={i: [float(v) for v in values] for i, values in discrete.items() if i not in categories},
            cat_dims={i: [float(v) for v in discrete[i]] for i in categories})
    else:
        point, _ = optimize_acqf(acquisition, botorch_bounds(problem), q=1, raw_samples=512, num_restarts=10)
    return point


def run_botorch(problem, seed):
    import torch
    from scipy.stats import qmc
    torch.manual_seed(seed)
    draw = np.random.default_rng(seed)
    d = len(problem.variables)
    bounds = botorch_bounds(problem)
    x = torch.tensor(qmc.Sobol(d, seed=seed).random(2 * (d + 1)))
    discrete, _ = botorch_columns(problem)
    for i, values in discrete.items():
        x[:, i] = torch.floor(x[:, i] * len(values)).clamp(max=len(values) - 1)
    y = torch.tensor([[problem.observed(botorch_values(problem, u), draw)] for u in x.numpy()], dtype=torch.double)
    while len(x) < problem.budget:
        point = botorch_propose(problem, x, y).clamp(bounds[0], bounds[1])
        value = problem.observed(botorch_values(problem, point[0].numpy()), draw)
        x, y = torch.cat([x, point]), torch.cat([y, torch.tensor([[value]], dtype=torch.double)])
    best = int(y.argmin())
    if problem.noise:
        best = int(botorch_fit(problem, x, y).posterior(x).mean.argmax())
    return problem.regret(botorch_values(problem, x[best].numpy()))


def seconds_botorch(problem, xs, ys):
    import torch
    x, y = torch.tensor(xs, dtype=torch.double), torch.tensor(ys, dtype=torch.double)[:, None]
    botorch_propose(problem, x[:20], y[:20])
    begin = time.perf_counter()
    botorch_propose(problem, x, y)
    return time.perf_counter() - begin


RUNS = {"random": run_random, "sobol": run_sobol, "skopt": run_skopt, "botorch": run_botorch}
SECONDS = {"skopt": seconds_skopt, "botorch": seconds_botorch}


def measure_seconds(method):
    problem = PROBLEMS["hartmann6"]
    xs = np.random.default_rng(0).random((200, 6)).tolist()
    return SECONDS[method](problem, xs, [problem.function(x) for x in xs])


def main():
    method = sys.argv[1]
    if sys.argv[2] == "seconds":
        return print(method, *("%.3f" % measure_seconds(method) for _ in range(3)))
    if sys.argv[2] == "proposal":
        return print(json.dumps({"seconds": measure_seconds(method)}))
    names, first, last = sys.argv[2].split(","), int(sys.argv[3]), int(sys.argv[4])
    for seed in range(first, last + 1):
        for name in names:
            begin = time.perf_counter()
            regret = RUNS[method](PROBLEMS[name], seed)
            line = f"{name},{method},{seed},{PROBLEMS[name].budget},{regret:.6g},{time.perf_counter() - begin:.1f}\n"
            with open(sys.argv[5], "a") if len(sys.argv) > 5 else sys.stdout as out:
                out.write(line)


if __name__ == "__main__":
    main()
