"""Data frames: which columns are text, and rows of a frame as the library takes them."""

from __future__ import annotations

from typing import Any

import numpy as np

from gram._arrays import Array

Features = Any  # a tuple of (name, None or a tuple of levels) for each column; None: x1, x2, ... of numbers


def has_text(X: Any) -> bool:
    """Is it a frame with a column that is not of numbers?"""
    return hasattr(X, "columns") and hasattr(X, "dtypes") and any(not _is_numeric(X[name]) for name in _names(X))


def _names(X: Any) -> list[Any]:
    return list(X.columns)


def _is_numeric(column: Any) -> bool:
    dtype = column.dtype
    kind = getattr(dtype, "kind", "O")
    return kind in "biuf" and not hasattr(dtype, "categories")


def _codes(column: Any) -> tuple[Array, tuple[str, ...]]:
    """Places among the levels in order, NaN where a value is missing."""
    values = np.asarray(column, dtype=object)
    missing = np.array([v is None or v != v for v in values], dtype=bool)
    texts = np.array(["" if gone else str(v) for v, gone in zip(values, missing)], dtype=object)
    levels = sorted(set(texts[~missing]))
    place = {level: float(i) for i, level in enumerate(levels)}
    return np.array([np.nan if gone else place[t] for t, gone in zip(texts, missing)]), tuple(levels)


def split(X: Any) -> tuple[Array, Features]:
    """Numbers (of text: the places of levels) and what the columns are."""
    names = _names(X)
    if len(set(names)) < len(names):
        raise ValueError("the columns of the data frame do not have different names")
    numbers = np.empty((len(X), len(names)))
    features = []
    for j, name in enumerate(names):
        if _is_numeric(X[name]):
            numbers[:, j] = np.asarray(X[name], dtype=np.float64)
            features.append((str(name), None))
        else:
            numbers[:, j], levels = _codes(X[name])
            features.append((str(name), levels))
        if np.isnan(numbers[:, j]).any() or np.isinf(numbers[:, j]).any():
            raise ValueError(f"Input X contains NaN or infinity: column {name!r} has missing values")
    return numbers, tuple(features)


def named(names: Any) -> Features:
    return tuple((str(name), None) for name in names)
