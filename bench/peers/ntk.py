"""The tangent kernel of a deep relu network by the textbook's recursion in NumPy, in blocks of rows that stay in the cache, on all threads.

    ntk.py N D DEPTH SB
"""

import os
import sys

os.environ["BENCH_BLAS_THREADS"] = "1"

import common  # noqa: E402  (sets the number of threads, so it comes before the libraries)
import numpy as np  # noqa: E402

ROWS, COLUMNS = 128, 1000


def block(x, y, xx, yy, depth, b2):
    """T of all pairs of x and y; sw = fan = 1."""
    s = x @ y.T + b2
    t = s.copy()
    xx, yy = xx + b2, yy + b2
    for _ in range(depth):
        root = np.sqrt(xx)[:, None] * np.sqrt(yy)
        cosine = np.clip(s / root, -1, 1)
        angle = np.pi - np.arccos(cosine)
        s = b2 + root * (np.sqrt(1 - cosine * cosine) + angle * cosine) / (2 * np.pi)
        t = s + t * angle / (2 * np.pi)
        xx, yy = b2 + xx / 2, b2 + yy / 2
    return t


def tangent_kernel(x, depth, b2):
    out = np.empty((len(x), len(x)))
    norms = np.einsum("ij,ij->i", x, x)

    def work(tasks):
        for task in tasks:
            i = ROWS * task
            if i >= len(x):
                return
            for j in range(0, len(x), COLUMNS):
                rows, columns = slice(i, i + ROWS), slice(j, j + COLUMNS)
                out[rows, columns] = block(x[rows], x[columns], norms[rows], norms[columns], depth, b2)

    common.in_threads(work, common.THREADS)
    return out


def main(arguments):
    n, d, depth, sb = int(arguments[0]), int(arguments[1]), int(arguments[2]), float(arguments[3])
    x = common.random_points(common.SEED_X, n, d, np.float64)
    tangent_kernel(x[:1000], depth, sb * sb)
    out, cost = common.measure(lambda: tangent_kernel(x, depth, sb * sb))
    common.report(**cost, check=common.check(out.reshape(-1)[:: common.CHECK_STRIDE]))


if __name__ == "__main__":
    main(sys.argv[1:])
