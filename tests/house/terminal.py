"""terminal.py GRAM: what gram shows on a terminal and nowhere else.

Runs verbs behind a pseudo-terminal: headings are bold there unless NO_COLOR, --json or a file say otherwise, work of more than a second has a
progress line with its share and the time left, on standard error, which is gone at the end; on a pipe there is neither.
"""
import os
import pty
import re
import select
import subprocess
import sys
import time

BOLD, ERASE = b"\033[1m", b"\033[K"
LINE = re.compile(rb"\r\033\[K([^\r\n]*?)  (\d+) %(?:  (\d+) s left)?")


def drain(descriptors, process):
    """What comes out of each until the process is done and nothing is left."""
    texts = {d: b"" for d in descriptors}
    open_ones = set(descriptors)
    while open_ones:
        ready = select.select(list(open_ones), [], [], 0.1)[0]
        for d in ready:
            try:
                piece = os.read(d, 65536)
            except OSError:  # the terminal has no other end any more
                piece = b""
            texts[d] += piece
            if not piece:
                open_ones.discard(d)
        if not ready and process.poll() is not None:
            break
    return [texts[d] for d in descriptors]


def run(gram, arguments, **environment):
    """(standard output, standard error), each behind a terminal of its own."""
    pairs = [pty.openpty(), pty.openpty()]
    known = {k: v for k, v in os.environ.items() if k != "NO_COLOR"}
    process = subprocess.Popen([gram, *arguments], stdin=subprocess.DEVNULL, stdout=pairs[0][1], stderr=pairs[1][1],
                               env={**known, "TERM": "xterm", "LC_ALL": "C", **environment})
    for pair in pairs:
        os.close(pair[1])
    out, err = drain([pair[0] for pair in pairs], process)
    if process.wait() != 0:
        sys.exit(f"gram {' '.join(arguments)} failed:\n{err.decode()}")
    for pair in pairs:
        os.close(pair[0])
    return out, err


def check(good, what, *shown):
    if not good:
        sys.exit(f"terminal: {what}\n" + "\n".join(repr(text[-2000:]) for text in shown))


def check_colours(gram):
    kernel = ["kernel", "rbf(ell=1)"]
    check(BOLD in run(gram, kernel)[0], "headings should be bold on a terminal")
    for what, result in (("NO_COLOR", run(gram, kernel, NO_COLOR="1")), ("--json", run(gram, [*kernel, "--json"])),
                         ("a terminal that is none", run(gram, kernel, TERM="dumb"))):
        check(b"\033" not in result[0], f"{what}: nothing should be bold", result[0])
    check(BOLD in run(gram, kernel, NO_COLOR="")[0], "an empty NO_COLOR counts as none")
    piped = subprocess.run([gram, *kernel], capture_output=True, check=True, env=dict(os.environ, TERM="xterm"))
    check(b"\033" not in piped.stdout + piped.stderr, "a pipe should get no escape sequences", piped.stdout)


def check_progress(gram, work):
    """`work` takes a size, which is doubled until the work takes two seconds: machines differ."""
    size, seconds = 1000, 0
    while seconds < 2:
        start = time.monotonic()
        out, err = run(gram, work(size))
        seconds, size = time.monotonic() - start, 2 * size
    lines, words = LINE.findall(err), " ".join(work(size // 2))
    check(len(lines) > 1, f"gram {words} should show progress", out, err)
    check(any(left for _, _, left in lines), f"gram {words} should say how long it takes", err)
    check(err.rfind(ERASE) > err.rfind(lines[-1][0] + b"  "), "the line should be gone at the end", err)
    check(ERASE not in out, "progress is on standard error", out)
    return work(size // 2)


def check_silence(gram, work):
    check(not LINE.search(run(gram, [*work, "--quiet"])[1]), "--quiet should show no progress")
    piped = subprocess.run([gram, *work], capture_output=True, check=True)
    check(b"\033" not in piped.stdout + piped.stderr, "a pipe should get no progress", piped.stderr)


def of_rows(gram, rows, *words):
    """Work on a table whose size is as wanted, `rows` of a thousand at first."""
    def work(size):
        subprocess.run([gram, "make", "friedman", "--n", str(size * rows // 1000), "-o", "rows.csv"], check=True)
        return [words[0], "rows.csv", *words[1:]]
    return work


def main():
    gram = sys.argv[1]
    check_colours(gram)
    check_progress(gram, of_rows(gram, 1000, "pca", "-k", "2", "--kernel", "rbf(ell=1)", "--solver", "dense", "-o", "c.csv"))
    fit = ["fit", "--estimate", "no", "-o", "m.gram"]
    check_progress(gram, of_rows(gram, 500, *fit, "--method", "spline"))
    check_progress(gram, of_rows(gram, 200, *fit, "--loss", "absolute", "--kernel", "rbf(ell=1!)"))
    check_silence(gram, check_progress(gram, lambda size: ["make", "friedman", "--n", str(64 * size), "-o", "many.csv"]))


if __name__ == "__main__":
    main()
