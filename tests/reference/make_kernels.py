#!/usr/bin/python3
"""Writes tables of kernels evaluated with 50 digits at stored points, for tests/unit/test_engine_reference.c.

Not run by the tests (they read the committed tables only); needs python3-mpmath:

    /usr/bin/python3 make_kernels.py > kernels.txt
    /usr/bin/python3 make_kernels.py dot_dist > kernels_dot_dist.txt

What is tested. A kernel is k(s), s the form of the stored points (squared distance, L1 distance, inner product ...), all
numbers taken as the exact doubles that they are. A computed k may be off by

    |k - ref| <= 4e-15 e,    e = |k| + |s k'(s)|,    that is  4e-15 (1 + |s k'(s)/k(s)|) |k|:

a few roundings of k itself and a few of s. The table holds e/|k| for each pair. For composites the rule is applied to the
terms and carried through to first order, where each operation adds nothing of its own beyond what the 1 in the rule
covers many times over:

    a + b:  e = e_a + e_b            a * b:  e = |a| e_b + |b| e_a            a ^ m:  e = m |a|^(m-1) e_a

const has e = k, white e = 0 (exact). min is its own form (the product over coordinates), profile the identity: e = 2 k.

The rule speaks of s with a relative error, so a form must not be cancelled away: for inner products only sets of points
are used where |x.y| >= 0.1 sum_l |x_l y_l| (else a test of dot products would ask for more than any summation gives).
S has a condition number below 10 for the same reason. Squared and L1 distances are sums of positive terms and need no
such care, near pairs included. Kernels with a value outside 1e-290 ... 1e290 on their points are left out (min in 200
dimensions at a scale of 1e3, for one): nothing here overflows or underflows.

Format, one item per line, '#' starts a comment:
    points NAME N D         then N lines of D hexadecimal floats
    kernel NAME EXPRESSION  kernel on those points; then the pairs (0,0) (1,0) (1,1) (2,0) ... of the lower triangle,
                            one per line: k with 26 digits, and e/|k| (0 where the value must be exact)
"""
import random
import sys

import mpmath as mp

mp.mp.dps = 50
DIGITS = 26


# ---- expressions: each has text() and pair(x, y, same) -> (k, e) ----

class Leaf:
    def __init__(self, text, function):
        self._text, self._function = text, function

    def text(self):
        return self._text

    def pair(self, x, y, same):
        return self._function(x, y, same)


class Sum:
    def __init__(self, *terms):
        self.terms = terms

    def text(self):
        return " + ".join(t.text() for t in self.terms)

    def pair(self, x, y, same):
        pairs = [t.pair(x, y, same) for t in self.terms]
        return mp.fsum(k for k, _ in pairs), mp.fsum(e for _, e in pairs)


class Product:
    def __init__(self, *factors):
        self.factors = factors

    def text(self):
        return "*".join("(%s)" % f.text() if isinstance(f, Sum) else f.text() for f in self.factors)

    def pair(self, x, y, same):
        k, e = mp.mpf(1), mp.mpf(0)
        for f in self.factors:
            kf, ef = f.pair(x, y, same)
            k, e = k * kf, abs(k) * ef + abs(kf) * e
        return k, e


class Power:
    def __init__(self, base, m):
        self.base, self.m = base, m

    def text(self):
        inner = self.base.text()
        return ("%s^%d" if isinstance(self.base, Leaf) else "(%s)^%d") % (inner, self.m)

    def pair(self, x, y, same):
        k, e = self.base.pair(x, y, same)
        return k ** self.m, self.m * abs(k) ** (self.m - 1) * e


class On:
    def __init__(self, columns, inner):  # from 1, a list of single columns or (first, last)
        self.columns, self.inner = columns, inner

    def text(self):
        parts = ["%d:%d" % c if isinstance(c, tuple) else "%d" % c for c in self.columns]
        return "on(%s, %s)" % (",".join(parts), self.inner.text())

    def pair(self, x, y, same):
        chosen = []
        for c in self.columns:
            chosen += range(c[0] - 1, c[1]) if isinstance(c, tuple) else [c - 1]
        return self.inner.pair([x[c] for c in chosen], [y[c] for c in chosen], same)


def number(value):
    """What a kernel expression says for a double, and the exact number."""
    return repr(float(value)), mp.mpf(float(value))


def length(ell):
    """Text and exact values of one length-scale or a list."""
    if isinstance(ell, list):
        pairs = [number(e) for e in ell]
        return "[%s]" % ",".join(t for t, _ in pairs), [v for _, v in pairs]
    text, value = number(ell)
    return text, value


