"""What estimators do by their task: regression, classification, one class, transformation, clusters."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import (
    ClassifierMixin,
    ClassNamePrefixFeaturesOutMixin,
    ClusterMixin,
    OutlierMixin,
    RegressorMixin,
    TransformerMixin,
)
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from gram import _frames
from gram._arrays import Array, core_rows, ready, unpack
from gram._base import Base, target_of
from gram._compat import set_tags, validate_data
from gram._settings import run
from gram.kernels import call


class Regressor(RegressorMixin, Base):
    """Predicts numbers."""

    def _fit(self, X: Any, y: Any, sample_weight: Any = None, **columns: Any) -> Any:
        name = getattr(y, "name", None)
        if y is None:
            raise ValueError(f"requires y to be passed, but the target y is None: {type(self).__name__} learns from targets")
        rows, features, y = self._take_pairs(X, y)
        weights = self._take_weights(sample_weight, rows)
        target = target_of(name, features) if y.ndim == 1 else None
        self._learn(rows, features, ready(y.reshape(len(y), -1)), target, weights=weights, columns=columns)
        return self

    def _take_pairs(self, X: Any, y: Any) -> tuple[Array, Any, Array]:
        if _frames.has_text(X):
            rows, features = self._take_rows(X, reset=True)
            y = np.asarray(y, dtype=np.float64)
            if len(y) != rows.shape[0] or not np.isfinite(y).all():
                raise ValueError(f"y: {rows.shape[0]} finite numbers are needed")
        else:
            X, y = validate_data(
                self, X, y, accept_sparse=self._sparse(), dtype=np.float64, multi_output=True, y_numeric=True, ensure_min_samples=2
            )
            self._text = False
            rows, features = self._with_places(self._as_fitted(ready(X), True), True), self._names()
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
        call(self._functions, self.model_._core.covariance, self._run(), core_rows(rows), out)
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
        call(self._functions, self.model_._core.draw, how, core_rows(rows), n_samples, observed, out)
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
            rows, features, target[:, None], target_of(name, features, levels), weights=weights, columns=columns
        )
        self._know_classes()
        return self

    def _take_pairs(self, X: Any, y: Any) -> tuple[Array, Any, Any]:
        if y is None:
            raise ValueError(f"requires y to be passed, but the target y is None: {type(self).__name__} learns from targets")
        if _frames.has_text(X):
            rows, features = self._take_rows(X, reset=True)
            y = column_or_1d(y, warn=True)
            if len(y) != rows.shape[0]:
                raise ValueError(f"y has {len(y)} rows, X has {rows.shape[0]}")
            return rows, features, y
        X, y = validate_data(self, X, y, accept_sparse=self._sparse(), dtype=np.float64, ensure_min_samples=2)  # y has one dimension after it
        self._text = False
        return self._with_places(self._as_fitted(ready(X), True), True), self._names(), y

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
        pairs = np.empty((rows.shape[0], count * (count - 1) // 2))
        call(self._functions, self.model_._core.values, self._run(), core_rows(rows), pairs)
        votes, sums = np.zeros((rows.shape[0], count)), np.zeros((rows.shape[0], count))
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
        rows_ = np.arange(rows.shape[0])
        decision[rows_, chosen] = np.maximum(decision[rows_, chosen], decision.max(axis=1) + 1e-9)
        out = np.full((rows.shape[0], len(self.classes_)), -1.0)
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
