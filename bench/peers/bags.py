"""Regression on bags by random Fourier features in NumPy and SciPy, and the matrix of mean embeddings by scikit-learn's rbf_kernel.

    bags.py fit N SIZE D FREQUENCIES
    bags.py gram N SIZE D

The frequencies are not gram's: the same number from the same distribution. Features are made for some bags at a time.
"""

import sys

import common  # sets the number of threads, so it comes before the libraries
import numpy as np
import scipy.linalg

AT_ONCE = 100


def bags(n, size, d):
    y = common.random_numbers(common.SEED_V, n)
    rows = common.random_numbers(common.SEED_X, n * size * d).reshape(n, size, d)
    return rows * np.exp(0.3 * y)[:, None, None], y


def embed(rows, frequencies):
    n, count = len(rows), frequencies.shape[1]
    out = np.empty((n, 2 * count))
    for i in range(0, n, AT_ONCE):
        angles = rows[i : i + AT_ONCE] @ frequencies
        out[i : i + AT_ONCE, :count] = np.cos(angles).mean(axis=1)
        out[i : i + AT_ONCE, count:] = np.sin(angles).mean(axis=1)
    return out / np.sqrt(count)


def fit(rows, y, count):
    frequencies = np.random.default_rng(0).standard_normal((rows.shape[2], count)) / 1.5
    phi = embed(rows, frequencies)
    norms = (phi * phi).sum(axis=1)
    k = phi @ phi.T
    k *= -2
    k += norms[:, None]
    k += norms[None, :]
    np.maximum(k, 0, out=k)
    k *= -0.5 / 0.3**2
    np.exp(k, out=k)
    k.flat[:: len(k) + 1] += len(k) * 1e-5
    middle = y.mean()
    a = scipy.linalg.solve(k, y - middle, assume_a="pos", overwrite_a=True)
    return len(k) * 1e-5 * np.sqrt((a * a).mean())  # the residuals are n lambda a


def matrix(rows):
    from sklearn.metrics.pairwise import rbf_kernel

    n, size, d = rows.shape
    out = np.empty((n, n))
    flat = rows.reshape(n * size, d)
    for i in range(n):
        out[i] = rbf_kernel(rows[i], flat, gamma=0.5 / 1.5**2).sum(axis=0).reshape(n, size).sum(axis=1) / size**2
    return out


def main():
    n, size, d = map(int, sys.argv[2:5])
    rows, y = bags(n, size, d)
    if sys.argv[1] == "fit":
        fit(rows[:200], y[:200], 10)  # imports; not timed
        error, cost = common.measure(lambda: fit(rows, y, int(sys.argv[5])))
        common.report(**cost, train_rmse=float(error))
    else:
        matrix(rows[:10])
        k, cost = common.measure(lambda: matrix(rows))
        common.report(**cost, check=common.check(k.ravel()))


main()