def scaled(x, y, ell):
    ells = ell if isinstance(ell, list) else [ell] * len(x)
    return [(a - b) / l for a, b, l in zip(x, y, ells)]


def constant(c):
    text, value = number(c)
    return Leaf(text, lambda x, y, same: (value, value))


def white():
    return Leaf("white()", lambda x, y, same: (mp.mpf(same), mp.mpf(0)))


def gauss(z):  # k = exp(-z/2), z k' = -z k/2
    k = mp.exp(-z / 2)
    return k, k * (1 + z / 2)


def rbf(ell):
    text, value = length(ell)
    return Leaf("rbf(ell=%s)" % text, lambda x, y, same: gauss(mp.fsum(t * t for t in scaled(x, y, value))))


def rbf_covariance(matrix):
    d = len(matrix)
    s = mp.matrix([[mp.mpf(float(v)) for v in row] for row in matrix])
    inverse = s ** -1
    text = ";".join(",".join("%g" % v for v in row) for row in matrix)

    def pair(x, y, same):
        t = [a - b for a, b in zip(x, y)]
        return gauss(mp.fsum(t[i] * mp.fsum(inverse[i, j] * t[j] for j in range(d)) for i in range(d)))

    return Leaf("rbf(S=[%s])" % text, pair)


def laplace1(ell):
    text, value = length(ell)

    def pair(x, y, same):
        s = mp.fsum(abs(t) for t in scaled(x, y, value))
        return mp.exp(-s), mp.exp(-s) * (1 + s)

    return Leaf("laplace1(ell=%s)" % text, pair)


def matern(nu, ell):
    text, value = length(ell)

    def pair(x, y, same):
        z = mp.fsum(t * t for t in scaled(x, y, value))
        a = mp.sqrt(2 * mp.mpf(nu) * z)
        decay = mp.exp(-a)
        if nu == 0.5:  # z dk/dz = -a/2 e^-a
            return decay, decay * (1 + a / 2)
        if nu == 1.5:  # z dk/dz = -3/2 z e^-a
            k = (1 + a) * decay
            return k, k + 3 * z / 2 * decay
        k = (1 + a + a * a / 3) * decay
        return k, k + 5 * z / 6 * (1 + a) * decay

    return Leaf("matern(nu=%g, ell=%s)" % (nu, text), pair)


def poly(m, c):
    text, value = number(c)

    def pair(x, y, same):
        s = mp.fsum(a * b for a, b in zip(x, y))
        k = (s + value) ** m
        return k, abs(k) + abs(s * m * (s + value) ** (m - 1))

    return Leaf("poly(m=%d, c=%s)" % (m, text), pair)


def minimum(o):
    text, value = number(o)

    def pair(x, y, same):
        k = mp.fprod(min(a, b) - value for a, b in zip(x, y))
        return k, 2 * k

    return Leaf("min()" if o == 0 else "min(o=%s)" % text, pair)


# ---- more kernels of inner products and distances: profile(z) -> (k, |z k'(z)|) ----

def of_dot(text, profile):
    def pair(x, y, same):
        k, moved = profile(mp.fsum(a * b for a, b in zip(x, y)))
        return k, abs(k) + abs(moved)

    return Leaf(text, pair)


def of_square(text, ell, profile):
    def pair(x, y, same):
        k, moved = profile(mp.fsum(t * t for t in scaled(x, y, ell)))
        return k, abs(k) + abs(moved)

    return Leaf(text, pair)


def linear(c):
    text, value = number(c)
    return of_dot("linear(c=%s)" % text, lambda s: (s + value, s))


def monomial(m):
    return of_dot("monomial(m=%d)" % m, lambda s: (mp.fsum(s ** i for i in range(m + 1)),
                                                  mp.fsum(i * s ** i for i in range(1, m + 1))))


def expdot(scale):
    text, value = number(scale)
    return of_dot("expdot(s=%s)" % text, lambda s: (mp.exp(s / value ** 2), mp.exp(s / value ** 2) * s / value ** 2))


def sigmoid(a, c):
    (text_a, slope), (text_c, shift) = number(a), number(c)
    return of_dot("sigmoid(a=%s, c=%s)" % (text_a, text_c),
                  lambda s: (mp.tanh(slope * s + shift), slope * s * mp.sech(slope * s + shift) ** 2))


def intpow():
    return of_dot("intpow()", lambda s: (mp.mpf(2) ** s, s * mp.log(2) * mp.mpf(2) ** s))


