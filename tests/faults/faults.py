#!/usr/bin/python3
"""Failing calls and sudden deaths, over every verb that writes.

faults.py calls [quick]   every k-th open, write, fsync, rename, mmap and reservation of disk space fails in turn, once and
                          from then on: the exit code is right, there is a message, an old file is whole, nothing is left
                          aside; what can be tried again (EINTR, a short write) is.
faults.py kills N         each verb is killed N times, at a random moment or about a random call: the file is the old one or
                          the new one, and the next run succeeds.

$GRAM is the command, $SHIM the library of failing_calls.c; the current folder is empty. The seed is fixed.
"""
import os
import random
import re
import signal
import subprocess
import sys
import time

GRAM, SHIM = os.environ["GRAM"], os.environ["SHIM"]
OLD = b"an old file\n"
SECONDS = 60  # a run that takes longer hangs


class Verb:
    """A run that writes `file`, or standard output if that is None."""

    def __init__(self, name, words, file):
        self.name, self.words, self.file = name, words, file

    def run(self, fail=None, kill_after=None):
        """Returns exit code, standard error, and whether the fault happened."""
        surroundings = dict(os.environ, OMP_WAIT_POLICY="passive", OMP_NUM_THREADS="2")
        if fail:
            surroundings.update(LD_PRELOAD=SHIM, GRAM_FAIL=fail, GRAM_FAIL_NOTE="happened")
        if os.path.exists("happened"):
            os.unlink("happened")
        process = subprocess.Popen([GRAM, *self.words], env=surroundings, stdin=subprocess.DEVNULL,
                                   stdout=open("out", "wb"), stderr=open("err", "wb"))
        if kill_after is not None:
            time.sleep(kill_after)
            process.send_signal(signal.SIGKILL)
        try:
            code = process.wait(SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            code = "hangs"
        return code, read("err"), os.path.exists("happened")

    def output(self):
        """What was written, but for the time and memory that it took."""
        return re.sub(rb'"(seconds|peak_bytes)": [-+.e0-9]+', b"", read(self.file or "out"))


def read(name):
    with open(name, "rb") as file:
        return file.read()


def write(name, contents):
    with open(name, "wb") as file:
        file.write(contents)


def say(*words):
    print(*words, flush=True)


def fault(verb, fail, what):
    say(f"{verb.name}, {fail}: {what}")
    say(read("err").decode(errors="replace"))
    sys.exit(1)


def prepare():
    """Data, models to use, and the verbs."""
    rows = [(i * 37 % 101 / 10, i * 53 % 97 / 10) for i in range(120)]
    write("data.csv", ("a,b,y\n" + "".join(f"{a},{b},{a * a / 10 - b}\n" for a, b in rows)).encode())
    write("classes.csv", ("x1,x2,y\n" + "".join(f"{a},{b},{int(a > b)}\n" for a, b in rows)).encode())
    write("kinds.csv", ("x,kind,u\n0,value,0\n1,value,0\n" + "".join(f"{i / 20},laplacian,-1\n" for i in range(1, 20))).encode())
    for words in (["fit", "data.csv", "--method", "gp", "--kernel", "rbf(ell=1)", "--noise", "0.1", "--tune", "none", "-o", "gp.gram"],
                  ["fit", "classes.csv", "--method", "svm", "--kernel", "rbf(ell=1)", "--C", "1", "--tune", "none", "--no-scale",
                   "-o", "svm.gram"],
                  ["accumulate", "data.csv", "--kernel", "rbf(ell=1)", "--tune", "none", "--solver", "nystrom:5", "-o", "all.sums"]):
        subprocess.run([GRAM, *words, "--quiet"], check=True, stdout=subprocess.DEVNULL)
    subprocess.run([GRAM, "convert", "svm.gram", "svm.model", "--quiet"], check=True, stdout=subprocess.DEVNULL)
    subprocess.run([GRAM, "optimize", "--var", "x=0:1", "--study", "study.json", "--quiet"], check=True, stdout=subprocess.DEVNULL)
    subprocess.run([GRAM, "optimize", "tell", "study.json", "--point", "x=0.5", "1"], check=True, stdout=subprocess.DEVNULL)
    verbs = [
        Verb("make", ["make", "sine", "-n", "50", "--quiet", "-o", "made.csv"], "made.csv"),
        Verb("optimize report", ["optimize", "report", "study.json", "-o", "study.txt", "--quiet"], "study.txt"),
        Verb("fit", ["fit", "data.csv", "--kernel", "rbf(ell=1)", "--lambda", "0.1", "-o", "m.gram", "--quiet"], "m.gram"),
        Verb("predict", ["predict", "gp.gram", "data.csv", "--std", "-o", "p.csv", "--quiet"], "p.csv"),
        Verb("compare", ["compare", "data.csv", "--methods", "bayes,mean", "--folds", "2", "-o", "best.gram", "--quiet"], "best.gram"),
        Verb("cv", ["cv", "data.csv", "--method", "bayes", "--folds", "2", "-o", "left.csv", "--quiet"], "left.csv"),
        Verb("explain", ["explain", "gp.gram", "data.csv", "--rows", "20", "--json", "-o", "explained.json", "--quiet"],
             "explained.json"),
        Verb("report", ["report", "gp.gram", "-o", "page.html", "--quiet"], "page.html"),
        Verb("predict to a pipe", ["predict", "gp.gram", "data.csv", "--quiet"], None),
        Verb("test", ["test", "independence", "data.csv", "--x", "a", "--y", "b", "--permutations", "99", "--json", "-o", "t.json"],
             "t.json"),
        Verb("thin", ["thin", "data.csv", "-m", "10", "-o", "t.csv"], "t.csv"),
        Verb("sample", ["sample", "gp.gram", "--at", "data.csv", "--draws", "3", "-o", "s.csv"], "s.csv"),
        Verb("convert to gram", ["convert", "svm.model", "c.gram"], "c.gram"),
        Verb("convert to LIBSVM", ["convert", "svm.gram", "c.model"], "c.model"),
        Verb("kernel", ["kernel", "rbf(ell=1)", "data.csv", "--gram", "K.npy"], "K.npy"),
        Verb("mercer", ["mercer", "rbf(ell=1)", "data.csv", "-k", "2", "-o", "f.csv", "--quiet"], "f.csv"),
        Verb("features", ["features", "data.csv", "--kernel", "poly(m=2,c=1)", "-o", "z.npy", "--quiet"], "z.npy"),
        Verb("info", ["info", "gp.gram", "-o", "i.txt"], "i.txt"),
        Verb("pca", ["pca", "data.csv", "-k", "2", "--kernel", "rbf(ell=1)", "-o", "coords.csv", "--quiet"], "coords.csv"),
        Verb("pca's model", ["pca", "data.csv", "-k", "2", "--kernel", "rbf(ell=1)", "--model", "pca.gram", "--quiet"], "pca.gram"),
        Verb("cluster", ["cluster", "data.csv", "-k", "3", "--kernel", "rbf(ell=1)", "-o", "labels.csv", "--quiet"], "labels.csv"),
        Verb("cluster's model", ["cluster", "data.csv", "-k", "3", "--kernel", "rbf(ell=1)", "--model", "cluster.gram", "--quiet"],
             "cluster.gram"),
        Verb("mercer", ["mercer", "rbf(ell=1)", "data.csv", "-k", "3", "-o", "f.csv", "--quiet"], "f.csv"),
        Verb("features", ["features", "data.csv", "--kernel", "rbf(ell=1)", "--fourier", "8", "-o", "Z.npy", "--quiet"], "Z.npy"),
        Verb("cca", ["cca", "data.csv", "--x", "a", "--y", "b", "-k", "1", "-o", "cca.csv", "--quiet"], "cca.csv"),
        Verb("function", ["function", "gp.gram", "--combine", "0.5", "-o", "half.gram"], "half.gram"),
        Verb("solve", ["solve", "kinds.csv", "--kind", "kind", "--kernel", "rbf(ell=0.5)", "-o", "solve.gram", "--quiet"], "solve.gram"),
        Verb("integrate", ["integrate", "data.csv", "--measure", "uniform(0,10)*normal(5,4)", "--noise", "0.01", "-o", "integral.gram", "--quiet"], "integral.gram"),
        Verb("embed", ["embed", "data.csv", "--kernel", "rbf(ell=1)", "-o", "embedding.csv", "--quiet"], "embedding.csv"),
        Verb("embed's model", ["embed", "data.csv", "--kernel", "rbf(ell=1)", "--measure", "uniform(0,10)*normal(5,4)*uniform(-9,9)", "--model",
                               "embed.gram", "--quiet"], "embed.gram"),
        Verb("accumulate", ["accumulate", "data.csv", "--kernel", "rbf(ell=1)", "--tune", "none", "--solver", "nystrom:5", "-o", "part.sums",
                            "--quiet"],
             "part.sums"),
        Verb("merge", ["merge", "all.sums", "-o", "merged.gram"], "merged.gram"),
        Verb("net", ["net", "data.csv", "--width", "8", "--steps", "5", "-o", "net.gram", "--quiet"], "net.gram"),
        Verb("couple", ["couple", "data.csv", "classes.csv", "-k", "1", "-o", "couple.gram", "--quiet"], "couple.gram"),
    ]
    # a verb that nobody thought of here is a fault of this list
    tried = {verb.words[0] for verb in verbs} | {"help"}
    listed = re.findall(r"^  ([a-z]+) ", subprocess.run([GRAM, "help"], check=True, capture_output=True, text=True).stdout, re.M)
    if not set(listed) <= tried or "fit" not in listed:
        sys.exit(f"faults.py: verbs that it does not try: {sorted(set(listed) - tried)}")
    return verbs


def left_aside(known):
    return sorted(set(os.listdir()) - known - {"happened", "out", "err"})


# ---- every call in turn ----

# A call, how it fails, and which exit codes are right then. Input that cannot be opened is bad data (3).
WAYS = [
    ("open", "EACCES", {0, 3, 5}), ("open", "EIO+", {0, 3, 5}),
    ("write", "ENOSPC", {5}), ("write", "EIO+", {5}), ("write", "EINTR", {0}), ("write", "short", {0}),
    ("fsync", "EIO", {0, 5}), ("fsync", "ENOSPC+", {0, 5}),
    ("rename", "EIO", {5}), ("rename", "EACCES+", {5}),
    ("reserve", "ENOSPC", {5}), ("reserve", "EINTR", {0}),
    ("mmap", "ENOMEM", {0, 5}),
]
QUICK = {"open EACCES", "write ENOSPC", "write EINTR", "write short", "fsync ENOSPC+", "rename EIO", "reserve ENOSPC", "mmap ENOMEM"}


def check(verb, fail, codes, new, known):
    """One run with a fault; False if there was no k-th call."""
    if verb.file:
        write(verb.file, OLD)
    code, message, happened = verb.run(fail)
    if not happened:
        return False
    if fail.startswith("fsync:1:"):  # that of the file; the folder's, which follows, may fail
        codes = {5}
    if code not in codes:
        fault(verb, fail, f"exit code {code}, not one of {sorted(codes)}")
    if code != 0 and not message.startswith(b"gram: "):
        fault(verb, fail, "no message")
    # the report comes last: when it cannot be written, the file is there already
    if verb.file and verb.output() != (new if code == 0 or b"standard output" in message else OLD):
        fault(verb, fail, f"exit code {code}, but {verb.file} is not the {'new' if code == 0 else 'old'} file")
    if not verb.file and code == 0 and verb.output() != new:
        fault(verb, fail, "exit code 0, but standard output is not whole")
    if left_aside(known | {verb.file}):
        fault(verb, fail, f"leaves {left_aside(known | {verb.file})}")
    return True


def every_call(quick):
    verbs, runs = prepare(), 0
    known = set(os.listdir())
    for verb in verbs:
        code, message, _ = verb.run()
        if code != 0:
            fault(verb, "nothing fails", f"exit code {code}")
        new = verb.output()
        counts = []
        for call, how, codes in WAYS:
            if quick and f"{call} {how}" not in QUICK:
                continue
            k = 1
            while check(verb, f"{call}:{k}:{how}", codes, new, known):
                k += 1
            runs += k
            counts.append(f"{call} {how} {k - 1}")
        if verb.file:
            os.unlink(verb.file)
        say(f"{verb.name}: {', '.join(counts)}")
    say(f"{runs} runs")


# ---- sudden deaths ----

def kill_once(verb, seconds, known, news):
    write(verb.file, OLD)
    if random.random() < 0.5:
        moment = random.random() * 1.2 * seconds
        what = f"killed after {1000 * moment:.1f} ms"
        code, _, _ = verb.run(kill_after=moment)
    else:
        call, most = random.choice([("open", 12), ("write", 6), ("fsync", 2), ("rename", 1), ("mmap", 4)])
        what = f"{call}:{random.randint(1, most)}:{random.choice(['kill', 'killed'])}"
        code, _, _ = verb.run(what)
    if code not in (0, -signal.SIGKILL):
        fault(verb, what, f"exit code {code}")
    now = verb.output()
    if now not in (OLD, news):
        fault(verb, what, f"{verb.file} is neither the old file nor the new one")
    left = left_aside(known | {verb.file})
    if left:  # the next run must not mind
        again, _, _ = verb.run()
        if again != 0 or verb.output() != news:
            fault(verb, what, f"the next run does not succeed beside {left}: exit code {again}")
        for name in left:
            os.unlink(name)
    return code != 0, now == news, bool(left)


def kills(count):
    verbs = [verb for verb in prepare() if verb.file]
    known = set(os.listdir())
    random.seed(14)
    for verb in verbs:
        start = time.monotonic()
        code, _, _ = verb.run()
        if code != 0:
            fault(verb, "nothing fails", f"exit code {code}")
        seconds, new = time.monotonic() - start, verb.output()
        results = [kill_once(verb, seconds, known, new) for _ in range(count)]
        os.unlink(verb.file)
        died, renewed, left = (sum(r[i] for r in results) for i in range(3))
        say(f"{verb.name}: {count} runs, {died} killed, {renewed} with the new file, {left} left a file aside")


if sys.argv[1] == "calls":
    every_call(sys.argv[2:] == ["quick"])
else:
    kills(int(sys.argv[2]))
