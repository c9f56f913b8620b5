"""Kernels as objects: operators, matrices, gradients, facts.

A kernel is an expression of gram's small language, which the command, C and model files share: what an object prints can be read
back, bit for bit. A number that is left out is free: an estimator learns it, and elsewhere it is set by the median heuristic.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from gram import _core
from gram._arrays import Array, matrix, points, points_or_bags, ready, rows
from gram._settings import run


class Parameter(NamedTuple):
    """A number of a kernel that can be learnt."""

    name: str
    value: float  # NaN while it is free
    lower: float
    upper: float
    log: bool  # searched on a log scale
    set: bool
    fixed: bool


class Kernel:
    """A kernel from its expression, or anything that `as_kernel` takes.

    >>> k = Kernel("2*rbf(ell=0.3) + white()")
    >>> k + 1
    2*rbf(ell=0.3) + white() + 1
    >>> k == Kernel("2*rbf(ell=0.3)+white")
    True
    >>> Kernel("rbf(ell=1)").on(1, 3)
    on([1,3], rbf(ell=1))
    """

    _handle: Any
    _functions: tuple[_Function, ...]
    _recipe: tuple[Any, ...] | None = None  # how to make it again, of one that has no expression

    def __init__(self, expression: Any) -> None:
        other = as_kernel(expression)
        self._handle, self._functions, self._recipe = other._handle, other._functions, other._recipe

    @classmethod
    def _of(cls, handle: Any, functions: tuple[_Function, ...] = (), recipe: tuple[Any, ...] | None = None) -> Kernel:
        made = object.__new__(Kernel)
        made._handle, made._functions, made._recipe = handle, functions, recipe
        return made

    def _derive(self, how: str, *arguments: Any) -> Kernel:
        """What a method of the handle makes; a kernel with a function in it remembers the way."""
        recipe = (_derived, self, how, *arguments) if self._functions else None
        return Kernel._of(getattr(self._handle, how)(*arguments), self._functions, recipe)

    @classmethod
    def precomputed(cls) -> Kernel:
        """For estimators with `kernel="precomputed"`: rows of X are rows of the matrix."""
        return cls._of(_core.kernel_precomputed(), (), (cls.precomputed,))

    # ---- what it is ----

    def __repr__(self) -> str:
        return self._handle.text()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Kernel) and bool(self._handle == other._handle)

    def __hash__(self) -> int:
        return hash(self._handle)

    def __reduce__(self) -> Any:
        if self._recipe:
            return (self._recipe[0], self._recipe[1:])
        if self._functions:
            raise TypeError(f"the kernel {self!r} has a function of Python in it and cannot be kept")
        return (_parse, (repr(self),))

    def __copy__(self) -> Kernel:
        return self

    def __deepcopy__(self, memo: Any) -> Kernel:
        return self

    # ---- algebra ----

    def _join(self, other: Any, how: str, swapped: bool = False) -> Any:
        try:
            kernel = as_kernel(other)
        except TypeError:
            return NotImplemented
        a, b = (kernel, self) if swapped else (self, kernel)
        functions = a._functions + b._functions
        return Kernel._of(getattr(a._handle, how)(b._handle), functions, (_joined, a, how, b) if functions else None)

    def __add__(self, other: Any) -> Kernel:
        return self._join(other, "add")

    def __radd__(self, other: Any) -> Kernel:
        return self._join(other, "add", swapped=True)

    def __mul__(self, other: Any) -> Kernel:
        return self._join(other, "multiply")

    def __rmul__(self, other: Any) -> Kernel:
        return self._join(other, "multiply", swapped=True)

    def __pow__(self, m: int) -> Kernel:
        """k(x, y)^m for a whole number m."""
        return self._derive("power", m)

    def exp(self) -> Kernel:
        """exp(k(x, y))."""
        return self._derive("exp")

    def normalize(self) -> Kernel:
        """k(x, y)/sqrt(k(x, x) k(y, y))."""
        return self._derive("normalize")

    def on(self, *columns: int) -> Kernel:
        """The same of some columns, which count from 1 as in expressions."""
        if any(int(c) != c or c < 1 for c in columns):
            raise ValueError(f"on{columns}: columns count from 1")
        return self._derive("on", tuple(int(c) - 1 for c in columns))

    def warp(self, matrix: Any) -> Kernel:
        """k(A x, A y)."""
        return self._derive("warp", np.ascontiguousarray(rows(matrix, "matrix")))

    @property
    def terms(self) -> list[Kernel]:
        """The terms of a sum."""
        return [
            Kernel._of(term, self._functions, (_term, self, i) if self._functions else None)
            for i, term in enumerate(self._handle.terms())
        ]

    # ---- parameters and facts ----

    @property
    def parameters(self) -> list[Parameter]:
        """
        >>> [(p.name, p.value, p.fixed) for p in Kernel("2*rbf(ell=0.3!)").parameters]
        [('const', 2.0, False), ('rbf.ell', 0.3, True)]
        """
        return [Parameter(n, v, lo, hi, bool(g), bool(s), bool(f)) for n, v, lo, hi, g, s, f in self._handle.parameters()]

    def with_values(self, values: Sequence[float]) -> Kernel:
        """The same with these numbers for its parameters, in their order."""
        return self._derive("with_values", np.ascontiguousarray(values, dtype=np.float64).reshape(-1))

    def with_ard(self, d: int) -> Kernel:
        """Each length-scale that has a value becomes d equal ones."""
        return self._derive("with_ard", d)

    def resolve(self, X: Any, *, seed: int | None = None) -> Kernel:
        """Free numbers set: length-scales by the median heuristic on the rows of X."""
        return self._like(self._handle.resolve(run(seed=seed), points_or_bags(X)[0]))

    def _like(self, handle: Any, d: int = 0) -> Kernel:
        """A kernel of the library that is this one but for its numbers, and has d length-scales where it has one."""
        if not self._functions:
            return Kernel._of(handle, (), self._recipe)
        numbers = [value for _, value, *_ in handle.parameters()]
        count = len(self._handle.parameters())
        form = self if len(numbers) == count else self.with_values(np.ones(count)).with_ard(d)
        return Kernel._of(handle, self._functions, (_derived, form, "with_values", np.array(numbers)) if numbers else form._recipe)

    def facts(self, d: int | None = None) -> dict[str, Any]:
        """What is known of the kernel on d columns (default: as few as it takes), None where it is not known.

        >>> Kernel("rbf(ell=1)").facts(2)["universal"]
        True
        """
        known = json.loads(self._handle.facts(d or self._handle.least_dimension(), False))["properties"]
        return {name: {"yes": True, "no": False, "unknown": None}.get(v, v) if isinstance(v, str) else v for name, v in known.items()}

    def words(self, d: int | None = None) -> dict[str, str]:
        """The same kernel in the words of other tools that have it.

        >>> Kernel("rbf(ell=0.5)").words()["scikit-learn"]
        'RBF(length_scale=0.5)'
        """
        return json.loads(self._handle.facts(d or self._handle.least_dimension(), True))["equivalents"]

    # ---- matrices ----

    def _call(self, how: str, *arguments: Any) -> None:
        call(self._functions, getattr(self._handle, how), *arguments)

    def __call__(
        self, X: Any, Y: Any = None, *, threads: int | None = None, out: Array | None = None
    ) -> Array:
        """The Gram matrix, K_ij = k(x_i, y_j); of X with itself if there is no Y.

        With float32 points the work is done in float32; the result is float64 in any case. A list of arrays of two dimensions is one of
        bags, for kernels such as `after(mean(rbf), rbf)`; so is a list of pairs (rows, weights), whose rows count by their weights.
        """
        x, n = points_or_bags(X)
        y, m = (None, n) if Y is None else points_or_bags(Y, "Y")
        if out is None:
            out = matrix(n, m)
        self._call("matrix", run(threads), x, y, out)
        return out

    def diag(self, X: Any) -> Array:
        """k(x_i, x_i), the same bits as the diagonal of k(X)."""
        x, n = points_or_bags(X)
        out = np.empty(n)
        self._call("diagonal", run(), x, out)
        return out

    def distance(self, X: Any, Y: Any = None) -> Array:
        """The kernel metric, sqrt(k(x, x) + k(y, y) - 2 k(x, y))."""
        x = points(X)
        y = None if Y is None else points(Y, "Y")
        out = matrix(x.shape[0], (x if y is None else y).shape[0])
        self._call("distance", run(), x, y, out)
        return out

    def dot(self, X: Any, V: Any, Y: Any = None, *, threads: int | None = None) -> Array:
        """K(X, Y) V without ever holding K."""
        x = points(X)
        y = None if Y is None else points(Y, "Y")
        v = rows(V, "V")
        out = np.empty((x.shape[0], v.shape[1]))
        self._call("product", run(threads), x, y, v, out)
        return out[:, 0] if np.ndim(V) == 1 else out

    def parameter_gradient(self, X: Any, Y: Any = None, *, weights: Any) -> Array:
        """sum_ij W_ij dk(x_i, y_j)/dp for each of the `parameters`, by the values themselves."""
        x = points(X)
        y = None if Y is None else points(Y, "Y")
        out = np.empty(len(self._handle.parameters()))
        self._call("parameter_gradient", run(), x, y, ready(weights), out)
        return out

    def input_gradient(self, X: Any, Y: Any = None, *, weights: Any = None) -> Array:
        """sum_j W_ij dk(x, y_j)/dx at x_i, n x d; without weights dk(x_i, y_j)/dx of all pairs, n x m x d."""
        x = points(X)
        y = None if Y is None else points(Y, "Y")
        if weights is not None:
            out = np.empty(x.shape)
            self._call("input_gradient", run(), x, y, ready(weights), out)
            return out
        columns = x if y is None else y
        all_pairs = np.empty((x.shape[0], columns.shape[0], x.shape[1]))
        ones = np.ones((x.shape[0], 1))
        for j in range(columns.shape[0]):
            out = np.empty(x.shape)
            self._call("input_gradient", run(), x, columns[j : j + 1], ones, out)
            all_pairs[:, j] = out
        return all_pairs

    def sample(self, X: Any, draws: int = 1, *, seed: int | None = None) -> Array:
        """Draws of the Gaussian process with mean 0 and this kernel at the rows of X, one column for each."""
        x = points(X)
        out = np.empty((x.shape[0], draws))
        self.resolve(X)._call("draw", run(seed=seed), x, draws, out)
        return out


def _parse(text: str) -> Kernel:
    return Kernel._of(_core.kernel_parse(text))


def _derived(kernel: Kernel, how: str, *arguments: Any) -> Kernel:
    return kernel._derive(how, *arguments)


def _joined(a: Kernel, how: str, b: Kernel) -> Kernel:
    return a._join(b, how)


def _term(kernel: Kernel, place: int) -> Kernel:
    return kernel.terms[place]


def as_kernel(value: Any) -> Kernel:
    """A kernel from an expression, a number, a kernel of scikit-learn's Gaussian processes, or a function of two arrays.

    A function gets rows X and Y and returns the matrix k(X, Y); it is called for small blocks, by one thread at a time: slow.

    >>> as_kernel("rbf(gamma=2)")
    rbf(ell=0.5)
    """
    if isinstance(value, Kernel):
        return value
    if isinstance(value, str):
        return Kernel.precomputed() if value == "precomputed" else _parse(value)
    if isinstance(value, (int, float, np.number)) and not isinstance(value, bool):
        return Kernel._of(_core.kernel_constant(float(value)))
    if type(value).__module__ == "sklearn.gaussian_process.kernels":
        from gram._foreign import expression_of

        return _parse(expression_of(value))
    if callable(value):
        function = _Function(value)
        return Kernel._of(_core.kernel_callback(function.name, function), (function,), (as_kernel, value))
    raise TypeError(f"{value!r} is not a kernel: give an expression such as 'rbf(ell=1)', a gram.Kernel, or a function of X and Y")


# ---- functions of Python ----


class _Function:
    """A function as the library calls it, from any thread: what it raises is kept until the call is over."""

    def __init__(self, function: Callable[[Array, Array], Any]) -> None:
        self.function = function
        self.error: BaseException | None = None
        name = re.sub(r"[^A-Za-z0-9_-]", "", getattr(function, "__name__", type(function).__name__))
        self.name = name[:31] or "function"

    def __call__(self, a: bytearray, b: bytearray, d: int) -> Array:
        x = np.frombuffer(a, dtype=np.float64).reshape(-1, d)
        y = np.frombuffer(b, dtype=np.float64).reshape(-1, d)
        shape = (x.shape[0], y.shape[0])
        if self.error is None:
            try:
                block = np.ascontiguousarray(self.function(x, y), dtype=np.float64)
                if block.shape == shape:
                    return block
                raise ValueError(f"the kernel {self.name} returned the shape {block.shape} for {shape[0]} and {shape[1]} rows")
            except BaseException as error:
                self.error = error
        return np.full(shape, np.nan)


def call(functions: tuple[_Function, ...], todo: Callable[..., Any], *arguments: Any) -> Any:
    """A call of the library; what a function in a kernel raised meanwhile is raised here."""
    if not functions:
        return todo(*arguments)
    for function in functions:
        function.error = None
    try:
        result = todo(*arguments)
    except Exception as failure:
        _raise(functions, failure)
        raise
    _raise(functions, None)
    return result


def _raise(functions: tuple[_Function, ...], failure: BaseException | None) -> None:
    for function in functions:
        error, function.error = function.error, None
        if error is not None:
            raise error from failure


# ---- a class for each kernel of the table ----


def kernel_names() -> list[str]:
    """Names of the kernels that expressions know."""
    return [name for name, _, _ in _core.kernels()]


def _text(value: Any) -> str:
    """A number, a list, a matrix, or text such as '0.3!'."""
    if isinstance(value, str):
        return value
    a = np.asarray(value, dtype=np.float64)
    if a.ndim == 0:
        return repr(float(a))
    if a.ndim == 1:
        return "[" + ",".join(repr(float(x)) for x in a) + "]"
    return "[" + ";".join(",".join(repr(float(x)) for x in row) for row in a) + "]"


def _class_name(name: str) -> str:
    return name.upper() if len(name) <= 3 and name not in ("min",) else name.capitalize()


def _make_class(name: str, formula: str, signature: str) -> type[Kernel]:
    names = [part.split("=")[0].strip() for part in signature[signature.index("(") + 1 : -1].split(",") if part.strip()]

    def __init__(self: Kernel, *values: Any, **named: Any) -> None:
        if len(values) > len(names):
            raise TypeError(f"{signature} has {len(names)} parameters, not {len(values)}")
        given = {**dict(zip(names, values)), **named}
        text = ", ".join(f"{key}={_text(value)}" for key, value in given.items() if value is not None)
        self._handle, self._functions, self._recipe = _core.kernel_parse(f"{name}({text})"), (), None

    title = _class_name(name)
    doc = f"{signature}: {formula}.\n\nParameters are as in expressions; one that is left out is free, and text such as '0.3!' holds it."
    return type(title, (Kernel,), {"__init__": __init__, "__doc__": doc, "__module__": "gram.kernels"})


@functools.lru_cache(maxsize=None)
def classes() -> dict[str, type[Kernel]]:
    """RBF, Matern, White, ...: by the names of the table."""
    return {_class_name(name): _make_class(name, formula, signature) for name, formula, signature in _core.kernels()}


def __getattr__(name: str) -> Any:
    if name in classes():
        return classes()[name]
    raise AttributeError(f"module 'gram.kernels' has no attribute {name!r}")
