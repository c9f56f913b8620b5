"""The two-sample permutation test with the Gaussian kernel in NumPy.

    two_sample.py FORM N M D PERMUTATIONS ELL

FORM is `product` (the Gram matrix once, then all permutations in one matrix product: with labels e in 0 and 1, e'Ke and e'K1 tell all
three means) or `loop` (for each permutation the rows and columns of K are put in its order and three blocks are averaged, as one writes it
first; TRIED permutations are run, and the seconds are those of the matrix plus PERMUTATIONS/TRIED times those of the loop).
"""

import sys
import time

import common
import numpy as np

TRIED = 20


def kernel_matrix(x, y, ell):
    z = np.vstack([x, y])
    one = np.ones((len(z), 1))
    squares = (z * z).sum(1, keepdims=True) * (-0.5 / ell**2)
    k = np.hstack([z / ell**2, squares, one]) @ np.hstack([z, one, squares]).T
    np.exp(k, out=k)
    np.fill_diagonal(k, 0)
    return k


def by_product(x, y, permutations, ell):
    n, m = len(x), len(y)
    k = kernel_matrix(x, y, ell)
    random = np.random.default_rng(0)
    labels = np.zeros((n + m, permutations + 1))
    labels[:n, 0] = 1
    for b in range(1, permutations + 1):
        labels[random.permutation(n + m)[:n], b] = 1
    rows = k.sum(1)
    xx = np.einsum("ib,ib->b", labels, k @ labels)
    x_all = rows @ labels
    xy = x_all - xx
    yy = rows.sum() - 2 * x_all + xx
    values = xx / (n * (n - 1)) + yy / (m * (m - 1)) - 2 * xy / (n * m)
    return values[0], (1 + np.count_nonzero(values[1:] >= values[0])) / (1 + permutations)


def statistic(k, order, n):
    k = k[np.ix_(order, order)]
    m = len(k) - n
    return k[:n, :n].sum() / (n * (n - 1)) + k[n:, n:].sum() / (m * (m - 1)) - 2 * k[:n, n:].mean()


def by_loop(x, y, permutations, ell):
    start = time.perf_counter()
    k = kernel_matrix(x, y, ell)
    random = np.random.default_rng(0)
    made = time.perf_counter()
    observed = statistic(k, np.arange(len(k)), len(x))
    for _ in range(TRIED):
        statistic(k, random.permutation(len(k)), len(x))
    seconds = made - start + (time.perf_counter() - made) * permutations / (TRIED + 1)
    return observed, seconds


def main(form, n, m, d, permutations, ell):
    x = common.random_points(common.SEED_X, n, d, np.float64)
    y = common.random_points(common.SEED_Y, m, d, np.float64)
    by_product(x[:500], y[:500], 10, ell)  # starts the library's threads; not timed
    if form == "loop":
        (value, seconds), cost = common.measure(lambda: by_loop(x, y, permutations, ell))
        common.report(**dict(cost, seconds=seconds), check=common.check([value]))
        return
    (value, p), cost = common.measure(lambda: by_product(x, y, permutations, ell))
    common.report(**cost, p_value=p, check=common.check([value]))


if __name__ == "__main__":
    main(sys.argv[1], *(int(text) for text in sys.argv[2:6]), float(sys.argv[6]))
