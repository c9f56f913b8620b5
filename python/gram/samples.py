"""Samples: are two of one distribution, are columns independent, does a sample fit a density, which points stand for all.

Results are small objects: attributes, a readable repr, and `plot()` where matplotlib is installed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gram import _core
from gram._arrays import Array, points, rows, unpack
from gram._settings import run
from gram.kernels import Kernel, as_kernel, call

_MMD = ("auto", "permutation", "aggregated", "split", "gamma", "normal", "linear", "block", "wild")
_HSIC = ("auto", "permutation", "gamma", "aggregated")
_METRICS = {"id": 0, "med": 1, "sclmed": 2, "smpcov": 3}


def _axes(axes: Any) -> Any:
    if axes is not None:
        return axes
    try:
        import matplotlib.pyplot as plt
    except ImportError as failure:
        raise ImportError("plot() needs matplotlib (Debian: python3-matplotlib), or axes of your own to draw on") from failure
    return plt.subplots()[1]


def _place(word: str, words: Any, name: str) -> int:
    if word not in words:
        raise ValueError(f"{name} = {word!r} is not one of {', '.join(words)}")
    return words[word] if isinstance(words, dict) else words.index(word)


def _kernel(kernel: Any) -> tuple[Any, tuple[Any, ...]]:
    made = None if kernel is None else as_kernel(kernel)
    return (None, ()) if made is None else (made._handle, made._functions)


@dataclass(repr=False)
class TestResult:
    """What a test found: reject is p_value <= level."""

    __test__ = False  # not a test of pytest

    test: str
    method: str
    statistic: float
    p_value: float
    level: float
    reject: bool
    kernel: Kernel | list[Kernel]
    n: int
    m: int | None = None
    details: dict[str, Any] = field(default_factory=dict)
    samples: tuple[Array, ...] = ()

    def __bool__(self) -> bool:
        raise TypeError("a test has no truth value: ask for its `reject` or `p_value`")

    def __repr__(self) -> str:
        kernel = self.kernel if isinstance(self.kernel, Kernel) else ", ".join(repr(k) for k in self.kernel)
        verdict = "rejected" if self.reject else "not rejected"
        size = f"{self.n} rows" if self.m is None else f"{self.n} and {self.m} rows"
        return (
            f"{self.test}, {self.method}: statistic {self.statistic:.5g}, p = {self.p_value:.4g}, "
            f"{verdict} at level {self.level:g} ({size}, {kernel})"
        )

    def plot(self, axes: Any = None) -> Any:
        """With matplotlib: of two samples of one column the witness function, of more the samples over the first two; of independence
        the first column of one variable over that of the other."""
        axes = _axes(axes)
        title = self.test
        if not isinstance(self.kernel, Kernel):
            x, y = self.samples[:2]
            axes.scatter(x[:, 0], y[:, 0], s=6)
            axes.set_xlabel("first variable")
            axes.set_ylabel("second variable")
        elif self.m is not None and self.samples[0].shape[1] == 1:
            title = self._plot_witness(axes)
        else:
            for i, sample in enumerate(self.samples):
                axes.scatter(sample[:, 0], sample[:, min(1, sample.shape[1] - 1)], s=6, label=f"sample {i + 1}")
            axes.legend()
        axes.set_title(f"{title}, p = {self.p_value:.3g}")
        return axes

    def _plot_witness(self, axes: Any) -> str:
        both = np.vstack(self.samples)
        at = np.linspace(both.min(), both.max(), 300)[:, None]
        axes.plot(at[:, 0], witness(*self.samples, at, kernel=self.kernel))
        axes.axhline(0.0, color="0.7", linewidth=0.8)
        return "witness of two samples"


def mmd_test(
    X: Any,
    Y: Any,
    *,
    kernel: Any = None,
    method: str = "auto",
    level: float = 0.05,
    permutations: int = 999,
    biased: bool = False,
    scale: bool = True,
    block: int = 0,
    memory_length: float = 0.0,
    seed: int | None = None,
    threads: int | None = None,
    memory: int | str | None = None,
) -> TestResult:
    r"""Do two samples come from one distribution? By the maximum mean discrepancy,

    .. math:: MMD^2 = E k(X, X') + E k(Y, Y') - 2 E k(X, Y).

    Without a kernel many looks are taken at once (aggregated), with one its p-value is by permutation: both have exactly the level.
    Columns are standardised, both samples together, unless `scale=False`, as `gram test two-sample` does.

    >>> rng = np.random.default_rng(0)
    >>> mmd_test(rng.normal(size=(60, 2)), rng.normal(1, 1, size=(50, 2))).reject
    True
    """
    x, y = rows(X), rows(Y, "Y")
    handle, functions = _kernel(kernel)
    how = run(threads, memory, seed)
    if scale:
        a, b = _core.standardise(how, x, y)
        x, y = unpack(a), unpack(b)
    found = call(
        functions, _core.mmd_test, how, handle, x, y, _place(method, _MMD, "method"), biased, level, permutations, block,
        memory_length, 7, 1 / 16, 4.0,
    )
    return TestResult(
        "two samples", _MMD[found.pop("method")], found.pop("statistic"), found.pop("p_value"), level, found.pop("reject"),
        Kernel._of(found.pop("kernel"), functions), found.pop("n"), found.pop("m"), found, (x, y),
    )


def _variables(values: list[Any], names: list[str], scale: bool, how: Any) -> list[Array]:
    """Arrays with the same number of rows, standardised each by itself if that is wanted."""
    arrays = [rows(a, name) for a, name in zip(values, names)]
    for a, name in zip(arrays[1:], names[1:]):
        if a.shape[0] != arrays[0].shape[0]:
            raise ValueError(f"{name} has {a.shape[0]} rows, X has {arrays[0].shape[0]}")
    return [unpack(_core.standardise(how, a, None)[0]) for a in arrays] if scale else arrays


def hsic_test(
    X: Any,
    Y: Any,
    *more: Any,
    given: Any = None,
    kernel_x: Any = None,
    kernel_y: Any = None,
    kernels: Any = None,
    method: str = "auto",
    level: float = 0.05,
    permutations: int = 999,
    scale: bool = True,
    seed: int | None = None,
    threads: int | None = None,
    memory: int | str | None = None,
) -> TestResult:
    r"""Are the columns of X independent of those of Y, row by row? By the Hilbert-Schmidt independence criterion,

    .. math:: HSIC = trace(K H L H)/n^2, \quad H = I - 1 1'/n.

    More variables are tested for mutual independence (dHSIC).

    given : are X and Y still dependent where these columns are the same? What kernel ridge regressions on them leave of X and of Y is
        compared, by random signs of the rows; the level is approximate. `details["unexplained"]` has the shares that are left.
        `kernels` are then those of X, of Y and of the given columns.

    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=80)
    >>> hsic_test(x, np.cos(3 * x)).reject, hsic_test(x, rng.normal(size=80)).reject
    (True, False)
    >>> a, b = x + 0.3 * rng.normal(size=80), x + 0.3 * rng.normal(size=80)
    >>> hsic_test(a, b).reject, hsic_test(a, b, given=x).reject
    (True, False)
    """
    how = run(threads, memory, seed)
    if given is not None and (more or method != "auto"):
        raise ValueError("given is for two variables, and there is one method: leave " + ("the others" if more else "method") + " out")
    others = [*more] if given is None else [given]
    names = ["X", "Y", *(f"variable {i + 3}" for i in range(len(more)))] if given is None else ["X", "Y", "given"]
    arrays = _variables([X, Y, *others], names, scale, how)
    made = [_kernel(k) for k in ([kernel_x, kernel_y, *[None] * len(others)] if kernels is None else list(kernels))]
    functions, handles = tuple(f for _, fs in made for f in fs), tuple(h for h, _ in made)
    if given is not None:
        found = call(functions, _core.hsic_given_test, how, handles, tuple(arrays), level, permutations)
    else:
        found = call(functions, _core.hsic_test, how, handles, tuple(arrays), _place(method, _HSIC, "method"), level, permutations)
    return TestResult(
        "independence" if given is None else "conditional independence",
        _HSIC[found.pop("method")] if given is None else "signs of residuals",
        found.pop("statistic"), found.pop("p_value"), level, found.pop("reject"),
        [Kernel._of(k) for k in found.pop("kernels")], found.pop("n"), None, found, tuple(arrays),
    )


def density_scores(density: str, X: Any) -> Array:
    """grad log p at the rows of X for a density with a name, such as 'gaussian(mean=[0,1], sd=2)' or 'banana(b=0.03)'.

    >>> density_scores("gaussian(sd=2)", [[1.0, -4.0]])
    array([[-0.25,  1.  ]])
    """
    x = rows(X)
    out = np.empty(x.shape)
    _core.density_scores(run(), density, x, out)
    return out


def _scores(x: Array, scores: Any, density: str | None) -> Array | None:
    if scores is not None and density is not None:
        raise ValueError("give one of scores and density")
    if density is not None:
        return density_scores(density, x)
    if callable(scores):
        scores = scores(x)
    return None if scores is None else rows(scores, "scores")


def ksd_test(
    X: Any,
    scores: Any = None,
    *,
    density: str | None = None,
    kernel: Any = None,
    precondition: str | None = None,
    level: float = 0.05,
    draws: int = 999,
    flip: float | None = 0.5,
    seed: int | None = None,
    threads: int | None = None,
    memory: int | str | None = None,
) -> TestResult:
    """Does a sample come from a density that is known by its scores, grad log p? By the kernel Stein discrepancy and a wild bootstrap.

    scores : an array like X, or a function of X; or `density`, the text of one with a name.
    kernel : base kernel; or imq with a metric from the sample, as `precondition` says ('id', 'med', 'sclmed', 'smpcov'). By default
        imq at four widths and rbf at three are looked at together, with the level kept.
    flip : how often the signs of the bootstrap change from row to row; None for a Markov chain: by its autocorrelation time.

    >>> rng = np.random.default_rng(0)
    >>> ksd_test(rng.normal(1, 1, size=(100, 1)), lambda x: -x).reject
    True
    """
    x = rows(X)
    s = _scores(x, scores, density)
    if s is None:
        raise ValueError("the density is not known: give scores or density")
    handle, functions = _kernel(kernel)
    found = call(
        functions, _core.ksd_test, run(threads, memory, seed), handle,
        -1 if precondition is None else _place(precondition, _METRICS, "precondition"), x, s, level, draws, 0.0 if flip is None else flip,
    )
    return TestResult(
        "goodness of fit", "wild bootstrap", found.pop("statistic"), found.pop("p_value"), level, found.pop("reject"),
        Kernel._of(found.pop("kernel"), functions), found.pop("n"), None, found, (x,),
    )


@dataclass(repr=False)
class Thinned:
    """Rows that stand for all: `indices` count from 0, in the order of the choice; `discrepancy[t]` is that of the first t + 1."""

    indices: np.ndarray
    discrepancy: Array
    kernel: Kernel
    points: Array
    weights: Array | None = None

    def __len__(self) -> int:
        return len(self.indices)

    def __repr__(self) -> str:
        return f"{len(self)} of {len(self.points)} rows, discrepancy {self.discrepancy[-1]:.4g} ({self.kernel})"

    def plot(self, axes: Any = None) -> Any:
        """The choice over the first two columns, with matplotlib."""
        axes = _axes(axes)
        second = min(1, self.points.shape[1] - 1)
        axes.scatter(self.points[:, 0], self.points[:, second], s=4, alpha=0.3)
        chosen = self.points[self.indices]
        axes.scatter(chosen[:, 0], chosen[:, second], s=20)
        return axes


def _thin(X: Any, m: int, scores: Array | None, kernel: Any, precondition: str, method: int, distinct: bool, weights: bool, how: Any, density: str | None = None) -> Thinned:
    x = rows(X)
    handle, functions = _kernel(kernel)
    chosen, index, discrepancy, weighted, best = call(
        functions, _core.thin, how, handle, _place(precondition, _METRICS, "precondition"), x, scores, method, distinct, m, weights, density
    )
    curve = np.frombuffer(discrepancy, dtype=np.float64)
    if weights:
        curve = curve.copy()
        curve[-1] = best
    return Thinned(
        np.frombuffer(index, dtype=np.int64), curve, Kernel._of(chosen, functions), x,
        None if weighted is None else np.frombuffer(weighted, dtype=np.float64),
    )


def stein_thinning(
    X: Any,
    m: int,
    scores: Any = None,
    *,
    density: str | None = None,
    kernel: Any = None,
    precondition: str = "med",
    distinct: bool = False,
    weights: bool = False,
    threads: int | None = None,
    memory: int | str | None = None,
) -> Thinned:
    """m rows of MCMC output that stand for the density whose scores (grad log p at each row) are given; drops burn-in too.

    density : the text of a density with a name, in the place of scores. Scores alone do not see the weights of modes that lie apart; a
        density does (docs/stein.md).
    weights : find the best weights >= 0 with the sum 1.

    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(200, 1))
    >>> len(stein_thinning(x, 10, -x))
    10
    """
    x = rows(X)
    s = _scores(x, scores, density)
    if s is None:
        raise ValueError("the density is not known: give scores or density; herding and kernel_thinning stand for the sample itself")
    return _thin(x, m, s, kernel, precondition, 0, distinct, weights, run(threads, memory), density)


def herding(
    X: Any, m: int, *, kernel: Any = None, distinct: bool = False, weights: bool = False, threads: int | None = None,
    memory: int | str | None = None,
) -> Thinned:
    """m rows that stand for the sample, by kernel herding: argmax_x mean k(x, .) - sum k(x, chosen)/(t + 1).

    >>> x = np.linspace(0, 1, 101)[:, None]
    >>> herding(x, 3, kernel="rbf(ell=0.5)").indices.tolist()
    [50, 50, 10]
    """
    return _thin(X, m, None, kernel, "med", 1, distinct, weights, run(threads, memory))


def kernel_thinning(
    X: Any, m: int, *, kernel: Any = None, weights: bool = False, seed: int | None = None, threads: int | None = None,
    memory: int | str | None = None,
) -> Thinned:
    """m rows that stand for the sample, by kernel thinning (Dwivedi and Mackey): halved by a self-balancing walk, then refined.

    >>> x = np.random.default_rng(0).normal(size=(256, 2))
    >>> len(kernel_thinning(x, 16))
    16
    """
    return _thin(X, m, None, kernel, "med", 2, True, weights, run(threads, memory, seed))


def witness(X: Any, Y: Any, at: Any, *, kernel: Any = "rbf") -> Array:
    """mean_i k(x_i, .) - mean_j k(y_j, .) at the rows of `at`: large where X has more mass. Free numbers: the median heuristic on both.

    >>> witness([[0.0]], [[1.0]], [[0.0], [0.5], [1.0]], kernel="rbf(ell=1)").round(3)
    array([ 0.393,  0.   , -0.393])
    """
    x, y, z = points(X), points(Y, "Y"), points(at, "at")
    k = as_kernel(kernel)
    k = k.resolve(np.vstack([x, y]))
    out = np.empty(z.shape[0])
    call(k._functions, _core.witness, run(), k._handle, x, y, z, out)
    return out


class ConditionalEmbedding:
    """E[g(Y) | x] for any g, from pairs of rows: sum_i b_i(x) g(y_i), b(x) = (K + n lam I)^-1 k_x. One factor serves all g.

    >>> x = np.linspace(0, 1, 50)[:, None]
    >>> embedding = ConditionalEmbedding(x, kernel="rbf(ell=0.2)", lam=1e-8)
    >>> bool(abs(embedding.expect(x[:, 0] ** 2, [[0.5]])[0] - 0.25) < 1e-3)
    True
    """

    def __init__(self, X: Any, *, kernel: Any = "rbf", lam: float = 1e-3, threads: int | None = None, memory: int | str | None = None) -> None:
        self._x = rows(X).copy()
        self.kernel = as_kernel(kernel).resolve(self._x)
        self.lam = lam
        self._core = call(self.kernel._functions, _core.conditional, run(threads, memory), self.kernel._handle, self._x, lam)

    def weights(self, Z: Any) -> Array:
        """b_i(z_j), one row for each row of Z."""
        z = rows(Z, "Z")
        out = np.empty((z.shape[0], self._x.shape[0]))
        call(self.kernel._functions, self._core.evaluate, run(), None, z, out)
        return out

    def expect(self, g: Any, Z: Any) -> Array:
        """E[g(Y) | z] from the values g(y_i), one or several columns of them."""
        values = rows(g, "g")
        z = rows(Z, "Z")
        out = np.empty((z.shape[0], values.shape[1]))
        call(self.kernel._functions, self._core.evaluate, run(), values, z, out)
        return out[:, 0] if np.ndim(g) == 1 else out


def draws(kernel: Any, X: Any, n_samples: int = 1, *, seed: int | None = None) -> Array:
    """Draws of the Gaussian process with mean 0 and this kernel at the rows of X, one column for each.

    >>> draws("min()", np.linspace(0.1, 1, 10), 3).shape
    (10, 3)
    """
    return as_kernel(kernel).sample(X, n_samples, seed=seed)


__all__ = [
    "ConditionalEmbedding", "TestResult", "Thinned", "density_scores", "draws", "herding", "hsic_test", "kernel_thinning",
    "ksd_test", "mmd_test", "stein_thinning", "witness",
]
