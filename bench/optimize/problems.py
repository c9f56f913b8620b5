"""The problems on which gram optimize is measured, each with its variables, budget and least value."""

import math

import numpy as np

HARTMANN_A = np.array([[10, 3, 17, 3.5, 1.7, 8], [0.05, 10, 17, 0.1, 8, 14],
                       [3, 3.5, 1.7, 10, 17, 8], [17, 8, 0.05, 10, 0.1, 14]])
HARTMANN_P = 1e-4 * np.array([[1312, 1696, 5569, 124, 8283, 5886], [2329, 4135, 8307, 3736, 1004, 9991],
                              [2348, 1451, 3522, 2883, 3047, 6650], [4047, 8828, 8732, 5743, 1091, 381]])
HARTMANN_C = np.array([1, 1.2, 3, 3.2])
SPHERE_CENTRE = 3 * np.sin(np.arange(1, 31))


def branin(x):
    a, b = x
    return ((b - 5.1 / (4 * math.pi ** 2) * a * a + 5 / math.pi * a - 6) ** 2
            + 10 * (1 - 1 / (8 * math.pi)) * math.cos(a) + 10)


def hartmann6(x):
    return -float(HARTMANN_C @ np.exp(-(HARTMANN_A * (np.asarray(x, float) - HARTMANN_P) ** 2).sum(1)))


def ackley5(x):
    x = np.asarray(x, float)
    return float(20 + math.e - 20 * math.exp(-0.2 * math.sqrt((x * x).mean()))
                 - math.exp(np.cos(2 * math.pi * x).mean()))


def sphere30(x):
    return float(((np.asarray(x, float) - SPHERE_CENTRE) ** 2).sum())


LEVELS = ("a", "b", "c")


def mixed(x):
    """A real, a log-scaled, a whole number and a category, which act on each other."""
    place, rate, count, level = x
    turn = {"a": 0.0, "b": 1.0, "c": 2.0}[level]
    return (10 * (place - 0.2 - 0.05 * count) ** 2 + (math.log10(rate) + 2.5 + 0.3 * turn) ** 2
            + 0.3 * abs(count - 7) + 0.5 * math.sin(2 * count + turn) + {"a": 1.0, "b": 0.3, "c": 0.5}[level])


def mixed_least():
    """place and rate are free for every count and level, so the least is over those two."""
    least = math.inf
    for count in range(1, 13):
        for level, base in (("a", 1.0), ("b", 0.3), ("c", 0.5)):
            turn = {"a": 0.0, "b": 1.0, "c": 2.0}[level]
            gap = max(0.0, 0.2 + 0.05 * count - 1)
            least = min(least, 10 * gap ** 2 + 0.3 * abs(count - 7) + 0.5 * math.sin(2 * count + turn) + base)
    return least


class Problem:
    def __init__(self, function, variables, budget, least, noise=0.0):
        self.function, self.variables, self.budget, self.least, self.noise = function, variables, budget, least, noise

    def observed(self, x, draw):
        return self.function(x) + (self.noise * draw.standard_normal() if self.noise else 0.0)

    def regret(self, x):
        return self.function(x) - self.least


REAL, LOG, WHOLE, CATEGORY = "real", "log", "int", "category"
BRANIN = [("x1", REAL, -5.0, 10.0), ("x2", REAL, 0.0, 15.0)]
PROBLEMS = {
    "branin": Problem(branin, BRANIN, 40, 0.39788735772973816),
    "noisy-branin": Problem(branin, BRANIN, 100, 0.39788735772973816, noise=2.0),
    "mixed": Problem(mixed, [("place", REAL, 0.0, 1.0), ("rate", LOG, 1e-4, 1.0), ("count", WHOLE, 1, 12),
                             ("level", CATEGORY, LEVELS, None)], 100, mixed_least()),
    "ackley5": Problem(ackley5, [(f"x{i}", REAL, -32.768, 32.768) for i in range(1, 6)], 100, 0.0),
    "hartmann6": Problem(hartmann6, [(f"x{i}", REAL, 0.0, 1.0) for i in range(1, 7)], 100, -3.3223680114155),
    "sphere30": Problem(sphere30, [(f"x{i}", REAL, -5.0, 5.0) for i in range(1, 31)], 100, 0.0),
}
