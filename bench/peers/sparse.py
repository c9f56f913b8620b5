"""Sparse rows by scikit-learn, and by LIBSVM's svm-train with a cache of 1 GiB.

    sparse.py sklearn|libsvm svm N D VALUES C
    sparse.py sklearn gram N D VALUES
    sparse.py numpy gapped N LENGTH      strings of DNA: counts of 4 letters at each 4 of 7 places by bincount, then one product

svm-train's time is that of its process, with reading its file; for scikit-learn it is that of the call alone.
"""

import os
import subprocess
import sys
import tempfile
import time

import common  # sets the number of threads, so it comes before the libraries
import numpy as np
import scipy.sparse


def rows(n, d, values):
    width = d // values
    size = np.abs(common.random_numbers(common.SEED_X, n * values))
    place = size * 4096
    column = np.tile(np.arange(values), n) * width + ((place - np.floor(place)) * width).astype(np.int64)
    x = scipy.sparse.csr_matrix((size, column.astype(np.int32), np.arange(n + 1, dtype=np.int32) * values), shape=(n, d))
    total = np.cumsum(np.where(column % 2, size, -size).reshape(n, values), axis=1)[:, -1]
    return x, ((total > 0) != (common.random_numbers(common.SEED_V, n) < -1.3856)).astype(float)


def svm_by_sklearn(x, y, gamma, c):
    from sklearn.svm import SVC

    SVC(C=c, gamma=gamma).fit(x[:200], y[:200])  # imports; not timed
    fitted, cost = common.measure(lambda: SVC(C=c, gamma=gamma, tol=1e-3, cache_size=1024).fit(x, y))
    common.report(**cost, objective=None, support=int(len(fitted.support_)))


def svm_by_libsvm(x, y, gamma, c):
    from sklearn.datasets import dump_svmlight_file

    with tempfile.TemporaryDirectory() as folder:
        data = os.path.join(folder, "data")
        dump_svmlight_file(x, y, data, zero_based=False)
        command = ["svm-train", "-g", repr(gamma), "-c", repr(c), "-m", "1024", data, os.path.join(folder, "model")]
        start = time.perf_counter()
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        seconds = time.perf_counter() - start
    total = next(float(line.split()[2].rstrip(",")) for line in done.stdout.splitlines() if line.startswith("obj"))
    support = next(line for line in done.stdout.splitlines() if line.startswith("nSV"))
    common.report(seconds=seconds, objective=total, support=int(support.split("=")[1].split(",")[0]))


def gapped(n, length):
    import itertools

    place = np.abs(common.random_numbers(common.SEED_X, n * length)).reshape(n, length) * 4096
    letters = (4 * (place - np.floor(place))).astype(np.int64)

    def work():
        windows = length - 6
        counts = np.zeros((n, 35 * 256))
        for which, places in enumerate(itertools.combinations(range(7), 4)):
            code = sum(letters[:, p : p + windows] << 2 * k for k, p in enumerate(places)) + 256 * which
            code += np.arange(n)[:, None] * (35 * 256)
            counts.ravel()[:] += np.bincount(code.ravel(), minlength=counts.size)
        counts /= np.sqrt((counts * counts).sum(1))[:, None]
        return counts @ counts.T

    k, cost = common.measure(work)
    common.report(**cost, check=common.check(k.ravel()))


def matrix(x, gamma):
    from sklearn.metrics.pairwise import rbf_kernel

    rbf_kernel(x[:100], gamma=gamma)
    k, cost = common.measure(lambda: rbf_kernel(x, gamma=gamma))
    common.report(**cost, check=common.check(k.ravel()))


def main():
    who, what = sys.argv[1:3]
    if what == "gapped":
        gapped(*map(int, sys.argv[3:5]))
        return
    n, d, values = map(int, sys.argv[3:6])
    x, y = rows(n, d, values)
    gamma = 0.5 / values
    if what == "gram":
        matrix(x, gamma)
    elif who == "sklearn":
        svm_by_sklearn(x, y, gamma, float(sys.argv[6]))
    else:
        svm_by_libsvm(x, y, gamma, float(sys.argv[6]))


main()
