"""Kernel PCA and clusters by scikit-learn and NumPy.

    structure.py pca SOLVER N D K TOLERANCE ELL     scikit-learn's KernelPCA: dense, arpack or randomized
    structure.py kmeans N D K ELL                   kernel k-means in NumPy, from the first K points as means, K held
    structure.py kmeans-blocks N D K ELL            the same by blocks of K, one thread of BLAS in each of as many as the job has
    structure.py spectral N D K ELL                 scikit-learn's SpectralClustering, eigenvectors by lobpcg

The residual |K~ v - l v|/l of the components is found after the clock has stopped. Kernel k-means with K held takes one
product of it with the indicators in each iteration; by blocks, in the first, and then one with the rows that moved, as gram
does. Of SpectralClustering's solvers lobpcg is the fastest: arpack, the default, factors an n x n matrix, and takes longer
than two minutes at n = 20000.
"""

import os
import sys

if sys.argv[1:2] == ["kmeans-blocks"]:
    os.environ["BENCH_BLAS_THREADS"] = "1"

import common  # noqa: F401  (threads are set before NumPy)
import numpy as np

SEED_CENTRES = 5


def gaussian(x, ell):
    """K in place: one product, then element by element."""
    square = (x * x).sum(1)
    k = x @ x.T
    k *= 2
    k -= square
    k -= square[:, None]
    np.minimum(k, 0, out=k)
    k /= 2 * ell * ell
    np.exp(k, out=k)
    return k


def residual(x, ell, values, coordinates):
    """The largest over the components."""
    k = gaussian(x, ell)
    v = coordinates / np.linalg.norm(coordinates, axis=0)
    centred = v - v.mean(0)
    out = k @ centred
    out -= out.mean(0)
    return float((np.linalg.norm(out - v * values, axis=0) / values).max())


def pca(solver, n, d, k, tolerance, ell):
    from sklearn.decomposition import KernelPCA

    x = common.random_points(common.SEED_X, n, d, np.float64)
    model = KernelPCA(k, kernel="rbf", gamma=1 / (2 * ell * ell), eigen_solver=solver, tol=tolerance, random_state=0,
                      copy_X=False)
    coordinates, cost = common.measure(lambda: model.fit_transform(x))
    cost["residual"] = residual(x, ell, model.eigenvalues_, coordinates)
    return dict(cost, check=common.check(model.eigenvalues_))


def blobs(n, d, k):
    x = common.random_points(common.SEED_X, n, d, np.float64)
    centres = common.random_points(SEED_CENTRES, k, d, np.float64)
    return x + 2 * centres[np.arange(n) % k]


def kernel_means(x, k, ell):
    n = len(x)
    matrix = gaussian(x, ell)
    squares, inner = np.ones(k), matrix[:, :k]
    labels, used = None, 0
    while True:
        new = (squares - 2 * inner).argmin(1)
        if labels is not None and (new == labels).all():
            return 1 + (squares[labels] - 2 * inner[np.arange(n), labels]), labels, used
        labels, used = new, used + 1
        z = np.zeros((n, k))
        z[np.arange(n), labels] = 1 / np.bincount(labels, minlength=k)[labels]
        inner = matrix @ z
        squares = (z * inner).sum(0)


def products(left, right, v, rows=256, columns=1000):
    """exp(left right) v by blocks, by all threads."""
    out = np.zeros((len(left), v.shape[1]))

    def work(tasks):
        block = np.empty((rows, columns))
        for task in tasks:
            part = slice(task * rows, min((task + 1) * rows, len(left)))
            if part.start >= len(left):
                return
            for first in range(0, len(v), columns):
                some = slice(first, min(first + columns, len(v)))
                here = block[:part.stop - part.start, :some.stop - first]
                np.matmul(left[part], right[:, some], out=here)
                np.exp(here, out=here)
                out[part] += here @ v[some]

    common.in_threads(work, common.THREADS)
    return out


def kernel_means_by_blocks(x, k, ell):
    from product import augmented

    n = len(x)
    left, right = augmented(x, x, ell)
    right = np.ascontiguousarray(right.T)
    inner, sums, labels, used = products(left, right[:, :k], np.eye(k)), np.zeros((n, k)), np.full(n, -1), 0
    squares, sizes = np.ones(k), np.ones(k)
    while True:
        new = (squares - 2 * inner).argmin(1)
        moved = np.nonzero(new != labels)[0]
        if len(moved) == 0:
            return 1 + (squares[labels] - 2 * inner[np.arange(n), labels]), labels, used
        v = np.zeros((len(moved), k))
        v[np.arange(len(moved)), new[moved]] = 1
        if used > 0:
            v[np.arange(len(moved)), labels[moved]] = -1
        sums += products(left, right if len(moved) == n else np.ascontiguousarray(right[:, moved]), v)
        labels, used = new, used + 1
        sizes = np.bincount(labels, minlength=k)
        inner = sums / sizes
        squares = np.bincount(labels, inner[np.arange(n), labels], k) / sizes


def kmeans(n, d, k, ell, means=kernel_means):
    x = blobs(n, d, k)
    (distances, labels, used), cost = common.measure(lambda: means(x, k, ell))
    return dict(cost, iterations=used, agree=float((labels[k:] == labels[:-k]).mean()),
                check=common.check([distances.sum()]))


def spectral(n, d, k, ell):
    from sklearn.cluster import SpectralClustering

    x = blobs(n, d, k)
    model = SpectralClustering(k, gamma=1 / (2 * ell * ell), random_state=0, eigen_solver="lobpcg",
                               assign_labels="cluster_qr")
    labels, cost = common.measure(lambda: model.fit_predict(x))
    return dict(cost, agree=float((labels[k:] == labels[:-k]).mean()))


def main():
    import json

    if sys.argv[1] == "pca":
        solver, n, d, k, tolerance, ell = sys.argv[2:]
        result = pca(solver, int(n), int(d), int(k), float(tolerance), float(ell))
    else:
        n, d, k, ell = sys.argv[2:]
        jobs = {"kmeans": kmeans, "kmeans-blocks": lambda *a: kmeans(*a, kernel_means_by_blocks), "spectral": spectral}
        result = jobs[sys.argv[1]](int(n), int(d), int(k), float(ell))
    print(json.dumps(result))


main()
