"""scipy's make_smoothing_spline at a fixed lambda: spline.py N LAMBDA"""

import sys

from common import SEED_X, SEED_Y, check, measure, random_numbers, report

import numpy as np  # noqa: E402
from scipy.interpolate import make_smoothing_spline  # noqa: E402

n, penalty = int(sys.argv[1]), float(sys.argv[2])
x = 10 * (np.arange(n) + 0.2 * random_numbers(SEED_X, n)) / n
y = np.sin(x) + 0.3 * random_numbers(SEED_Y, n)
fitted, cost = measure(lambda: make_smoothing_spline(x, y, lam=n * penalty)(x))
report(check=check(fitted), **cost)
