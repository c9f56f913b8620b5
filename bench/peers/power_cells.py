"""Samples for the power of tests: what bench/power draws, cell by cell.

A cell is a pair of laws that differ in one way, and a size. Differences are chosen for each size so that the best test that is known for
the cell rejects in about 0.5 to 0.9 of samples: nearer to 0 or 1 all tests look alike.
"""

import numpy as np


def normal(rng, n, d):
    return rng.normal(size=(n, d))


def shifted(d):
    """One column of d is shifted."""

    def draw(rng, n, size):
        x, y = normal(rng, n, d), normal(rng, n, d)
        y[:, 0] += size
        return x, y

    return draw


def variance(rng, n, size):
    """Deviations of both columns are multiplied."""
    return normal(rng, n, 2), size * normal(rng, n, 2)


def correlated(rng, n, rho):
    z = normal(rng, n, 2)
    z[:, 1] = rho * z[:, 0] + (1 - rho * rho) ** 0.5 * z[:, 1]
    return z


def correlation(rng, n, size):
    return normal(rng, n, 2), correlated(rng, n, size)


def blobs(rng, n, size):
    """Nine blobs on a grid of step 10, the second sample's correlated within each."""
    x, y = normal(rng, n, 2), correlated(rng, n, size)
    return x + 10 * rng.integers(0, 3, size=(n, 2)), y + 10 * rng.integers(0, 3, size=(n, 2))


def bump(t):
    """A smooth wave on (0, 1), between -1 and 1: up on the first half, down on the second."""
    with np.errstate(divide="ignore", over="ignore"):
        inner = np.where(t < 0.5, 4 * t - 1, 4 * t - 3)
        height = np.where(np.abs(inner) < 1, np.exp(1 - 1 / np.maximum(1 - inner * inner, 1e-300)), 0)
    return np.where(t < 0.5, height, -height)


def perturbed(d, waves):
    """The uniform law on the cube against one with smooth waves of random sign on a grid of `waves` to each side (after Schrab et al. 2023)."""

    def draw(rng, n, size):
        sign = rng.choice([-1, 1], size=(waves,) * d)
        rows = []
        while sum(len(r) for r in rows) < n:
            u = rng.uniform(size=(4 * n, d))
            place = np.minimum((u * waves).astype(int), waves - 1)
            wave = sign[tuple(place.T)] * np.prod(bump(u * waves - place), axis=1)
            rows.append(u[rng.uniform(size=4 * n) * 2 < 1 + size * wave])
        return rng.uniform(size=(n, d)), np.vstack(rows)[:n]

    return draw


def heavy(rng, n, size):
    """Both columns have Student's law with two degrees of freedom, the second sample's are shifted."""
    return rng.standard_t(2, size=(n, 2)), size + rng.standard_t(2, size=(n, 2))


def beside(rng, n, size):
    """One normal column that is shifted beside four of Cauchy's law."""
    x, y = (np.hstack([normal(rng, n, 1), rng.standard_cauchy(size=(n, 4))]) for _ in range(2))
    y[:, 0] += size
    return x, y


# name: what is drawn, and how large the difference is for 50, 200 and 500 rows of each sample
TWO_SAMPLE = {
    "mean, 1 column": (shifted(1), (0.50, 0.25, 0.16)),
    "mean, 1 of 10 columns": (shifted(10), (0.80, 0.40, 0.25)),
    "mean, 1 of 50 columns": (shifted(50), (1.20, 0.60, 0.37)),
    "variance, 2 columns": (variance, (1.45, 1.20, 1.125)),
    "correlation, 2 columns": (correlation, (0.60, 0.40, 0.27)),
    "blobs": (blobs, (0.97, 0.90, 0.70)),
    "perturbed uniform, 1 column": (perturbed(1, 2), (1.00, 0.60, 0.40)),
    "perturbed uniform, 2 columns": (perturbed(2, 2), (1.00, 1.00, 0.80)),
    "heavy tails, 2 columns": (heavy, (0.50, 0.25, 0.16)),
    "shift beside 4 Cauchy columns": (beside, (0.70, 0.35, 0.22)),
}
SIZES = (50, 200, 500)


# ---- two groups of columns, row by row ----


def waves(periods, noise):
    def draw(rng, n):
        x = rng.uniform(-1, 1, size=(n, 1))
        return x, np.sin(np.pi * periods * x) + noise * normal(rng, n, 1)

    return draw


def circle(noise):
    def draw(rng, n):
        a = rng.uniform(0, 2 * np.pi, size=(n, 1))
        return np.cos(a) + noise * normal(rng, n, 1), np.sin(a) + noise * normal(rng, n, 1)

    return draw