def laplace(ell):
    text, value = length(ell)
    return of_square("laplace(ell=%s)" % text, value,
                     lambda z: (mp.exp(-mp.sqrt(z)), mp.sqrt(z) / 2 * mp.exp(-mp.sqrt(z))))


def powexp(p, ell):
    (text_p, power), (text, value) = number(p), length(ell)

    def profile(z):
        w = z ** (power / 2)
        return mp.exp(-w), power / 2 * w * mp.exp(-w)

    return of_square("powexp(p=%s, ell=%s)" % (text_p, text), value, profile)


def rq(alpha, ell):
    (text_a, a), (text, value) = number(alpha), length(ell)
    return of_square("rq(alpha=%s, ell=%s)" % (text_a, text), value,
                     lambda z: ((1 + z / (2 * a)) ** -a, z / 2 * (1 + z / (2 * a)) ** (-a - 1)))


def imq(c, beta):
    (text_c, value), (text_b, b) = number(c), number(beta)
    return of_square("imq(c=%s, beta=%s)" % (text_c, text_b), mp.mpf(1),
                     lambda z: ((value ** 2 + z) ** -b, b * z * (value ** 2 + z) ** (-b - 1)))


def wendland(k, ell):
    """phi_(d,k) by its definition: k times the operator I f(r) = int_r^1 t f(t) dt on (1 - r)^l, divided by the value at
    0. Polynomials in powers of r, lowest first."""
    text, value = length(ell)

    def pair(x, y, same):
        d = len(x)
        l = d // 2 + k + 1
        with mp.workdps(100 + d):  # the terms cancel near r = 1
            p = [mp.mpf((-1) ** j) * mp.binomial(l, j) for j in range(l + 1)]
            for _ in range(k):
                raised = [mp.mpf(0), mp.mpf(0)] + [c / (j + 2) for j, c in enumerate(p)]
                p = [-c for c in raised]
                p[0] = mp.fsum(raised)
            r = mp.sqrt(mp.fsum(t * t for t in scaled(x, y, value)))
            if r >= 1:
                return mp.mpf(0), mp.mpf(0)
            phi = mp.fsum(c * r ** j for j, c in enumerate(p)) / p[0]
            moved = mp.fsum(c * j * r ** j for j, c in enumerate(p)) / (2 * p[0])  # z dk/dz = r dk/dr / 2
            return phi, phi + abs(moved)

    return Leaf("wendland(k=%d, ell=%s)" % (k, text), pair)


# ---- points ----

def point_set(rng, d, scale, signed):
    """Five points: one, one near it, one that differs in a single coordinate, one at a typical distance, a copy of it
    moved further."""
    def draw():
        return [scale * (rng.uniform(0.2, 1) if not signed else rng.uniform(-0.4, 1)) for _ in range(d)]
    first, other = draw(), draw()
    near = [v + scale * 1e-4 * rng.uniform(-1, 1) for v in first]
    single = list(first)
    single[rng.randrange(d)] += 0.37 * scale
    far = [v * rng.uniform(1.5, 2.5) for v in other]
    return [first, near, single, other, far]


def cluster_set(rng, d, scale):
    """Five points within 1e-5 of their norm of each other."""
    centre = [scale * rng.uniform(0.2, 1) for _ in range(d)]
    return [[v + 1e-5 * scale * rng.uniform(-1, 1) for v in centre] for _ in range(5)]


def shell_set(rng, d):
    """Two groups far apart, with pairs inside each at 0.07, 0.02 and 0.005 of the squared distance D between them: at
    d > 64 squared distances may come from inner products, where the subtraction costs digits for just such pairs. With
    the length-scales below every digit of s counts: D/ell^2 = 1000."""
    a, b = ([rng.uniform(-1, 1) for _ in range(d)] for _ in range(2))
    square = sum((u - v) ** 2 for u, v in zip(a, b))

    def moved(p, share):
        step = [rng.uniform(-1, 1) for _ in range(d)]
        f = (share * square / sum(t * t for t in step)) ** 0.5
        return [v + f * t for v, t in zip(p, step)]

    return [a, moved(a, 0.07), moved(a, 0.02), b, moved(b, 0.005)], (square / 1000) ** 0.5


def dots_are_safe(points):
    for x in points:
        for y in points:
            terms = [mp.mpf(a) * mp.mpf(b) for a, b in zip(x, y)]
            if abs(mp.fsum(terms)) < 0.1 * mp.fsum(abs(t) for t in terms):
                return False
    return True


# ---- which kernels on which points ----

