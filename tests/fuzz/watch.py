#!/usr/bin/python3
"""What tests/fuzz/run needs beside the shell.

watch.py TARGET PROGRAM ARGUMENTS...   runs libFuzzer and adds to build/fuzz/reached/TARGET: processor seconds, executions,
                                       edges, and the processor seconds before the last new edge
watch.py report                        all of them as a table
watch.py coverage FILE PERCENT         lines by folder from llvm-cov's summary; fails below PERCENT for data and model
watch.py keep FROM TO BYTES            adds inputs to the corpus, the small ones first, until it has so many bytes
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


def processor_seconds(process):
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return 0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def load(target):
    path = REACHED / target
    start = {"seconds": 0.0, "executions": 0, "edges": 0, "last_new": 0.0}
    return json.loads(path.read_text()) if path.exists() else start


def run(target, command):
    """Lines such as `#1024 NEW    cov: 812 ft: 1900 corp: ...`; the first, INITED, has what the corpus reaches."""
    reached = load(target)
    log = []
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace")
    for line in process.stderr:
        found = re.match(r"#\d+\s+(\S+)\s+cov: (\d+)", line)
        if found and int(found[2]) > reached["edges"]:
            reached["edges"] = int(found[2])
            if found[1] != "INITED":
                reached["last_new"] = reached["seconds"] + processor_seconds(process.pid)
        elif not found:
            log = (log + [line])[-60:]
    code = process.wait()
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    reached["seconds"] += spent.ru_utime + spent.ru_stime
    done = [line for line in log if "number_of_executed_units" in line]
    reached["executions"] += int(done[0].split(":")[-1]) if done else 0
    REACHED.mkdir(parents=True, exist_ok=True)
    (REACHED / target).write_text(json.dumps(reached))
    if code != 0:
        print("".join(log))
        print(f"fuzz_{target}: failed")
    return code


def report():
    print(f"{'target':16}{'processor s':>12}{'executions':>12}{'a second':>10}{'edges':>8}{'last new edge at':>18}")
    for path in sorted(REACHED.iterdir()):
        r = load(path.name)
        print(f"{path.name:16}{r['seconds']:12.0f}{r['executions']:12d}{r['executions'] / max(r['seconds'], 1):10.0f}"
              f"{r['edges']:8d}{r['last_new']:16.0f} s")


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
elif sys.argv[1] == "coverage":
    sys.exit(coverage(sys.argv[2], float(sys.argv[3])))
elif sys.argv[1] == "keep":
    keep(sys.argv[2], sys.argv[3], int(sys.argv[4]))
else:
    sys.exit(run(sys.argv[1], sys.argv[2:]))
