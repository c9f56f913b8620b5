"""Estimators after scikit-learn's conventions, one for each method of libgram's table.

There is no class here for any method: names, parameters, defaults and help come from the table (`gram._table`), behaviour from what
the methods have in common, by task: regression, classification, one class, transformation, clusters. A method that libgram gets
tomorrow is an estimator tomorrow.
"""

from __future__ import annotations

import copy
import inspect
import textwrap
import warnings
from typing import Any

import numpy as np
from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    ClassNamePrefixFeaturesOutMixin,
    ClusterMixin,
    OutlierMixin,
    RegressorMixin,
    TransformerMixin,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, column_or_1d

from gram import _core, _frames, _table
from gram._arrays import Array, ready, unpack
from gram._compat import set_tags, validate_data
from gram._settings import run
from gram.kernels import Kernel, as_kernel, call
from gram.models import Model

#: Parameters that every estimator has, after those of its method.
COMMON = {"threads": None, "memory": None, "random_state": None, "progress": None}

#: Checks of scikit-learn that are expected to fail with default settings, by the name of the class, and why. With kernel and strength
#: given (`alpha` or `C`: sums over rows, where `lam` is of their mean), `scale=False` and a small tolerance all but those of _NU pass.
_ROWS = "what is tuned and how columns are scaled depend on rows and their order, not on their weights alone"
_NU = "a share of rows, and starts of clusters, are counted by rows; scikit-learn's own are expected to fail, too"
EXPECTED_FAILED_CHECKS: dict[str, dict[str, str]] = {
    name: {"check_sample_weight_equivalence_on_dense_data": _NU if entry.task in ("one-class", "cluster") else _ROWS}
    for name, entry in _table.estimators().items()
    if entry.weighted and not entry.quadrature
}
for _name in ("SVC", "SVR"):  # before 1.6
    EXPECTED_FAILED_CHECKS[_name]["check_sample_weights_invariance"] = _ROWS

COMMON_HELP = {
    "kernel": "an expression such as '2*rbf(ell=0.3)', a gram.Kernel, a kernel of scikit-learn's Gaussian processes, a function of X "
    "and Y, or 'precomputed'; numbers that are left out are chosen from the data",
    "scale": "standardise the features",
    "ordered": "rows are in order of time: folds of cross-validation go forward in it",
    "threads": "at most so many; results do not depend on it",
    "memory": "a budget in bytes or as text, '8G' (default: 80 % of what is free)",
    "random_state": "seed of all random numbers (default: that of gram.context, which is 0)",
    "progress": "True, or a function of what is done and the share done",
}


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
        rows = ready(validate_data(self, X, reset=reset, dtype=np.float64, ensure_min_samples=2 if reset else 1))
        if reset:
            self._text = False
        return self._with_places(rows, reset), self._names()

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
        return None if names is None or self._is_precomputed() else _frames.named(names)

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
        extra, names, kinds = _extra_columns(columns or {}, features, rows.shape[0])
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
        functions = () if kernel is None else kernel._functions
        how = self._run()
        learner = _core.learner(options, handle)
        core = call(
            functions, learner.learn, how, rows, features, y, target, second, second_features, extra, kinds, weights
        )
        self._functions = functions
        self.model_ = Model(core)
        self.kernel_ = Kernel._of(core.kernel(False), functions) if self._entry.kernel else self.model_.kernel
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
        return set_tags(super().__sklearn_tags__(), input_tags__pairwise=self._is_precomputed())


def _extra_columns(columns: dict[str, Any], features: Any, n: int) -> tuple[Array | None, dict[str, str], Any]:
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


def _target(name: Any, features: Any, levels: Any = None) -> Any:
    """What the target is called: as a series is, if that can be written in a list of columns and no feature has the name."""
    text = name if isinstance(name, str) and name.isidentifier() else "y"
    taken = {feature for feature, _ in features or ()}
    while text in taken:
        text += "_"
    return ((text, levels),)


# ---- tasks ----


