#!/usr/bin/python3
"""Writes loss.txt: the least objective of regression with each loss, by a general solver (scipy's SLSQP), for test_method_loss.c.

Slacks stand for the kinks of the loss: minimise (1/n) sum_i w_i (cost of slacks) + lambda a'Ka under linear inequalities; coefficients through a root of K,
so that the problem is well conditioned. One block each: kind (its number in loss.h), n, lambda, intercept, delta, epsilon, number of levels, levels,
non-crossing; x; y; w; the least objective, summed over levels.
"""

import numpy as np
from scipy.optimize import minimize

GOLDEN = 0.6180339887498949
N, ELL = 14, 0.4


def sequence(count, first):
    return np.mod(GOLDEN * np.arange(first, first + count), 1)


X = 2 * sequence(N, 1)
Y = np.sin(3 * X) + 0.8 * (sequence(N, 50) - 0.5)
Y[3] += 2
W = 0.5 + sequence(N, 90)
K = np.exp(-((X[:, None] - X[None, :]) ** 2) / (2 * ELL * ELL))
VALUES, VECTORS = np.linalg.eigh(K)
KEEP = VALUES > 1e-13 * VALUES[-1]
ROOT = VECTORS[:, KEEP] * np.sqrt(VALUES[KEEP])
R = ROOT.shape[1]


def levels_of(kind, levels):
    return levels if kind == 3 else [0.5]


def solve(kind, lam, intercept, delta, epsilon, levels, non_crossing):
    """v = for each level: R coefficients, constant, N slacks above, N slacks below."""
    levels = levels_of(kind, levels)
    size = R + 1 + 2 * N

    def split(v, t):
        u = v[t * size : (t + 1) * size]
        return u[:R], u[R] * intercept, u[R + 1 : R + 1 + N], u[R + 1 + N :]

    def prices(t):  # of a unit above and below
        return {1: (1, 1), 2: (2 * delta, 2 * delta), 3: (levels[t], 1 - levels[t]), 4: (1, 1)}[kind]

    def objective(v):
        total = 0
        for t in range(len(levels)):
            g, b, up, down = split(v, t)
            above, below = prices(t)
            total += (W * (above * up + below * down)).sum() / N + lam * g @ g
            if kind == 2:  # Huber: (r - up + down)^2 besides
                rest = Y - ROOT @ g - b - up + down
                total += (W * rest * rest).sum() / N
        return total

    def gradient(v):
        out = np.zeros_like(v)
        for t in range(len(levels)):
            g, b, up, down = split(v, t)
            above, below = prices(t)
            at = t * size
            out[at : at + R] = 2 * lam * g
            out[at + R + 1 : at + R + 1 + N] = above * W / N
            out[at + R + 1 + N : at + size] = below * W / N
            if kind == 2:
                slope = 2 * W * (Y - ROOT @ g - b - up + down) / N
                out[at : at + R] -= ROOT.T @ slope
                out[at + R] -= intercept * slope.sum()
                out[at + R + 1 : at + R + 1 + N] -= slope
                out[at + R + 1 + N : at + size] += slope
        return out

    rows, right = [], []
    for t in range(len(levels)):
        for i in range(N):
            for sign in (1, -1):  # slack >= sign (y - f) - epsilon
                if kind == 2:
                    continue
                row = np.zeros(len(levels) * size)
                row[t * size : t * size + R] = sign * ROOT[i]
                row[t * size + R] = sign * intercept
                row[t * size + R + 1 + i + (0 if sign > 0 else N)] = 1
                rows.append(row)
                right.append(-sign * Y[i] + (epsilon if kind == 4 else 0))
            if non_crossing and t + 1 < len(levels):
                row = np.zeros(len(levels) * size)
                for step, sign in ((0, -1), (1, 1)):
                    at = (t + step) * size
                    row[at : at + R] = sign * ROOT[i]
                    row[at + R] = sign * intercept
                rows.append(row)
                right.append(0)
    constraints = []
    if rows:
        a, b = np.array(rows), np.array(right)
        constraints = [{"type": "ineq", "fun": lambda v: a @ v + b, "jac": lambda v: a}]
    bounds = ([(None, None)] * (R + 1) + [(0, None)] * (2 * N)) * len(levels)
    start = np.concatenate([np.zeros(R + 1), np.full(2 * N, 3.0)] * len(levels))
    for _ in range(8):
        found = minimize(objective, start, jac=gradient, bounds=bounds, constraints=constraints, method="SLSQP",
                         options={"ftol": 1e-15, "maxiter": 5000})
        start = found.x
    return found.fun


for settings in [
    (1, 1e-2, 1, 1, 0.1, [], 0),
    (1, 1e-3, 0, 1, 0.1, [], 0),
    (2, 1e-2, 1, 0.3, 0.1, [], 0),
    (3, 1e-2, 1, 1, 0.1, [0.3], 0),
    (4, 1e-2, 1, 1, 0.2, [], 0),
    (4, 1e-3, 0, 1, 0.05, [], 0),
    (3, 1e-3, 1, 1, 0.1, [0.2, 0.4, 0.7], 0),
    (3, 1e-3, 1, 1, 0.1, [0.2, 0.4, 0.7], 1),
]:
    kind, lam, intercept, delta, epsilon, levels, non_crossing = settings
    print(kind, N, lam, intercept, delta, epsilon, len(levels), *levels, non_crossing)
    for row in (X, Y, W, [solve(*settings)]):
        print(" ".join(repr(float(number)) for number in row))
