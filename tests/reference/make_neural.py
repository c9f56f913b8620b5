#!/usr/bin/python3
"""Writes kernels_neural.txt: nngp and ntk with 60 digits, for tests/unit/test_engine_reference.c.

Format and rule are those of make_kernels.py, which this uses:

    /usr/bin/python3 make_neural.py > kernels_neural.txt

The recursion is the textbook's, with arc cosines and arc sines, at 60 digits; the C code takes another way. The closed forms
of the expectations are checked against integrals first. e, for |k - ref| <= 4e-15 e, is (1 + depth) sqrt(k(x,x) k(y,y)): an
angle has a few roundings in each layer, wherever it lies between 0 and pi.
"""
import random

import mpmath as mp

from make_kernels import Leaf, number, point_set, cluster_set, show_kernel, show_points

mp.mp.dps = 60


def relu_means(xx, yy, xy):
    if xx == 0 or yy == 0:
        return mp.mpf(0), mp.mpf(1) / 4
    root = mp.sqrt(xx * yy)
    t = mp.acos(max(-1, min(1, xy / root)))
    return root * (mp.sin(t) + (mp.pi - t) * mp.cos(t)) / (2 * mp.pi), (mp.pi - t) / (2 * mp.pi)


def erf_means(xx, yy, xy):
    below = mp.sqrt((1 + 2 * xx) * (1 + 2 * yy))
    return 2 / mp.pi * mp.asin(2 * xy / below), 4 / mp.pi / mp.sqrt(below ** 2 - 4 * xy ** 2)


MEANS = {"relu": relu_means, "erf": erf_means}


def check_means():
    """E[act(u) act(v)] and E[act'(u) act'(v)] by integrals over u and v = (xy/xx) u + rest."""
    with mp.workdps(15):
        xx, yy, xy = mp.mpf(2), mp.mpf("0.7"), mp.mpf("-0.5")
        slope, spread = xy / xx, mp.sqrt(yy - xy ** 2 / xx)
        relu = (lambda z: max(z, 0), lambda z: mp.mpf(z > 0))
        erf = (mp.erf, lambda z: 2 / mp.sqrt(mp.pi) * mp.exp(-z * z))

        def expect(f, kinked):
            def inner(u):
                cuts = [-9, -slope * u / spread, 9] if kinked else [-9, 0, 9]
                return mp.npdf(u, 0, mp.sqrt(xx)) * f(u) * mp.quad(
                    lambda z: mp.npdf(z) * f(slope * u + spread * z), sorted(cuts))
            return mp.quad(inner, [-12, 0, 12])

        for name, functions, kinked in (("relu", relu, True), ("erf", erf, False)):
            for f, right in zip(functions, MEANS[name](xx, yy, xy)):
                assert abs(expect(f, kinked) - right) < 1e-6, name


def network(tangent, depth, act, sw, sb, fan):
    (sw_text, sw), (sb_text, sb), (fan_text, fan) = number(sw), number(sb), number(fan)
    w2, b2 = sw ** 2, sb ** 2

    def entry(x, y):
        dot = lambda a, b: b2 + w2 * mp.fsum(p * q for p, q in zip(a, b)) / fan
        xx, yy, xy = dot(x, x), dot(y, y), dot(x, y)
        t = xy
        for _ in range(depth):
            means = MEANS[act]
            mean, slope = means(xx, yy, xy)
            xx, yy, xy = b2 + w2 * means(xx, xx, xx)[0], b2 + w2 * means(yy, yy, yy)[0], b2 + w2 * mean
            t = xy + w2 * t * slope
        return t if tangent else xy

    def pair(x, y, same):
        return entry(x, y), (1 + depth) * mp.sqrt(entry(x, x) * entry(y, y))

    return Leaf("%s(depth=%d, act=%s, sw=%s, sb=%s, fan=%s)"
                % ("ntk" if tangent else "nngp", depth, act, sw_text, sb_text, fan_text), pair)


def kernels(d):
    for tangent in (0, 1):
        for act in ("relu", "erf"):
            for depth in (1, 2, 5):
                yield network(tangent, depth, act, 1.4, 0.0, 1)
                yield network(tangent, depth, act, 1.1, 0.3, d)


def show(name, points):
    show_points(name, points)
    for kernel in kernels(len(points[0])):
        show_kernel(name, kernel, points)


def main():
    check_means()
    print("# Reference values of nngp and ntk, written by make_neural.py, which explains the rule.")
    for d, scale, signed in [(1, 1.0, True), (2, 1e-6, True), (3, 1.0, False), (10, 1e3, True), (70, 1.0, True)]:
        rng = random.Random("neural %d %g" % (d, scale))
        show("neural%d_%g" % (d, scale), point_set(rng, d, scale, signed)[:6])
    show("neural_cluster", cluster_set(random.Random("neural cluster"), 2, 1.0)[:6])
    direction = [0.3, -1.1, 0.7]
    parallel = [[c * u for u in direction] for c in (1.0, 2.0, 3.0, -1.0, -0.1)]
    parallel += [[0.3, -1.1, 0.7 + h] for h in (1e-3, 1e-6, 1e-9)] + [[-0.3, 1.1 + h, -0.7] for h in (1e-5, 1e-9)]
    show("neural_parallel", parallel + [[0.0, 0.0, 0.0]])


if __name__ == "__main__":
    main()
