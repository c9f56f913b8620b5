"""What goes wrong with ranks: one that is killed, other data, no memory, a command without MPI; and checkpoints that another number of ranks goes on from."""
import os
import re
import signal
import subprocess
import time

import ranks

FIT = ["--kernel", "rbf(ell=1.5)", "--lambda", "1e-3", "--solver", "exact"]
SLOW = ["--kernel", "matern(nu=0.5,ell=0.7)", "--lambda", "1e-10", "--solver", "cg", "--tolerance", "1e-12"]


def one_message(result, code, *parts):
    """An exit code, and one message of gram with these words in it."""
    said = [line for line in result.err.splitlines() if line.startswith("gram: ") and "interrupted" not in line]
    assert result.code == code, f"exit {result.code}, not {code}: {result.err}"
    assert len(said) == 1, f"{len(said)} messages: {result.err}"
    for part in parts:
        assert part in said[0], f"no '{part}' in: {said[0]}"


def check_usage():
    one_message(ranks.run(3, "fit", "rows.csv", "--kernel", "rbx"), 2, "rbx", "rbf")
    one_message(ranks.run(3, "fit", "nothing.csv"), 3, "nothing.csv")
    one_message(ranks.run(2, "fit", "rows.csv", *FIT, "--time", "5m"), 2, "--time")
    one_message(ranks.run(2, "optimize", "--var", "x=0:1", "--budget", "3", "--", "true"), 2, "optimize")
    one_message(ranks.run(2, "fit", "rows.csv", *FIT, "-o", "no/such/folder/m.gram"), 5, "no/such/folder")


def check_without_mpi():
    """Copies of a command without MPI would all write; where each has a command of its own it may run."""
    result = ranks.run(3, "fit", "rows.csv", *FIT, "-o", "copies.gram", program=ranks.ALONE)
    one_message(result, 2, "3 processes", "without MPI")
    assert not os.path.exists("copies.gram")
    ranks.good(2, "info", "whole.gram", program=ranks.ALONE, variables={"GRAM_RANKS": "each"})


def by_rank(rank, script):
    """A program that changes the surroundings of one rank before it starts gram."""
    with open("changed.sh", "w", encoding="ascii") as file:
        file.write(f'#!/bin/sh\nif [ "$OMPI_COMM_WORLD_RANK" = {rank} ]; then {script}; fi\nexec {os.path.abspath(ranks.GRAM)} "$@"\n')
    os.chmod("changed.sh", 0o755)
    return "./changed.sh"


def check_other_data():
    """A rank that sees another file, or none."""
    out = os.path.abspath("other.gram")
    os.makedirs("elsewhere", exist_ok=True)
    program = by_rank(1, "cd elsewhere")
    one_message(ranks.run(3, "fit", "rows.csv", *FIT, "-o", out, program=program), 3, "rank 1 of 3", "rows.csv")
    lines = open("rows.csv", encoding="ascii").read().splitlines()
    lines[7] = lines[7].replace("0.", "1.", 1)
    with open("elsewhere/rows.csv", "w", encoding="ascii") as file:
        file.write("\n".join(lines) + "\n")
    one_message(ranks.run(3, "fit", "rows.csv", *FIT, "-o", out, program=program), 3, "rank 1 of 3 has another rows.csv")
    one_message(ranks.run(2, "fit", "rows.csv", *FIT, "-o", out, program=by_rank(1, 'set -- "$@" --seed 3')), 3,
                "rank 1 of 2 has another command line")
    assert not os.path.exists(out)


def check_no_memory():
    """The budget is the least of all ranks; one that runs out in spite of it ends all of them."""
    result = ranks.run(2, "fit", "rows.csv", *FIT, "--memory", "1M", "-o", "none.gram")
    one_message(result, 5, "budget")
    result = ranks.run(2, "fit", "many.csv", *FIT, "-o", "none.gram", program=by_rank(1, "ulimit -v 420000"))
    one_message(result, 5)
    assert not os.path.exists("none.gram")


