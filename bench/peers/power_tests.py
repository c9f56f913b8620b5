"""Tests for bench/power: gram's, and those of others by their own code where it is installed.

Each takes the samples of one run and a seed and returns a p-value, or 0 and 1 for rejected and not where its author gives no more.
"""

import contextlib
import importlib.util
import io
import warnings

import numpy as np

PERMUTATIONS = 199
LEVEL = 0.05


def permutations(x):
    """Fewer for large samples, whose permutations take the time; 99 cost some 0.01 of power."""
    return 99 if len(x) >= 500 else PERMUTATIONS


def gram_two(x, y, seed):
    import gram

    return gram.mmd_test(x, y, permutations=permutations(x), seed=seed, threads=1).p_value


def gram_one_width(x, y, seed):
    import gram

    return gram.mmd_test(x, y, kernel="rbf", permutations=permutations(x), seed=seed, threads=1).p_value


def hotelling(x, y, seed):
    """The F test of Hotelling's T^2."""
    from scipy import stats

    n, m, d = len(x), len(y), x.shape[1]
    difference = x.mean(0) - y.mean(0)
    pooled = ((n - 1) * np.atleast_2d(np.cov(x.T)) + (m - 1) * np.atleast_2d(np.cov(y.T))) / (n + m - 2)
    t2 = n * m / (n + m) * difference @ np.linalg.solve(pooled, difference)
    return stats.f.sf((n + m - d - 1) / (d * (n + m - 2)) * t2, d, n + m - d - 1)


def goodpoints_actt(x, y, seed):
    """Aggregated rbf widths by goodpoints (Domingo-Enrich, Dwivedi and Mackey 2023) without compression: every row is a bin of its own.
    Columns are standardised and widths are gram's, since it leaves both to its user."""
    from goodpoints import ctt
    from scipy.spatial.distance import pdist

    both = np.vstack([x, y])
    both = (both - both.mean(0)) / both.std(0)
    widths = np.sqrt(2) * np.median(pdist(both)) * 2.0 ** np.arange(-4, 3)
    with contextlib.redirect_stdout(io.StringIO()):
        found = ctt.actt(both[: len(x)], both[len(x) :], 0, s=len(x), lam=widths, weights=np.full(7, 1 / 7), null_seed=seed, statistic_seed=seed)
    return 0.0 if found.rejects else 1.0


def mmdagg(x, y, seed):
    from mmdagg.np import mmdagg as test

    return 0.0 if test(x, y, alpha=LEVEL, seed=seed) else 1.0


def mmdfuse(x, y, seed):
    import jax
    from mmdfuse import mmdfuse as test

    return float(test(x, y, jax.random.PRNGKey(seed), return_p_val=True)[1])


def twin_mmdagg(x, y, seed):
    import power_twins

    return power_twins.mmdagg(x, y, seed)


def twin_mmdfuse(x, y, seed):
    import power_twins

    return power_twins.mmdfuse(x, y, seed)


def gram_independence(x, y, seed):
    import gram

    return gram.hsic_test(x, y, permutations=PERMUTATIONS, seed=seed, threads=1).p_value


def gram_independence_one_width(x, y, seed):
    import gram

    return gram.hsic_test(x, y, kernel_x="rbf", kernel_y="rbf", permutations=PERMUTATIONS, seed=seed, threads=1).p_value


def hyppo_dcorr(x, y, seed):
    from hyppo.independence import Dcorr

    return Dcorr().test(x, y)[1]


def hyppo_mgc(x, y, seed):
    from hyppo.independence import MGC

    return MGC().test(x, y, reps=PERMUTATIONS, random_state=seed)[1]


def twin_hsicagg(x, y, seed):
    import power_twins

    return power_twins.hsicagg(x, y, seed)


def twin_ksdagg(x, seed):
    import power_twins

    return power_twins.ksdagg(x, -x, seed)


def gram_fit(x, seed):
    import gram

    return gram.ksd_test(x, -x, draws=PERMUTATIONS, seed=seed, threads=1).p_value


def gram_fit_one(x, seed):
    import gram

    return gram.ksd_test(x, -x, precondition="med", draws=PERMUTATIONS, seed=seed, threads=1).p_value


def gram_chain(x, seed):
    import gram

    return gram.ksd_test(x, -x, draws=PERMUTATIONS, flip=None, seed=seed, threads=1).p_value


def gram_given(x, y, z, seed):
    import gram

    return gram.hsic_test(x, y, given=z, permutations=PERMUTATIONS, seed=seed, threads=1).p_value


# name: the function, the module it needs, and the largest samples that it is fast enough for
TWO_SAMPLE = {
    "gram": (gram_two, "gram", None),
    "gram, one width": (gram_one_width, "gram", None),
    "Hotelling": (hotelling, "scipy", None),
    "goodpoints ACTT": (goodpoints_actt, "goodpoints", 200),
    "MMDAgg, twin": (twin_mmdagg, "scipy", None),
    "MMD-FUSE, twin": (twin_mmdfuse, "scipy", None),
    "MMDAgg": (mmdagg, "mmdagg", None),
    "MMD-FUSE": (mmdfuse, "mmdfuse", None),
}
INDEPENDENCE = {
    "gram": (gram_independence, "gram", None),
    "gram, one width": (gram_independence_one_width, "gram", None),
    "hyppo Dcorr": (hyppo_dcorr, "hyppo", None),
    "hyppo MGC": (hyppo_mgc, "hyppo", 200),
    "HSICAgg, twin": (twin_hsicagg, "scipy", None),
}
FIT = {"gram": (gram_fit, "gram", None), "gram, imq at the median": (gram_fit_one, "gram", None), "KSDAgg, twin": (twin_ksdagg, "scipy", None)}
NULLS = {"two": gram_two, "independence": gram_independence, "fit": gram_fit, "chain": gram_chain, "given": gram_given}


def installed(tests, n):
    """Those of a table that this machine has and that samples of n rows are not too many for."""
    return {name: test for name, (test, module, most) in tests.items() if importlib.util.find_spec(module) and (most is None or n <= most)}


def quietly(test, samples, seed):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return float(test(*samples, seed=seed))
