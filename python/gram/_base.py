"""What all estimators share: parameters as options of the library, rows, the fit, reports and files.

What a task adds to it is in `gram._tasks`, and the classes that people use are made of the table in `gram.estimators`.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, column_or_1d

from gram import _core, _frames, _table
from gram._arrays import Array, core_rows, is_sparse, ready, unpack
from gram._compat import set_tags, validate_data
from gram._settings import run
from gram.kernels import Kernel, as_kernel, call
from gram.models import Model

#: Checks of scikit-learn that are expected to fail with default settings, by the name of the class, and why. With kernel and strength
#: given (`alpha` or `C`: sums over rows, where `lam` is of their mean), `scale=False` and a small tolerance all but those of _NU pass.
_ROWS = "what is tuned and how columns are scaled depend on rows and their order, not on their weights alone"
_NU = "a share of rows, and starts of clusters, are counted by rows; scikit-learn's own are expected to fail, too"
EXPECTED_FAILED_CHECKS: dict[str, dict[str, str]] = {
    name: {"check_sample_weight_equivalence_on_dense_data": _NU if entry.task in ("one-class", "cluster") else _ROWS}
    for name, entry in _table.estimators().items()
    if entry.weighted and not entry.quadrature
}
for _name in EXPECTED_FAILED_CHECKS.keys() & {"SVC", "SVR", "SGDClassifier", "SGDRegressor"}:  # before 1.6
    EXPECTED_FAILED_CHECKS[_name]["check_sample_weights_invariance"] = _ROWS


# ---- values as the library reads them ----


def _text(value: Any) -> str:
    """A parameter as the text of an option."""
    if isinstance(value, (bool, np.bool_)):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return ",".join(f"{_level(name)}={float(weight)!r}" for name, weight in value.items())
    if isinstance(value, (list, tuple, np.ndarray)):
        return ",".join(_text(item) for item in value)
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    if isinstance(value, (float, np.floating)):
        return str(int(value)) if float(value).is_integer() and abs(value) < 1e15 else repr(float(value))
    return str(value)


def _at_most(landmarks: str, rows: int) -> str:
    """As many landmarks as there are rows, where more are asked for, as scikit-learn does; the command refuses it."""
    if not landmarks.isdigit() or int(landmarks) <= rows:
        return landmarks
    warnings.warn(f"{landmarks} landmarks are more than the {rows} rows: all rows are taken", stacklevel=4)
    return str(rows)


def _level(value: Any) -> str:
    """A class as the library names it."""
    return _text(value) if isinstance(value, (int, float, np.number)) and not isinstance(value, bool) else str(value)


def _same(value: Any, usual: Any) -> bool:
    return value is usual or (type(value) is type(usual) and value == usual)


# ---- what all estimators share ----


class Base(BaseEstimator):
    """Parameters, rows, the fit, reports and files."""

    _entry: _table.Estimator
    model_: Model

    # -- parameters --

    def set_params(self, **params: Any) -> Any:
        """As scikit-learn's; names of the command's options are understood too."""
        return super().set_params(**{self._aliases.get(name, name): value for name, value in params.items()})

    def _given(self) -> dict[str, Any]:
        """Options of the table that were set to something else than their default, by their own names."""
        return {
            p.option: getattr(self, p.name)
            for p in self._entry.parameters
            if getattr(self, p.name) is not None and not _same(getattr(self, p.name), p.default)
        }

    def _kernel(self) -> Kernel | None:
        given = getattr(self, "kernel", None)
        return None if given is None else as_kernel(given)

    def _tunes(self) -> bool:
        """Nothing is tuned when kernel and strength are given in full."""
        if getattr(self, "tune", None) not in (None, "auto"):
            return self.tune != "none"
        strength = any(getattr(self, name, None) is not None for name in ("C", "lam", "alpha", "noise"))
        try:
            kernel = self._kernel()
        except (TypeError, ValueError):
            return True
        return kernel is None or not strength or not all(p.set for p in kernel.parameters)

    def _is_precomputed(self) -> bool:
        given = getattr(self, "kernel", None)
        return isinstance(given, str) and given == "precomputed"

    def _options(self, kernel: Kernel | None, columns: dict[str, str]) -> tuple[tuple[tuple[str, str], ...], Any]:
        """Options as texts, and the kernel if it has none."""
        entry = self._entry
        options = [("method", entry.method)]
        if entry.task in ("regression", "classification", "one-class"):
            options.append(("task", entry.task))
        handle = None
        if kernel is not None and (kernel._functions or self._is_precomputed()):
            handle = kernel._handle
        elif kernel is not None:
            options.append(("kernel", repr(kernel)))
        for option, value in self._given().items():
            options.append((option, repr(as_kernel(value)) if option.startswith("kernel-") else _text(value)))
        options.extend(columns.items())
        if self._is_precomputed():
            options.append(("scale", "no"))
        elif self.scale != entry.scaled:
            options.append(("scale", _text(bool(self.scale))))
        if getattr(self, "ordered", False):
            options.append(("ordered", "yes"))
        return tuple(options), handle

    def _run(self) -> Any:
        return run(self.threads, self.memory, self.random_state, self.progress)

    # -- rows --

    def _take_rows(self, X: Any, reset: bool) -> tuple[Array, Any]:
        """Rows of numbers, and what the columns are if that is known."""
        if reset and _frames.has_text(X):
            rows, features = _frames.split(X)
            self.feature_names_in_ = np.array([name for name, _ in features], dtype=object)
            self.n_features_in_ = len(features)
            self._text = True
            return rows, features
        if not reset and self.__dict__.get("_text"):
            return self._take_text(X)
        rows = ready(validate_data(self, X, reset=reset, accept_sparse=self._sparse(), dtype=np.float64, ensure_min_samples=2 if reset else 1))
        if reset:
            self._text = False
        rows = self._as_fitted(rows, reset)
        return self._with_places(rows, reset), self._names()

    def _sparse(self) -> Any:
        """What validate_data is told: do kernels of this estimator take scipy's CSR rows?"""
        takes = hasattr(self, "kernel") and self._entry.method not in ("feature-map", "integrate", "solve")
        return "csr" if takes and not self._entry.views and not self._is_precomputed() else False

    def _as_fitted(self, rows: Any, reset: bool) -> Any:
        """Sparse rows are for models that were fitted to such, which take others, too."""
        if reset:
            self._rows_are_sparse = is_sparse(rows)
        elif is_sparse(rows) and not self.__dict__.get("_rows_are_sparse"):
            raise TypeError("A sparse matrix was passed, but dense data is required: the model was fitted to such. Use X.toarray().")
        elif self.__dict__.get("_rows_are_sparse") and not is_sparse(rows):
            from scipy.sparse import csr_matrix

            return csr_matrix(rows)
        return rows

    def _take_text(self, X: Any) -> tuple[Array, Any]:
        names = list(self.feature_names_in_)
        if not hasattr(X, "columns"):
            raise ValueError(f"{type(self).__name__} was fitted on columns of text: X must be a data frame with {', '.join(names)}")
        lacking = [name for name in names if name not in list(X.columns)]
        if lacking:
            raise ValueError(f"The feature names should match those that were passed during fit. Missing: {', '.join(lacking)}")
        return _frames.split(X[names])

    def _names(self) -> Any:
        names = getattr(self, "feature_names_in_", None)
        return None if names is None or self._is_precomputed() or self.__dict__.get("_rows_are_sparse") else _frames.named(names)

    def _with_places(self, rows: Array, reset: bool) -> Array:
        """Rows of a given matrix, with the number of the row behind if they are those of the fit."""
        if not self._is_precomputed():
            return rows
        if reset and rows.shape[0] != rows.shape[1]:
            raise ValueError(f"Precomputed matrix must be a square matrix. Input is a {rows.shape[0]}x{rows.shape[1]} matrix.")
        last = np.arange(rows.shape[0], dtype=np.float64) if reset else np.full(rows.shape[0], -1.0)
        return np.column_stack([rows, last])

    def _take_weights(self, sample_weight: Any, X: Any) -> Array | None:
        if sample_weight is None:
            return None
        return np.ascontiguousarray(_check_sample_weight(sample_weight, X, dtype=np.float64))

    # -- the fit --

    def _learn(
        self,
        rows: Array,
        features: Any,
        y: Array | None = None,
        target: Any = None,
        second: Array | None = None,
        second_features: Any = None,
        weights: Array | None = None,
        columns: dict[str, Any] | None = None,
    ) -> Any:
        """Runs the learner; rows of weight 0 say nothing and are left out."""
        extra, names, kinds = extra_columns(columns or {}, features, rows.shape[0])
        if weights is not None and (weights == 0).any():
            keep = weights > 0
            rows, weights = rows[keep], weights[keep]
            y = None if y is None else y[keep]
            second = None if second is None else second[keep]
            extra = None if extra is None else extra[keep]
            if not keep.any():
                raise ValueError("sample_weight: all weights are 0")
        kernel = self._kernel()
        options, handle = self._options(kernel, names)
        options = tuple((name, _at_most(text, rows.shape[0]) if name == "nystrom" else text) for name, text in options)
        functions = () if kernel is None else kernel._functions
        how = self._run()
        learner = _core.learner(options, handle)
        core = call(
            functions, learner.learn, how, core_rows(rows), features, y, target, second, second_features, extra, kinds, weights
        )
        self._functions = functions
        self.model_ = Model(core)
        self.kernel_ = self.model_.kernel if kernel is None else kernel._like(core.kernel(False), 1 if is_sparse(rows) else rows.shape[1])
        self._announce(learner, how)
        return learner

    def _announce(self, learner: Any, how: Any) -> None:
        """What the fit knows beside the model: left-out predictions; and whether it came to its end."""
        self.__dict__.pop("loo_predictions_", None)
        if self._entry.leaves_out:
            what, packed = call(self._functions, learner.fitted, how, self.model_._core)
            if "leave-one-out" in what:
                self.loo_predictions_ = unpack(packed)[:, 0]
        if self.model_._core.fact("converged") == 0:
            warnings.warn(
                f"{type(self).__name__}: the fit was stopped before it converged; what it found so far is the model.",
                ConvergenceWarning,
                stacklevel=4,
            )

    def _evaluate(self, X: Any, view: str | None = None, **wishes: Any) -> tuple[Array, dict[str, Any]]:
        """The columns that the model predicts for rows of X."""
        check_is_fitted(self)
        rows, features = self._take_rows(X, reset=False)
        return self._evaluate_rows(rows, features if self.__dict__.get("_text") else None, view, **wishes)

    def _evaluate_rows(self, rows: Array, features: Any, view: str | None = None, **wishes: Any) -> tuple[Array, dict[str, Any]]:
        def evaluate() -> Any:
            return self.model_.evaluate(rows, features, view=view, how=self._run(), **wishes)

        return call(self._functions, evaluate)

    # -- pickles --

    def __getstate__(self) -> dict[str, Any]:
        """A model whose kernel has no expression (a function, a given matrix) is kept without it: the estimator keeps the kernel."""
        state = dict(super().__getstate__())
        kernel = state.get("kernel_")
        if kernel is not None and kernel._recipe:
            state["model_"] = self.model_.to_bytes(part=True)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        model = state.get("model_")
        super().__setstate__(state)
        if isinstance(model, bytes):
            self._functions = self.kernel_._functions
            self.model_ = Model.from_bytes(model, self.kernel_)

    # -- reports and files --

    def __sklearn_is_fitted__(self) -> bool:
        return "model_" in self.__dict__

    def __getattr__(self, name: str) -> Any:
        """Facts of the report as attributes: log_marginal_likelihood_, eigenvalues_, n_support_, ..."""
        model = self.__dict__.get("model_")
        if model is not None and name == "report_":
            return model.report
        is_fact = name.endswith("_") and not name.startswith("_") and not name.endswith("_in_")
        if model is not None and is_fact and name[:-1] in model.report:
            value = model.report[name[:-1]]
            return np.array(value) if isinstance(value, list) and value and isinstance(value[0], float) else value
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def save(self, path: Any) -> None:
        """The model as a file that `gram.load`, `gram predict`, `gram info` and C read."""
        check_is_fitted(self)
        self.model_.write(path)

    @classmethod
    def from_model(cls, model: Model) -> Any:
        """A fitted estimator of a model."""
        made = cls()
        made.model_, made.kernel_, made._functions = model, model.kernel, ()
        columns = model.columns()
        made.n_features_in_ = len(columns)
        made.feature_names_in_ = np.array([c["name"] for c in columns], dtype=object)
        made._text = any(c["kind"] == "text" for c in columns)
        made._rows_are_sparse = [c["kind"] for c in columns] == ["sparse"]
        if made._rows_are_sparse:
            made.n_features_in_ = columns[0]["width"]
            del made.feature_names_in_
            made._adopt()
            return made
        letter = (*cls._entry.views, "x")[0]
        if not made._text and all(c["name"] == f"{letter}{j + 1}" for j, c in enumerate(columns)):
            del made.feature_names_in_
        made._adopt()
        return made

    def _adopt(self) -> None:
        """What a task needs of a model from a file."""

    def _more_tags(self) -> dict[str, Any]:
        expected = EXPECTED_FAILED_CHECKS.get(type(self).__name__, {})
        return {"pairwise": self._is_precomputed(), "_xfail_checks": expected, **self._old_tags()}

    def _old_tags(self) -> dict[str, Any]:
        return {}

    def __sklearn_tags__(self) -> Any:
        return set_tags(
            super().__sklearn_tags__(), input_tags__pairwise=self._is_precomputed(), input_tags__sparse=bool(self._sparse())
        )


