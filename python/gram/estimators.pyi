"""Written by scripts/python-stubs."""

from collections.abc import Callable
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

from gram._arrays import Array
from gram.kernels import Kernel
from gram.models import Model
from gram.report import Report

class Base(BaseEstimator):
    model_: Model
    report_: Report
    kernel_: Kernel
    n_features_in_: int
    def save(self, path: Any) -> None: ...
    @classmethod
    def from_model(cls, model: Model) -> Any: ...
    def __getattr__(self, name: str) -> Any: ...

class Regressor(RegressorMixin, Base):
    def predict(self, X: Any) -> Array: ...

class IntervalRegressor(Regressor):
    def predict(self, X: Any, return_std: bool = False, return_cov: bool = False, interval: float | None = None, latent: bool = False) -> Any: ...
    def sample_y(self, X: Any, n_samples: int = 1, random_state: Any = 0, observed: bool = False) -> Array: ...

class Classifier(ClassifierMixin, Base):
    def predict(self, X: Any) -> np.ndarray: ...
    def predict_proba(self, X: Any) -> Array: ...
    def predict_log_proba(self, X: Any) -> Array: ...
    def decision_function(self, X: Any) -> Array: ...

class Outlier(OutlierMixin, Base):
    def predict(self, X: Any) -> np.ndarray: ...
    def decision_function(self, X: Any) -> Array: ...
    def score_samples(self, X: Any) -> Array: ...

class Transformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Base):
    def transform(self, X: Any) -> Array: ...
    def reconstruct(self, X: Any) -> Array: ...

class PairedTransformer(Transformer):
    def transform(self, X: Any, y: Any = None) -> Any: ...
    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Any: ...

class Cluster(ClusterMixin, Base):
    def predict(self, X: Any) -> np.ndarray: ...

class _Map(Transformer):
    ...

class KernelRidge(Regressor):
    def __init__(
        self,
        kernel: str | float | Kernel | Callable[[Any, Any], Any] | None = None,
        *,
        loss: str | None = None,
        quantile: Any = None,
        non_crossing: bool | None = False,
        delta: float | str | None = None,
        epsilon: float | str | None = None,
        increasing: Any = None,
        decreasing: Any = None,
        convex: Any = None,
        concave: Any = None,
        constraint_rows: int | str | None = None,
        norm: float | str | None = None,
        lam: float | str | None = None,
        noise: float | str | None = None,
        alpha: float | str | None = None,
        tune: str | None = None,
        ard: bool | None = None,
        intercept: bool | None = True,
        mean: str | None = 'constant',
        unpenalised: Any = None,
        solver: str | None = None,
        tolerance: float | str | None = None,
        loo: bool | None = False,
        frequencies: str | None = 'plain',
        precision: str | None = 'auto',
        grid: int | str | None = None,
        landmarks: Any = None,
        keep_factor: bool | None = None,
        certify: bool | None = False,
        scale: bool = True,
        ordered: bool = False,
        threads: int | None = None,
        memory: int | str | None = None,
        random_state: Any = None,
        progress: Any = None,
    ) -> None: ...
    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> KernelRidge: ...

class GaussianProcessClassifier(Classifier):
    def __init__(
        self,
        kernel: str | float | Kernel | Callable[[Any, Any], Any] | None = None,
        *,
        likelihood: str | None = 'gaussian',
        tune: str | None = None,
        ard: bool | None = None,
        solver: str | None = 'auto',
        tolerance: float | str | None = None,
        approximation: str | None = 'matched',
        scale: bool = True,
        ordered: bool = False,
        threads: int | None = None,
        memory: int | str | None = None,
        random_state: Any = None,
        progress: Any = None,
    ) -> None: ...
    def fit(self, X: Any, y: Any, groups: Any = None) -> GaussianProcessClassifier: ...

