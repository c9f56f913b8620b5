"""The command `gram`, which the package brings along."""

from __future__ import annotations

import os
import subprocess
import sys


def path() -> str:
    """Where the command is."""
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "gram")


def run(arguments: list[str] | None = None) -> int:
    """Runs it with these arguments, or with those of this program, and returns its exit code."""
    return subprocess.run([path(), *(sys.argv[1:] if arguments is None else arguments)], check=False).returncode


def main() -> None:
    """In the place of this program: signals and exit codes are the command's own."""
    os.execv(path(), ["gram", *sys.argv[1:]])
