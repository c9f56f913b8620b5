#!/usr/bin/python3
"""Writes gp.txt: what a Gaussian process must say of ten rows in the plane, with 50 digits (mpmath).

Each block has two lines. The kernel's text; then mean (0 zero, 1 constant, 2 linear), flat, n, noise, x, y, weights, row
noises (both all 1 or 0 if they are not used), the number of derivatives, log marginal likelihood and its gradient,
leave-one-out log density and its gradient, a new point, mean and variance there. Gradients are central differences with a
step of 1e-15, by the kernel's parameters and last by the noise. Leave-one-out is done by leaving out: the others predict the
row, with the mean's coefficients integrated out, its own noise added.
"""

from mpmath import cholesky, cos, exp, inverse, log, matrix, mp, mpf, pi, sin, sqrt

mp.dps = 50

N = 10


def square(x, y, ell):
    return sum(((a - b) / e) ** 2 for a, b, e in zip(x, y, ell))


def rbf(x, y, ell):
    return exp(-square(x, y, ell) / 2)


def matern(x, y, ell, nu):
    a = sqrt(2 * mpf(nu) * square(x, y, ell))
    return (1 + a) * exp(-a) if nu == 1.5 else (1 + a + a * a / 3) * exp(-a)


def periodic(x, y, p, ell):
    return exp(-2 * sum(sin(pi * (a - b) / p) ** 2 for a, b in zip(x, y)) / ell ** 2)


def dot(x, y):
    return sum(a * b for a, b in zip(x, y))


# text, values, kernel, mean, flat, weights, row noises
CASES = [
    ("{}*rbf(ell=[{},{}])", (1.3, 0.7, 1.4), lambda x, y, c, a, b: c * rbf(x, y, (a, b)), 0, 0, 0, 0),
    ("{}*rbf(ell={}) + {}*linear(c={})", (0.7, 0.6, 0.1, 1.5),
     lambda x, y, c, e, f, g: c * rbf(x, y, (e, e)) + f * (dot(x, y) + g), 1, 0, 1, 0),
    ("{}*rbf(ell={})*periodic(p={}, ell={})", (1.1, 0.9, 1.7, 1.2),
     lambda x, y, c, e, p, f: c * rbf(x, y, (e, e)) * periodic(x, y, p, f), 1, 1, 0, 1),
    ("{}*on(1, rbf(ell={})) + {}*on(2, matern(nu=2.5, ell={}))", (0.6, 0.8, 0.9, 1.1),
     lambda x, y, c, e, f, g: c * rbf(x[:1], y[:1], (e,)) + f * matern(x[1:], y[1:], (g,), 2.5), 2, 0, 1, 1),
    ("({} + {}*matern(nu=1.5, ell={}))*rbf(ell={})", (0.3, 0.8, 0.9, 1.6),
     lambda x, y, c, f, e, g: (c + f * matern(x, y, (e, e), 1.5)) * rbf(x, y, (g, g)), 2, 1, 1, 0),
]


def columns(mean, x):
    return [[], [mpf(1)], [mpf(1)] + list(x)][mean]


def conditioned(kernel, values, noises, x, y, mean):
    """A^-1, coefficients of the mean, A^-1 (y - T beta), (T'A^-1 T)^-1, A^-1 T and the determinants' logarithms."""
    n = len(x)
    a = matrix(n, n)
    for i in range(n):
        for j in range(n):
            a[i, j] = kernel(x[i], x[j], *values) + (noises[i] if i == j else 0)
    factor = cholesky(a)
    log_a = 2 * sum(log(factor[i, i]) for i in range(n))
    inv = inverse(a)
    left = matrix(y)
    if mean == 0:
        return inv, None, inv * left, None, None, log_a, mpf(0)
    t = matrix([columns(mean, point) for point in x])
    h = inv * t
    s = t.T * h
    small = inverse(s)
    beta = small * (h.T * left)
    factor = cholesky(s)
    return inv, beta, inv * (left - t * beta), small, h, log_a, 2 * sum(log(factor[i, i]) for i in range(s.rows))


def likelihood(kernel, values, noises, x, y, mean, flat):
    inv, beta, alpha, small, h, log_a, log_s = conditioned(kernel, values, noises, x, y, mean)
    q = len(columns(mean, x[0]))
    quadratic = sum(u * v for u, v in zip(y, alpha))
    return -(quadratic + log_a + (log_s if flat else 0) + (len(x) - (q if flat else 0)) * log(2 * pi)) / 2


def predict(kernel, values, noises, x, y, mean, flat, z):
    inv, beta, alpha, small, h, _, _ = conditioned(kernel, values, noises, x, y, mean)
    k = matrix([kernel(z, v, *values) for v in x])
    centre = sum(u * v for u, v in zip(k, alpha))
    variance = kernel(z, z, *values) - (k.T * inv * k)[0]
    if mean:
        t = matrix(columns(mean, z))
        centre += (t.T * beta)[0]
        rest = t - h.T * k
        variance += (rest.T * small * rest)[0] if flat else 0
    return centre, variance


def left_out(kernel, values, noises, x, y, mean):
    total = mpf(0)
    for i in range(len(x)):
        rest = [j for j in range(len(x)) if j != i]
        centre, variance = predict(kernel, values, [noises[j] for j in rest], [x[j] for j in rest],
                                   [y[j] for j in rest], mean, 1, x[i])
        variance += noises[i]
        total -= (log(2 * pi * variance) + (y[i] - centre) ** 2 / variance) / 2
    return total


def differences(function, values):
    step, out = mpf(10) ** -15, []
    for p in range(len(values)):
        up, down = list(values), list(values)
        up[p], down[p] = values[p] * (1 + step), values[p] * (1 - step)
        out.append((function(up) - function(down)) / (2 * step * values[p]))
    return out


def block(text, given, kernel, mean, flat, weighted, noisy):
    flat_x = [round(2 * (0.6180339887498949 * (i + 1) % 1), 6) for i in range(2 * N)]
    x = [[mpf(flat_x[2 * i]), mpf(flat_x[2 * i + 1])] for i in range(N)]
    y = [round(1 + (i * 37 % 19) / 19 + flat_x[2 * i] ** 2, 6) for i in range(N)]
    weights = [1 + i % 3 / 2 if weighted else 1.0 for i in range(N)]
    row_noise = [i % 4 / 64 if noisy else 0.0 for i in range(N)]
    noise, data = 0.0625, [mpf(v) for v in y]

    def noises(variance):
        return [variance / mpf(w) + mpf(r) for w, r in zip(weights, row_noise)]

    def ml(v):
        return likelihood(kernel, v[:-1], noises(v[-1]), x, data, mean, flat)

    def loo(v):
        return left_out(kernel, v[:-1], noises(v[-1]), x, data, mean)

    values = [mpf(v) for v in given] + [mpf(noise)]
    z = [0.71875, 1.15625]
    result = [ml(values)] + differences(ml, values) + [loo(values)] + differences(loo, values) + z
    result += predict(kernel, values[:-1], noises(values[-1]), x, data, mean, flat, [mpf(v) for v in z])
    numbers = [str(v) for v in (mean, flat, N)] + [repr(v) for v in [noise] + flat_x + y + weights + row_noise]
    numbers += [str(len(values))] + [repr(float(v)) for v in result]
    return text.format(*given) + "\n" + " ".join(numbers) + "\n"


with open(__file__.replace("gp_reference.py", "gp.txt"), "w") as file:
    for case in CASES:
        file.write(block(*case))
