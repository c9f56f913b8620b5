"""models.py VERBOSE OLD NEW: do the model files of two folders hold the same?

Arrays must have the same bytes, model.json the same keys and values in the same order, but for times. Prints what
differs, then "N models, N": how many there are, and how many of them differ.
"""

import array
import ast
import json
import os
import struct
import sys
import zipfile

TIMES = ("seconds", "peak_bytes")


def entries(path):
    """The files in a model; None if it is not there, or no zip file."""
    try:
        with zipfile.ZipFile(path) as archive:
            return {name: archive.read(name) for name in archive.namelist()}
    except (OSError, zipfile.BadZipFile):
        return None


def flat(value, path=""):
    """JSON as a list of (path, value), in order."""
    if isinstance(value, list) and value and all(isinstance(v, tuple) for v in value):
        return [item for key, v in value if key not in TIMES for item in flat(v, path + "." + key)]
    if isinstance(value, list):
        return [item for i, v in enumerate(value) for item in flat(v, "%s[%d]" % (path, i))] or [(path, "[]")]
    return [(path, value)]


def facts(text):
    return flat(json.loads(text, object_pairs_hook=list, parse_float=str))


def numbers(npy):
    """The header of an .npy file, and its numbers if they are floating-point."""
    start = 10 + struct.unpack("<H", npy[8:10])[0]
    header = ast.literal_eval(npy[10:start].decode().strip())
    code = {"<f8": "d", "<f4": "f"}.get(header["descr"])
    return header, array.array(code, npy[start:]) if code else None


def compare_arrays(name, a, b):
    if a == b:
        return []
    (head, x), (other, y) = numbers(a), numbers(b)
    if head != other:
        return ["%s: %s -> %s" % (name, head, other)]
    if x is None or len(x) != len(y):
        return ["%s: other bytes" % name]
    most = max((abs(p - q) for p, q in zip(x, y)), default=0)
    size = max((abs(p) for p in x), default=0)
    return ["%s: %d of %d numbers, by at most %.3g; the largest is %.3g"
            % (name, sum(p != q for p, q in zip(x, y)), len(x), most, size)]


def compare_facts(a, b):
    old, new = facts(a), facts(b)
    if old == new:
        return []
    first, second = dict(old), dict(new)
    lines = ["model.json: %s: %s -> %s" % (key[1:], first.get(key, "none"), second.get(key, "none"))
             for key in list(first) + [k for k in second if k not in first]
             if key not in first or key not in second or first[key] != second[key]]
    return lines or ["model.json: another order"]


def compare(old, new):
    """Lines that say what differs."""
    a, b = entries(old), entries(new)
    if a is None or b is None:
        same = a is None and b is None and os.path.exists(old) and os.path.exists(new)
        return [] if same and open(old, "rb").read() == open(new, "rb").read() else ["only in one of them, or damaged"]
    lines = []
    if list(a) != list(b):
        lines.append("files: %s -> %s" % (" ".join(a), " ".join(b)))
    for name in a:
        if name in b and name != "model.json":
            lines += compare_arrays(name, a[name], b[name])
    return lines + compare_facts(a["model.json"], b["model.json"])


def main():
    verbose, old, new = sys.argv[1] == "1", sys.argv[2], sys.argv[3]
    names = sorted(n for n in set(os.listdir(old)) | set(os.listdir(new)) if n.endswith(".gram"))
    differ = 0
    for name in names:
        lines = compare(os.path.join(old, name), os.path.join(new, name))
        if not lines:
            continue
        differ += 1
        print("model %s" % name)
        shown = lines if verbose else lines[:8] + ["..."] * (len(lines) > 8)
        print("\n".join("    " + line[:1000 if verbose else 160] for line in shown))
    print("%d models, %d" % (len(names), differ))


main()
