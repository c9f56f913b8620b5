#!/usr/bin/python3
"""Writes logistic.txt: kernel logistic regression solved slowly (scipy), for tests/unit/test_method_logistic.c.

The objective is minimised over all coefficients and constants by BFGS and then by Newton steps on the whole Hessian, which knows nothing of
the structure that gram uses. One block each: kernel's text, n, d, classes, lambda, intercept, softmax, the points, the labels, the
weights, the least objective, the probabilities of all classes at every point.
"""

import numpy as np
from scipy.optimize import minimize

GOLDEN = 0.6180339887498949


def sequence(count, first):
    return np.mod(GOLDEN * np.arange(first, first + count), 1)


def rbf(x, ell):
    return np.exp(-((x[:, None, :] - x[None, :, :]) ** 2).sum(2) / (2 * ell * ell))


def log_softmax(f):
    top = f.max(1, keepdims=True)
    return f - top - np.log(np.exp(f - top).sum(1, keepdims=True))


def latent(v, k, outputs, intercept):
    n = len(k)
    a = v[: n * outputs].reshape(n, outputs)
    b = v[n * outputs :] if intercept else np.zeros(outputs)
    return a, k @ a + b


def whole(f, outputs):
    return np.hstack([np.zeros_like(f), f]) if outputs == 1 else f


def objective(v, k, label, w, lam, outputs, intercept):
    n = len(k)
    a, f = latent(v, k, outputs, intercept)
    logs = log_softmax(whole(f, outputs))
    return -(w * logs[np.arange(n), label]).sum() / n + lam * (a * (k @ a)).sum()


def gradient(v, k, label, w, lam, outputs, intercept):
    n = len(k)
    a, f = latent(v, k, outputs, intercept)
    p = np.exp(log_softmax(whole(f, outputs)))
    p[np.arange(n), label] -= 1
    g = (w[:, None] * p)[:, -outputs:] / n
    ga = k @ g + 2 * lam * k @ a
    return np.concatenate([ga.ravel(), g.sum(0)]) if intercept else ga.ravel()


def solve(k, label, w, lam, outputs, intercept):
    args = (k, label, w, lam, outputs, intercept)
    v = np.zeros(len(k) * outputs + (outputs if intercept else 0))
    v = minimize(objective, v, args, jac=gradient, method="BFGS", options={"gtol": 1e-9, "maxiter": 20000}).x
    for _ in range(6):  # Newton by differences of the gradient; the pseudo-inverse takes care of the free shift
        h = 1e-5
        hessian = np.array([(gradient(v + h * e, *args) - gradient(v - h * e, *args)) / (2 * h) for e in np.eye(len(v))])
        v = v - np.linalg.pinv((hessian + hessian.T) / 2, rcond=1e-11) @ gradient(v, *args)
    return v, objective(v, *args), np.abs(gradient(v, *args)).max()


def block(n, d, classes, lam, ell, intercept, softmax):
    x = sequence(n * d, 3).reshape(n, d) * 2
    noise = sequence(n, 1000)
    score = np.sin(3 * x[:, 0]) + (x[:, 1] if d > 1 else 0) + noise
    label = np.searchsorted(np.quantile(score, np.arange(1, classes) / classes), score)
    w = 0.5 + sequence(n, 77)
    outputs = 1 if classes == 2 and not softmax else classes
    k = rbf(x, ell)
    v, least, left = solve(k, label, w, lam, outputs, intercept)
    assert left < 1e-9, left
    p = np.exp(log_softmax(whole(latent(v, k, outputs, intercept)[1], outputs)))
    print(f"rbf(ell={ell})")
    print(n, d, classes, lam, intercept, softmax)
    for row in (x.ravel(), label, w, [least], p.ravel()):
        print(" ".join(repr(float(number)) for number in row))


for settings in [
    (24, 2, 2, 1e-2, 0.8, 1, 0),
    (24, 2, 2, 1e-3, 0.8, 0, 0),
    (20, 1, 2, 1e-2, 0.3, 1, 1),
    (21, 2, 3, 1e-2, 0.8, 1, 0),
    (20, 2, 4, 3e-3, 0.5, 0, 0),
]:
    block(*settings)
