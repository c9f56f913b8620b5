#!/usr/bin/python3
"""Writes markov.txt: likelihood, its gradient, posterior mean and variance on the line, with 60 digits (mpmath).

Noise is 1e-6 and 1e-10 of the amplitude, where matrices in double precision lose digits and gradients cancel. One block each:
the kernel's text, noise, number of points, x, y, number of derivatives, value, gradient (by the kernel's parameters and the
noise, central differences), a new point, mean and variance there. Zero mean.
"""

from mpmath import cholesky, cholesky_solve, cos, exp, log, matrix, mp, mpf, pi, sqrt

mp.dps = 60


def matern32(r, ell):
    a = sqrt(mpf(3)) * abs(r) / ell
    return (1 + a) * exp(-a)


def matern52(r, ell):
    a = sqrt(mpf(5)) * abs(r) / ell
    return (1 + a + a * a / 3) * exp(-a)


def cubic(x, y):
    s, t = min(x, y), max(x, y)
    return s * s * (3 * t - s) / 6


KERNELS = [
    ("{}*cosine(p={})", (1.2, 1.7), lambda x, y, c, p: c * cos(2 * pi * (x - y) / p)),
    ("{}*matern(nu=2.5, ell={})", (0.8, 0.9), lambda x, y, c, ell: c * matern52(x - y, ell)),
    ("{}*cosine(p={})*matern(nu=1.5, ell={})", (0.5, 0.8, 2.5),
     lambda x, y, c, p, ell: c * cos(2 * pi * (x - y) / p) * matern32(x - y, ell)),
    ("{}*sobolev(a=2, null=0)", (1.5,), lambda x, y, c: c * cubic(x, y)),
    ("{}*laplace(ell={}) + linear(c={})", (0.7, 0.6, 0.25),
     lambda x, y, c, ell, d: c * exp(-abs(x - y) / ell) + x * y + d),
]


def solve(kernel, values, noise, x, y):
    n = len(x)
    a = matrix(n, n)
    for i in range(n):
        for j in range(n):
            a[i, j] = kernel(x[i], x[j], *values) + (noise if i == j else 0)
    factor = cholesky(a)
    alpha = cholesky_solve(a, matrix(y))
    value = -(sum(u * v for u, v in zip(y, alpha)) + n * log(2 * pi)) / 2 - sum(log(factor[i, i]) for i in range(n))
    return value, alpha, a


def block(text, values, kernel, noise, n=16):
    x = [3 * (0.6180339887498949 * (i + 1) % 1) for i in range(n)]
    x[5] = x[4] + 1e-7
    y = [1 + ((i * 37) % 19) / 19 - x[i] / 4 for i in range(n)]
    exact = [mpf(v) for v in values] + [mpf(noise)]
    points, data, step = [mpf(v) for v in x], [mpf(v) for v in y], mpf(10) ** -18
    value, alpha, a = solve(kernel, exact[:-1], exact[-1], points, data)
    gradient = []
    for p in range(len(exact)):
        up, down = list(exact), list(exact)
        up[p], down[p] = exact[p] * (1 + step), exact[p] * (1 - step)
        difference = solve(kernel, up[:-1], up[-1], points, data)[0] - solve(kernel, down[:-1], down[-1], points, data)[0]
        gradient.append(difference / (2 * step * exact[p]))
    z = 1.4375
    k = matrix([kernel(mpf(z), v, *exact[:-1]) for v in points])
    mean = sum(u * v for u, v in zip(k, alpha))
    variance = kernel(mpf(z), mpf(z), *exact[:-1]) - sum(u * v for u, v in zip(k, cholesky_solve(a, k)))
    numbers = [repr(noise), str(n)] + [repr(v) for v in x + y] + [str(len(gradient))]
    numbers += [repr(float(v)) for v in [value] + gradient + [z, mean, variance]]
    return text.format(*values) + "\n" + " ".join(numbers) + "\n"


with open(__file__.replace("make_markov.py", "markov.txt"), "w") as file:
    for text, values, kernel in KERNELS:
        # two numbers cannot follow the data: at 1e-10 the derivatives depend on the last bits of x (condition 1e11)
        for noise in (1e-6, 1e-10) if "matern" in text or "sobolev" in text or "laplace" in text else (1e-6,):
            file.write(block(text, values, kernel, noise))