class Regressor(RegressorMixin, Base):
    """Predicts numbers."""

    def _fit(self, X: Any, y: Any, sample_weight: Any = None, **columns: Any) -> Any:
        name = getattr(y, "name", None)
        if y is None:
            raise ValueError(f"requires y to be passed, but the target y is None: {type(self).__name__} learns from targets")
        rows, features, y = self._take_pairs(X, y)
        weights = self._take_weights(sample_weight, rows)
        target = _target(name, features) if y.ndim == 1 else None
        self._learn(rows, features, ready(y.reshape(len(y), -1)), target, weights=weights, columns=columns)
        return self

    def _take_pairs(self, X: Any, y: Any) -> tuple[Array, Any, Array]:
        if _frames.has_text(X):
            rows, features = self._take_rows(X, reset=True)
            y = np.asarray(y, dtype=np.float64)
            if len(y) != len(rows) or not np.isfinite(y).all():
                raise ValueError(f"y: {len(rows)} finite numbers are needed")
        else:
            X, y = validate_data(self, X, y, dtype=np.float64, multi_output=True, y_numeric=True, ensure_min_samples=2)
            self._text = False
            rows, features = self._with_places(ready(X), True), self._names()
            y = np.asarray(y, dtype=np.float64)
        return rows, features, column_or_1d(y, warn=True) if y.ndim == 2 and y.shape[1] == 1 else y

    def predict(self, X: Any) -> Array:
        """The mean at each row of X; of several targets or quantiles, one column for each."""
        values, columns = self._evaluate(X)
        count = max(columns["outputs"], len(columns["levels"] or ()), 1)
        return values[:, 0].copy() if count == 1 else values[:, :count].copy()


class IntervalRegressor(Regressor):
    """Predicts numbers with their uncertainty."""

    def predict(
        self, X: Any, return_std: bool = False, return_cov: bool = False, interval: float | None = None, latent: bool = False
    ) -> Any:
        """The mean at each row of X, with `return_std` its standard deviation, with `return_cov` the covariance of all rows, with
        `interval=0.95` lower and upper ends of an interval of that probability. They are of a new observation, noise included, as in
        the command; `latent=True`: of f itself, as scikit-learn has it."""
        if return_std and return_cov:
            raise RuntimeError("At most one of return_std or return_cov can be requested.")
        if not (return_std or return_cov or interval):
            return super().predict(X)
        values, columns = self._evaluate(X, std=return_std or not return_cov, interval=interval or 0.0, latent=latent)
        parts = [values[:, 0].copy()]
        if return_std:
            parts.append(values[:, columns["std"]].copy())
        if return_cov:
            parts.append(self._covariance(X, latent))
        if interval:
            parts.extend([values[:, columns["lower"]].copy(), values[:, columns["upper"]].copy()])
        return tuple(parts)

    def _covariance(self, X: Any, latent: bool) -> Array:
        rows, _ = self._take_rows(X, reset=False)
        out = np.empty((rows.shape[0], rows.shape[0]))
        call(self._functions, self.model_._core.covariance, self._run(), rows, out)
        if not latent and self.report_.get("noise"):
            out[np.diag_indices_from(out)] += self.report_["noise"]
        return out

    @available_if(lambda self: self.__sklearn_is_fitted__() is False or self.model_.is_process)
    def sample_y(self, X: Any, n_samples: int = 1, random_state: Any = 0, observed: bool = False) -> Array:
        """Draws of f from the posterior, jointly at all rows of X, one column for each; `observed`: with the noise."""
        check_is_fitted(self)
        rows, _ = self._take_rows(X, reset=False)
        out = np.empty((rows.shape[0], n_samples))
        how = run(self.threads, self.memory, random_state, self.progress)
        call(self._functions, self.model_._core.draw, how, rows, n_samples, observed, out)
        return out


def _has_probabilities(self: Any) -> bool:
    """Of a machine that makes them only when asked, or when it is tuned by folds: will it?"""
    if self.__sklearn_is_fitted__():
        return self._probable()
    return not hasattr(self, "prob") or bool(self.prob) or self._tunes()


