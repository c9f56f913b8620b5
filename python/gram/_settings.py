"""How calls run: threads, memory, seed and progress, as arguments or for a block of code."""

from __future__ import annotations

import contextlib
import contextvars
import os
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Union

from gram import _core

Progress = Union[bool, Callable[[str, float], Any], None]


class Settings(NamedTuple):
    """What a call is told; None: not told."""

    threads: int | None = None
    memory: int | str | None = None
    seed: int | None = None
    progress: Progress = None


_NOTHING = Settings()
_current: contextvars.ContextVar[Settings] = contextvars.ContextVar("gram_settings", default=_NOTHING)


@contextlib.contextmanager
def context(
    *,
    threads: int | None = None,
    memory: int | str | None = None,
    seed: int | None = None,
    progress: Progress = None,
) -> Iterator[Settings]:
    """Sets how calls inside of the `with` block run, unless their own arguments say otherwise.

    threads : at most so many (default: one for each processor, or OMP_NUM_THREADS). Results do not depend on it.
    memory : a budget in bytes or as text, "8G" (default: 80 % of what is free). What does not fit is MemoryError, before the work.
    seed : of all random numbers (default 0: every run is reproducible).
    progress : True for a line on standard error (by tqdm if it is installed), or a function of what is done and the share done.

    >>> import gram
    >>> with gram.context(threads=1, seed=7) as now:
    ...     now.seed
    7
    """
    now = _merge(Settings(threads, memory, seed, progress))
    token = _current.set(now)
    try:
        yield now
    finally:
        _current.reset(token)


def _merge(given: Settings) -> Settings:
    """What is not told is as the block around says."""
    return Settings(*(mine if mine is not None else outer for mine, outer in zip(given, _current.get())))


def _told() -> int:
    """Workers of a pool are told their share of the threads by OMP_NUM_THREADS; 0: as many as the library chooses."""
    told = os.environ.get("OMP_NUM_THREADS", "").split(",")[0]
    return int(told) if told.isdigit() and 0 < int(told) <= 1024 else 0


_DEFAULT = (_told(), 0, 0, None)


def _threads(threads: int | None) -> int:
    if threads is None:
        return _DEFAULT[0]
    if isinstance(threads, bool) or int(threads) != threads or not 1 <= threads <= 1024:
        raise ValueError(f"threads = {threads!r} is not a whole number from 1 to 1024")
    return int(threads)


def _bytes(memory: int | str | None) -> int:
    if memory is None:
        return 0
    if isinstance(memory, str):
        return _core.parse_bytes(memory)
    if int(memory) < 1:
        raise ValueError(f"memory = {memory!r} is not a number of bytes above 0, nor a text such as '8G'")
    return int(memory)


def _seed(seed: Any) -> int:
    """A number, or a generator of NumPy, from which one is drawn."""
    if seed is None:
        return 0
    if hasattr(seed, "randint"):
        return int(seed.randint(2**31 - 1))
    if hasattr(seed, "integers"):
        return int(seed.integers(2**63 - 1))
    if int(seed) != seed or not 0 <= seed < 2**64:
        raise ValueError(f"seed = {seed!r} is not a whole number from 0 to 2**64 - 1")
    return int(seed)


class _Bar:
    """A bar of tqdm for each thing that is done."""

    def __init__(self) -> None:
        self.what = ""
        self.bar: Any = None

    def __call__(self, what: str, share: float) -> None:
        from tqdm.auto import tqdm

        if self.bar is None or what != self.what:
            if self.bar is not None:
                self.bar.close()
            self.what, self.bar = what, tqdm(total=100, desc=what, leave=False, bar_format="{l_bar}{bar}| {elapsed}<{remaining}")
        self.bar.n = round(100 * share)
        self.bar.refresh()


def _line(what: str, share: float) -> None:
    import sys

    sys.stderr.write(f"\r{what}: {share:4.0%} ")
    sys.stderr.flush()


def _progress(progress: Progress) -> Any:
    if progress is None or progress is False:
        return None
    if callable(progress):
        return progress
    try:
        import tqdm.auto  # noqa: F401
    except ImportError:
        return _line
    return _Bar()


Run = tuple  # (threads, memory, seed, progress), as gram._core takes it


def run(threads: int | None = None, memory: int | str | None = None, seed: Any = None, progress: Progress = None) -> Run:
    """How a call runs: by its own arguments, by `context`, or by default."""
    around = _current.get()
    if around is _NOTHING and threads is None and memory is None and seed is None and progress is None:
        return _DEFAULT
    return (
        _threads(around.threads if threads is None else threads),
        _bytes(around.memory if memory is None else memory),
        _seed(around.seed if seed is None else seed),
        _progress(around.progress if progress is None else progress),
    )