def extra_columns(columns: dict[str, Any], features: Any, n: int) -> tuple[Array | None, dict[str, str], Any]:
    """Arguments of fit that are columns of the rows: their numbers, the options that name them, and which are text."""
    given = {name: values for name, values in columns.items() if values is not None}
    taken = {name for name, _ in features or ()}
    numbers, names, kinds = [], {}, []
    for option, values in given.items():
        a = column_or_1d(values)
        if a.shape[0] != n:
            raise ValueError(f"{option} has {a.shape[0]} rows, X has {n}")
        levels = None
        if a.dtype.kind not in "biuf":
            known, a = np.unique(a.astype(str), return_inverse=True)
            levels = tuple(str(level) for level in known)
        name = option
        while name in taken:
            name += "_"
        numbers.append(a.astype(np.float64))
        names[option] = name
        kinds.append((name, levels))
    return np.ascontiguousarray(np.column_stack(numbers)) if given else None, names, tuple(kinds)


def target_of(name: Any, features: Any, levels: Any = None) -> Any:
    """What the target is called: as a series is, if that can be written in a list of columns and no feature has the name."""
    text = name if isinstance(name, str) and name.isidentifier() else "y"
    taken = {feature for feature, _ in features or ()}
    while text in taken:
        text += "_"
    return ((text, levels),)