def pid_of(rank, out):
    """The process of a rank that writes to `out`."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            words = open(f"/proc/{pid}/cmdline", "rb").read().split(b"\0")
            surroundings = open(f"/proc/{pid}/environ", "rb").read().split(b"\0")
        except OSError:
            continue
        if out.encode() in words and words[0].endswith(b"gram") and f"OMPI_COMM_WORLD_RANK={rank}".encode() in surroundings:
            return int(pid)
    return None


def start_and_kill(count, rank, out, *words):
    """Kills a rank as soon as its checkpoint is there; returns what the launcher said and how long it took to end."""
    with subprocess.Popen([*ranks.command(count), *words, "-o", out], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          text=True, env={**os.environ, **ranks.VARIABLES}) as job:
        for _ in range(3000):
            if os.path.exists("state.check"):
                break
            time.sleep(0.01)
        pid = pid_of(rank, out)
        assert pid, "the rank was gone before it could be killed"
        os.kill(pid, signal.SIGKILL)
        killed = time.time()
        err = job.communicate(timeout=60)[1]
    return job.returncode, err, time.time() - killed


def check_killed_and_resumed():
    """A rank dies: all end within seconds, no model is left, and another number of ranks goes on from the checkpoint to the same model."""
    ranks.good(0, "fit", "slow.csv", *SLOW, "-o", "whole.gram")
    words = ["fit", "slow.csv", *SLOW, "--checkpoint", "state.check", "--every", "0.05"]
    for count, then in ((3, 2), (2, 4), (2, 0)):
        code, err, seconds = start_and_kill(count, count - 1, "killed.gram", *words)
        assert code != 0 and seconds < 20, f"exit {code} after {seconds:.1f} s"
        assert re.search(rf"rank {count - 1}\b", err), f"the rank is not named: {err}"
        assert not os.path.exists("killed.gram") and os.path.exists("state.check")
        assert not [name for name in os.listdir(".") if name.startswith(".killed.gram")], "a half-written model"
        result = ranks.good(then, *words, "-o", "resumed.gram", "--json").json
        assert result["resumed_iterations"] > 0 and not os.path.exists("state.check")
        error = ranks.distance(ranks.predictions("resumed.gram", "held.csv"), ranks.predictions("whole.gram", "held.csv"))
        assert error <= 1e-6, f"resumed by {then} ranks: predictions off by {error}"
        print(f"killed after {result['resumed_iterations']} steps of {count} ranks, {seconds:.1f} s to end, {then} went on: off by {error:.1e}")


def check_no_disk():
    """A checkpoint that cannot be written is a fault of the output, and no model is left."""
    words = ["fit", "many.csv", *SLOW, "--checkpoint", "no/such/folder/state.check", "--every", "0.05", "-o", "none.gram"]
    for count in (0, 3):
        one_message(ranks.run(count, *words), 5, "no/such/folder/state.check")
    assert not os.path.exists("none.gram")


def check_input():
    """Standard input goes to all ranks."""
    text = open("rows.csv", encoding="ascii").read()
    ranks.good(3, "fit", "-", *FIT, "-o", "input.gram", stdin=text)
    ranks.good(3, "fit", "rows.csv", *FIT, "-o", "file.gram")
    assert ranks.predictions("input.gram", "held.csv") == ranks.predictions("file.gram", "held.csv")


def main():
    ranks.good(0, "make", "friedman", "--n", "200", "--noise", "0.5", "-o", "rows.csv")
    ranks.good(0, "make", "friedman", "--n", "3000", "--noise", "0.5", "-o", "many.csv")
    ranks.good(0, "make", "friedman", "--n", "6000", "--noise", "0.5", "-o", "slow.csv")  # a second of iterations on a quick processor
    ranks.good(0, "make", "friedman", "--n", "50", "--seed", "5", "-o", "held.csv")
    for check in (check_killed_and_resumed, check_usage, check_without_mpi, check_other_data, check_no_memory, check_no_disk,
                  check_input):
        check()
        print(f"{check.__name__}: good", flush=True)


if __name__ == "__main__":
    main()
