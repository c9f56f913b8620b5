"""Gaussian processes on small sets: what gram learns, beside scikit-learn with ten restarts.

    gp_small.py compare GRAM [FILE [FIRST]]
                                        GRAM is the command; 210 sets from number FIRST on (0), some ten minutes; scikit-learn's
                                        results, which take most of them, are kept in FILE for the next time
    gp_small.py table                   writes tests/reference/gp_small.txt anew, which test_method_gp_small_stat.c reads

A set is given by its number: what the function is (KINDS), how large the noise is beside it (LEVELS), 20 to 150 rows to learn
from, 100 to be predicted, 1 to 6 columns. Random numbers are SplitMix64 by position, so that the test in C makes the same sets.

Both learn const*rbf and noise by the marginal likelihood, with one length for all columns and with one per column, between the
same bounds; the target less its mean has mean zero on both sides. gram keeps one length per column where that gains more than
log(n)/2 for each; of scikit-learn's two fits the better by that rule is what gram's likelihood must not be below. The density
of the held-out rows is compared with scikit-learn's fit of one length per column, as a user would make it.
"""

import csv
import json
import math
import os
import subprocess
import sys
import tempfile
import warnings

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np  # noqa: E402

HELD = 100
KINDS = ("waves", "additive", "one", "step", "line", "product", "nothing")
LEVELS = (1e-3, 1e-2, 0.1, 0.3, 1.0, 3.0)
SETS = 210
TABLE = os.path.join(os.path.dirname(__file__), "..", "..", "tests", "reference", "gp_small.txt")
IN_TABLE = [i for i in range(0, SETS, 5)]
MOST_ROWS = 80  # of a set in the table


