"""The likelihood with its gradient as an expert writes it in SciPy: one dpotrf, one dpotri, and all length-scales at once.

    gp_scipy.py N D

With M = (a a' - A^-1) * K, the derivative by log ell_l is sum_ij M_ij (x_il - x_jl)^2/(2 ell_l^2): two products of M with
x and x^2 for all l.
"""

import sys

import common
import gp_common
import numpy as np
from scipy.linalg import get_blas_funcs, get_lapack_funcs


def likelihood(x, y, ell):
    n = len(x)
    u = np.asfortranarray(x / ell)
    syrk, gemm = get_blas_funcs(("syrk", "gemm"), (u,))
    potrf, potri, potrs = get_lapack_funcs(("potrf", "potri", "potrs"), (u,))
    norms = np.einsum("il,il->i", u, u)
    k = gemm(1.0, u, u, trans_b=True)
    k -= 0.5 * norms[:, None]
    k -= 0.5 * norms[None, :]
    np.exp(k, out=k)
    k *= gp_common.AMPLITUDE
    a = k.copy(order="F")
    a.flat[:: n + 1] += gp_common.NOISE
    factor, info = potrf(a, lower=True, clean=False, overwrite_a=True)
    assert info == 0
    alpha, _ = potrs(factor, y, lower=True)
    value = -0.5 * y @ alpha - np.log(factor.diagonal()).sum() - 0.5 * n * np.log(2 * np.pi)
    inverse, _ = potri(factor, lower=True, overwrite_c=True)
    by_noise = 0.5 * gp_common.NOISE * (alpha @ alpha - inverse.diagonal().sum())
    inverse = np.tril(inverse)
    inverse += np.tril(inverse, -1).T
    m = np.multiply.outer(alpha, alpha)
    m -= inverse
    m *= k
    rows = m.sum(1)
    # sum_ij m_ij (u_i - u_j)^2 = 2 sum_i rows_i u_i^2 - 2 u'm u, of which the diagonal
    squares = 2 * (rows @ (u * u)) - 2 * np.einsum("il,il->l", u, m @ u)
    return value, np.concatenate([[0.5 * rows.sum()], 0.5 * squares, [by_noise]])


def main(n, d):
    x, y = gp_common.make(n, d)
    likelihood(x[:50], y[:50], gp_common.lengths(d))
    (value, gradient), cost = common.measure(lambda: likelihood(x, y, gp_common.lengths(d)))
    gp_common.report(cost, value, gradient)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