def distances(scale, d, rng, ells=(0.3, 2.0)):
    """Every stationary kernel, length-scales in units of the typical distance."""
    unit = scale * d ** 0.5
    ard = [unit * rng.choice([0.5, 0.7, 1.3, 2.9]) for _ in range(d)]
    ard1 = [scale * d * rng.choice([0.5, 0.7, 1.3, 2.9]) for _ in range(d)]
    for f in ells:
        yield rbf(float("%.3g" % (unit * f)))
        yield laplace1(float("%.3g" % (scale * d * f)))
        yield matern(1.5, float("%.3g" % (unit * f)))
    yield matern(0.5, float("%.3g" % (unit * 0.7)))
    yield matern(2.5, float("%.3g" % (unit * 0.7)))
    if d > 1:
        ard = [float("%.3g" % a) for a in ard]
        ard1 = [float("%.3g" % a) for a in ard1]
        yield rbf(ard)
        yield laplace1(ard1)
        yield matern(rng.choice([0.5, 1.5]), ard)
        yield matern(2.5, ard)


def banded(scale, d):
    return [[float("%.3g" % (scale * scale * (d if i == j else d * 0.3 if abs(i - j) == 1 else 0))) for j in range(d)]
            for i in range(d)]


def products(scale, d):
    square = float("%.3g" % (scale * scale * d))
    yield poly(1, 0)
    yield poly(2, 1)
    yield poly(3, square)
    yield poly(4, 0.3)
    yield poly(5, 0)


def minima(points, scale):
    least = min(min(p) for p in points)
    if least >= 0:
        yield minimum(0)
    yield minimum(float("%.3g" % (least - 0.3 * scale)))


def composites(scale, d, points, safe):
    unit = float("%.3g" % (scale * d ** 0.5))
    yield Sum(Product(constant(2), rbf(unit)), Product(constant(0.5), matern(2.5, 2 * unit)), constant(0.1))
    yield Sum(Product(rbf(0.7 * unit), matern(0.5, 3 * unit)), Product(constant(0.01), white()))
    yield Power(Sum(laplace1(unit * 3), constant(0.25)), 3)
    if safe:
        yield Product(Power(Sum(rbf(unit), poly(2, 1)), 2), laplace1(float("%.3g" % (scale * d))))
    yield Product(minimum(float("%.3g" % (min(min(p) for p in points) - scale))), rbf(unit)) if d <= 10 else \
        Power(rbf(unit), 4)
    if d >= 2:
        yield Sum(On([1], rbf(scale)), Product(On([(2, d)], matern(1.5, unit)), On([d, 1], laplace1([scale, 2 * scale]))))
    if d >= 10:
        inner = Sum(On([3, 1], matern(2.5, [scale, 3 * scale])), Product(constant(0.2), white()))
        yield Product(constant(3), Power(Sum(inner, On([(d - 6, d)], On([7, 2], rbf(unit)))), 2))


def show_points(name, points):
    print("points %s %d %d" % (name, len(points), len(points[0])))
    for p in points:
        print(" ".join(v.hex() for v in p))


def show_kernel(name, kernel, points):
    exact = [[mp.mpf(v) for v in p] for p in points]
    pairs = [kernel.pair(exact[i], exact[j], int(i == j)) for i in range(len(points)) for j in range(i + 1)]
    if any(k != 0 and not mp.mpf("1e-290") < abs(k) < mp.mpf("1e290") for k, _ in pairs):
        return
    print("kernel %s %s" % (name, kernel.text()))
    for k, e in pairs:
        ratio = e / abs(k) if k != 0 else mp.mpf(0)
        print("%s %.4g" % (mp.nstr(k, DIGITS, min_fixed=1, max_fixed=0), float(ratio)))


def short(value):
    return float("%.3g" % value)


def more_distances(scale, d, rng):
    """The same for the others, with exponents and alpha from small to large."""
    unit = scale * d ** 0.5
    ard = [short(unit * rng.choice([0.5, 0.7, 1.3, 2.9])) for _ in range(d)]
    for f in (0.05, 2.0):
        yield laplace(short(unit * f))
        yield rq(0.3, short(unit * f))
        yield powexp(1.5, short(unit * f))
    for p in (0.1, 1, 2):
        yield powexp(p, short(unit * 0.7))
    for alpha in (0.5, 1, 2.5, 30, 1e4, 1e9, 1e17):
        yield rq(alpha, short(unit * 0.3))
    for f, beta in ((1, 0.5), (0.01, 0.5), (0.3, 1), (0.7, 0.25), (0.1, 3.7), (1.7, 40)):
        yield imq(short(unit * f), beta)
    for k in (0, 1, 2):
        yield wendland(k, short(unit * 0.7))
        yield wendland(k, short(unit * 30))
    if 1 < d < 64:
        yield laplace(ard)
        yield powexp(0.7, ard)
        yield rq(11, ard)
        yield wendland(2, ard)


