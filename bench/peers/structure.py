"""Kernel PCA and clusters by scikit-learn and NumPy.

    structure.py pca SOLVER N D K TOLERANCE ELL     scikit-learn's KernelPCA: dense, arpack or randomized
    structure.py kmeans N D K ELL                   kernel k-means in NumPy, from the first K points as means
    structure.py spectral N D K ELL                 scikit-learn's SpectralClustering

The residual |K~ v - l v|/l of the components is found after the clock has stopped. Kernel k-means holds K, and takes one
product of it with the indicators in each iteration, as gram does.
"""

import sys

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


def kmeans(n, d, k, ell):
    x = blobs(n, d, k)
    (distances, labels, used), cost = common.measure(lambda: kernel_means(x, k, ell))
    return dict(cost, iterations=used, agree=float((labels[k:] == labels[:-k]).mean()),
                check=common.check([distances.sum()]))


def spectral(n, d, k, ell):
    from sklearn.cluster import SpectralClustering

    x = blobs(n, d, k)
    model = SpectralClustering(k, gamma=1 / (2 * ell * ell), random_state=0)
    labels, cost = common.measure(lambda: model.fit_predict(x))
    return dict(cost, agree=float((labels[k:] == labels[:-k]).mean()))


def main():
    import json

    if sys.argv[1] == "pca":
        solver, n, d, k, tolerance, ell = sys.argv[2:]
        result = pca(solver, int(n), int(d), int(k), float(tolerance), float(ell))
    else:
        n, d, k, ell = sys.argv[2:]
        result = {"kmeans": kmeans, "spectral": spectral}[sys.argv[1]](int(n), int(d), int(k), float(ell))
    print(json.dumps(result))


main()
