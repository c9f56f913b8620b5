"""Estimators after scikit-learn's conventions, one for each method of libgram's table.

There is no class here for any method: names, parameters, defaults and help come from the table (`gram._table`), behaviour from what
the methods have in common (`gram._base`), by task (`gram._tasks`). A method that libgram gets tomorrow is an estimator tomorrow.
"""

from __future__ import annotations

import copy
import inspect
import textwrap
from typing import Any

from gram import _table
from gram._base import EXPECTED_FAILED_CHECKS, Base
from gram._tasks import Classifier, Cluster, IntervalRegressor, Outlier, PairedTransformer, Regressor, Transformer
from gram.kernels import Kernel, as_kernel
from gram.models import Model

#: Parameters that every estimator has, after those of its method.
COMMON = {"threads": None, "memory": None, "random_state": None, "progress": None}

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
    for variant, formula in entry.formulas:
        several = variant and len(entry.formulas) > 1
        lines += [*([f"With {variant}:", ""] if several else []), *(f"    {line}" for line in formula.split("\n")), ""]
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
    if option == "binning":  # rbf, the table's default, has no bins
        entry.kernel = "laplace1"
    return entry


class _Map(Transformer):
    """The number of features has a default, which the table's option has not."""

    _size = 100
    _width = 64  #: columns of each grid of bins: arrays are dense here, and the command's .npz files are not

    def _kernel(self) -> Kernel | None:
        kernel = super()._kernel()
        return as_kernel("laplace1") if kernel is None and self._entry.kernel == "laplace1" else kernel

    def _given(self) -> dict[str, Any]:
        option = self._entry.parameters[0].option
        size = self._size if self.n_components is None else self.n_components
        if option == "binning":
            return {option: size, "width": self._width}
        return {option: size + size % 2 if option == "fourier" else size}  # a cosine and a sine for each frequency


def _make_all() -> dict[str, type[Base]]:
    known = _table.estimators()
    made = {name: _make(entry) for name, entry in known.items()}
    for name, (base, option, size) in _table.maps().items():
        one = _make(_map(name, base, option, size))
        made[name] = type(name, (_Map,), {**vars(one), "_size": size})
    return made


_classes = _make_all()
globals().update(_classes)
__all__ = [*_classes, "EXPECTED_FAILED_CHECKS", "load"]


def load(path: Any) -> Any:
    """The estimator of a model file, fitted."""
    model = Model.read(path)
    name = _table.find(model.method, model.task)
    if name is None:
        raise ValueError(f"{path}: a model of the method {model.method!r} for {model.task}, which has no estimator")
    return _classes[name].from_model(model)
