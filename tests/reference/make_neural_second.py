#!/usr/bin/python3
"""Writes neural_second.txt: dk/dx and d2k/dx dy' of nngp and ntk with 40 digits and more, for tests/unit/test_kernels_neural.c.

    /usr/bin/python3 make_neural_second.py > neural_second.txt

Differences of the textbook's recursion (make_neural.py) at 120 digits, with steps of 1e-30: also where points are nearly
parallel, down to a distance of 1e-12. Of each pair: the kernel, x, y, dk/dx, d2k/dx dy' row by row, and e, the size of second derivatives at x and y,
(1 + depth) sqrt(max_l k_ll(x,x) max_l k_ll(y,y)).
"""
import random

import mpmath as mp

from make_neural import MEANS

mp.mp.dps = 120
STEP = mp.mpf(10) ** -30


def entry(tangent, depth, act, sw, sb, fan, x, y):
    w2, b2 = mp.mpf(sw) ** 2, mp.mpf(sb) ** 2
    dot = lambda a, b: b2 + w2 * mp.fsum(p * q for p, q in zip(a, b)) / fan
    xx, yy, xy = dot(x, x), dot(y, y), dot(x, y)
    t = xy
    for _ in range(depth):
        means = MEANS[act]
        mean, slope = means(xx, yy, xy)
        xx, yy, xy = b2 + w2 * means(xx, xx, xx)[0], b2 + w2 * means(yy, yy, yy)[0], b2 + w2 * mean
        t = xy + w2 * t * slope
    return t if tangent else xy


def moved(x, l, step):
    return [v + (step if k == l else 0) for k, v in enumerate(x)]


def second(kernel, x, y, l, m):
    f = lambda p, q: entry(*kernel, moved(x, l, p * STEP), moved(y, m, q * STEP))
    return (f(1, 1) - f(1, -1) - f(-1, 1) + f(-1, -1)) / (4 * STEP ** 2)


def size(kernel, x):
    """The largest d2k/dx_l dy_l at (x, x); of relu it is that of every direction, since the angle is 0."""
    tangent, depth, act, sw, sb, fan = kernel
    if act == "relu":
        return mp.mpf(sw) ** 2 / fan * (mp.mpf(sw) ** 2 / 2) ** depth
    return max(second(kernel, x, x, l, l) for l in range(len(x)))


def show(kernel, x, y):
    tangent, depth, act, sw, sb, fan = kernel
    x, y = [mp.mpf(v) for v in x], [mp.mpf(v) for v in y]
    d = len(x)
    e = (1 + depth) * mp.sqrt(size(kernel, x) * size(kernel, y))
    slopes = [(entry(*kernel, moved(x, l, STEP), y) - entry(*kernel, moved(x, l, -STEP), y)) / (2 * STEP)
              for l in range(d)]
    mixed = [second(kernel, x, y, l, m) for l in range(d) for m in range(d)]
    text = lambda numbers: " ".join(float(v).hex() for v in numbers)
    print("%s(depth=%d,act=%s,sw=%r,sb=%r,fan=%r) %d" % ("ntk" if tangent else "nngp", depth, act, sw, sb, fan, d))
    for numbers in (x, y, slopes, mixed, [e]):
        print(text(numbers))


def main():
    print("# Second derivatives of nngp and ntk, written by make_neural_second.py, which explains them.")
    rng = random.Random("second")
    kernels = [(0, depth, "relu", 1.25, 0.5, 1) for depth in (1, 2, 4)]
    kernels += [(tangent, depth, "erf", 1.5, 0.25, 2) for tangent in (0, 1) for depth in (1, 3)]
    kernels += [(1, 2, "erf", 1.5, 0.0, 1)]
    base = [0.3, -1.1, 0.7]
    near = [[0.3, -1.1 + h, 0.7 - h / 2] for h in (1e-2, 1e-4, 1e-6, 1e-8, 1e-10, 1e-12)]
    far = [[rng.uniform(-2, 2) for _ in range(3)] for _ in range(3)]
    opposite = [[-0.3, 1.1 + h, -0.7] for h in (0.0, 1e-6, 1e-10)]
    for kernel in kernels:
        for y in near + far + opposite + [[0.0, 0.0, 0.0]]:
            show(kernel, base, y)
        show(kernel, [100 * v for v in base], [100 * v for v in near[2]])
        show(kernel, [100 * v for v in base], [200 * v for v in near[4]])


if __name__ == "__main__":
    main()
