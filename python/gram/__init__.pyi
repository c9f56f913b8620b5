"""Written by scripts/python-stubs."""

from typing import Any

from gram._core import NumericalError as NumericalError
from gram._settings import context as context
from gram.estimators import KernelRidge as KernelRidge
from gram.estimators import GaussianProcessClassifier as GaussianProcessClassifier
from gram.estimators import GaussianProcessRegressor as GaussianProcessRegressor
from gram.estimators import Collocation as Collocation
from gram.estimators import BayesianLinearRegression as BayesianLinearRegression
from gram.estimators import SGDRegressor as SGDRegressor
from gram.estimators import SGDClassifier as SGDClassifier
from gram.estimators import GradientFlow as GradientFlow
from gram.estimators import SmoothingSpline as SmoothingSpline
from gram.estimators import SVC as SVC
from gram.estimators import SVR as SVR
from gram.estimators import OneClassSVM as OneClassSVM
from gram.estimators import KernelLogisticRegression as KernelLogisticRegression
from gram.estimators import BayesianQuadrature as BayesianQuadrature
from gram.estimators import MeanEmbedding as MeanEmbedding
from gram.estimators import FeatureMap as FeatureMap
from gram.estimators import MercerExpansion as MercerExpansion
from gram.estimators import KernelPCA as KernelPCA
from gram.estimators import KernelKMeans as KernelKMeans
from gram.estimators import SpectralClustering as SpectralClustering
from gram.estimators import KernelCCA as KernelCCA
from gram.estimators import CoupledEmbedding as CoupledEmbedding
from gram.estimators import NetworkRegressor as NetworkRegressor
from gram.estimators import NetworkClassifier as NetworkClassifier
from gram.estimators import FourierFeatures as FourierFeatures
from gram.estimators import BinningFeatures as BinningFeatures
from gram.estimators import Nystroem as Nystroem
from gram.judge import compare as compare
from gram.judge import explain as explain
from gram.kernels import Kernel as Kernel
from gram.kernels import kernel_names as kernel_names
from gram.models import Model as Model
from gram.optimize import Study as Study
from gram.optimize import minimize as minimize
from gram.samples import ConditionalEmbedding as ConditionalEmbedding
from gram.samples import TestResult as TestResult
from gram.samples import Thinned as Thinned
from gram.samples import density_scores as density_scores
from gram.samples import draws as draws
from gram.samples import herding as herding
from gram.samples import hsic_test as hsic_test
from gram.samples import kernel_thinning as kernel_thinning
from gram.samples import ksd_test as ksd_test
from gram.samples import mmd_test as mmd_test
from gram.samples import stein_thinning as stein_thinning
from gram.samples import witness as witness
from gram.tables import Table as Table
from gram.tables import read_table as read_table

__version__: str

def about() -> dict[str, Any]: ...
def load(path: Any) -> Any: ...
def cli(arguments: list[str] | None = None) -> int: ...

class Chi2(Kernel):
    def __init__(self, g: Any = None) -> None: ...

class Const(Kernel):
    def __init__(self, c: Any = None) -> None: ...

class Cosine(Kernel):
    def __init__(self, p: Any = None) -> None: ...

class Expdot(Kernel):
    def __init__(self, s: Any = None) -> None: ...

class IMQ(Kernel):
    def __init__(self, c: Any = None, beta: Any = None) -> None: ...

class Intersection(Kernel):
    def __init__(self) -> None: ...

class Intpow(Kernel):
    def __init__(self) -> None: ...

class Laplace(Kernel):
    def __init__(self, ell: Any = None) -> None: ...

class Laplace1(Kernel):
    def __init__(self, ell: Any = None) -> None: ...

class Linear(Kernel):
    def __init__(self, c: Any = None) -> None: ...

class Matern(Kernel):
    def __init__(self, nu: Any = None, ell: Any = None) -> None: ...

class Min(Kernel):
    def __init__(self, o: Any = None) -> None: ...

class Monomial(Kernel):
    def __init__(self, m: Any = None) -> None: ...

class Nngp(Kernel):
    def __init__(self, depth: Any = None, act: Any = None, sw: Any = None, sb: Any = None, fan: Any = None) -> None: ...

class NTK(Kernel):
    def __init__(self, depth: Any = None, act: Any = None, sw: Any = None, sb: Any = None, fan: Any = None) -> None: ...

class Periodic(Kernel):
    def __init__(self, p: Any = None, ell: Any = None) -> None: ...

class Poly(Kernel):
    def __init__(self, m: Any = None, c: Any = None) -> None: ...

class Powexp(Kernel):
    def __init__(self, p: Any = None, ell: Any = None) -> None: ...

class RBF(Kernel):
    def __init__(self, ell: Any = None, S: Any = None) -> None: ...

class RQ(Kernel):
    def __init__(self, alpha: Any = None, ell: Any = None) -> None: ...

class Sigmoid(Kernel):
    def __init__(self, a: Any = None, c: Any = None) -> None: ...

class Sinc(Kernel):
    def __init__(self, B: Any = None) -> None: ...

class Sobolev(Kernel):
    def __init__(self, a: Any = None, null: Any = None) -> None: ...

class Tanimoto(Kernel):
    def __init__(self) -> None: ...

class Wendland(Kernel):
    def __init__(self, k: Any = None, ell: Any = None) -> None: ...

class White(Kernel):
    def __init__(self) -> None: ...

class Blended(Kernel):
    def __init__(self, k: Any = None, over: Any = None, scaled: Any = None) -> None: ...

class Gapped(Kernel):
    def __init__(self, l: Any = None, k: Any = None, over: Any = None, scaled: Any = None) -> None: ...

class Hamming(Kernel):
    def __init__(self, over: Any = None, scaled: Any = None) -> None: ...

class Mismatch(Kernel):
    def __init__(self, k: Any = None, m: Any = None, over: Any = None, scaled: Any = None) -> None: ...

class Overlap(Kernel):
    def __init__(self, over: Any = None, scaled: Any = None) -> None: ...

class Same(Kernel):
    def __init__(self, over: Any = None, scaled: Any = None) -> None: ...

class Spectrum(Kernel):
    def __init__(self, k: Any = None, over: Any = None, scaled: Any = None) -> None: ...

class Subseq(Kernel):
    def __init__(self, k: Any = None, decay: Any = None, over: Any = None, scaled: Any = None) -> None: ...

class Given(Kernel):
    def __init__(self) -> None: ...

class Paths(Kernel):
    def __init__(self, scaled: Any = None) -> None: ...

class WL(Kernel):
    def __init__(self, h: Any = None, scaled: Any = None) -> None: ...

class Signature(Kernel):
    def __init__(self, depth: Any = None, time: Any = None, scaled: Any = None) -> None: ...
