#!/usr/bin/python3
"""Writes kernels_coords.txt: the kernels of coordinates with 50 digits, for tests/unit/test_engine_reference.c.

Format and rule are those of make_kernels.py, which this uses:

    /usr/bin/python3 make_coords.py > kernels_coords.txt

What e is here, for |k - ref| <= 4e-15 e, t_l = x_l - y_l:

    periodic      |k| (1 + q) + w sum_l |t_l dk/dt_l|, k = exp(-q): q is a sum of squares of sines, each with its own few
                  roundings, and a phase t_l/p has two in proportion to itself. w = 1/8: 4e-15/8 is 4.5 roundings
    cosine, sinc  of one coordinate |k| + w |t dk/dt|, the same for the phase; products carry it as products do. Near a
                  zero of k this is the absolute error that a rounding of t leaves
    sobolev       (1 + d) k: sums of positive terms, d factors
    chi2          |k| (1 + |s k'(s)/k|), s the sum: positive terms
    intersection  2 k, as min
    tanimoto      |k| + (S + |s|) N/(N - s)^2, s = x.y, S = sum_l |x_l y_l|, N = |x|^2 + |y|^2 (>= 2 |s|)
"""
import random

import mpmath as mp

from make_kernels import Leaf, Power, Product, Sum, On, cluster_set, constant, number, point_set, rbf, show_kernel, \
    show_points


PHASE = mp.mpf(1) / 8


def product(factors):
    k, e = mp.mpf(1), mp.mpf(0)
    for kf, ef in factors:
        k, e = k * kf, abs(k) * ef + abs(kf) * e
    return k, e


def periodic(p, ell):
    (p_text, p), (ell_text, ell) = number(p), number(ell)

    def pair(x, y, same):
        t = [a - b for a, b in zip(x, y)]
        q = 2 * mp.fsum(mp.sin(mp.pi * u / p) ** 2 for u in t) / ell ** 2
        k = mp.exp(-q)
        phases = mp.fsum(abs(u * 2 * mp.pi / p * mp.sin(2 * mp.pi * u / p)) for u in t) / ell ** 2
        return k, k * (1 + q + PHASE * phases)

    return Leaf("periodic(p=%s, ell=%s)" % (p_text, ell_text), pair)


def cosine(p):
    text, p = number(p)

    def one(t):
        a = 2 * mp.pi * t / p
        return mp.cos(a), abs(mp.cos(a)) + PHASE * abs(a * mp.sin(a))

    return Leaf("cosine(p=%s)" % text, lambda x, y, same: product(one(a - b) for a, b in zip(x, y)))


def sinc(b):
    text, b = number(b)

    def one(t):
        if t == 0:
            return 2 * b, 2 * b
        k = 2 * mp.sin(b * t) / t
        return k, abs(k) + PHASE * abs(2 * b * mp.cos(b * t) - k)

    return Leaf("sinc(B=%s)" % text, lambda x, y, same: product(one(u - w) for u, w in zip(x, y)))


def sobolev(a, null):
    def one(x, y):
        s, t = min(x, y), max(x, y)
        k = mp.fsum(mp.binomial(a - 1, j) * (t - s) ** (a - 1 - j) * s ** (a + j) / (a + j) for j in range(a))
        k /= mp.factorial(a - 1) ** 2
        if null:
            k += mp.fsum((x * y) ** j / mp.factorial(j) ** 2 for j in range(a))
        return k

    def pair(x, y, same):
        k = mp.fprod(one(u, w) for u, w in zip(x, y))
        return k, (1 + len(x)) * k

    return Leaf("sobolev(a=%d, null=%d)" % (a, null), pair)


def chi2(g):
    text, g = number(g)

    def pair(x, y, same):
        q = g * mp.fsum((a - b) ** 2 / (a + b) for a, b in zip(x, y) if a + b > 0)
        return mp.exp(-q), mp.exp(-q) * (1 + q)

    return Leaf("chi2(g=%s)" % text, pair)


def intersection():
    def pair(x, y, same):
        k = mp.fsum(min(a, b) for a, b in zip(x, y))
        return k, 2 * k

    return Leaf("intersection()", pair)


def tanimoto():
    def pair(x, y, same):
        n = mp.fsum(a * a for a in x) + mp.fsum(b * b for b in y)
        if n == 0:
            return mp.mpf(1), mp.mpf(0)
        s, size = mp.fsum(a * b for a, b in zip(x, y)), mp.fsum(abs(a * b) for a, b in zip(x, y))
        k = s / (n - s)
        return k, abs(k) + (size + abs(s)) * n / (n - s) ** 2

    return Leaf("tanimoto()", pair)


def kernels(scale, d, least):
    for p, ell in ((0.83, 0.7), (3.1, 2.0), (3.1, 0.1), (0.011, 5.0)):
        yield periodic(p * scale, ell * d ** 0.5)
    yield cosine(3.7 * scale)
    yield cosine(0.013 * scale)
    yield sinc(1.3 / scale)
    yield sinc(40.0 / scale)
    yield tanimoto()
    if least < 0:
        return
    for a in (1, 2, 3, 5, 8):
        yield sobolev(a, 0)
        yield sobolev(a, 1)
    yield chi2(0.7 / (scale * d))
    yield chi2(6.0 / (scale * d))
    yield intersection()


def composites(scale, d):
    yield Sum(Product(constant(2), periodic(0.9 * scale, 1.5), rbf(2.5 * scale)), Power(cosine(5.5 * scale), 2))
    if d > 1:
        yield Product(On([1], periodic(1.7 * scale, 1.1)), On([(2, d)], rbf(float("%.3g" % (scale * d ** 0.5)))))


def show(name, points, scale, d):
    show_points(name, points)
    for kernel in kernels(scale, d, min(min(p) for p in points)):
        show_kernel(name, kernel, points)


def main():
    print("# Reference values of kernels of coordinates, written by make_coords.py, which explains the rule.")
    for d, scale, signed in [(1, 1e-6, False), (1, 1.0, True), (1, 1.0, False), (1, 1e3, False), (2, 1.0, True),
                             (3, 1.0, False), (10, 1.0, False), (10, 1e3, True), (70, 1.0, False)]:
        rng = random.Random("coords %d %g %d" % (d, scale, signed))
        name = "coords%d_%g%s" % (d, scale, "_signed" if signed else "")
        points = point_set(rng, d, scale, signed)
        show(name, points, scale, d)
        if d <= 10:
            for kernel in composites(scale, d):
                show_kernel(name, kernel, points)
    rng = random.Random("coords cluster")
    show("coords_cluster", cluster_set(rng, 2, 1.0), 1e-5, 2)
    show("coords_zeros", [[0.0, 0.0, 0.0], [0.0, 0.3, 0.0], [1.1, 0.0, 0.2], [0.7, 0.4, 0.9], [0.0, 2.5, 0.9]], 1.0, 3)
    for scale in (1e-200, 1e200):  # where squares vanish or overflow
        points = point_set(random.Random("coords far"), 3, scale, True)
        show_points("coords_far%g" % scale, points)
        show_kernel("coords_far%g" % scale, tanimoto(), points)


if __name__ == "__main__":
    main()
