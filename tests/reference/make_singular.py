#!/usr/bin/python3
"""Writes singular.txt: Gaussian processes with next to no noise, on rows whose K is singular to working precision, with 100 digits.

Rows and targets are made by a few exact operations from their number, the same here and in test_method_singular.c, which has
the cases in the same order:

    x_i = 10 frac(0.6180339887498949 i), every seventh row repeats the one before it
    smooth     y = 3 x/(4 + x^2) + x/8
    apart      the same, but of two rows that are the same one has 1/4 more, the other 1/4 less
    rough      smooth, and something between -1/8 and 1/8 that differs from row to row

Each line: kernel, n, target (0 smooth, 1 apart, 2 rough), mean (0 zero, 1 constant, 2 flat), noise; the log likelihood; then mean
and variance at the rows 0, 6, 7, n - 1 and at PLACES. Noise 0 is the limit: 1e-60 (what has no limit, the likelihood, is
written as 0). Without noise, different targets at rows of a smooth kernel make functions that swing by powers of ten, so there
only rows have a value to compare; the test knows.
"""

from mpmath import cholesky, exp, log, matrix, mp, mpf, pi, sqrt

mp.dps = 100

PLACES = [0.3, 2.7, 5.1, 7.9, 9.6]

KERNELS = {
    "rbf": lambda a, b, ell: exp(-(((a - b) / ell) ** 2) / 2),
    "matern": lambda a, b, ell: (1 + sqrt(3) * abs(a - b) / ell) * exp(-sqrt(3) * abs(a - b) / ell),
    "linear": lambda a, b, c: a * b + c,
    "poly": lambda a, b, c: (a * b + c) ** 2,
}


def rows(n):
    x = []
    for i in range(n):
        x.append(x[i - 1] if i % 7 == 6 else 10 * ((0.6180339887498949 * i) % 1.0))
    return x


def targets(n, x, kind):
    y = []
    for i in range(n):
        v = 3 * x[i] / (4 + x[i] * x[i]) + x[i] / 8
        if kind == 1 and i % 7 == 5 and i + 1 < n:
            v += 0.25
        if kind == 1 and i % 7 == 6:
            v -= 0.25
        if kind == 2:
            v += ((i * 37) % 64) / 256 - 0.125
        y.append(v)
    return y


def half_solve(low, v):
    z = []
    for i in range(len(v)):
        z.append((v[i] - mp.fdot((low[i][j], z[j]) for j in range(i))) / low[i][i])
    return z


def posterior(kernel, parameter, n, kind, mean, noise):
    k = lambda a, b: KERNELS[kernel](mpf(a), mpf(b), mpf(parameter))
    x = rows(n)
    y = [mpf(v) for v in targets(n, x, kind)]
    s = mpf(noise) if noise else mpf(10) ** -60
    a = matrix(n, n)
    for i in range(n):
        for j in range(i + 1):
            a[i, j] = a[j, i] = k(x[i], x[j]) + (s if i == j else 0)
    factor = cholesky(a)
    low = [[factor[i, j] for j in range(i + 1)] for i in range(n)]
    u, t = half_solve(low, y), half_solve(low, [mpf(1)] * n)
    tt = mp.fdot(t, t)
    beta = mp.fdot(t, u) / tt if mean else mpf(0)
    u = [p - beta * q for p, q in zip(u, t)]
    value = -(mp.fdot(u, u) + 2 * mp.fsum(log(low[i][i]) for i in range(n)) + n * log(2 * pi)) / 2
    if mean == 2:
        value -= (log(tt) - log(2 * pi)) / 2
    out = []
    for p in [x[0], x[6], x[7], x[n - 1]] + PLACES if n > 7 else [x[0], x[n - 1]] + PLACES:
        w = half_solve(low, [k(p, v) for v in x])
        variance = k(p, p) - mp.fdot(w, w)
        if mean == 2:
            variance += (1 - mp.fdot(w, t)) ** 2 / tt
        out += [beta + mp.fdot(w, u), variance]
    return (value if noise else mpf(0)), out


def main():
    cases = []
    noises = [0, 1e-17, 1e-16, 1e-15, 1e-14, 1e-13, 1e-12, 1e-10, 1e-8, 1e-6]
    for kind in (0, 1, 2):
        cases += [("rbf", 1.0, 40, kind, 0, s) for s in noises]
        cases += [("rbf", 2.2, 60, kind, 1, s) for s in noises[1::3]]
        cases += [("rbf", 6.0, 12, kind, 2, s) for s in noises[::3]]
        cases += [("matern", 1.0, 50, kind, 1 + kind % 2, s) for s in (0, 1e-16, 1e-13, 1e-9)]
        cases += [("linear", 1.0, 30, kind, 0, s) for s in (0, 1e-15, 1e-11, 1e-7)]
        cases += [("poly", 2.0, 24, kind, 1, s) for s in (0, 1e-14, 1e-9)]
    cases += [("rbf", 0.5, 200, kind, 0, s) for kind, s in ((0, 1e-16), (1, 1e-14), (2, 1e-12), (2, 1e-8))]
    names = list(KERNELS)
    with open("singular.txt", "w") as file:
        for kernel, parameter, n, kind, mean, noise in cases:
            value, out = posterior(kernel, parameter, n, kind, mean, noise)
            numbers = [value] + out
            file.write(f"{names.index(kernel)} {parameter!r} {n} {kind} {mean} {noise!r} ")
            file.write(" ".join(mp.nstr(v, 17) for v in numbers) + "\n")


if __name__ == "__main__":
    main()
