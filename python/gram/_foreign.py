"""Kernels of scikit-learn's Gaussian processes as expressions."""

from __future__ import annotations

from typing import Any

import numpy as np


def _number(kernel: Any, name: str) -> str:
    """A hyper-parameter, held if scikit-learn holds it."""
    value = getattr(kernel, name)
    mark = "!" if getattr(kernel, f"{name}_bounds", None) == "fixed" else ""
    if np.ndim(value) == 0:
        return f"{float(value)!r}{mark}"
    return "[" + ",".join(f"{float(x)!r}{mark}" for x in value) + "]"


def _sum(kernel: Any) -> str:
    return f"({expression_of(kernel.k1)}) + ({expression_of(kernel.k2)})"


def _product(kernel: Any) -> str:
    return f"({expression_of(kernel.k1)})*({expression_of(kernel.k2)})"


def _power(kernel: Any) -> str:
    if int(kernel.exponent) != kernel.exponent:
        raise ValueError(f"{kernel}: an exponent that is not a whole number makes no kernel")
    return f"({expression_of(kernel.kernel)})^{int(kernel.exponent)}"


def _matern(kernel: Any) -> str:
    if np.isinf(kernel.nu):
        return f"rbf(ell={_number(kernel, 'length_scale')})"
    return f"matern(nu={float(kernel.nu)!r}, ell={_number(kernel, 'length_scale')})"


def _dot(kernel: Any) -> str:
    mark = "!" if kernel.sigma_0_bounds == "fixed" else ""
    return f"linear(c={float(kernel.sigma_0) ** 2!r}{mark})"


def _periodic(kernel: Any) -> str:
    return f"periodic(p={_number(kernel, 'periodicity')}, ell={_number(kernel, 'length_scale')})"


_WORDS = {
    "RBF": lambda k: f"rbf(ell={_number(k, 'length_scale')})",
    "Matern": _matern,
    "RationalQuadratic": lambda k: f"rq(alpha={_number(k, 'alpha')}, ell={_number(k, 'length_scale')})",
    "ExpSineSquared": _periodic,
    "ConstantKernel": lambda k: f"const(c={_number(k, 'constant_value')})",
    "WhiteKernel": lambda k: f"{_number(k, 'noise_level')}*white()",
    "DotProduct": _dot,
    "Sum": _sum,
    "Product": _product,
    "Exponentiation": _power,
}


def expression_of(kernel: Any) -> str:
    """The expression of the same kernel; ValueError if gram has none."""
    name = type(kernel).__name__
    if name not in _WORDS:
        raise ValueError(f"{kernel}: gram has no kernel for scikit-learn's {name}")
    return _WORDS[name](kernel)
