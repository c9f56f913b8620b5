#!/usr/bin/python3
"""What tests/fuzz/run needs beside the shell.

watch.py run TARGET PROGRAM ARGUMENTS...   runs libFuzzer and adds to build/fuzz/reached/TARGET: processor seconds, executions,
                                           and the processor seconds since the last new edge
watch.py report                            what tests/fuzz/RECORD says and what was reached since, as a table
watch.py record                            adds what was reached to tests/fuzz/RECORD
watch.py coverage FILE PERCENT             lines by folder from llvm-cov's summary; fails below PERCENT for data and model
watch.py keep FROM TO BYTES                adds inputs to the corpus, the small ones first, until it has so many bytes
"""
import hashlib
import json
import os
import re
import resource
import subprocess
import sys
from pathlib import Path

REACHED = Path("build/fuzz/reached")
RECORD = Path("tests/fuzz/RECORD")


def processor_seconds(process):
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return 0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def nothing():
    return {"seconds": 0.0, "executions": 0, "edges": 0, "quiet": 0.0}


def load(target):
    path = REACHED / target
    return json.loads(path.read_text()) if path.exists() else nothing()


def save(target, reached):
    REACHED.mkdir(parents=True, exist_ok=True)
    (REACHED / target).write_text(json.dumps(reached))


def add(before, after):
    """A later run with a new edge begins the quiet time anew."""
    has_new = after["quiet"] < after["seconds"]
    return {"seconds": before["seconds"] + after["seconds"], "executions": before["executions"] + after["executions"],
            "edges": after["edges"] or before["edges"],
            "quiet": after["quiet"] if has_new else before["quiet"] + after["seconds"]}


def is_only_slow(program, log):
    """libFuzzer's clock also runs while the process is stopped or waits for a busy machine: such an input is tried again."""
    written = [line.rsplit(" ", 1)[1].strip() for line in log if "Test unit written to" in line and "timeout-" in line]
    if not written:
        return False
    again = subprocess.run([program, "-timeout=300", written[0]], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                           check=False)
    if again.returncode == 0:
        os.unlink(written[0])
    return again.returncode == 0


def run(target, command):
    """Lines such as `#1024 NEW    cov: 812 ft: 1900 corp: ...`; the first, INITED, has what the corpus reaches."""
    now = nothing()
    last_new = 0.0
    log = []
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace")
    for line in process.stderr:
        found = re.match(r"#(\d+)\s+(\S+)\s+cov: (\d+)", line)
        if found:
            now["executions"] = int(found[1])
            if found[2] != "INITED" and int(found[3]) > now["edges"]:
                last_new = processor_seconds(process.pid)
            now["edges"] = max(now["edges"], int(found[3]))
        else:
            log = (log + [line])[-200:]
    code = process.wait()
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    now["seconds"] = spent.ru_utime + spent.ru_stime
    now["quiet"] = now["seconds"] - last_new
    done = [line for line in log if "number_of_executed_units" in line]
    now["executions"] = int(done[0].split(":")[-1]) if done else now["executions"]
    save(target, add(load(target), now))
    if code != 0 and is_only_slow(command[0], log):
        code = 0
    if code != 0:
        print("".join(log))
        print(f"fuzz_{target}: failed")
    return code


def read_record():
    rows = [line.split() for line in RECORD.read_text().splitlines() if line and line[0] != "#"] if RECORD.exists() else []
    return {row[0]: {"seconds": 3600 * float(row[1]), "executions": int(row[2]), "edges": int(row[3]),
                     "quiet": 60 * float(row[4])} for row in rows}


def together():
    record = read_record()
    names = sorted(set(record) | {path.name for path in REACHED.glob("*")})
    return {name: add(record.get(name, nothing()), load(name)) for name in names}


def row(name, r):
    return (f"{name:<15}{r['seconds'] / 3600:>16.2f}{r['executions']:>12d}{r['edges']:>7d}{r['quiet'] / 60:>31.1f}"
            f"{r['executions'] / max(r['seconds'], 1):>21.0f}")


HEADING = "# target         processor hours  executions  edges  minutes since the last new one  executions a second"


def report():
    print("\n".join([HEADING] + [row(name, r) for name, r in together().items()]))


def write_record():
    """The seconds go where the inputs go: what is recorded is no longer in build/fuzz/reached."""
    text = [line for line in RECORD.read_text().splitlines() if line[:1] == "#" and line != HEADING]
    RECORD.write_text("\n".join(text + [HEADING] + [row(name, r) for name, r in together().items()]) + "\n")
    for path in REACHED.glob("*"):
        path.unlink()


def coverage(path, percent):
    sums = {}
    for file in json.loads(Path(path).read_text())["data"][0]["files"]:
        inside = re.search(r"/src/(data|model)/(.*\.[ch])$", file["filename"])
        if not inside:
            continue
        lines = file["summary"]["lines"]
        total = sums.setdefault(inside[1], [0, 0])
        total[0] += lines["covered"]
        total[1] += lines["count"]
        print(f"{inside[1] + '/' + inside[2]:36}{lines['covered']:6d} of {lines['count']:5d}{lines['percent']:8.1f} %")
    bad = 0
    for folder, (covered, count) in sorted(sums.items()):
        print(f"src/{folder}: {100 * covered / count:.1f} % of {count} lines")
        bad += 100 * covered < percent * count
    return 1 if bad or not sums else 0


def keep(source, corpus, most):
    """Seeds that were written by hand have names and stay; others are called by what they hold."""
    corpus = Path(corpus)
    for old in corpus.iterdir():
        if re.fullmatch(r"[0-9a-f]{12}", old.name):
            old.unlink()
    known = {hashlib.sha1(file.read_bytes()).hexdigest() for file in corpus.iterdir()}
    size = sum(file.stat().st_size for file in corpus.iterdir())
    for file in sorted(Path(source).iterdir(), key=lambda f: f.stat().st_size):
        contents = file.read_bytes()
        name = hashlib.sha1(contents).hexdigest()
        if name in known or size + len(contents) > most:
            continue
        (corpus / name[:12]).write_bytes(contents)
        size += len(contents)
    print(f"{corpus}: {len(list(corpus.iterdir()))} inputs, {size} bytes")


if sys.argv[1] == "report":
    report()
elif sys.argv[1] == "record":
    write_record()
elif sys.argv[1] == "coverage":
    sys.exit(coverage(sys.argv[2], float(sys.argv[3])))
elif sys.argv[1] == "keep":
    keep(sys.argv[2], sys.argv[3], int(sys.argv[4]))
else:
    sys.exit(run(sys.argv[2], sys.argv[3:]))
