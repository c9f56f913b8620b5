"""MMDAgg and MMD-FUSE in NumPy, by the rules of their authors' code, for machines where that cannot be installed.

Both take the columns as they are, ten widths of the Gaussian and ten of the Laplace kernel (sums of absolute differences), and the same permutations
for all of them.

MMDAgg (Schrab et al. 2023; repository antoninschrab/mmdagg) compares each kernel with its own quantile at one level that makes all of them hold together:
the smallest of their p-values, permuted as well. Kernels are exp(-(d/w)^2) and exp(-d/w); widths are a geometric series, from half of the smallest distance
between the samples (half of the 5 % quantile, if that is small) to twice the largest. For samples of one size the original flips pairs in place of
permuting.

MMD-FUSE (Biggs, Schrab and Gretton 2023; antoninschrab/mmdfuse) takes log mean exp of n(n - 1) MMD^2/sqrt(mean square of the kernel), in which the code,
unlike the paper, has one more factor of n: close to the largest of all. Kernels are exp(-(d/w)^2/2) and exp(-sqrt(2) d/w); widths are an arithmetic
series, from half of the 5 % quantile of all distances, those of rows to themselves as medians among them, to twice the 95 % quantile.
"""

import numpy as np

PERMUTATIONS = 300


def distances(z):
    """Euclidean ones, and sums of absolute differences."""
    squares = (z * z).sum(1)
    euclid = np.sqrt(np.maximum(squares[:, None] + squares[None] - 2 * z @ z.T, 0))
    np.fill_diagonal(euclid, 0)
    return euclid, sum(np.abs(column[:, None] - column[None]) for column in z.T)


def labellings(n, total, seed):
    """Columns of 0 and 1: the samples as they are, and permuted."""
    rng = np.random.default_rng([1, seed])
    labels = np.zeros((total, PERMUTATIONS + 1), np.float32)
    labels[:n, 0] = 1
    for b in range(1, PERMUTATIONS + 1):
        labels[rng.permutation(total)[:n], b] = 1
    return labels


def statistics(kernel, labels, n):
    """Unbiased squared MMD of every labelling, and the sum of squares of the kernel off the diagonal."""
    m = len(kernel) - n
    np.fill_diagonal(kernel, 0)
    rows = kernel.sum(1, dtype=float)
    xx = np.einsum("ib,ib->b", labels, kernel @ labels).astype(float)
    x_all = rows @ labels
    yy = rows.sum() - 2 * x_all + xx
    value = xx / (n * (n - 1)) + yy / (m * (m - 1)) - 2 * (x_all - xx) / (n * m)
    return value, float(np.einsum("ij,ij->", kernel, kernel, dtype=float))


def mmdagg_widths(distance, n):
    between = np.sort(distance[:n][:500, n:][:, :500], axis=None)
    least = between[0] if between[0] >= 0.1 else max(between[int(0.05 * len(between))], 0.1)
    most = max(between[-1], 0.3)
    return least / 2 * (4 * most / least) ** np.linspace(0, 1, 10)


def mmdagg(x, y, seed):
    from scipy.stats import rankdata

    n, z = len(x), np.vstack([x, y])
    labels = labellings(n, len(z), seed)
    values = []
    for power, distance in zip((2, 1), distances(z)):
        for width in mmdagg_widths(distance, n):
            scaled = (distance / width).astype(np.float32)
            values.append(statistics(np.exp(-(scaled**power)), labels, n)[0])
    least = rankdata(-np.array(values), axis=1, method="max").min(0)
    return float(np.mean(least <= least[0]))


def mmdfuse_widths(distance):
    all_of_them = distance[np.triu_indices(len(distance))]
    all_of_them[all_of_them == 0] = np.median(all_of_them)
    all_of_them.sort()
    return np.linspace(all_of_them[int(0.05 * len(all_of_them))] / 2, 2 * all_of_them[int(0.95 * len(all_of_them))], 10)


def mmdfuse(x, y, seed):
    n, z = len(x), np.vstack([x, y])
    least = min(n, len(z) - n)
    labels = labellings(n, len(z), seed)
    scaled = []
    for shape, distance in zip((lambda d: d * d / 2, lambda d: np.sqrt(np.float32(2)) * d), distances(z)):
        for width in mmdfuse_widths(distance):
            value, squares = statistics(np.exp(-shape((distance / width).astype(np.float32))), labels, n)
            scaled.append((least * (least - 1)) ** 1.5 * value / np.sqrt(squares))
    scaled = np.array(scaled)
    most = scaled.max(0)
    fused = most + np.log(np.exp(scaled - most).mean(0))
    return float(np.mean(fused >= fused[0] - 1e-9))


# ---- independence ----


def hsicagg(x, y, seed):
    """HSICAgg (Schrab, Kim and Guedj 2022; Albert et al. 2022), all pairs of rows: Gaussian kernels exp(-(d/w)^2) at 1/4 to 4 times the median distance on
    both sides, 25 pairs; permutations for all of them, the smallest p-value, permuted as well."""
    from scipy.stats import rankdata

    rng = np.random.default_rng([2, seed])
    orders = [np.arange(len(x))] + [rng.permutation(len(x)) for _ in range(PERMUTATIONS)]
    left, right = (np.array([centred(distances(z)[0], 2.0**i) for i in range(-2, 3)]).reshape(5, -1) for z in (x, y))
    shape = (5, len(x), len(x))
    values = [(left @ right.reshape(shape)[:, order][:, :, order].reshape(5, -1).T).ravel() for order in orders]
    least = rankdata(-np.array(values).T, axis=1, method="max").min(0)
    return float(np.mean(least <= least[0]))


def centred(distance, times):
    """The U-centred matrix, whose products are unbiased."""
    n = len(distance)
    median = np.median(distance[distance > 0])
    k = np.exp(-((distance / (times * median)) ** 2))
    np.fill_diagonal(k, 0)
    rows = k.sum(1) / (n - 2)
    k += k.sum() / ((n - 1) * (n - 2)) - rows[:, None] - rows
    np.fill_diagonal(k, 0)
    return k.astype(np.float32)


# ---- fit ----


def ksdagg(x, scores, seed):
    """KSDAgg (Schrab, Guedj and Gretton 2022; antoninschrab/ksdagg): (1 + (d/w)^2)^-1/2 at ten widths, a geometric series from 1/d to the largest distance
    (at least 2) over the d columns; signs for all of them, the smallest p-value, of signs as well."""
    from scipy.stats import rankdata

    n, d = x.shape
    rng = np.random.default_rng([3, seed])
    signs = np.ones((n, PERMUTATIONS + 1), np.float32)
    signs[:, 1:] = rng.choice([-1, 1], size=(n, PERMUTATIONS))
    squared = distances(x)[0] ** 2
    own = (x * scores).sum(1)
    slopes = own[:, None] - x @ scores.T
    slopes = slopes + slopes.T
    products = scores @ scores.T
    most = max(np.sqrt(squared[:500, :500].max()), 2)
    values = []
    for g in (d / most ** np.linspace(0, 1, 10)) ** 2:
        r = 1 + g * squared
        h = products * r**-0.5 + g * r**-1.5 * (slopes + d) - 3 * g * g * squared * r**-2.5
        np.fill_diagonal(h, 0)
        values.append(np.einsum("ib,ib->b", signs, h.astype(np.float32) @ signs).astype(float))
    least = rankdata(-np.array(values), axis=1, method="max").min(0)
    return float(np.mean(least <= least[0]))
