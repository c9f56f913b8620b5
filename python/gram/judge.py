"""Methods side by side, and what a model does with its features."""

from __future__ import annotations

from typing import Any

import numpy as np

from gram import _core, _frames
from gram._arrays import Array, ready
from gram._settings import run
from gram.report import Report


def _rows(X: Any) -> tuple[Array, Any]:
    """Numbers, and what the columns are, of an array or a data frame."""
    if hasattr(X, "columns") and hasattr(X, "dtypes"):
        return _frames.split(X)
    rows = ready(np.asarray(X, dtype=np.float64))
    if rows.ndim != 2:
        raise ValueError(f"X: two dimensions are needed, not {rows.ndim}")
    return rows, None


def _target(y: Any, name: str) -> tuple[Array, Any]:
    """A target as a column, with its levels if it is text."""
    values = np.asarray(y)
    if values.ndim != 1:
        raise ValueError(f"y: one dimension is needed, not {values.ndim}")
    if values.dtype.kind in "biuf":
        return ready(values.astype(np.float64)[:, None]), ((name, None),)
    levels, places = np.unique(values.astype(str), return_inverse=True)
    return ready(places.astype(np.float64).reshape(-1, 1)), ((name, tuple(levels.tolist())),)


def _lesson(how: Any, X: Any, y: Any, name: str = "y", names: list[str] | None = None) -> tuple[Any, ...]:
    """What a learner takes, in its order; `names` are those of columns that have none."""
    rows, features = _rows(X)
    if features is None and names is not None and len(names) == rows.shape[1]:
        features = _frames.named(names)
    target, levels = (None, None) if y is None else _target(y, name)
    if target is not None and len(target) != len(rows):
        raise ValueError(f"y has {len(target)} rows, X has {len(rows)}")
    return (how, rows, features, target, levels, None, None, None, None, None)


def compare(
    X: Any,
    y: Any,
    *,
    methods: str | list[str] | None = None,
    kernel: Any = None,
    folds: int | None = None,
    fit_rows: int | None = None,
    task: str | None = None,
    ordered: bool = False,
    seed: int | None = None,
    threads: int | None = None,
    memory: int | str | None = None,
) -> Report:
    """Methods with a few kernels and baselines by the same left-out rows, as `gram compare` does; the keys are those of its JSON.

    methods : names, such as ["krr", "gp", "baselines"] (default: all that suit the task).
    kernel : one more, for every method of kernels.
    folds, fit_rows : how rows are left out, and how many a fit gets at most (default: by the number of rows).

    >>> import gram
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(40, 2))
    >>> found = gram.compare(X, X[:, 0] + 0.1 * rng.normal(size=40), methods=["bayes", "mean"])
    >>> found["best"]["method"]
    'bayes'
    """
    options = [("task", task)] if task else []
    if ordered:
        options.append(("ordered", "yes"))
    names = ",".join(methods) if isinstance(methods, (list, tuple)) else methods
    learner = _core.learner(tuple(options), None)
    lesson = _lesson(run(threads, memory, seed), X, y)
    text = learner.compare(lesson, names, None if kernel is None else str(kernel), folds or 0, fit_rows or 0)
    report = Report(text, [])
    for row in report["rows"]:
        mark = "* " if row["name"] == report["best"]["name"] else "+ " if row["near"] else "  "
        report.rows.append((mark + row["name"], f"{row['error']:.5g} (standard error {row['se']:.2g}), {row['seconds']:.2f} s"))
    report.rows.extend(("  " + row["name"], "skipped: " + row["reason"]) for row in report["skipped"])
    return report


def explain(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    features: str | list[str] | None = None,
    row: int | None = None,
    repeats: int = 5,
    rows: int = 1000,
    seed: int | None = None,
    threads: int | None = None,
    memory: int | str | None = None,
) -> Report:
    """What a fitted estimator or a Model does with its features on the rows of X, as `gram explain` does; the keys are those of its JSON.

    Importance by permutation needs y; best are rows that were not fitted to. `row` (from 0): the training rows that weigh most in its
    prediction; rows of the result count from 1.

    >>> import gram
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(40, 2))
    >>> y = X[:, 0] + 0.01 * rng.normal(size=40)
    >>> found = gram.explain(gram.KernelRidge(kernel="linear").fit(X, y), X, y)
    >>> found["importance"][0]["feature"]
    'x1'
    """
    inner = getattr(model, "model_", model)
    names = ",".join(features) if isinstance(features, (list, tuple)) else features
    lesson = _lesson(run(threads, memory, seed), X, y, (inner.report["targets"] or ["y"])[0], inner.report["features"])
    found = Report(_core.learner((), None).explain(lesson, inner._core, repeats, rows, names, -1 if row is None else row), [])
    for f in found["importance"]:
        rise = "" if f["value"] is None else f"rise {f['value']:.4g} +- {f['se']:.2g}"
        share = "" if f["share"] is None else f"share {f['share']:.3g} +- {f['share_se']:.2g}"
        found.rows.append((f["feature"], ", ".join(part for part in (rise, share) if part)))
    return found
