#!/usr/bin/env python3
"""Writes textbook.txt: kernel ridge regression of a parabola, solved in exact rational arithmetic.

    python3 tests/reference/make_textbook.py >tests/reference/textbook.txt

y_i = f(x_i), f(x) = 3 x/2 - 9 x^2/5, at x_i = -0.5 + 0.1 (i - 1), i = 1 .. 11, lambda = 0.1, no intercept, no scaling:
(K + n lambda I) a = y. Two kernels: (x x' + 1)^2, and 0.5 + min(u, u') with u = x + 0.5. Each line has the kernel, the
input as the kernel sees it, y, the coefficient and the fitted value; the line `norm` has the norm of the function.
"""
import math
from fractions import Fraction as F

n, ridge = 11, F(11, 10)  # n lambda
x = [F(-1, 2) + F(i, 10) for i in range(n)]
y = [F(3, 2) * t - F(9, 5) * t * t for t in x]


def solve(matrix, right):
    """Gaussian elimination without rounding."""
    rows = [list(row) + [b] for row, b in zip(matrix, right)]
    for k in range(n):
        pivot = next(i for i in range(k, n) if rows[i][k] != 0)
        rows[k], rows[pivot] = rows[pivot], rows[k]
        for i in range(n):
            if i != k:
                factor = rows[i][k] / rows[k][k]
                rows[i] = [p - factor * q for p, q in zip(rows[i], rows[k])]
    return [rows[k][n] / rows[k][k] for k in range(n)]


def report(name, inputs, kernel):
    gram = [[kernel(s, t) for t in inputs] for s in inputs]
    a = solve([[k + (ridge if i == j else 0) for j, k in enumerate(row)] for i, row in enumerate(gram)], y)
    fitted = [sum(k * c for k, c in zip(row, a)) for row in gram]
    for u, v, c, f in zip(inputs, y, a, fitted):
        print(name, float(u), float(v), repr(float(c)), repr(float(f)))
    print(name, "norm", repr(math.sqrt(float(sum(c * f for c, f in zip(a, fitted))))))


report("poly", x, lambda s, t: (s * t + 1) ** 2)
report("min", [t + F(1, 2) for t in x], lambda s, t: F(1, 2) + min(s, t))