class GaussianProcessRegressor(IntervalRegressor):
    def __init__(
        self,
        kernel: str | float | Kernel | Callable[[Any, Any], Any] | None = None,
        *,
        likelihood: str | None = 'gaussian',
        tune: str | None = None,
        ard: bool | None = None,
        solver: str | None = 'auto',
        tolerance: float | str | None = None,
        approximation: str | None = 'matched',
        student: float | str | None = None,
        lam: float | str | None = None,
        noise: float | str | None = None,
        alpha: float | str | None = None,
        intercept: bool | None = True,
        mean: str | None = 'constant',
        precision: str | None = 'auto',
        preconditioner: str | None = 'nystrom',
        keep_factor: bool | None = None,
        noise_prior: bool | None = True,
        scale: bool = True,
        ordered: bool = False,
        threads: int | None = None,
        memory: int | str | None = None,
        random_state: Any = None,
        progress: Any = None,
    ) -> None: ...
    def fit(self, X: Any, y: Any, sample_weight: Any = None, row_noise: Any = None, groups: Any = None) -> GaussianProcessRegressor: ...

class Collocation(IntervalRegressor):
    def __init__(
        self,
        kernel: str | float | Kernel | Callable[[Any, Any], Any] | None = None,
        *,
        operator: Any = None,
        unknown: Any = None,
        noise: float | str | None = 0.0,
        tune: str | None = None,
        ard: bool | None = None,
        intercept: bool | None = True,
        mean: str | None = 'zero',
        solver: str | None = 'auto',
        tolerance: float | str | None = None,
        keep_factor: bool | None = None,
        scale: bool = False,
        ordered: bool = False,
        threads: int | None = None,
        memory: int | str | None = None,
        random_state: Any = None,
        progress: Any = None,
    ) -> None: ...
    def fit(self, X: Any, y: Any, sample_weight: Any = None, kind: Any = None, coefficient: Any = None, row_noise: Any = None, groups: Any = None) -> Collocation: ...

class BayesianLinearRegression(IntervalRegressor):
    def __init__(
        self,
        *,
        lam: float | str | None = None,
        alpha: float | str | None = None,
        prior_shape: float | str | None = 0.0,
        prior_scale: float | str | None = 0.0,
        intercept: bool | None = True,
        scale: bool = True,
        threads: int | None = None,
        memory: int | str | None = None,
        random_state: Any = None,
        progress: Any = None,
    ) -> None: ...
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> BayesianLinearRegression: ...

class SGDRegressor(Regressor):
    def __init__(
        self,
        kernel: str | float | Kernel | Callable[[Any, Any], Any] | None = None,
        *,
        loss: str | None = 'auto',
        lam: float | str | None = None,
        step: str | None = 'auto',
        step_size: float | str | None = None,
        passes: float | str | None = None,
        order: str | None = 'shuffled',
        average: str | None = 'tail',
        budget: int | str | None = None,
        budget_rule: str | None = 'project',
        solver: str | None = 'auto',
        delta: float | str | None = None,
        epsilon: float | str | None = 0.1,
        level: float | str | None = 0.5,
        intercept: bool | None = True,
        scale: bool = True,
        threads: int | None = None,
        memory: int | str | None = None,
        random_state: Any = None,
        progress: Any = None,
    ) -> None: ...
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> SGDRegressor: ...

class SGDClassifier(Classifier):
    def __init__(
        self,
        kernel: str | float | Kernel | Callable[[Any, Any], Any] | None = None,
        *,
        loss: str | None = 'auto',
        lam: float | str | None = None,
        step: str | None = 'auto',
        step_size: float | str | None = None,
        passes: float | str | None = None,
        order: str | None = 'shuffled',
        average: str | None = 'tail',
        budget: int | str | None = None,
        budget_rule: str | None = 'project',
        solver: str | None = 'auto',
        delta: float | str | None = None,
        epsilon: float | str | None = 0.1,
        level: float | str | None = 0.5,
        intercept: bool | None = True,
        scale: bool = True,
        threads: int | None = None,
        memory: int | str | None = None,
        random_state: Any = None,
        progress: Any = None,
    ) -> None: ...
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> SGDClassifier: ...

