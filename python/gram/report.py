"""What a fit reports: everything that the command prints, as a mapping that shows itself as the command's table."""

from __future__ import annotations

import html
import json
from collections.abc import Iterator, Mapping
from typing import Any


class Report(Mapping[str, Any]):
    """The facts of a model by the names of `gram info --json`; `rows` are those of the command's report for people.

    >>> import gram
    >>> report = Report('{"method":"krr","n":3}', [("method", "kernel ridge regression"), ("rows", "3")])
    >>> report["n"]
    3
    >>> report
    method    kernel ridge regression
    rows      3
    """

    def __init__(self, text: str, rows: list[tuple[str, str]]) -> None:
        self._text = text
        self.rows = rows
        self._facts: dict[str, Any] = json.loads(text)

    def __getitem__(self, name: str) -> Any:
        return self._facts[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._facts)

    def __len__(self) -> int:
        return len(self._facts)

    def __reduce__(self) -> Any:
        return (Report, (self._text, self.rows))

    def to_json(self) -> str:
        """The same text as `gram info --json` has."""
        return self._text

    def __repr__(self) -> str:
        width = max((len(label) for label, _ in self.rows), default=0) + 4
        return "\n".join(f"{label:<{width}}{value}".rstrip() for label, value in self.rows)

    def _repr_html_(self) -> str:
        cells = "".join(
            f"<tr><th style='text-align:left'>{html.escape(label)}</th><td style='text-align:left'>{html.escape(value)}</td></tr>"
            for label, value in self.rows
        )
        return f"<table>{cells}</table>"
