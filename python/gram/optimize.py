"""Bayesian optimisation: the least value of an expensive function in few evaluations.

A space is a dictionary of variables: (lower, upper), (lower, upper, "log"), (lower, upper, "int"), or a list of choices.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gram import _core
from gram._arrays import Array, rows, unpack
from gram._settings import run

_KINDS = {"real": 0, "log": 1, "int": 2}
_ACQUISITIONS = ("auto", "ei", "noisy-ei", "pi", "bound", "variance", "thompson", "mean-ei")
_STATES = ("queued", "running", "done", "failed")


def _variable(name: str, given: Any) -> tuple[tuple[Any, ...], list[Any] | None]:
    """As gram._core takes it, and the choices of a category."""
    if isinstance(given, (list, np.ndarray)):
        choices = list(given)
        return (name, 3, 0.0, 0.0, tuple(str(choice) for choice in choices)), choices
    bounds = tuple(given)
    kind = bounds[2] if len(bounds) == 3 else "real"
    if len(bounds) not in (2, 3) or kind not in _KINDS:
        raise ValueError(f"{name} = {given!r}: write (lower, upper), with 'log' or 'int' after it, or a list of choices")
    return (name, _KINDS[kind], float(bounds[0]), float(bounds[1]), ()), None


@dataclass
class Trial:
    """A point that was asked for, or told. row counts from 0, None without candidates."""

    number: int
    point: dict[str, Any]
    value: float = math.nan
    state: str = "running"
    row: int | None = None
    mean: float = math.nan
    std: float = math.nan
    expected_improvement: float = math.nan


@dataclass
class Recommendation:
    """Where the model's mean is least (greatest, when maximising), with mean and deviation of the function there."""

    point: dict[str, Any]
    mean: float
    std: float


class Study:
    """Asks for points and is told their values.

    space : a dictionary of variables, see above.
    maximize : look for the largest value.
    noise : variance of the values, 0 if they are exact; None: learnt.
    acquisition : "auto", "ei", "noisy-ei", "pi", "bound", "variance", "thompson" or "mean-ei"; kappa is for "bound".
    start : points of the Latin hypercube that comes first (default: twice the variables, 4 to 20).
    constraints : how many further outputs there are, which must be <= 0.
    candidates : a list of points (dictionaries) that are all there are; each is proposed once.

    >>> import gram
    >>> study = gram.Study({"x": (0, 10), "n": (1, 5, "int")}, seed=1)
    >>> for _ in range(15):
    ...     trial = study.ask()
    ...     study.tell(trial, (trial.point["x"] - 3) ** 2 + trial.point["n"])
    >>> study.best.point["n"]
    1
    """

    def __init__(
        self,
        space: Mapping[str, Any],
        *,
        maximize: bool = False,
        noise: float | None = None,
        acquisition: str = "auto",
        kappa: float = 2.0,
        start: int = 0,
        constraints: int = 0,
        trust_region: bool | None = None,
        candidates: Any = None,
        seed: int = 0,
    ) -> None:
        if acquisition not in _ACQUISITIONS:
            raise ValueError(f"acquisition = {acquisition!r} is not one of {', '.join(_ACQUISITIONS)}")
        made = [_variable(name, given) for name, given in space.items()]
        self._names = list(space)
        self._choices = [choices for _, choices in made]
        self._kinds = [variable[1] for variable, _ in made]
        variables = tuple(variable for variable, _ in made)
        table = None if candidates is None else rows([self._numbers(point) for point in candidates], "candidates")
        self._handle = _core.study(
            None, variables, sum(len(variable[4]) for variable in variables), bool(maximize),
            _ACQUISITIONS.index(acquisition), math.nan if noise is None else float(noise), float(kappa), int(start),
            int(constraints), -1 if trust_region is None else int(trust_region), int(seed), table)

    def _numbers(self, point: Mapping[str, Any]) -> list[float]:
        """A point as the library has it."""
        if set(point) != set(self._names):
            raise ValueError(f"a point has the names {sorted(point)}, the study {sorted(self._names)}")
        numbers = []
        for name, choices in zip(self._names, self._choices):
            if choices is None:
                numbers.append(float(point[name]))
            elif point[name] in choices:
                numbers.append(float(choices.index(point[name])))
            else:
                raise ValueError(f"{name} = {point[name]!r} is not one of {choices}")
        return numbers

    def _point(self, packed: Any) -> dict[str, Any]:
        return self._named(unpack(packed)[0])

    def _named(self, numbers: Array) -> dict[str, Any]:
        """A point as the caller wrote its space."""
        point: dict[str, Any] = {}
        for name, choices, kind, number in zip(self._names, self._choices, self._kinds, numbers.tolist()):
            point[name] = number if choices is None and kind != 2 else int(number) if choices is None else choices[int(number)]
        return point

    def ask(self) -> Trial:
        """The next point. Asking again before telling gives further points, to be evaluated at the same time."""
        number, row, _, mean, std, improvement, packed = self._handle.ask(run())
        return Trial(number, self._point(packed), math.nan, "running", row if row >= 0 else None, mean, std, improvement)

    def tell(self, trial: Any, value: float | None, constraints: Any = None) -> None:
        """The value of a trial, or of a point that was not asked for (a dictionary); None, NaN or infinite: it failed."""
        number = math.nan if value is None else float(value)
        limits = None if constraints is None else rows(np.atleast_2d(np.asarray(constraints, dtype=float)), "constraints")
        if isinstance(trial, Mapping):
            self._handle.tell(-1, rows([self._numbers(trial)], "point"), number, limits)
        else:
            self._handle.tell(trial.number if isinstance(trial, Trial) else int(trial), None, number, limits)

    def suggest(self, point: Mapping[str, Any]) -> None:
        """A point to be asked for before any other."""
        self._handle.suggest(rows([self._numbers(point)], "point"))

    @property
    def trials(self) -> list[Trial]:
        """All of them, in the order in which they came."""
        return [
            Trial(i, self._point(packed), value, _STATES[state], row if row >= 0 else None)
            for i, (state, row, packed, value, _) in enumerate(self._handle.trials())
        ]

    @property
    def best(self) -> Trial | None:
        """The best trial that keeps the constraints; where values are noisy, by the model's mean."""
        trials = self.trials
        if not any(trial.state == "done" for trial in trials):
            return None
        self._handle.learn(run())
        number = self._handle.best()
        if number < 0:
            return None
        found = trials[number]
        mean, std = self.predict([found.point])
        found.mean, found.std = float(mean[0]), float(std[0])
        return found

    def predict(self, points: Any) -> tuple[Array, Array]:
        """Mean and standard deviation of the function, without noise, at points (dictionaries)."""
        x = rows([self._numbers(point) for point in points], "points")
        out = [np.empty((len(x), 1)) for _ in range(3)]
        self._handle.predict(run(), x, *out)
        return out[0][:, 0], out[1][:, 0]

    @property
    def importance(self) -> dict[str, float]:
        """The share of the model's variance that is lost without each variable."""
        out = np.empty((1, len(self._names)))
        self._handle.importance(run(), out)
        return dict(zip(self._names, out[0].tolist()))

    @property
    def recommended(self) -> Recommendation | None:
        """What to use in the end: where values are noisy the point with the least mean of the whole space, else the best point."""
        if self.best is None:
            return None
        out = np.empty((1, len(self._names)))
        mean, std = self._handle.recommend(run(), out)
        return Recommendation(self._named(out[0]), mean, std)

    @property
    def regret(self) -> float:
        """How much better than the recommended point another can be, by the model and kappa; not with constraints."""
        return float(self._handle.regret(run()))

    def save(self, path: Any) -> None:
        """Writes a study file, which `gram optimize` reads too: put in its place whole."""
        self._handle.write(path)

    @classmethod
    def load(cls, path: Any) -> Study:
        """The study of a file. Choices are texts there. Trials that were running are asked for again."""
        study = cls.__new__(cls)
        study._handle = _core.read_study(path)
        variables = study._handle.variables()
        study._names = [name for name, *_ in variables]
        study._kinds = [kind for _, kind, *_ in variables]
        study._choices = [list(levels) if kind == 3 else None for _, kind, _, _, levels in variables]
        study._handle.requeue()
        return study

    def __repr__(self) -> str:
        done = sum(trial.state in ("done", "failed") for trial in self.trials)
        return f"Study({', '.join(self._names)}; {done} evaluations)"


