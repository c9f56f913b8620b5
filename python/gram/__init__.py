"""gram: kernel methods, from Gram matrices to models.

Kernels are objects, and print as the expressions that the command and C know::

    >>> import numpy as np
    >>> import gram
    >>> k = 2 * gram.RBF(0.3) + gram.White()
    >>> k
    2*rbf(ell=0.3) + white()
    >>> k(np.array([[0.0], [0.3]])).round(3)
    array([[3.   , 1.213],
           [1.213, 3.   ]])

Estimators follow scikit-learn's conventions; there is one for every method of libgram, made from its table of methods. Numbers of
the kernel that are left out are learnt::

    >>> X = np.linspace(0, 6, 40)[:, None]
    >>> model = gram.GaussianProcessRegressor().fit(X, np.sin(X[:, 0]))
    >>> mean, std = model.predict([[1.5]], return_std=True)
    >>> bool(abs(mean[0] - np.sin(1.5)) < 0.01)
    True

`compare` lays methods side by side by the same left-out rows, `explain` says what a model does with its features.
Tests and thinning are functions: `mmd_test`, `hsic_test`, `ksd_test`, `stein_thinning`, `herding`, `kernel_thinning`, `witness`.
`threads`, `memory`, `seed` and `progress` are arguments, or are set for a block of code by `context`.
"""

from __future__ import annotations

from typing import Any

from gram import _core
from gram._core import NumericalError
from gram._settings import context
from gram.judge import compare, explain
from gram.kernels import Kernel, kernel_names
from gram.models import Model
from gram.optimize import Study, minimize
from gram.samples import (
    ConditionalEmbedding,
    density_scores,
    draws,
    herding,
    hsic_test,
    kernel_thinning,
    ksd_test,
    mmd_test,
    stein_thinning,
    witness,
)
from gram.tables import Table, read_table

__version__: str = _core.about()["version"]

_functions = [
    "ConditionalEmbedding", "Kernel", "Model", "NumericalError", "Study", "Table", "about", "cli", "compare", "context", "density_scores",
    "draws", "explain", "herding", "hsic_test", "kernel_names", "kernel_thinning", "ksd_test", "load", "minimize", "mmd_test", "read_table", "stein_thinning",
    "witness",
]


def about() -> dict[str, Any]:
    """Version, BLAS, instructions and threads of the library that is loaded."""
    return _core.about()


def load(path: Any) -> Any:
    """The estimator of a model file, fitted: one that an estimator's `save` wrote, or `gram fit -o`."""
    from gram.estimators import load as load_estimator

    return load_estimator(path)


def cli(arguments: list[str] | None = None) -> int:
    """Runs the command `gram` with these arguments (default: those of this program) and returns its exit code."""
    from gram.command import run

    return run(arguments)


def _estimator_names() -> list[str]:
    from gram._table import estimator_names

    return estimator_names()


def __getattr__(name: str) -> Any:
    """Kernels and estimators by name. The latter import scikit-learn, the first time that one is asked for."""
    from gram import kernels

    if name in kernels.classes():
        value = kernels.classes()[name]
    elif name in _estimator_names():
        from gram import estimators

        value = getattr(estimators, name)
    else:
        raise AttributeError(f"module 'gram' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    from gram import kernels

    return sorted([*_functions, *kernels.classes(), *_estimator_names()])


__all__ = __dir__()
