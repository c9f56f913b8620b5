"""Running build/cluster/bin/gram by 1 to 4 ranks of one machine, and comparing what comes out. Used by the tests beside it."""
import json
import os
import subprocess

GRAM = os.environ.get("GRAM", "build/cluster/bin/gram")
ALONE = os.environ.get("GRAM_ALONE", "build/release/bin/gram")

# Root and too few processors are what test machines have; ranks yield while they wait, and talk by memory alone.
LAUNCHER = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none",
            "--mca", "mpi_yield_when_idle", "1", "--mca", "btl", "self,vader", "--mca", "plm_rsh_agent", "false"]
VARIABLES = {"GRAM_ESTIMATE": "no", "GRAM_SPREAD_ROWS": "1", "GRAM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1",
             "OMPI_MCA_rmaps_base_oversubscribe": "1"}


class Result:
    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err

    @property
    def json(self):
        return json.loads(self.out)


def command(ranks, program=None):
    return ([*LAUNCHER, "-n", str(ranks)] if ranks else []) + [program or GRAM]


def run(ranks, *words, stdin=None, variables=None, timeout=120, program=None):
    """gram WORDS by so many ranks; 0: without a launcher."""
    done = subprocess.run([*command(ranks, program), *map(str, words)], input=stdin, capture_output=True, text=True,
                          env={**os.environ, **VARIABLES, **(variables or {})}, timeout=timeout, check=False)
    return Result(done.returncode, done.stdout, done.stderr)


def good(ranks, *words, **how):
    result = run(ranks, *words, **how)
    assert result.code == 0, f"{ranks} ranks, {words}: exit {result.code}\n{result.err}\n{result.out}"
    return result


def predictions(model, data, *words):
    """By one process, whoever made the model: rows of numbers."""
    text = good(0, "predict", model, data, "-o", "-", *words).out
    return [[float(v) if v else float("nan") for v in line.split(",")] for line in text.splitlines()[1:]]


def distance(a, b):
    """The largest difference over 1 + the size of the second."""
    assert len(a) == len(b) and all(len(p) == len(q) for p, q in zip(a, b)), "tables of different shapes"
    worst = 0.0
    for p, q in zip(a, b):
        for u, v in zip(p, q):
            if u != u and v != v:
                continue
            worst = max(worst, abs(u - v) / (1 + abs(v)) if u == u and v == v else float("inf"))
    return worst