def more_products(scale, d, points):
    square = scale * scale * d
    yield linear(0)
    yield linear(short(square))
    if scale < 100:
        for m in (1, 2, 3, 8, 33):
            yield monomial(m)
    for f in (0.1, 1, 4):
        yield expdot(short(f * square ** 0.5))
    for f, c in ((1, 0), (0.2, -1), (-0.5, 0.1), (3, 2), (1e-9, 0), (30, 0)):
        yield sigmoid(short(f / square), c)


def negated(points):
    """Every second point mirrored, so that inner products have both signs."""
    return [[-v for v in p] if i % 2 else p for i, p in enumerate(points)]


def dot_dist():
    print("# More reference values, written by make_kernels.py dot_dist, which explains the format and the rule.")
    for d, scale in [(1, 1e-6), (1, 1.0), (1, 1e3), (3, 0.3), (3, 1e3), (10, 1.0), (70, 1.0)]:
        rng = random.Random("dot dist %d %g" % (d, scale))
        name = "d%d_%g" % (d, scale)
        points = point_set(rng, d, scale, False)
        show_points(name, points)
        for kernel in list(more_distances(scale, d, rng)) + list(more_products(scale, d, points)):
            show_kernel(name, kernel, points)
        show_points(name + "_negated", negated(points))
        for kernel in more_products(scale, d, points):
            show_kernel(name + "_negated", kernel, negated(points))
    for d in (3, 70):
        rng = random.Random("dot dist cluster %d" % d)
        points = cluster_set(rng, d, 1.0)
        show_points("cluster%d" % d, points)
        for kernel in more_distances(1e-5, d, rng):
            show_kernel("cluster%d" % d, kernel, points)
    points = [[0.0, 0.0], [1.0, 2.0], [3.0, 5.0], [25.0, 3.0], [0.0, 29.0]]
    show_points("whole", points)
    show_kernel("whole", intpow(), points)


def main():
    print("# Reference values of kernels, written by make_kernels.py, which explains the format and the rule.")
    for d, scale, signed in [(1, 1e-6, False), (1, 1.0, True), (1, 1e3, False), (2, 1.0, False), (2, 1e3, True),
                             (3, 1e-6, True), (3, 1.0, False), (10, 1.0, True), (10, 1e3, False), (70, 1.0, True),
                             (70, 1e-6, False), (200, 1.0, False), (200, 1e3, True)]:
        rng = random.Random("gram %d %g" % (d, scale))
        name = "d%d_%g%s" % (d, scale, "_signed" if signed else "")
        points = point_set(rng, d, scale, signed)
        if d == 200 and signed:
            points.pop(1)  # to keep the table small
        safe = dots_are_safe(points)
        show_points(name, points)
        kernels = list(distances(scale, d, rng))
        if safe:
            kernels += products(scale, d)
        kernels += minima(points, scale)
        kernels += composites(scale, d, points, safe)
        if d in (2, 3, 10) or (d == 70 and scale == 1.0):
            kernels.append(rbf_covariance(banded(scale, d)))
        if d > 64:  # long lists of length-scales and long products are written once
            kernels = [k for k in kernels if len(k.text()) < 600 or not signed or "S=" in k.text()]
        for kernel in kernels:
            show_kernel(name, kernel, points)
    for d, scale in [(1, 1.0), (3, 1e3), (10, 1.0), (70, 1.0), (200, 1.0)]:
        rng = random.Random("cluster %d" % d)
        name = "cluster%d" % d
        points = cluster_set(rng, d, scale)
        show_points(name, points)
        for kernel in distances(1e-5 * scale, d, rng, ells=(0.8,)):
            if len(kernel.text()) < 1200:
                show_kernel(name, kernel, points)
    for d in (70, 100):
        rng = random.Random("shell %d" % d)
        name = "shell%d" % d
        points, ell = shell_set(rng, d)
        show_points(name, points)
        ell = float("%.3g" % ell)
        for kernel in [rbf(ell), matern(0.5, 0.2 * ell), matern(1.5, 0.2 * ell), matern(2.5, 0.2 * ell), Power(rbf(2 * ell), 3)]:
            show_kernel(name, kernel, points)
        if d == 70:
            show_kernel(name, rbf([float("%.3g" % (ell * rng.choice([0.9, 1, 1.4]))) for _ in range(d)]), points)


if __name__ == "__main__":
    dot_dist() if sys.argv[1:] == ["dot_dist"] else main()
