"""Arrays as gram._core takes them: rows of float64 (points: float32 too) without gaps. A copy is made only where the layout needs one."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray  # of float64; numpy.typing would double the time of the import


def lies_well(a: np.ndarray) -> bool:
    """Does each row lie without gaps, and rows a whole number of numbers apart?"""
    item = a.itemsize
    if not a.flags.aligned or a.ndim != 2:
        return False
    rows, columns = a.strides
    return (a.shape[1] <= 1 or columns == item) and (a.shape[0] <= 1 or (rows % item == 0 and rows >= a.shape[1] * item))


def points(values: Any, name: str = "X") -> np.ndarray:
    """n rows of d numbers, float64 or float32; a sequence of n numbers is n rows of one."""
    if type(values) is np.ndarray and values.dtype == np.float64 and values.ndim == 2 and values.flags.c_contiguous:
        a = values
    else:
        if hasattr(values, "toarray"):
            raise TypeError(f"{name}: a sparse matrix was passed, but dense data is required. Use {name}.toarray().")
        a = np.asarray(values)
        if a.dtype != np.float64 and a.dtype != np.float32:
            if a.dtype.kind not in "biuf":
                raise ValueError(f"{name}: an array of numbers is needed, not of {a.dtype}")
            a = a.astype(np.float64)
        if a.ndim == 1:
            a = a[:, None]
        if a.ndim != 2:
            raise ValueError(f"{name}: an array of two dimensions is needed, this one has {a.ndim}")
        if not lies_well(a):
            a = np.ascontiguousarray(a)
    if a.shape[0] < 1 or a.shape[1] < 1:
        raise ValueError(f"{name}: the array of shape {a.shape} has no numbers")
    return a


def _is_weighted(bag: Any) -> bool:
    """Is it a pair of rows and their weights?"""
    return isinstance(bag, tuple) and len(bag) == 2 and np.ndim(bag[0]) == 2 and np.ndim(bag[1]) == 1


def points_or_bags(values: Any, name: str = "X") -> tuple[Any, int]:
    """What the core takes as points, and their number. A list of arrays of two dimensions is one of bags: a point is all rows of an array. So is a list of
    pairs (rows, weights)."""
    weights = None
    if isinstance(values, list) and values and all(_is_weighted(v) for v in values):
        weights = [column(w, len(v), f"{name}[{i}]: weights") for i, (v, w) in enumerate(values)]
        values = [v for v, _ in values]
    if not isinstance(values, list) or not values or not all(np.ndim(v) == 2 for v in values):
        a = points(values, name)
        return a, a.shape[0]
    bags = [rows(v, f"{name}[{i}]") for i, v in enumerate(values)]
    wide = {b.shape[1] for b in bags}
    if len(wide) > 1:
        raise ValueError(f"{name}: the rows of bags have {min(wide)} to {max(wide)} columns, and must have as many in all")
    start = np.concatenate([[0], np.cumsum([len(b) for b in bags])]).astype(np.int64)
    together = np.ascontiguousarray(np.concatenate(bags))
    return (together, start) if weights is None else (together, start, np.concatenate(weights)), len(bags)


def rows(values: Any, name: str = "X") -> Array:
    """The same in float64 only."""
    a = points(values, name)
    return a if a.dtype == np.float64 else a.astype(np.float64)


def matrix(n: int, m: int) -> Array:
    """Memory for n x m numbers. Large ones begin at a line of the cache, where NumPy's begin 16 bytes later: that made a Gram matrix
    take 8 % longer."""
    if n * m < 100_000:
        return np.empty((n, m))
    memory = np.empty(n * m + 7)
    first = -memory.ctypes.data % 64 // 8
    return memory[first : first + n * m].reshape(n, m)


def column(values: Any, n: int, name: str) -> Array:
    """One number for each of n rows."""
    a = np.ascontiguousarray(values, dtype=np.float64)
    if a.shape != (n,):
        raise ValueError(f"{name}: the shape is {a.shape} instead of ({n},)")
    return a


def unpack(packed: tuple[bytearray, int, int]) -> Array:
    """What gram._core returns as memory and shape."""
    memory, n, d = packed
    return np.frombuffer(memory, dtype=np.float64).reshape(n, d)


def is_sparse(a: Any) -> bool:
    """Is it one of scipy's sparse matrices or arrays?"""
    return hasattr(a, "tocsr")


def core_rows(a: Any) -> Any:
    """Rows as gram._core takes them: the array, or of sparse rows the arrays of CSR."""
    if not is_sparse(a):
        return a
    if a.shape[1] >= 2**31:
        raise ValueError(f"X: sparse rows of {a.shape[1]} columns; at most {2**31 - 1} can be")
    return (a.indptr.astype(np.int64), a.indices.astype(np.int32, copy=False), a.data, int(a.shape[1]))


def ready(a: Any) -> Any:
    """A checked array of two dimensions in float64, copied only if its layout needs it; sparse rows with ascending columns, each once."""
    if is_sparse(a):
        a = a.tocsr()
        if not a.has_canonical_format:
            a = a.copy()
            a.sum_duplicates()
        return a
    a = np.asarray(a, dtype=np.float64)
    return a if lies_well(a) else np.ascontiguousarray(a)
