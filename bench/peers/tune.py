"""Tuning kernel ridge regression with rbf: the peer, and the judge of both sides.

    tune.py sklearn N D                  GridSearchCV over 10 widths and 10 ridges, 5 folds, all cores
    tune.py judge N D INTERCEPT NOISE ELL...     cross-validated error of what a side has chosen, other 5 folds

The target is bench_gram's: Friedman's function of five of the columns, with noise of variance 1. The judge's folds are
not those of the peer's search, and the same for both sides.
"""

import sys

import common
import numpy as np

FOLDS = 5


def make(n, d):
    x = common.random_points(common.SEED_X, n, d, np.float64)
    u = x / 12**0.5 + 0.5
    y = 10 * np.sin(np.pi * u[:, 0] * u[:, 1]) + 20 * (u[:, 2] - 0.5) ** 2 + 10 * u[:, 3] + 5 * u[:, 4]
    return x, y + common.random_numbers(common.SEED_V, n)


def by_sklearn(n, d):
    from sklearn.kernel_ridge import KernelRidge
    from sklearn.model_selection import GridSearchCV

    x, y = make(n, d)
    grid = {"gamma": np.logspace(-3, 0, 10), "alpha": np.logspace(-5, 1, 10)}
    search = GridSearchCV(KernelRidge(kernel="rbf"), grid, cv=FOLDS, n_jobs=common.THREADS,
                          scoring="neg_mean_squared_error")
    GridSearchCV(KernelRidge(kernel="rbf"), {"gamma": [0.1, 0.2]}, cv=2, n_jobs=common.THREADS).fit(x[:50], y[:50])
    _, cost = common.measure(lambda: search.fit(x, y - y.mean()))
    chosen = search.best_params_
    common.report(**cost, intercept=0, noise=float(chosen["alpha"]), ell=[float((2 * chosen["gamma"]) ** -0.5)] * d)


def kernel(x, z, ell):
    a, b = x / ell, z / ell
    return np.exp(a @ b.T - 0.5 * (a * a).sum(1)[:, None] - 0.5 * (b * b).sum(1)[None])


def judge(n, d, intercept, noise, ell):
    x, y = make(n, d)
    fold = (np.argsort(common.random_numbers(common.SEED_Y, n)) % FOLDS)
    squares = 0.0
    for k in range(FOLDS):
        xt, yt, xe, ye = x[fold != k], y[fold != k], x[fold == k], y[fold == k]
        mean = 0 if intercept else yt.mean()
        solved = np.linalg.solve(kernel(xt, xt, ell) + noise * np.eye(len(xt)),
                                 np.column_stack([yt - mean, np.ones(len(xt))]))
        constant = solved[:, 0].sum() / solved[:, 1].sum() if intercept else 0
        predicted = mean + constant + kernel(xe, xt, ell) @ (solved[:, 0] - constant * solved[:, 1])
        squares += ((ye - predicted) ** 2).sum()
    common.report(error=squares / n)


def main(arguments):
    n, d = int(arguments[1]), int(arguments[2])
    if arguments[0] == "sklearn":
        by_sklearn(n, d)
    else:
        judge(n, d, int(arguments[3]), float(arguments[4]), np.array([float(text) for text in arguments[5:]]))


if __name__ == "__main__":
    main(sys.argv[1:])