def line(slope):
    def draw(rng, n):
        x = normal(rng, n, 1)
        return x, slope * x + normal(rng, n, 1)

    return draw


def parabola(size):
    def draw(rng, n):
        x = normal(rng, n, 1)
        return x, size * x * x + normal(rng, n, 1)

    return draw


def uneven(rng, n):
    """The deviation of y grows with |x|: no correlation."""
    x = normal(rng, n, 1)
    return x, (0.5 + np.abs(x)) * normal(rng, n, 1)


def checkerboard(fields, noise):
    """Fields of one colour on a board of fields x fields."""

    def draw(rng, n):
        a = rng.integers(0, fields, size=n)
        b = rng.integers(0, fields // 2, size=n) * 2 + a % 2
        return tuple((v + rng.uniform(size=n) + noise * rng.normal(size=n))[:, None] for v in (a, b))

    return draw


def one_of_five(rng, n):
    x = normal(rng, n, 5)
    return x, np.hstack([np.sin(2 * x[:, :1]) + 0.7 * normal(rng, n, 1), normal(rng, n, 4)])


INDEPENDENCE = {
    "line, slope 0.3": line(0.3),
    "parabola": parabola(0.4),
    "sine of one period": waves(1, 2.0),
    "sine of four periods": waves(4, 1.0),
    "circle": circle(0.4),
    "checkerboard of four fields": checkerboard(4, 0.2),
    "uneven noise": uneven,
    "one of five columns": one_of_five,
}
INDEPENDENCE_SIZES = (50, 200)

# ---- draws against the standard normal law of as many columns ----

FIT = {
    "shift 0.15 of each of 5 columns": lambda rng, n: 0.15 + normal(rng, n, 5),
    "deviation 0.85, 5 columns": lambda rng, n: 0.85 * normal(rng, n, 5),
    "Student's law, 5 degrees, 5 columns": lambda rng, n: rng.standard_t(5, size=(n, 5)),
    "correlation 0.35, 2 columns": lambda rng, n: correlated(rng, n, 0.35),
    "two modes of the same variance, 1 column": lambda rng, n: 0.8 * rng.choice([-1, 1], size=(n, 1)) + 0.6 * normal(rng, n, 1),
}
FIT_SIZE = 200


# ---- what has no difference ----


def levels(rng, n):
    """Three categories as columns of 0 and 1."""
    return np.eye(3)[rng.integers(0, 3, size=n)]


def given(rng, n):
    z = normal(rng, n, 1)
    return np.sin(2 * z) + 0.5 * normal(rng, n, 1), z * z + 0.5 * normal(rng, n, 1), z


def given_level(rng, n):
    c = rng.integers(0, 3, size=n)
    return (c == 1)[:, None] + normal(rng, n, 1), (c == 2)[:, None] + normal(rng, n, 1), np.eye(3)[c]


def walk(rng, n):
    """A stationary chain whose law is the standard normal one."""
    x = [rng.normal()]
    for _ in range(n - 1):
        x.append(0.6 * x[-1] + 0.8 * rng.normal())
    return np.array(x)[:, None]


# name: the test, what is drawn, rows
NULLS = {
    "two samples, normal, 2 columns": ("two", lambda rng, n: (normal(rng, n, 2), normal(rng, n, 2)), 30),
    "two samples, Cauchy, 3 columns, 20 and 40 rows": (
        "two", lambda rng, n: (rng.standard_cauchy(size=(20, 3)), rng.standard_cauchy(size=(40, 3))), 30),
    "two samples, whole numbers 0 to 3": (
        "two", lambda rng, n: (rng.integers(0, 4, size=(n, 2)), rng.integers(0, 4, size=(n, 2))), 30),
    "two samples, three categories": ("two", lambda rng, n: (levels(rng, n), levels(rng, n)), 30),
    "independence, normal": ("independence", lambda rng, n: (normal(rng, n, 2), normal(rng, n, 1)), 40),
    "independence, whole numbers": (
        "independence", lambda rng, n: (rng.integers(0, 4, size=(n, 1)), rng.integers(0, 4, size=(n, 1))), 40),
    "independence, category and number": ("independence", lambda rng, n: (levels(rng, n), normal(rng, n, 1)), 40),
    "fit, normal, 2 columns": ("fit", lambda rng, n: normal(rng, n, 2), 60),
    "fit of a chain, correlation 0.6": ("chain", walk, 300),
    "given a column, sin 2z and z^2": ("given", given, 80),
    "given a category of three levels": ("given", given_level, 80),
}