def uniform(seed, count):
    """Between 0 and 1, neither of them."""
    with np.errstate(over="ignore"):
        z = np.uint64(seed << 32) + np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z ^= z >> np.uint64(31)
    return ((z >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53


def normal(seed, count):
    u = uniform(seed, 2 * count)
    return np.sqrt(-2 * np.log(u[:count])) * np.cos(2 * np.pi * u[count:])


def function(kind, i, x):
    d = x.shape[1]
    if kind == "waves":
        directions = normal(10 * i + 4, 4 * d).reshape(4, d) * 1.5 / np.sqrt(d)
        return np.cos(x @ directions.T + 2 * np.pi * uniform(10 * i + 5, 4)).sum(1)
    if kind == "additive":
        return np.sin(1.5 * x + np.arange(d)).sum(1)
    if kind == "one":  # the other columns say nothing
        return np.sin(2 * x[:, 0])
    if kind == "step":
        return (x[:, 0] > 0) + 0.5 * (x[:, -1] > 0.5)
    if kind == "line":
        return (x / (1 + np.arange(d))).sum(1)
    if kind == "product":
        return x[:, 0] * x[:, -1] + 0.5 * x[:, 0] ** 2
    return np.zeros(len(x))


def make(i):
    """Rows to learn from, n + HELD rows of columns in units of the first n, and the targets."""
    kind, level = KINDS[i % 7], LEVELS[i // 7 % 6]
    u = uniform(10 * i + 1, 2)
    n, d = 20 + int(131 * u[0]), 1 + int(6 * u[1])
    x = normal(10 * i + 2, (n + HELD) * d).reshape(-1, d)
    f = function(kind, i, x)
    deviation = 1 / level if kind == "nothing" else f.std()
    y = 5 + 2 * (f + level * deviation * normal(10 * i + 3, n + HELD))
    return kind, level, n, (x - x[:n].mean(0)) / x[:n].std(0), y


def log_density(y, mean, deviation):
    return float(np.mean(-0.5 * np.log(2 * np.pi * deviation**2) - (y - mean) ** 2 / (2 * deviation**2)))


def fit_peer(n, x, y, several):
    """Log likelihood in the units of y, and the mean log density of the held-out rows."""
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

    ranges = np.ptp(x[:n], axis=0)
    widest = ranges if several else np.sqrt((ranges**2).sum())
    bounds = np.array([1e-3 * widest, 1e5 * widest]).T if several else (1e-3 * widest, 1e5 * widest)
    kernel = ConstantKernel(1.0, (1e-6, 1e6)) * RBF(np.ones(x.shape[1]) if several else 1.0, bounds)
    process = GaussianProcessRegressor(kernel + WhiteKernel(0.1, (1e-10, 10)), alpha=0, normalize_y=True,
                                       n_restarts_optimizer=10, random_state=0).fit(x[:n], y[:n])
    mean, deviation = process.predict(x[n:], return_std=True)
    value = process.log_marginal_likelihood_value_ - n * np.log(y[:n].std())
    return float(value), log_density(y[n:], mean, deviation)


def worth(n, d):
    """What one length per column must gain."""
    return 0.5 * (d - 1) * math.log(n)


def peer(n, x, y):
    """The likelihood by gram's rule, and the density of one length per column."""
    several, density = fit_peer(n, x, y, True)
    if x.shape[1] == 1:
        return several, several, density
    one, _ = fit_peer(n, x, y, False)
    return several, one, density


def kept_peers(path):
    if not path or not os.path.exists(path):
        return {}
    with open(path) as file:
        return {int(row[0]): tuple(map(float, row[1:])) for row in map(str.split, file)}


def peer_of(i, n, x, y, kept, path):
    """The peer on set i, from the file if it is there."""
    if i not in kept:
        kept[i] = peer(n, x, y)
        if path:
            with open(path, "a") as file:
                print(i, *map(repr, kept[i]), file=file)
    return kept[i]


def write(path, x, y):
    with open(path, "w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow([f"x{l + 1}" for l in range(x.shape[1])] + ["y"])
        rows.writerows([*map(repr, map(float, row)), repr(float(t))] for row, t in zip(x, y))


def fit_gram(command, folder, n, x, y, *options):
    learn, held, model = (os.path.join(folder, name) for name in ("learn.csv", "held.csv", "model.gram"))
    write(learn, x[:n], y[:n])
    write(held, x[n:], y[n:])
    fitted = subprocess.run([command, "fit", learn, "--task", "regression", "--method", "gp", "--kernel", "const*rbf", "--ard",
                             "--mean", "zero", "--estimate", "no", "-o", model, "--json", "--quiet", *options], check=True, capture_output=True, text=True)
    scores = subprocess.run([command, "predict", model, held, "--std", "--json", "--quiet", "-o", os.devnull],
                            check=True, capture_output=True, text=True)
    return json.loads(fitted.stdout)["log_marginal_likelihood"], -json.loads(scores.stdout)["nlpd"]


def compare(command, path, first):
    lower, losses, gains, kept = [], [], [], kept_peers(path)
    with tempfile.TemporaryDirectory() as folder:
        for i in range(first, first + SETS):
            kind, level, n, x, y = make(i)
            several, one, density = peer_of(i, n, x, y, kept, path)
            goal = several if several > one + worth(n, x.shape[1]) else one
            alone, _ = fit_gram(command, folder, n, x, y, "--no-noise-prior")
            value, held = fit_gram(command, folder, n, x, y)
            if alone < goal - 0.05:
                lower.append(i)
            losses.append(goal - value)
            gains.append(held - density)
            print(f"{i:3d} {kind:8s} noise {level:<5g} n {n:3d} d {x.shape[1]}: likelihood {alone - goal:+9.3f}, with the "
                  f"prior {value - goal:+9.3f}, density {held:8.3f}, peer {density:8.3f}", flush=True)
    gains, losses = np.array(gains), np.array(losses)
    print(f"{len(lower)} of {SETS} more than 0.05 below the peer's likelihood {lower or ''}; with the prior "
          f"{(losses > 0.05).sum()}, at most {losses.max():.2f} below it")
    print(f"held-out log density: mean {gains.mean():+.4f}, median {np.median(gains):+.4f}, higher by 0.1 in "
          f"{(gains > 0.1).sum()} sets, lower by 0.1 in {(gains < -0.1).sum()}")
    return 1 if lower or np.median(gains) < 0 or gains.mean() < 0 else 0


def table():
    with open(TABLE, "w") as file:
        print("# Made by bench/peers/gp_small.py, which says what a set is: number, rows, columns, last target, scikit-learn's",
              file=file)
        print("# log likelihood with one length per column and with one for all, mean log density of the held-out rows",
              file=file)
        for i in IN_TABLE:
            _, _, n, x, y = make(i)
            if n <= MOST_ROWS:
                print(i, n, x.shape[1], repr(float(y[-1])), *(f"{v:.6f}" for v in peer(n, x, y)), file=file, flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")  # of parameters at their bounds
    if sys.argv[1] == "table":
        table()
    else:
        path, first = (sys.argv[3:] + [None, "0"][len(sys.argv) - 3:])[:2]
        sys.exit(compare(sys.argv[2], path, int(first)))
