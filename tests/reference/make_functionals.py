#!/usr/bin/python3
"""Writes functionals.txt: Gram entries u_i u_j k of functionals with 30 digits, for tests/unit/test_functionals.c.

Not run by the tests (they read the committed table only); needs python3-mpmath:

    /usr/bin/python3 make_functionals.py > functionals.txt

Every kernel is written here from its definition, as a function of two points, and differentiated by differences with 100
digits: steps of 1e-8 and two extrapolations leave some 1e-45. So no formula for a derivative is shared with the library.

Rows are functionals at points of two columns:

    0 value, 1 d/dx1, 2 d/dx2, 3 d2/dx1 dx2, 4 d2/dx1^2, 5 the Laplacian

and a kernel has the first of them, those that are continuous: 1 (ORDER 0), 3 (ORDER 1) or all 6 (ORDER 2). Takes 4 minutes.

Format, '#' starts a comment:
    kernel ORDER EXPRESSION     then for each pair of different points (a, b), and for each pair of kinds (i, j), a line of one number
"""
import itertools

import mpmath as mp

mp.mp.dps = 60
DIGITS = 30

POINTS = [(mp.mpf(3) / 8, mp.mpf(5) / 8), (mp.mpf(7) / 8, mp.mpf(1) / 4), (mp.mpf(5) / 4, mp.mpf(9) / 8)]
KINDS = [[(0, 0)], [(1, 0)], [(0, 1)], [(1, 1)], [(2, 0)], [(2, 0), (0, 2)]]
COUNT = {0: 1, 1: 3, 2: 6}


def square(x, y, ells=(1, 1)):
    return sum(((a - b) / e) ** 2 for a, b, e in zip(x, y, ells))


def dot(x, y):
    return sum(a * b for a, b in zip(x, y))


def matern(nu, z):
    a = mp.sqrt(2 * nu * z)
    if a == 0:
        return mp.mpf(1)
    return 2 ** (1 - nu) / mp.gamma(nu) * a ** nu * mp.besselk(nu, a)


def wendland2(z):
    r = mp.sqrt(z)
    l = mp.mpf(4)
    if r >= 1:
        return mp.mpf(0)
    return (1 - r) ** (l + 2) * (1 + (l + 2) * r + (l + 1) * (l + 3) / 3 * r ** 2)


def periodic(t, p, ell):
    return mp.exp(-2 * mp.sin(mp.pi * t / p) ** 2 / ell ** 2)


def sinc(t, b):
    return 2 * b if t == 0 else 2 * mp.sin(b * t) / t


def sobolev(a, x, y, null):
    s, t = min(x, y), max(x, y)
    f = mp.factorial(a - 1) ** 2
    value = sum(mp.binomial(a - 1, j) * (t - s) ** (a - 1 - j) * s ** (a + j) / (a + j) for j in range(a)) / f
    return value + (sum((x * y) ** j / mp.factorial(j) ** 2 for j in range(a)) if null else 0)


def normalized(k):
    return lambda x, y: k(x, y) / mp.sqrt(k(x, x) * k(y, y))


def centred(k):
    """Less its means over the three points, as the test makes it."""
    n = len(POINTS)
    return lambda x, y: (k(x, y) - sum(k(x, z) + k(z, y) for z in POINTS) / n +
                         sum(k(z, w) for z in POINTS for w in POINTS) / n ** 2)


def network(act, sb, tangent):
    """One hidden layer, sw = 1: E of two activations, and of two slopes of them, by their closed forms."""
    def of(x, y):
        s, a, b = (sb ** 2 + dot(p, q) for p, q in ((x, y), (x, x), (y, y)))
        if act == "erf":
            value = 2 / mp.pi * mp.asin(2 * s / mp.sqrt((1 + 2 * a) * (1 + 2 * b)))
            slope = 4 / mp.pi / mp.sqrt((1 + 2 * a) * (1 + 2 * b) - 4 * s ** 2)
        else:
            t = mp.acos(s / mp.sqrt(a * b))
            value, slope = mp.sqrt(a * b) / (2 * mp.pi) * (mp.sin(t) + (mp.pi - t) * mp.cos(t)), (mp.pi - t) / (2 * mp.pi)
        return sb ** 2 + value + (s * slope if tangent else 0)
    return of