class GradientFlow(Regressor):
    def __init__(
        self,
        kernel: str | float | Kernel | Callable[[Any, Any], Any] | None = None,
        *,
        flow_time: float | str | None = None,
        parameters: str | None = 'function',
        initial: Any = None,
        intercept: bool | None = False,
        tune: str | None = None,
        ard: bool | None = None,
        solver: str | None = 'auto',
        step: float | str | None = None,
        scale: bool = True,
        ordered: bool = False,
        threads: int | None = None,
        memory: int | str | None = None,
        random_state: Any = None,
        progress: Any = None,
    ) -> None: ...
    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> GradientFlow: ...

class SmoothingSpline(IntervalRegressor):
    def __init__(
        self,
        *,
        order: int | str | None = 2,
        lam: float | str | None = None,
        tune: str | None = None,
        period: float | str | None = None,
        spline: str | None = 'additive',
        loss: str | None = 'squared',
        quantile: Any = None,
        delta: float | str | None = None,
        epsilon: float | str | None = None,
        scale: bool = False,
        ordered: bool = False,
        threads: int | None = None,
        memory: int | str | None = None,
        random_state: Any = None,
        progress: Any = None,
    ) -> None: ...
    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> SmoothingSpline: ...

class SVC(Classifier):
    def __init__(
        self,
        kernel: str | float | Kernel | Callable[[Any, Any], Any] | None = None,
        *,
        C: float | str | None = None,
        lam: float | str | None = None,
        class_weight: Any = None,
        tune: str | None = None,
        ard: bool | None = None,
        intercept: bool | None = True,
        solver: str | None = None,
        frequencies: str | None = 'plain',
        landmarks: Any = None,
        tolerance: float | str | None = None,
        svm: str | None = 'c',
        nu: float | str | None = None,
        prob: bool | None = False,
        seconds: float | str | None = None,
        iterations: int | str | None = None,
        scale: bool = True,
        ordered: bool = False,
        threads: int | None = None,
        memory: int | str | None = None,
        random_state: Any = None,
        progress: Any = None,
    ) -> None: ...
    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> SVC: ...

class SVR(Regressor):
    def __init__(
        self,
        kernel: str | float | Kernel | Callable[[Any, Any], Any] | None = None,
        *,
        C: float | str | None = None,
        lam: float | str | None = None,
        svm: str | None = 'c',
        nu: float | str | None = None,
        epsilon: float | str | None = None,
        seconds: float | str | None = None,
        iterations: int | str | None = None,
        tune: str | None = None,
        ard: bool | None = None,
        intercept: bool | None = True,
        tolerance: float | str | None = None,
        scale: bool = True,
        ordered: bool = False,
        threads: int | None = None,
        memory: int | str | None = None,
        random_state: Any = None,
        progress: Any = None,
    ) -> None: ...
    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> SVR: ...

class OneClassSVM(Outlier):
    def __init__(
        self,
        kernel: str | float | Kernel | Callable[[Any, Any], Any] | None = None,
        *,
        C: float | str | None = None,
        lam: float | str | None = None,
        svm: str | None = 'c',
        nu: float | str | None = None,
        seconds: float | str | None = None,
        iterations: int | str | None = None,
        tune: str | None = None,
        ard: bool | None = None,
        intercept: bool | None = True,
        tolerance: float | str | None = None,
        scale: bool = True,
        ordered: bool = False,
        threads: int | None = None,
        memory: int | str | None = None,
        random_state: Any = None,
        progress: Any = None,
    ) -> None: ...
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, groups: Any = None) -> OneClassSVM: ...

class KernelLogisticRegression(Classifier):
    def __init__(
        self,
        kernel: str | float | Kernel | Callable[[Any, Any], Any] | None = None,
        *,
        lam: float | str | None = None,
        noise: float | str | None = None,
        alpha: float | str | None = None,
        C: float | str | None = None,
        class_weight: Any = None,
        tune: str | None = None,
        ard: bool | None = None,
        intercept: bool | None = True,
        mean: str | None = 'constant',
        unpenalised: Any = None,
        solver: str | None = None,
        frequencies: str | None = 'plain',
        landmarks: Any = None,
        tolerance: float | str | None = None,
        scale: bool = True,
        ordered: bool = False,
        threads: int | None = None,
        memory: int | str | None = None,
        random_state: Any = None,
        progress: Any = None,
    ) -> None: ...
    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> KernelLogisticRegression: ...

