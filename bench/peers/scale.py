"""scikit-learn's side of many rows: scale.py features|ridge|landmarks|machine N D [P]"""

import math
import sys

from common import SEED_X, SEED_Y, measure, random_numbers, report

import numpy as np  # noqa: E402

what, n, d = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
p = int(sys.argv[4]) if len(sys.argv) > 4 else 0
X, noise = random_numbers(SEED_X, n * d).reshape(n, d), random_numbers(SEED_Y, n)
gamma = 0.5 / d
if what == "features":
    from sklearn.kernel_approximation import RBFSampler

    RBFSampler(gamma=gamma, n_components=p, random_state=0).fit_transform(X[:100])
    _, cost = measure(lambda: RBFSampler(gamma=gamma, n_components=p, random_state=0).fit_transform(X))
    report(**cost)
elif what in ("ridge", "landmarks"):
    from sklearn.kernel_approximation import Nystroem, RBFSampler
    from sklearn.linear_model import Ridge

    y = np.sin(1.5 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * noise
    if what == "ridge":
        mapping = RBFSampler(gamma=gamma, n_components=p, random_state=0)
    else:
        mapping = Nystroem(gamma=gamma, n_components=p, random_state=0)

    def run():
        Z = mapping.fit_transform(X)
        return Ridge(alpha=1.0, copy_X=False).fit(Z, y).score(Z, y)

    r2, cost = measure(run)
    report(r2=float(r2), **cost)
else:
    from sklearn.svm import LinearSVC

    sums = noise + X @ np.where(np.arange(d) % 3 == 0, 1.0, -0.5)
    s = np.where(sums > 0, 1.0, -1.0)
    machine = LinearSVC(loss="hinge", C=1.0, fit_intercept=False, tol=0.1, max_iter=100000)
    _, cost = measure(lambda: machine.fit(X, s))
    w = machine.coef_[0]
    objective = 0.5 * w @ w + np.maximum(0, 1 - s * (X @ w)).sum()
    report(objective=float(objective), nan=math.isnan(objective), **cost)