@dataclass(repr=False)
class Minimum:
    """What minimize found: the best point and its value; mean and std are what the model says of it."""

    point: dict[str, Any]
    value: float
    mean: float
    std: float
    evaluations: int
    failed: int
    study: Study = field(compare=False)

    def __repr__(self) -> str:
        return f"Minimum(value={self.value:.6g} at {self.point}, {self.evaluations} evaluations)"


def minimize(
    function: Callable[[dict[str, Any]], Any],
    space: Mapping[str, Any],
    budget: int,
    *,
    start_at: Any = (),
    tolerance: float | None = None,
    regret: float | None = None,
    catch: tuple[type[BaseException], ...] = (),
    **options: Any,
) -> Minimum:
    """The least value of a function of a dictionary in `budget` evaluations; options are those of Study.

    With constraints the function returns (value, [constraint, ...]). An exception of `catch`, None or a value that is not finite is a failed
    evaluation. start_at: points to begin with. tolerance: stop when the expected improvement of the next point is below it. regret: stop when the model
    knows of no point that can be better than the recommended one by more.

    >>> import gram
    >>> found = gram.minimize(lambda p: (p["x"] - 3) ** 2, {"x": (0, 10)}, 15)
    >>> round(found.point["x"], 2)
    3.0
    """
    if budget < 1:
        raise ValueError(f"budget = {budget} must be at least 1")
    study = Study(space, **options)
    for point in start_at:
        study.suggest(point)
    constrained = bool(options.get("constraints"))
    for _ in range(budget):
        trial = study.ask()
        if tolerance is not None and trial.expected_improvement < tolerance:
            break
        if regret is not None and not math.isnan(trial.expected_improvement) and study.regret < regret:
            break
        try:
            value = function(dict(trial.point))
        except catch:
            value = None
        study.tell(trial, *(value if constrained and value is not None else (value,)))
    best, trials = study.best, study.trials
    if best is None:
        raise ValueError(f"no evaluation of {budget} gave a value that counts")
    failed = sum(trial.state == "failed" for trial in trials)
    done = sum(trial.state == "done" for trial in trials)
    return Minimum(best.point, best.value, best.mean, best.std, done + failed, failed, study)
