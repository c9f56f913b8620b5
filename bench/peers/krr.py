"""Kernel ridge regression with the Gaussian kernel: (K + alpha I) a = y.

    krr.py sklearn N D ELL ALPHA      scikit-learn's KernelRidge as it is shipped
    krr.py scipy N D ELL ALPHA        NumPy and SciPy, as well as we can write it: K in blocks where it will be factored,
                                      Cholesky in place, one solve

The backward error |y - A a|/(|A| |a| + |y|) is measured afterwards, block by block, and not timed; |A| is bounded from
below by |A 1|/sqrt(n) and |A a|/|a|, as gram does.
"""

import sys

import common  # sets the number of threads, so it comes before the libraries
import numpy as np

ROWS = 500


def targets(x):
    return x[:, 0] + 0.5 * (x[:, 1] * x[:, 1]) + 0.2 * common.random_numbers(common.SEED_V, len(x))


def by_sklearn(x, y, ell, alpha):
    from sklearn.kernel_ridge import KernelRidge

    gamma = 1.0 / (2.0 * ell * ell)
    KernelRidge(alpha=alpha, kernel="rbf", gamma=gamma).fit(x[:500], y[:500])  # imports and threads; not timed
    return lambda: KernelRidge(alpha=alpha, kernel="rbf", gamma=gamma).fit(x, y).dual_coef_


def by_scipy(x, y, ell, alpha):
    from product import augmented
    from scipy.linalg import cho_solve, lapack

    def call(points, values):
        n = len(points)
        left, right = augmented(points, points, ell)
        right = np.ascontiguousarray(right.T)
        k = np.empty((n, n))
        for i in range(0, n, ROWS):  # the row-major lower triangle is LAPACK's upper one
            block = k[i : i + ROWS, : i + ROWS]
            np.matmul(left[i : i + ROWS], right[:, : i + ROWS], out=block)
            np.exp(block, out=block)
        k.flat[:: n + 1] += alpha
        factor, info = lapack.dpotrf(k.T, lower=0, clean=0, overwrite_a=1)
        assert info == 0
        return cho_solve((factor, False), values, check_finite=False)

    call(x[:500], y[:500])
    return lambda: call(x, y)


def backward_error(x, y, a, ell, alpha):
    from product import augmented

    left, right = augmented(x, x, ell)
    right = np.ascontiguousarray(right.T)
    both = np.stack([a, np.ones(len(a))], axis=1)
    applied = np.concatenate([np.exp(left[i : i + ROWS] @ right) @ both for i in range(0, len(x), ROWS)]) + alpha * both
    residual = np.linalg.norm(y - applied[:, 0])
    norm = max(np.linalg.norm(applied[:, 1]) / np.sqrt(len(y)), np.linalg.norm(applied[:, 0]) / np.linalg.norm(a))
    return residual / (norm * np.linalg.norm(a) + np.linalg.norm(y))


def main(arguments):
    n, d, ell, alpha = int(arguments[1]), int(arguments[2]), float(arguments[3]), float(arguments[4])
    x = common.random_points(common.SEED_X, n, d, np.float64)
    y = targets(x)
    call = {"sklearn": by_sklearn, "scipy": by_scipy}[arguments[0]](x, y, ell, alpha)
    a, cost = common.measure(call)
    common.report(**cost, check=common.check(a), backward_error=backward_error(x, y, a, ell, alpha))


if __name__ == "__main__":
    main(sys.argv[1:])
