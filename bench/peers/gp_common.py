"""The data of bench_gp.c, and where its likelihood is asked for."""

import common
import numpy as np

AMPLITUDE, NOISE = 1.5, 0.05


def make(n, d):
    x = common.random_points(common.SEED_X, n, d, np.float64)
    return x, np.sin(x[:, 0]) + 0.25 * x[:, 1] * x[:, 2] + 0.1 * common.random_numbers(common.SEED_Y, n)


def lengths(d):
    return 2 + 0.25 * np.arange(d)


def report(cost, value, by_logarithms, **more):
    """Gradients are by the logarithms of amplitude, lengths and noise; gram's are by the values."""
    d = len(by_logarithms) - 2
    values = np.concatenate([[AMPLITUDE], lengths(d), [NOISE]])
    common.report(**cost, check=common.check(np.concatenate([[value], by_logarithms / values])), **more)
