#!/usr/bin/python3
"""Writes laplace.txt: Laplace's approximation on a few points with 40 digits (mpmath), for tests/unit/test_method_laplace.c.

Everything is made the obvious way: Newton steps on the whole vector of latent numbers with the whole Hessian, K inverted, determinants of whole
matrices. The true evidence comes from quadrature where there are one or two latent numbers. One block each: likelihood (its number in laplace.h),
n, classes, nu, scale, variance and length-scale of the kernel; x; y; Laplace's log evidence; the true one or nan; then, at the
new point 0.9, latent means, latent covariance, and what is predicted (without the correction). Variances of Student-t have Fisher's information for the curvature.
"""

from mpmath import (cholesky, diag, diff, erfc, exp, eye, fsum, gamma, inf, inverse, log, loggamma, lu_solve, matrix, mp, mpf,
                    pi, quad, sqrt, zeros)

mp.dps = 40
NEW = mpf("0.9")


def rbf(s, t, variance, ell):
    return variance * exp(-((s - t) ** 2) / (2 * ell * ell))


def log_p(kind, y, f, nu, scale):
    """f is a list: one number, or one for each class."""
    if kind == 0:
        return -log(1 + exp(-(2 * y - 1) * f[0]))
    if kind == 1:
        return f[int(y)] - log(fsum(exp(v) for v in f))
    if kind == 2:
        return y * f[0] - exp(f[0]) - loggamma(y + 1)
    s = nu * scale**2
    return loggamma((nu + 1) / 2) - loggamma(nu / 2) - log(pi * s) / 2 - (nu + 1) / 2 * log(1 + (y - f[0]) ** 2 / s)


def slopes(kind, y, f, nu, scale):
    """Gradient and minus the Hessian of log_p by hand where that is simple, else by mpmath's differences."""
    m = len(f)
    if kind == 1:
        total = fsum(exp(v) for v in f)
        p = [exp(v) / total for v in f]
        g = matrix([(1 if c == int(y) else 0) - p[c] for c in range(m)])
        return g, matrix(m, m, ) + matrix([[(p[a] if a == b else 0) - p[a] * p[b] for b in range(m)] for a in range(m)])
    one = lambda v: log_p(kind, y, [v], nu, scale)
    return matrix([diff(one, f[0])]), matrix([[-diff(one, f[0], 2)]])


def block(kind, classes, x, y, nu, scale, variance, ell):
    x, y = [mpf(v) for v in x], [mpf(v) for v in y]
    nu, scale, variance, ell = mpf(nu), mpf(scale), mpf(variance), mpf(ell)
    n, m = len(x), classes if kind == 1 else 1
    k = matrix([[rbf(s, t, variance, ell) for t in x] for s in x])
    big = zeros(n * m)  # row i of class c is number i m + c
    for i in range(n):
        for j in range(n):
            for c in range(m):
                big[i * m + c, j * m + c] = k[i, j]
    precision = inverse(big)

    def joint(f):
        rows = [[f[i * m + c] for c in range(m)] for i in range(n)]
        return fsum(log_p(kind, y[i], rows[i], nu, scale) for i in range(n)) - (f.T * precision * f)[0] / 2

    f = zeros(n * m, 1)
    if kind == 3:
        f = k * lu_solve(k + scale**2 * eye(n), matrix(y))
    for _ in range(100):
        g, w = zeros(n * m, 1), zeros(n * m)
        for i in range(n):
            gi, wi = slopes(kind, y[i], [f[i * m + c] for c in range(m)], nu, scale)
            for a in range(m):
                g[i * m + a] = gi[a]
                for b in range(m):
                    w[i * m + a, i * m + b] = wi[a, b]
        safe = w if kind != 3 else diag([max(w[i, i], mpf(0)) for i in range(n)])
        if kind == 3 and max(abs(v) for v in g - precision * f) < mpf("1e-6"):
            safe = w
        step, t = lu_solve(precision + safe, g - precision * f), mpf(1)
        while t > mpf("1e-30") and joint(f + t * step) < joint(f):
            t /= 2
        f += t * step
    g_left = max(abs(v) for v in g - precision * f)
    assert g_left < mpf("1e-25"), g_left
    sign = mp.det(eye(n * m) + big * w)
    evidence = joint(f) - log(sign) / 2
    true = mpf("nan")
    norm = (2 * pi) ** (-mpf(n * m) / 2) / sqrt(mp.det(big))
    if n * m <= 2:
        mp.dps = 20
        spread = 12 * sqrt(variance)
        cuts = [-spread, -spread / 3, 0, spread / 3, spread]
        if n * m == 1:
            true = log(norm * quad(lambda a: exp(joint(matrix([a]))), cuts))
        else:
            true = log(norm * quad(lambda a, b: exp(joint(matrix([a, b]))), cuts, cuts, maxdegree=5))
        mp.dps = 40
    cross = zeros(n * m, m)
    for i in range(n):
        for c in range(m):
            cross[i * m + c, c] = rbf(x[i], NEW, variance, ell)
    mean = cross.T * precision * f
    if kind == 3:  # variances by Fisher's information, not by the curvature at the mode
        w = (nu + 1) / ((nu + 3) * scale**2) * eye(n)
    posterior = inverse(precision + w)
    covariance = variance * eye(m) - cross.T * (precision - precision * posterior * precision) * cross
    if kind == 0:
        v = covariance[0]
        density = lambda t: exp(-((t - mean[0]) ** 2) / (2 * v)) / sqrt(2 * pi * v)
        points = [mean[0] + j * sqrt(v) for j in (-14, -6, -3, -1, 0, 1, 3, 6, 14)]
        p = quad(lambda t: density(t) / (1 + exp(-t)), points)
        predicted = [1 - p, p]
    elif kind == 1:
        predicted = [mpf("nan")] * m
    elif kind == 2:
        predicted = [exp(mean[0] + covariance[0] / 2)]
    else:
        predicted = [mean[0]]
    print(kind, n, classes, float(nu), float(scale), float(variance), float(ell))
    show = lambda numbers: print(" ".join(mp.nstr(v, 17) for v in numbers))
    show(x), show(y), show([evidence]), show([true]), show(mean), show(covariance), show(predicted)


block(0, 2, [0.3], [1], 4, 1, 2.5, 0.7)
block(0, 2, [0.3, 1.1], [1, 0], 4, 1, 2.5, 0.7)
block(0, 2, [0.3, 1.1, 0.5, 1.6], [1, 0, 1, 1], 4, 1, 40, 0.7)
block(1, 2, [0.3], [1], 4, 1, 1.5, 0.7)
block(1, 3, [0.3, 1.1, 0.6], [1, 0, 2], 4, 1, 2.5, 0.7)
block(2, 0, [0.3], [4], 4, 1, 1.5, 0.7)
block(2, 0, [0.3, 1.1], [4, 0], 4, 1, 1.5, 0.7)
block(2, 0, [0.3, 1.1, 0.7], [4, 0, 9], 4, 1, 1.5, 0.7)
block(3, 0, [0.3, 1.1], [0.4, -0.3], 4, 0.5, 1.5, 0.7)
block(3, 0, [0.1, 0.3, 0.5, 0.7, 1.0, 1.2], [0.4, 0.5, 6, 0.3, 0.1, -0.2], 3, 0.2, 1.5, 0.7)
