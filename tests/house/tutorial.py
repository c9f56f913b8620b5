"""tutorial.py PAGE GRAM: runs the commands of a page and compares what they print with what it shows.

Commands are lines of four spaces and "$ "; what follows, up to the next command or the end of the block, is what they print. "..." is any
number of lines. Words must be the same; numbers with a point may differ by two in a hundred, since processors round differently, and
times and sizes are not compared.
"""
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

NUMBER = re.compile(r"-?\d+\.\d+(?:e[-+]?\d+)?")


def read_page(text):
    """[(line number of the command, command, lines shown)]"""
    found, lines = [], text.split("\n")
    for i, line in enumerate(lines):
        if not line.startswith("    $ "):
            continue
        shown, j = [], i + 1
        while j < len(lines) and lines[j].startswith("    ") and not lines[j].startswith("    $ "):
            shown.append(lines[j][4:])
            j += 1
        found.append((i, line[6:], shown))
    return found


def run(command, folder, gram):
    path = f"{Path(gram).resolve().parent}:{os.environ['PATH']}"
    done = subprocess.run(["sh", "-c", command], cwd=folder, capture_output=True, text=True, check=False,
                          env=dict(os.environ, PATH=path, LC_ALL="C"))
    said = done.stdout + done.stderr
    return [line.rstrip() for line in said.split("\n") if line.strip() and not line.startswith("plan: ")]


def same_line(shown, printed):
    if shown.startswith("time, memory") or shown.startswith("model  "):
        return printed.split()[:1] == shown.split()[:1]
    if NUMBER.sub("#", shown) != NUMBER.sub("#", printed):
        return False
    pairs = zip(map(float, NUMBER.findall(shown)), map(float, NUMBER.findall(printed)))
    return all(abs(a - b) <= 0.02 * max(abs(a), abs(b)) + 1e-12 for a, b in pairs)


def matches(shown, printed):
    if not shown:
        return not printed
    if shown[0] == "...":
        return any(matches(shown[1:], printed[k:]) for k in range(len(printed) + 1))
    return bool(printed) and same_line(shown[0], printed[0]) and matches(shown[1:], printed[1:])


def main():
    page, gram = Path(sys.argv[1]), sys.argv[2]
    text, root, failed = page.read_text(), Path(__file__).resolve().parent.parent.parent, 0
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(root / "examples", Path(folder) / "examples")
        for number, command, shown in read_page(text):
            printed = run(command, folder, gram)
            shown = [line for line in shown if line.strip()]
            if not matches(shown, printed):
                failed += 1
                print(f"{page.name}:{number + 1}: {command}\n  the page shows:\n    " + "\n    ".join(shown) +
                      "\n  it prints:\n    " + "\n    ".join(printed))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