class Classifier(ClassifierMixin, Base):
    """Predicts classes, of any type."""

    def _fit(self, X: Any, y: Any, sample_weight: Any = None, **columns: Any) -> Any:
        name = getattr(y, "name", None)
        rows, features, y = self._take_pairs(X, y)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(f"{type(self).__name__} needs rows of at least 2 classes; the data contains only one class: {self.classes_[0]!r}")
        weights = self._take_weights(sample_weight, rows)
        if weights is not None and len(np.unique(codes[weights > 0])) < 2:
            raise ValueError(f"{type(self).__name__}: the rows of weight above 0 are of less than 2 classes, one class only")
        target, levels = self._numbers(codes)
        self._learn(
            rows, features, target[:, None], _target(name, features, levels), weights=weights, columns=columns
        )
        self._know_classes()
        return self

    def _take_pairs(self, X: Any, y: Any) -> tuple[Array, Any, Any]:
        if y is None:
            raise ValueError(f"requires y to be passed, but the target y is None: {type(self).__name__} learns from targets")
        if _frames.has_text(X):
            rows, features = self._take_rows(X, reset=True)
            y = column_or_1d(y, warn=True)
            if len(y) != len(rows):
                raise ValueError(f"y has {len(y)} rows, X has {len(rows)}")
            return rows, features, y
        X, y = validate_data(self, X, y, dtype=np.float64, ensure_min_samples=2)
        self._text = False
        return self._with_places(ready(X), True), self._names(), column_or_1d(y, warn=True)

    def _numbers(self, codes: np.ndarray) -> tuple[Array, Any]:
        """Numbers stay what they are, other classes are levels of text: so the command shows them as they were."""
        if self.classes_.dtype.kind in "biuf":
            values = self.classes_.astype(np.float64)
            if len(np.unique(values)) == len(values):
                return values[codes], None
        names = [str(c) for c in self.classes_]
        if len(set(names)) < len(names):
            return codes.astype(np.float64), None
        return codes.astype(np.float64), tuple(names)

    def _know_classes(self) -> None:
        """Which of classes_ each class of the model is. A class whose rows have no weight is not in the model."""
        columns = self.model_.predictor(how=self._run()).columns()
        values, names = columns["values"], columns["classes"]
        if values is None:
            place = {str(c): i for i, c in enumerate(self.classes_)}
            self._places = np.array([place[name] for name in names])
        elif self.classes_.dtype.kind in "biuf":
            place = {float(c): i for i, c in enumerate(self.classes_)}
            self._places = np.array([place[value] for value in values])
        else:
            self._places = np.array([int(value) for value in values])
        self._known_probable: bool | None = None

    def _adopt(self) -> None:
        columns = self.model_.predictor().columns()
        values = columns["values"]
        self.classes_ = np.array(columns["classes"]) if values is None else np.array(values)
        if values is not None and all(float(v).is_integer() for v in values):
            self.classes_ = self.classes_.astype(int)
        self._know_classes()

    def _probable(self) -> bool:
        try:
            self.model_.predictor(how=self._run(), prob=True)
        except ValueError:
            return False
        return True

    def predict(self, X: Any) -> np.ndarray:
        """The class of each row of X."""
        values, _ = self._evaluate(X)
        return self.classes_[self._places[values[:, 0].astype(np.intp)]]

    @available_if(_has_probabilities)
    def predict_proba(self, X: Any) -> Array:
        """Probabilities of the classes, in the order of classes_."""
        values, columns = self._evaluate(X, prob=True)
        first = columns["probability"]
        p = np.zeros((len(values), len(self.classes_)))
        p[:, self._places] = values[:, first : first + len(self._places)]
        return p

    @available_if(_has_probabilities)
    def predict_log_proba(self, X: Any) -> Array:
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def decision_function(self, X: Any) -> Array:
        """Of two classes, a score that grows with the second; of more, one column for each: log probabilities, or votes of pairs."""
        values, columns = self._evaluate(X)
        if len(self.classes_) == 2:
            return self._score(values, columns)
        if self._probable():
            return np.log(np.clip(self.predict_proba(X), 1e-300, None))
        return self._votes(X, values)

    @staticmethod
    def _score(values: Array, columns: dict[str, Any]) -> Array:
        """Scores as they are; the log of the odds where they are probabilities."""
        score, first = values[:, columns["score"]], columns["probability"]
        if first < 0 or not np.array_equal(score, values[:, first + 1]):
            return score.copy()
        p = np.clip(values[:, first : first + 2], 1e-300, None)
        return np.log(p[:, 1]) - np.log(p[:, 0])

    def _votes(self, X: Any, values: Array) -> Array:
        """Votes of all pairs of classes; what the pairs say beside them breaks ties, and the predicted class wins."""
        rows, _ = self._take_rows(X, reset=False)
        count = len(self._places)
        pairs = np.empty((len(rows), count * (count - 1) // 2))
        call(self._functions, self.model_._core.values, self._run(), rows, pairs)
        votes, sums = np.zeros((len(rows), count)), np.zeros((len(rows), count))
        at = 0
        for a in range(count):
            for b in range(a + 1, count):
                first = pairs[:, at] > 0
                votes[:, a] += first
                votes[:, b] += ~first
                sums[:, a] += pairs[:, at]
                sums[:, b] -= pairs[:, at]
                at += 1
        decision = votes + sums / (3 * (np.abs(sums) + 1))
        chosen = values[:, 0].astype(np.intp)
        rows_ = np.arange(len(rows))
        decision[rows_, chosen] = np.maximum(decision[rows_, chosen], decision.max(axis=1) + 1e-9)
        out = np.full((len(rows), len(self.classes_)), -1.0)
        out[:, self._places] = decision
        return out


class Outlier(OutlierMixin, Base):
    """Finds a region that holds most rows: 1 inside, -1 outside."""

    offset_ = 0.0

    def _fit(self, X: Any, y: Any = None, sample_weight: Any = None, **columns: Any) -> Any:
        rows, features = self._take_rows(X, reset=True)
        self._learn(rows, features, weights=self._take_weights(sample_weight, rows), columns=columns)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """1 for rows inside of the region, -1 for outliers."""
        values, _ = self._evaluate(X)
        return values[:, 0].astype(int)

    def decision_function(self, X: Any) -> Array:
        """Above 0 inside, below outside."""
        values, columns = self._evaluate(X)
        return values[:, columns["score"]].copy()

    def score_samples(self, X: Any) -> Array:
        """The same, as scikit-learn calls the score before an offset is taken off (here it is 0)."""
        return self.decision_function(X)


class Transformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Base):
    """Coordinates of rows."""

    def _fit(self, X: Any, y: Any = None, sample_weight: Any = None, **columns: Any) -> Any:
        rows, features = self._take_rows(X, reset=True)
        self._learn(rows, features, weights=self._take_weights(sample_weight, rows), columns=columns)
        return self

    @property
    def _n_features_out(self) -> int:
        return self.model_.predictor(how=self._run()).columns()["count"]

    def transform(self, X: Any) -> Array:
        """The coordinates of each row of X."""
        values, columns = self._evaluate(X)
        return np.ascontiguousarray(values[:, : columns["count"]])

    @available_if(lambda self: self._entry.reconstructs)
    def reconstruct(self, X: Any) -> Array:
        """Rows made of their coordinates, in the features' own units."""
        values, columns = self._evaluate(X, reconstruct=True)
        return np.ascontiguousarray(values[:, : columns["count"]])

    def _old_tags(self) -> dict[str, Any]:
        return {"preserves_dtype": []}

    def __sklearn_tags__(self) -> Any:
        return set_tags(super().__sklearn_tags__(), transformer_tags__preserves_dtype=[])


class PairedTransformer(Transformer):
    """Coordinates of two views of the same rows."""

    def _fit(self, X: Any, y: Any, sample_weight: Any = None, **columns: Any) -> Any:
        if y is None:
            raise ValueError(f"requires y to be passed, but the target y is None: {type(self).__name__} relates two views of the rows")
        X, y = validate_data(self, X, y, dtype=np.float64, multi_output=True, y_numeric=True, ensure_min_samples=2)
        self._text = False
        second = ready(np.asarray(y, dtype=np.float64).reshape(len(y), -1))
        self._learn(ready(X), None, second=second, columns=columns)
        return self

    @property
    def _n_features_out(self) -> int:
        return self.model_.predictor(self._entry.views[0], how=self._run()).columns()["count"]

    def transform(self, X: Any, y: Any = None) -> Any:
        """Coordinates of rows of the first view; with y, of rows of both, as two arrays."""
        values, columns = self._evaluate(X, self._entry.views[0])
        first = np.ascontiguousarray(values[:, : columns["count"]])
        if y is None:
            return first
        other = ready(np.asarray(y, dtype=np.float64).reshape(len(y), -1))
        values, columns = self._evaluate_rows(other, None, self._entry.views[1])
        return first, np.ascontiguousarray(values[:, : columns["count"]])

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Any:
        return self.fit(X, y, **fit_params).transform(X)

    def _old_tags(self) -> dict[str, Any]:
        return {**super()._old_tags(), "requires_y": True}

    def __sklearn_tags__(self) -> Any:
        return set_tags(super().__sklearn_tags__(), target_tags__required=True)


class Cluster(ClusterMixin, Base):
    """Clusters; labels count from 0, the largest cluster first."""

    def _fit(self, X: Any, y: Any = None, sample_weight: Any = None, **columns: Any) -> Any:
        rows, features = self._take_rows(X, reset=True)
        weights = self._take_weights(sample_weight, rows)
        learner = self._learn(rows, features, weights=weights, columns=columns)
        if weights is not None and (weights == 0).any():
            values, _ = self._evaluate_rows(rows, features if self._text else None)
        else:
            values = unpack(call(self._functions, learner.values, self._run(), self.model_._core))
        self.labels_ = values[:, -1].astype(int) - 1
        return self

    def predict(self, X: Any) -> np.ndarray:
        """The cluster of each row of X."""
        values, columns = self._evaluate(X)
        return values[:, columns["count"] - 1].astype(int) - 1


# ---- classes from the table ----


def _base(entry: _table.Estimator) -> type[Base]:
    if entry.task == "regression":
        return IntervalRegressor if entry.intervals else Regressor
    if entry.task == "transform":
        return PairedTransformer if entry.views else Transformer
    return {"classification": Classifier, "one-class": Outlier, "cluster": Cluster}[entry.task]


def _defaults(entry: _table.Estimator) -> dict[str, Any]:
    """All parameters of the class and their defaults, in order."""
    defaults: dict[str, Any] = {"kernel": None} if entry.kernel else {}
    defaults.update({p.name: p.default for p in entry.parameters})
    defaults["scale"] = entry.scaled
    if "tune" in defaults:
        defaults["ordered"] = False
    return {**defaults, **COMMON}


def _init(defaults: dict[str, Any], aliases: dict[str, str]) -> Any:
    first = next(iter(defaults))
    kinds = inspect.Parameter
    signature = inspect.Signature(
        [kinds("self", kinds.POSITIONAL_OR_KEYWORD)]
        + [
            kinds(n, kinds.POSITIONAL_OR_KEYWORD if n == first == "kernel" else kinds.KEYWORD_ONLY, default=v)
            for n, v in defaults.items()
        ]
    )

    def __init__(self: Any, *values: Any, **named: Any) -> None:
        bound = signature.bind(self, *values, **{aliases.get(n, n): v for n, v in named.items()})
        bound.apply_defaults()
        for name, value in bound.arguments.items():
            if name != "self":
                setattr(self, name, value)

    __init__.__signature__ = signature  # type: ignore[attr-defined]
    return __init__


def _fit(entry: _table.Estimator) -> Any:
    """fit(X, y, sample_weight, ...): with the columns of the rows that the method takes."""
    kinds = inspect.Parameter
    kind = kinds.POSITIONAL_OR_KEYWORD
    needs_y = entry.task in ("regression", "classification") or bool(entry.views)
    weight = "weights" if entry.quadrature else "sample_weight"  # nodes of a quadrature rule are no samples
    names = ([weight] if entry.weighted else []) + [c.replace("-", "_") for c in entry.columns]
    if any(p.option == "tune" for p in entry.parameters):
        names.append("groups")
    signature = inspect.Signature(
        [kinds("self", kind), kinds("X", kind), kinds("y", kind) if needs_y else kinds("y", kind, default=None)]
        + [kinds(name, kind, default=None) for name in names]
    )

    def fit(self: Any, *values: Any, **named: Any) -> Any:
        bound = signature.bind(self, *values, **named)
        bound.apply_defaults()
        given = dict(bound.arguments)
        del given["self"]
        X, y, weights = given.pop("X"), given.pop("y"), given.pop(weight, None)
        return self._fit(X, y, weights, **{name.replace("_", "-"): value for name, value in given.items()})

    fit.__signature__ = signature  # type: ignore[attr-defined]
    fit.__doc__ = "Learns from the rows of X" + (" and their targets y." if needs_y else ".")
    return fit


def _doc(entry: _table.Estimator, defaults: dict[str, Any]) -> str:
    helps = {p.name: p for p in entry.parameters}
    lines = [f"{entry.title[0].upper()}{entry.title[1:]}: the method {entry.method} of gram, for {entry.task}.", ""]
    if entry.about:
        lines += [entry.about.replace("--", "").strip(), ""]
    lines += ["Parameters", "----------"]
    for name, default in defaults.items():
        lines.append(f"{name} : default {default!r}")
        parameter = helps.get(name)
        text = COMMON_HELP.get(name, "") if parameter is None else parameter.help
        if name == "kernel":
            text += f"; default {entry.kernel}"
        if parameter is not None and parameter.elsewhere:
            text += f" ({parameter.elsewhere})"
        lines += textwrap.wrap(text, 110, initial_indent="    ", subsequent_indent="    ")
    lines += ["", "Attributes", "----------", "report_ : all that the command prints of the model, as a mapping; each fact is an attribute too"]
    lines += ["model_ : the model itself; `save` writes it", "kernel_ : the kernel with the numbers that were chosen"]
    return "\n".join(lines)


def _make(entry: _table.Estimator) -> type[Base]:
    defaults = _defaults(entry)
    aliases = {p.option: p.name for p in entry.parameters if p.option != p.name}
    aliases.update({p.option.replace("-", "_"): p.name for p in entry.parameters if p.option.replace("-", "_") != p.name})
    return type(
        entry.name,
        (_base(entry),),
        {
            "__init__": _init(defaults, aliases),
            "fit": _fit(entry),
            "__doc__": _doc(entry, defaults),
            "__module__": __name__,
            "_entry": entry,
            "_aliases": aliases,
        },
    )


def _map(name: str, base: _table.Estimator, option: str, default: int) -> _table.Estimator:
    """A feature map of one kind: its size is n_components."""
    entry = copy.copy(base)
    entry.name = name
    chosen = copy.copy(next(p for p in base.parameters if p.option == option))
    chosen.name, chosen.default = "n_components", None
    entry.parameters = [chosen]
    entry.title = f"{base.title}, {option}"
    return entry


class _Map(Transformer):
    """The number of features has a default, which the table's option has not."""

    _size = 100

    def _given(self) -> dict[str, Any]:
        option = self._entry.parameters[0].option
        size = self._size if self.n_components is None else self.n_components
        return {option: size + size % 2 if option == "fourier" else size}  # a cosine and a sine for each frequency


def _make_all() -> dict[str, type[Base]]:
    known = _table.estimators()
    made = {name: _make(entry) for name, entry in known.items()}
    for name, (base, option, size) in _table.MAPS.items():
        if base in known:
            one = _make(_map(name, known[base], option, size))
            made[name] = type(name, (_Map,), {**vars(one), "_size": size})
    return made


_classes = _make_all()
globals().update(_classes)
__all__ = list(_classes)


def load(path: Any) -> Any:
    """The estimator of a model file, fitted."""
    model = Model.read(path)
    name = _table.find(model.method, model.task)
    if name is None:
        raise ValueError(f"{path}: a model of the method {model.method!r} for {model.task}, which has no estimator")
    return _classes[name].from_model(model)