H = mp.mpf
KERNELS = [
    ("rbf(ell=0.75)", 2, lambda x, y: mp.exp(-square(x, y) / (2 * H(9) / 16))),
    ("rbf(ell=[0.5,1.25])", 2, lambda x, y: mp.exp(-square(x, y, (H(1) / 2, H(5) / 4)) / 2)),
    ("rbf(S=[1,0.5;0.5,2])", 2,
     lambda x, y: mp.exp(-(2 * (x[0] - y[0]) ** 2 - (x[0] - y[0]) * (x[1] - y[1]) + (x[1] - y[1]) ** 2) / H(7) * 4 / 2)),
    ("matern(nu=1.5, ell=0.75)", 1, lambda x, y: matern(H(3) / 2, square(x, y) * 16 / 9)),
    ("matern(nu=1.25, ell=0.75)", 1, lambda x, y: matern(H(5) / 4, square(x, y) * 16 / 9)),
    ("matern(nu=2, ell=0.75)", 1, lambda x, y: matern(H(2), square(x, y) * 16 / 9)),
    ("matern(nu=2.5, ell=0.75)", 2, lambda x, y: matern(H(5) / 2, square(x, y) * 16 / 9)),
    ("matern(nu=2.25, ell=0.75)", 2, lambda x, y: matern(H(9) / 4, square(x, y) * 16 / 9)),
    ("matern(nu=3.5, ell=[0.5,1.25])", 2, lambda x, y: matern(H(7) / 2, square(x, y, (H(1) / 2, H(5) / 4)))),
    ("matern(nu=4, ell=0.75)", 2, lambda x, y: matern(H(4), square(x, y) * 16 / 9)),
    ("matern(nu=7.125, ell=0.75)", 2, lambda x, y: matern(H(57) / 8, square(x, y) * 16 / 9)),
    ("laplace(ell=0.75)", 0, lambda x, y: mp.exp(-mp.sqrt(square(x, y)) * 4 / 3)),
    ("laplace1(ell=0.75)", 0, lambda x, y: mp.exp(-sum(abs(a - b) for a, b in zip(x, y)) * 4 / 3)),
    ("powexp(p=2, ell=0.75)", 2, lambda x, y: mp.exp(-square(x, y) * 16 / 9)),
    ("rq(alpha=1.5, ell=0.75)", 2, lambda x, y: (1 + square(x, y) * 16 / 9 / 3) ** (-H(3) / 2)),
    ("imq(c=0.75, beta=0.5)", 2, lambda x, y: (H(9) / 16 + square(x, y)) ** (-H(1) / 2)),
    ("wendland(k=1, ell=2)", 1, lambda x, y: (1 - mp.sqrt(square(x, y)) / 2) ** 4 * (1 + 2 * mp.sqrt(square(x, y)))),
    ("wendland(k=2, ell=2)", 2, lambda x, y: wendland2(square(x, y) / 4)),
    ("linear(c=0.5)", 2, lambda x, y: dot(x, y) + H(1) / 2),
    ("poly(m=3, c=0.5)", 2, lambda x, y: (dot(x, y) + H(1) / 2) ** 3),
    ("poly(m=6, c=0.5)", 2, lambda x, y: (dot(x, y) + H(1) / 2) ** 6),
    ("monomial(m=5)", 2, lambda x, y: sum(dot(x, y) ** i for i in range(6))),
    ("expdot(s=1.25)", 2, lambda x, y: mp.exp(dot(x, y) * 16 / 25)),
    ("normalize(expdot(s=1.25))", 2, lambda x, y: mp.exp(-square(x, y) * 16 / 50)),
    ("periodic(p=1.5, ell=0.75)", 2,
     lambda x, y: periodic(x[0] - y[0], H(3) / 2, H(3) / 4) * periodic(x[1] - y[1], H(3) / 2, H(3) / 4)),
    ("cosine(p=1.5)", 2,
     lambda x, y: mp.cos(2 * mp.pi * (x[0] - y[0]) / H(1.5)) * mp.cos(2 * mp.pi * (x[1] - y[1]) / H(1.5))),
    ("sinc(B=2)", 2, lambda x, y: sinc(x[0] - y[0], H(2)) * sinc(x[1] - y[1], H(2))),
    ("sinc(B=20)", 2, lambda x, y: sinc(x[0] - y[0], H(20)) * sinc(x[1] - y[1], H(20))),
    ("sobolev(a=2, null=0)", 1, lambda x, y: sobolev(2, x[0], y[0], 0) * sobolev(2, x[1], y[1], 0)),
    ("sobolev(a=3, null=1)", 2, lambda x, y: sobolev(3, x[0], y[0], 1) * sobolev(3, x[1], y[1], 1)),
    ("sobolev(a=4, null=0)", 2, lambda x, y: sobolev(4, x[0], y[0], 0) * sobolev(4, x[1], y[1], 0)),
    ("min()", 0, lambda x, y: min(x[0], y[0]) * min(x[1], y[1])),
    ("2*rbf(ell=0.75) + poly(m=2, c=1)", 2,
     lambda x, y: 2 * mp.exp(-square(x, y) * 8 / 9) + (dot(x, y) + 1) ** 2),
    ("rbf(ell=0.75)*periodic(p=1.5, ell=0.75)*linear(c=1)", 2,
     lambda x, y: mp.exp(-square(x, y) * 8 / 9) * periodic(x[0] - y[0], H(1.5), H(0.75)) *
     periodic(x[1] - y[1], H(1.5), H(0.75)) * (dot(x, y) + 1)),
    ("rq(alpha=1.5, ell=0.75)^3", 2, lambda x, y: (1 + square(x, y) * 16 / 27) ** (-H(9) / 2)),
    ("exp(rbf(ell=0.75) + linear(c=0))", 2, lambda x, y: mp.exp(mp.exp(-square(x, y) * 8 / 9) + dot(x, y))),
    ("on(2, rbf(ell=0.75))*on(1, matern(nu=2.5, ell=0.75))", 2,
     lambda x, y: mp.exp(-(x[1] - y[1]) ** 2 * 8 / 9) * matern(H(5) / 2, (x[0] - y[0]) ** 2 * 16 / 9)),
    ("warp([1,0.5;-0.25,1;0.5,0.5], rbf(ell=0.75))", 2,
     lambda x, y: mp.exp(-sum((sum(m * (a - b) for m, a, b in zip(row, x, y))) ** 2
                              for row in ((1, H(0.5)), (-H(0.25), 1), (H(0.5), H(0.5)))) * 8 / 9)),
    ("normalize(poly(m=3, c=0.5))", 2, normalized(lambda x, y: (dot(x, y) + H(1) / 2) ** 3)),
    ("normalize(2*rbf(ell=0.75) + on(1, linear(c=1)))", 2,
     normalized(lambda x, y: 2 * mp.exp(-square(x, y) * 8 / 9) + x[0] * y[0] + 1)),
    ("centre(rbf(ell=0.75))", 2, centred(lambda x, y: mp.exp(-square(x, y) * 8 / 9))),
    ("rbf(ell=1)*on(2, centre(matern(nu=2.5, ell=0.75)))", 2,
     lambda x, y: mp.exp(-square(x, y) / 2) *
     centred(lambda u, v: matern(H(5) / 2, (u[1] - v[1]) ** 2 * 16 / 9))(x, y)),
    ("normalize(1 + centre(normalize(poly(m=2, c=1))))", 2,
     normalized(lambda x, y: 1 + centred(normalized(lambda u, v: (dot(u, v) + 1) ** 2))(x, y))),
    ("nngp(depth=1, act=erf, sw=1, sb=0.5)", 1, network("erf", H(1) / 2, 0)),
    ("nngp(depth=1, act=relu, sw=1, sb=0.5)", 1, network("relu", H(1) / 2, 0)),
    ("ntk(depth=1, act=erf, sw=1, sb=0.5)", 1, network("erf", H(1) / 2, 1)),
    ("normalize(nngp(depth=1, act=erf, sw=1, sb=0.5))", 1, normalized(network("erf", H(1) / 2, 0))),
]