class BayesianQuadrature(Regressor):
    def __init__(
        self,
        kernel: str | float | Kernel | Callable[[Any, Any], Any] | None = None,
        *,
        measure: Any = None,
        noise: float | str | None = 0.0,
        candidates: Any = None,
        next: int | str | None = None,
        scale: bool = False,
        threads: int | None = None,
        memory: int | str | None = None,
        random_state: Any = None,
        progress: Any = None,
    ) -> None: ...
    def fit(self, X: Any, y: Any) -> BayesianQuadrature: ...

class MeanEmbedding(Transformer):
    def __init__(
        self,
        kernel: str | float | Kernel | Callable[[Any, Any], Any] | None = None,
        *,
        measure: Any = None,
        scale: bool = False,
        threads: int | None = None,
        memory: int | str | None = None,
        random_state: Any = None,
        progress: Any = None,
    ) -> None: ...
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> MeanEmbedding: ...

class FeatureMap(Transformer):
    def __init__(
        self,
        kernel: str | float | Kernel | Callable[[Any, Any], Any] | None = None,
        *,
        explicit: bool | None = None,
        fourier: int | str | None = None,
        nystrom: int | str | None = None,
        binning: int | str | None = None,
        width: int | str | None = None,
        neural: int | str | None = None,
        error: float | str | None = None,
        frequencies: str | None = 'plain',
        landmarks: Any = None,
        degree: int | str | None = -1,
        tolerance: float | str | None = 1e-06,
        scale: bool = False,
        threads: int | None = None,
        memory: int | str | None = None,
        random_state: Any = None,
        progress: Any = None,
    ) -> None: ...
    def fit(self, X: Any, y: Any = None) -> FeatureMap: ...

class MercerExpansion(Transformer):
    def __init__(
        self,
        kernel: str | float | Kernel | Callable[[Any, Any], Any] | None = None,
        *,
        n_components: int | str | None = None,
        measure: Any = None,
        solver: str | None = 'auto',
        tolerance: float | str | None = None,
        scale: bool = False,
        threads: int | None = None,
        memory: int | str | None = None,
        random_state: Any = None,
        progress: Any = None,
    ) -> None: ...
    def fit(self, X: Any, y: Any = None, weights: Any = None) -> MercerExpansion: ...

class KernelPCA(Transformer):
    def __init__(
        self,
        kernel: str | float | Kernel | Callable[[Any, Any], Any] | None = None,
        *,
        n_components: int | str | None = 2,
        centre: bool | None = True,
        solver: str | None = 'auto',
        preimage: str | None = 'auto',
        tolerance: float | str | None = None,
        scale: bool = True,
        threads: int | None = None,
        memory: int | str | None = None,
        random_state: Any = None,
        progress: Any = None,
    ) -> None: ...
    def fit(self, X: Any, y: Any = None) -> KernelPCA: ...

class KernelKMeans(Cluster):
    def __init__(
        self,
        kernel: str | float | Kernel | Callable[[Any, Any], Any] | None = None,
        *,
        n_clusters: int | str | None = 2,
        starts: int | str | None = 10,
        iterations: int | str | None = 300,
        scale: bool = True,
        threads: int | None = None,
        memory: int | str | None = None,
        random_state: Any = None,
        progress: Any = None,
    ) -> None: ...
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> KernelKMeans: ...

class SpectralClustering(Cluster):
    def __init__(
        self,
        kernel: str | float | Kernel | Callable[[Any, Any], Any] | None = None,
        *,
        n_clusters: int | str | None = 2,
        starts: int | str | None = 10,
        iterations: int | str | None = 300,
        scale: bool = True,
        threads: int | None = None,
        memory: int | str | None = None,
        random_state: Any = None,
        progress: Any = None,
    ) -> None: ...
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> SpectralClustering: ...

