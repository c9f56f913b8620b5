"""Tables as gram reads them: CSV, TSV, LIBSVM's text and .npy, also compressed."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from gram import _core
from gram._arrays import Array, unpack
from gram._settings import run

_FORMATS = {"auto": 0, "csv": 1, "tsv": 2, "npy": 3, "libsvm": 4}


class Table:
    """Named columns of numbers and of text. `numbers` has the places of texts among the `levels` of their column, NaN for what is missing.

    >>> table = Table(["a", "b"], [None, ["no", "yes"]], np.array([[1.5, 1.0], [2.0, 0.0]]))
    >>> table["b"]
    array(['yes', 'no'], dtype=object)
    >>> len(table), table.names
    (2, ['a', 'b'])
    """

    def __init__(self, names: list[str], levels: list[list[str] | None], numbers: Array) -> None:
        self.names, self.levels, self.numbers = names, levels, numbers

    def __len__(self) -> int:
        return self.numbers.shape[0]

    def __getitem__(self, name: str) -> np.ndarray:
        """A column: floats, or texts (None where one is missing)."""
        if name not in self.names:
            raise KeyError(f"{name!r} is not a column: they are {', '.join(self.names)}")
        j = self.names.index(name)
        levels, values = self.levels[j], self.numbers[:, j]
        if levels is None:
            return values
        return np.array([None if np.isnan(v) else levels[int(v)] for v in values], dtype=object)

    def to_numpy(self) -> Array:
        """All columns, which must be numbers."""
        for name, levels in zip(self.names, self.levels):
            if levels is not None:
                raise ValueError(f"column {name!r} is text: take to_pandas(), or the columns one by one")
        return self.numbers

    def to_pandas(self) -> Any:
        """A DataFrame; text columns become categories, which estimators take."""
        import pandas as pd

        columns = {}
        for j, (name, levels) in enumerate(zip(self.names, self.levels)):
            values = self.numbers[:, j]
            if levels is None:
                columns[name] = values
            else:
                codes = np.where(np.isnan(values), -1, values).astype(int)
                columns[name] = pd.Categorical.from_codes(codes, levels)
        return pd.DataFrame(columns)

    def __repr__(self) -> str:
        kinds = ", ".join(f"{n} ({len(lv)} levels)" if lv else n for n, lv in zip(self.names, self.levels))
        return f"Table of {len(self)} rows: {kinds}"


def read_table(
    path: Any,
    *,
    format: str = "auto",
    features: str | None = None,
    ignore: str | None = None,
    keep_missing: bool = True,
    threads: int | None = None,
) -> Table:
    """Reads a file as the command does: delimiter and header are found by looking, text becomes categories, `.gz` is unpacked.

    features, ignore : lists of columns, as in "x1,x3:x5,7".
    keep_missing : missing values become NaN; False: they are an error that names file, line and column.
    """
    if format not in _FORMATS:
        raise ValueError(f"format = {format!r} is not one of {', '.join(_FORMATS)}")
    if not os.path.exists(path):
        raise FileNotFoundError(f"{os.fspath(path)}: there is no such file")
    columns, packed, _ = _core.read_table(run(threads), path, _FORMATS[format], features, ignore, keep_missing)
    return Table([name for name, _ in columns], [levels for _, levels in columns], unpack(packed))
