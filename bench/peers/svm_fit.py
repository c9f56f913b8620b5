"""Support vector machines by scikit-learn and by LIBSVM's svm-train, with a cache of 1 GiB.

    svm_fit.py sklearn|libsvm c|epsilon N D C TOLERANCE
    svm_fit.py sklearn|libsvm letters N D CLASSES C
    svm_fit.py sklearn predict N D C ROWS
    svm_fit.py sklearn grid N D FOLDS WIDTHS STRENGTHS     one of the folds: see grid()

svm-train's time is that of its process, with reading its file; for scikit-learn it is fit() alone. The dual objective is
printed by svm-train, and made from the coefficients of scikit-learn's machine afterwards.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time

import common  # sets the number of threads, so it comes before the libraries
import numpy as np

SEED_TEST = 5


def noisy(n, d, labels):
    x = common.random_points(common.SEED_X, n, d, np.float64)
    noise = common.random_numbers(common.SEED_V, n)
    f = x[:, 0] + x[:, 1] * x[:, 2] + 0.5 * (x[:, 3] * x[:, 3] * x[:, 3])
    return x, ((f > 0) != (noise < -1.2124)).astype(float) if labels else f + 0.5 * noise


def letters(n, d, classes):
    y = np.arange(n) % classes
    centres = common.random_points(common.SEED_Y, classes, d, np.float64)
    return common.random_points(common.SEED_X, n, d, np.float64) + centres[y], y.astype(float)


def machine(kind, d, c, tolerance):
    from sklearn.svm import SVC, SVR

    if kind == "epsilon":
        return SVR(C=c, gamma=1 / d, epsilon=0.1, tol=tolerance, cache_size=1024)
    return SVC(C=c, gamma=1 / d, tol=tolerance, cache_size=1024, decision_function_shape="ovo")


def kernel_sums(x, b, gamma):
    """K b at the rows of x themselves, by blocks; fast, since it is not timed."""
    norms = (x * x).sum(1)
    return np.concatenate([np.exp(-gamma * np.maximum(norms[i:i + 1000, None] + norms - 2 * x[i:i + 1000] @ x.T, 0)) @ b
                           for i in range(0, len(x), 1000)])


def objective(fitted, kind, x, y):
    """b'Kb/2 - c'b; of two classes or a regression."""
    rows, b = fitted.support_, fitted.dual_coef_[0]
    if kind != "epsilon" and len(fitted.classes_) > 2:
        return None
    squared = float(b @ kernel_sums(x[rows], b, fitted.gamma) / 2)
    return squared - float(b @ y[rows] - 0.1 * np.abs(b).sum() if kind == "epsilon" else np.abs(b).sum())


def by_sklearn(kind, x, y, c, tolerance):
    made = machine(kind, x.shape[1], c, tolerance)
    machine(kind, x.shape[1], c, tolerance).fit(x[:500], y[:500])  # imports; not timed
    fitted, cost = common.measure(lambda: made.fit(x, y))
    common.report(**cost, objective=objective(fitted, kind, x, y), support=int(len(fitted.support_)))


def by_libsvm(kind, x, y, c, tolerance):
    with tempfile.TemporaryDirectory() as folder:
        data = os.path.join(folder, "data")
        with open(data, "w") as out:
            for target, row in zip(y, x):
                out.write("%.17g %s\n" % (target, " ".join("%d:%.17g" % (j + 1, v) for j, v in enumerate(row))))
        command = ["svm-train", "-s", "3" if kind == "epsilon" else "0", "-p", "0.1", "-g", repr(1 / x.shape[1]), "-c",
                   repr(c), "-e", repr(tolerance), "-m", "1024", data, os.path.join(folder, "model")]
        start = time.perf_counter()
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        seconds = time.perf_counter() - start
    lines = done.stdout.splitlines()
    total = sum(float(line.split()[2].rstrip(",")) for line in lines if line.startswith("obj"))
    support = next(line for line in reversed(lines) if line.startswith(("Total nSV", "nSV")))
    common.report(seconds=seconds, objective=total, support=int(support.split("=")[1].split(",")[0]))


def predict(n, d, c, rows):
    x, y = noisy(n, d, True)
    z = common.random_points(SEED_TEST, rows, d, np.float64)
    fitted = machine("c", d, c, 1e-3).fit(x, y)
    f, cost = common.measure(lambda: fitted.decision_function(z))
    common.report(**cost, check=common.check(-f))  # gram's is positive for the first class


def grid(n, d, folds, widths, strengths):
    """GridSearchCV over the whole grid and one of the folds, with all threads; the others would take as long each."""
    from sklearn.model_selection import GridSearchCV

    x, y = noisy(n, d, True)
    sample = x[:2000]
    squares = ((sample[:, None, :] - sample[None]) ** 2).sum(2)
    median = np.sqrt(np.median(squares[np.triu_indices(len(sample), 1)]))
    ells = median * 0.125 * 32 ** (np.arange(widths) / max(1, widths - 1))
    choices = {"C": 0.0625 * 2 ** (15 * np.arange(strengths) / max(1, strengths - 1)), "gamma": 1 / (2 * ells * ells)}
    held = np.arange(n) % folds == 0
    made = GridSearchCV(machine("c", d, 1.0, 1e-3), choices, cv=[(np.flatnonzero(~held), np.flatnonzero(held))],
                        n_jobs=common.THREADS, refit=False)
    GridSearchCV(machine("c", d, 1.0, 1e-3), {"C": [1.0, 2.0]}, cv=2, n_jobs=common.THREADS).fit(x[:200], y[:200])  # starts
    start = time.perf_counter()
    made.fit(x, y)
    measured = time.perf_counter() - start
    common.report(seconds=measured * folds, measured=measured, best=float(made.best_score_))


def main(arguments):
    library, kind, *rest = arguments
    if library == "libsvm" and not shutil.which("svm-train"):
        sys.exit("svm_fit.py: svm-train is not installed (Debian: libsvm-tools)")
    if kind == "predict":
        predict(int(rest[0]), int(rest[1]), float(rest[2]), int(rest[3]))
    elif kind == "grid":
        grid(*[int(v) for v in rest])
    else:
        many = kind == "letters"
        n, d = int(rest[0]), int(rest[1])
        x, y = letters(n, d, int(rest[2])) if many else noisy(n, d, kind == "c")
        c, tolerance = (float(rest[3]), 1e-3) if many else (float(rest[2]), float(rest[3]))
        {"sklearn": by_sklearn, "libsvm": by_libsvm}[library](kind, x, y, c, tolerance)


if __name__ == "__main__":
    main(sys.argv[1:])
