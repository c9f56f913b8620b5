"""Models: what was learnt, as the command, C and Python keep it."""

from __future__ import annotations

import json
import os
from typing import Any

import numpy as np

from gram import _core
from gram._arrays import Array, core_rows, unpack
from gram._settings import run
from gram.kernels import Kernel
from gram.report import Report

#: What a predictor can be asked for, in the order of gram._core, and what is asked for by default.
WISHES = {"std": False, "interval": 0.0, "latent": False, "terms": False, "prob": False, "scores": False, "reconstruct": False}


class Model:
    """A model of libgram. It never changes; threads may share it. Pickles as the bytes of its file."""

    def __init__(self, core: Any) -> None:
        self._core = core
        self.method, self.task, self.version, self.has_intervals, self.is_process = core.kind()
        self._predictors: dict[Any, Any] = {}
        self._report: Report | None = None

    @classmethod
    def read(cls, path: Any) -> Model:
        """From a file, of `gram fit -o` or of `write`."""
        if not os.path.exists(path):
            raise FileNotFoundError(f"{os.fspath(path)}: there is no such model file")
        return cls(_core.model_read(run(), path))

    @classmethod
    def from_bytes(cls, data: bytes, kernel: Kernel | None = None) -> Model:
        """From what `to_bytes` made; `kernel` is that of bytes which are a part."""
        return cls(_core.model_of_bytes(run(), data, None if kernel is None else kernel._handle))

    def to_bytes(self, *, part: bool = False) -> bytes:
        """The bytes that `write` puts into the file; with `part` all but a kernel that has no expression, which you keep."""
        return self._core.to_bytes(run(), part)

    def write(self, path: Any) -> None:
        """To a file that `gram predict`, `gram info` and C read. It is replaced in one step."""
        self._core.write(run(), path)

    def __reduce__(self) -> Any:
        return (Model.from_bytes, (self.to_bytes(),))

    @property
    def report(self) -> Report:
        if self._report is None:
            self._report = Report(*self._core.describe(None))
        return self._report

    @property
    def kernel(self) -> Kernel:
        return Kernel._of(self._core.kernel(False))

    @property
    def second_kernel(self) -> Kernel | None:
        """Of the second of two views."""
        core = self._core.kernel(True)
        return None if core is None else Kernel._of(core)

    def columns(self, second: bool = False) -> list[dict[str, Any]]:
        """The columns that it was learnt from: name, kind, and levels, or mean and deviation."""
        text = self._core.columns(second)
        return [] if text is None else json.loads(text)["columns"]

    def function(self, second: bool = False) -> tuple[Array, Array, Array]:
        """Centres x_i (prepared), coefficients a and constants b of f(x) = sum_i a_i k(x_i, x) + b."""
        centres, coefficients, constant = self._core.parts(second)
        return unpack(centres), unpack(coefficients), unpack(constant).ravel()

    def array(self, name: str) -> Array | None:
        """Another array that the method keeps, by its name in the file."""
        packed = self._core.array(name)
        return None if packed is None else unpack(packed)

    def predictor(self, view: str | None = None, *, how: Any = None, **wishes: Any) -> Any:
        """Ready for predictions; what the model lacks, such as a factor, is made once."""
        key = (view, *(wishes.get(name, usual) for name, usual in WISHES.items()))
        if key not in self._predictors:
            self._predictors[key] = self._core.predictor(how or run(), *key[1:], view)
        return self._predictors[key]

    def evaluate(
        self,
        X: Array,
        features: Any = None,
        weights: Array | None = None,
        view: str | None = None,
        *,
        how: Any = None,
        **wishes: Any,
    ) -> tuple[Array, dict[str, Any]]:
        """All columns of what the model predicts for rows of features as they are, and what they are."""
        predictor = self.predictor(view, how=how, **wishes)
        columns = predictor.columns()
        values = np.empty((X.shape[0], columns["ld"]))
        predictor.evaluate(how or run(), core_rows(X), features, weights, values)
        return values, columns