class KernelCCA(PairedTransformer):
    def __init__(
        self,
        kernel: str | float | Kernel | Callable[[Any, Any], Any] | None = None,
        *,
        kernel_x: Any = None,
        kernel_y: Any = None,
        kappa: float | str | None = None,
        n_components: int | str | None = None,
        permutations: int | str | None = 199,
        rank: int | str | None = None,
        scale: bool = True,
        threads: int | None = None,
        memory: int | str | None = None,
        random_state: Any = None,
        progress: Any = None,
    ) -> None: ...
    def fit(self, X: Any, y: Any) -> KernelCCA: ...

class CoupledEmbedding(PairedTransformer):
    def __init__(
        self,
        kernel: str | float | Kernel | Callable[[Any, Any], Any] | None = None,
        *,
        neighbours: int | str | None = 5,
        kernel_a: Any = None,
        kernel_b: Any = None,
        gamma: float | str | None = None,
        n_components: int | str | None = 2,
        rank: int | str | None = None,
        scale: bool = True,
        threads: int | None = None,
        memory: int | str | None = None,
        random_state: Any = None,
        progress: Any = None,
    ) -> None: ...
    def fit(self, X: Any, y: Any, label: Any = None) -> CoupledEmbedding: ...

class NetworkRegressor(Regressor):
    def __init__(
        self,
        *,
        width: int | str | None = 256,
        widths: Any = None,
        depth: int | str | None = None,
        act: str | None = 'relu',
        sw: float | str | None = 1.5,
        sb: float | str | None = 0.5,
        steps: int | str | None = 1000,
        rate: float | str | None = None,
        momentum: float | str | None = 0.0,
        batch: int | str | None = None,
        members: int | str | None = 1,
        output_scale: float | str | None = 1.0,
        mean_field: bool | None = False,
        centred: bool | None = False,
        scale: bool = True,
        threads: int | None = None,
        memory: int | str | None = None,
        random_state: Any = None,
        progress: Any = None,
    ) -> None: ...
    def fit(self, X: Any, y: Any) -> NetworkRegressor: ...

class NetworkClassifier(Classifier):
    def __init__(
        self,
        *,
        width: int | str | None = 256,
        widths: Any = None,
        depth: int | str | None = None,
        act: str | None = 'relu',
        sw: float | str | None = 1.5,
        sb: float | str | None = 0.5,
        steps: int | str | None = 1000,
        rate: float | str | None = None,
        momentum: float | str | None = 0.0,
        batch: int | str | None = None,
        members: int | str | None = 1,
        output_scale: float | str | None = 1.0,
        mean_field: bool | None = False,
        centred: bool | None = False,
        scale: bool = True,
        threads: int | None = None,
        memory: int | str | None = None,
        random_state: Any = None,
        progress: Any = None,
    ) -> None: ...
    def fit(self, X: Any, y: Any) -> NetworkClassifier: ...

class FourierFeatures(_Map):
    def __init__(
        self,
        kernel: str | float | Kernel | Callable[[Any, Any], Any] | None = None,
        *,
        n_components: int | str | None = None,
        scale: bool = False,
        threads: int | None = None,
        memory: int | str | None = None,
        random_state: Any = None,
        progress: Any = None,
    ) -> None: ...
    def fit(self, X: Any, y: Any = None) -> FourierFeatures: ...

class BinningFeatures(_Map):
    def __init__(
        self,
        kernel: str | float | Kernel | Callable[[Any, Any], Any] | None = None,
        *,
        n_components: int | str | None = None,
        scale: bool = False,
        threads: int | None = None,
        memory: int | str | None = None,
        random_state: Any = None,
        progress: Any = None,
    ) -> None: ...
    def fit(self, X: Any, y: Any = None) -> BinningFeatures: ...

class Nystroem(_Map):
    def __init__(
        self,
        kernel: str | float | Kernel | Callable[[Any, Any], Any] | None = None,
        *,
        n_components: int | str | None = None,
        scale: bool = False,
        threads: int | None = None,
        memory: int | str | None = None,
        random_state: Any = None,
        progress: Any = None,
    ) -> None: ...
    def fit(self, X: Any, y: Any = None) -> Nystroem: ...

def load(path: Any) -> Any: ...
