"""scikit-learn's Gaussian process with rbf, one length-scale per column, amplitude and noise.

    gp_scikit.py likelihood N D     log_marginal_likelihood(eval_gradient=True)
    gp_scikit.py fit N D            its own optimisation, from ones and a noise of 0.05, within its default bounds
"""

import sys
import warnings

import common
import gp_common
import numpy as np


def main(what, n, d):
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

    warnings.simplefilter("ignore")  # of lengths at their bounds
    x, y = gp_common.make(n, d)
    if what == "fit":
        kernel = ConstantKernel(1.0) * RBF(np.ones(d)) + WhiteKernel(gp_common.NOISE)
        process = GaussianProcessRegressor(kernel, alpha=0)
        _, cost = common.measure(lambda: process.fit(x, y))
        common.report(**cost, value=float(process.log_marginal_likelihood_value_))
        return
    kernel = ConstantKernel(gp_common.AMPLITUDE) * RBF(gp_common.lengths(d)) + WhiteKernel(gp_common.NOISE)
    process = GaussianProcessRegressor(kernel, alpha=0, optimizer=None).fit(x[:50], y[:50])
    process.X_train_, process.y_train_ = x, y
    (value, gradient), cost = common.measure(
        lambda: process.log_marginal_likelihood(process.kernel_.theta, eval_gradient=True))
    gp_common.report(cost, value, gradient)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
