"""The table of methods, as estimators see it: which there are, and the parameters of each.

Nothing here knows a method: classes, parameters, defaults and help are what the rows of libgram's table say. Rows that share a
Python name (variants of a method) make one class with the parameters of all of them.
"""

from __future__ import annotations

import functools
import keyword
import re
from dataclasses import dataclass, field
from typing import Any

from gram import _core

#: Words of scikit-learn that are taken as names where a row says that an option is the same.
CONVENTIONS = ("n_components", "n_clusters")

#: The bits of tasks in the table, in the order of gram_task.
TASKS = ("auto", "regression", "classification", "one-class", "transform", "cluster")

#: Feature maps by the names that people look for: the class, the option that makes it, and its default.
MAPS = {
    "FourierFeatures": ("FeatureMap", "fourier", 100),
    "BinningFeatures": ("FeatureMap", "binning", 100),
    "Nystroem": ("FeatureMap", "nystrom", 100),
}


@dataclass
class Parameter:
    """An option of a method, as a parameter of an estimator."""

    name: str  # in Python
    option: str  # in the table
    kind: str
    default: Any
    help: str
    argument: str | None
    elsewhere: str | None


@dataclass
class Estimator:
    """All rows of one Python name."""

    name: str
    method: str
    task: str
    title: str
    about: str
    kernel: str | None
    formulas: list[tuple[str | None, str]] = field(default_factory=list)  # of each row, with what chooses it
    parameters: list[Parameter] = field(default_factory=list)
    columns: list[str] = field(default_factory=list)  # options that name a column of the rows: arguments of fit
    views: tuple[str, ...] = ()
    weighted: bool = False
    scaled: bool = True
    intervals: bool = False
    reconstructs: bool = False
    leaves_out: bool = False
    quadrature: bool = False  # weights are those of a quadrature rule


def python_name(option: dict[str, Any]) -> str:
    """class-weight is class_weight; lambda, a word of Python, is lam; scikit-learn's words for the number of components or clusters."""
    for word in CONVENTIONS:
        if re.search(rf"scikit-learn {word}\b", option["elsewhere"] or ""):
            return word
    name = option["name"].replace("-", "_")
    return {"lambda": "lam"}.get(name, f"{name}_option" if keyword.iskeyword(name) else name)


def default_of(option: dict[str, Any]) -> Any:
    """The default as a value of Python; None: chosen from the data."""
    text = option["default"]
    if text is None:
        return None
    if option["kind"] == "switch":
        return text == "yes"
    if option["kind"] == "integer":
        return int(text)
    if option["kind"] == "number":
        return float(text)
    return text


def help_of(option: dict[str, Any]) -> str:
    """Without the marks of the command's options."""
    text = option["help"] or (f"False: {option['help_no']}" if option["help_no"] else "")
    text = re.sub(r"--no-([a-z-]+)", r"\1=False", text)
    return re.sub(r"--([A-Za-z][a-z-]*)", lambda m: {"lambda": "lam"}.get(m[1], m[1].replace("-", "_")), text)


def _parameter(option: dict[str, Any]) -> Parameter:
    help = help_of(option)
    if option["choices"]:
        words = ", ".join(repr(word) for word in option["choices"])
        help = f"{help}: {words}" if help else words
    return Parameter(
        python_name(option), option["name"], option["kind"], default_of(option), help, option["argument"], option["elsewhere"]
    )


def _add(estimator: Estimator, row: dict[str, Any]) -> None:
    """One more row of the name: its parameters join those of the others."""
    known = {parameter.option: parameter for parameter in estimator.parameters}
    bit = 1 << TASKS.index(estimator.task)
    for option in row["options"]:
        if not option["tasks"] & bit or option["name"] in row["views"]:
            continue
        if option["argument"] == "COL":
            if option["name"] not in estimator.columns:
                estimator.columns.append(option["name"])
            continue
        parameter = _parameter(option)
        if parameter.option not in known:
            estimator.parameters.append(parameter)
            known[parameter.option] = parameter
            continue
        before = known[parameter.option]
        if before.default != parameter.default:
            before.default = None
        if len(parameter.help) > len(before.help):
            before.help = parameter.help
    if row["formula"]:
        estimator.formulas.insert(0, (row["variant"], row["formula"]))
    estimator.weighted |= row["refuses"] != "weights"
    estimator.intervals |= bool(row["intervals"])
    estimator.leaves_out |= bool(row["leaves_out"])
    estimator.kernel, estimator.title, estimator.about = row["kernel"], row["title"], row["about"] or ""


@functools.lru_cache(maxsize=None)
def estimators() -> dict[str, Estimator]:
    """By name, in the order of the table. Of variants the last row is the plain one, and describes the class."""
    made: dict[str, Estimator] = {}
    for row in _core.methods():
        for task, name in row["python"].items():
            if name not in made:
                made[name] = Estimator(name, row["name"], task, row["title"], "", row["kernel"])
            estimator = made[name]
            _add(estimator, row)
            estimator.views = tuple(view for view in row["views"] if view)
            estimator.scaled = not row["unscaled"]
            estimator.reconstructs = bool(row["reconstructs"])
            estimator.quadrature = bool(row["quadrature"])
    return made


def maps() -> dict[str, tuple[Estimator, str, int]]:
    """Of the feature maps with names, those whose option there is: the estimator, the option, its default."""
    known = estimators()
    return {
        name: (known[base], option, size)
        for name, (base, option, size) in MAPS.items()
        if base in known and any(p.option == option for p in known[base].parameters)
    }


def estimator_names() -> list[str]:
    return [*estimators(), *maps()]


def find(method: str, task: str) -> str | None:
    """The class for models of a method."""
    for row in _core.methods():
        if method in (row["name"], row["kept"]) and task in row["python"]:
            return row["python"][task]
    return None
