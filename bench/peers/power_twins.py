"""MMDAgg and MMD-FUSE in NumPy, by the rules of their papers, for machines where their authors' code cannot be installed.

Both take the columns as they are, ten widths of the Gaussian and ten of the Laplace kernel (sums of absolute differences), and the same permutations
for all of them. MMDAgg (Schrab et al. 2023) compares each with its own quantile at one level that makes all of them hold together: the smallest
of their p-values, permuted as well. Its widths go from half of the 5 % quantile of the distances (half of the smallest, if that is not small) to twice the largest.
MMD-FUSE (Biggs, Schrab and Gretton 2023) takes log mean exp of the statistics over the root of the mean square of the kernel; its widths go from half of the
5 % quantile to twice the 95 % quantile.
"""

import numpy as np

PERMUTATIONS = 300


def distances(z):
    squares = (z * z).sum(1)
    euclid = np.sqrt(np.maximum(squares[:, None] + squares[None] - 2 * z @ z.T, 0))
    city = sum(np.abs(column[:, None] - column[None]) for column in z.T)
    return euclid, city


def statistics(kernel, labels, n):
    """Unbiased squared MMD of every labelling, and the mean square of the kernel off the diagonal."""
    total = len(kernel)
    m = total - n
    np.fill_diagonal(kernel, 0)
    rows = kernel.sum(1)
    xx = np.einsum("ib,ib->b", labels, kernel @ labels)
    x_all = rows @ labels
    yy = rows.sum() - 2 * x_all + xx
    value = xx / (n * (n - 1)) + yy / (m * (m - 1)) - 2 * (x_all - xx) / (n * m)
    return value, float((kernel * kernel).sum()) / (total * (total - 1))


def permuted(x, y, seed, grid):
    """Statistics of all kernels and labellings, and the mean squares; `grid` gives the least and largest width from sorted distances."""
    z = np.vstack([x, y])
    n, total = len(x), len(z)
    rng = np.random.default_rng([1, seed])
    labels = np.zeros((total, PERMUTATIONS + 1), np.float32)
    labels[:n, 0] = 1
    for b in range(1, PERMUTATIONS + 1):
        labels[rng.permutation(total)[:n], b] = 1
    values, sizes = [], []
    for power, distance in zip((2, 1), distances(z)):
        least, most = grid(np.sort(distance[np.triu_indices(total, 1)]))
        for width in least * (most / least) ** np.linspace(0, 1, 10):
            value, size = statistics(np.exp(-((distance / width) ** power)).astype(np.float32), labels, n)
            values.append(value)
            sizes.append(size)
    return np.array(values, float), np.array(sizes)


def aggregated_grid(v):
    small = v[0] if v[0] >= 0.1 else max(v[int(0.05 * len(v))], 0.1)
    return small / 2, 2 * max(v[-1], 0.3)


def fuse_grid(v):
    least, most = np.quantile(v, [0.05, 0.95])
    return least / 2, 2 * most


def mmdagg(x, y, seed):
    from scipy.stats import rankdata

    values, _ = permuted(x, y, seed, aggregated_grid)
    least = rankdata(-values, axis=1, method="max").min(0)
    return float(np.mean(least <= least[0]))


def mmdfuse(x, y, seed):
    values, sizes = permuted(x, y, seed, fuse_grid)
    n = min(len(x), len(y))
    scaled = np.sqrt(n * (n - 1)) * values / np.sqrt(sizes)[:, None]
    most = scaled.max(0)
    fused = most + np.log(np.exp(scaled - most).mean(0))
    return float(np.mean(fused >= fused[0] - 1e-9))