def stencil(order):
    return {0: [(0, 1)], 1: [(-1, -H(1) / 2), (1, H(1) / 2)], 2: [(-1, 1), (0, -2), (1, 1)]}[order]


def difference(k, x, y, orders, h):
    total = mp.mpf(0)
    for moves in itertools.product(*(stencil(o) for o in orders)):
        weight = mp.mpf(1)
        for m in moves:
            weight *= m[1]
        p = [m[0] * h for m in moves]
        total += weight * k((x[0] + p[0], x[1] + p[1]), (y[0] + p[2], y[1] + p[3]))
    return total / h ** sum(orders)


def derivative(k, x, y, orders):
    """Central differences, extrapolated twice: an error of h^6, and of 1e-90/h^4 from rounding."""
    if sum(orders) == 0:
        return k(x, y)
    with mp.workdps(100):
        h = mp.mpf(10) ** -8
        a, b, c = (difference(k, x, y, orders, h / 2 ** i) for i in range(3))
        ab, bc = (4 * b - a) / 3, (4 * c - b) / 3
        return (16 * bc - ab) / 15


def entry(k, x, y, i, j):
    return sum(derivative(k, x, y, u + v) for u in KINDS[i] for v in KINDS[j])


print("# from make_functionals.py")
for text, order, k in KERNELS:
    print("kernel %d %s" % (order, text))
    for a, b in itertools.product(range(len(POINTS)), repeat=2):
        if a == b:
            continue
        for i, j in itertools.product(range(COUNT[order]), repeat=2):
            print(mp.nstr(entry(k, POINTS[a], POINTS[b], i, j), DIGITS))
