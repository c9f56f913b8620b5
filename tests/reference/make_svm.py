#!/usr/bin/python3
"""Support vector machines by LIBSVM's svm-train, for test_svm_libsvm.c: writes svm.txt next to this file.

    make_svm.py            needs svm-train (Debian's libsvm-tools) in PATH, and numpy

The file holds the rows, and for each machine its options, the sum of the dual objectives that svm-train prints, rho of each
output, and decision values at the first rows, computed here in f64 from the model file. Tolerance 1e-7.
"""

import os
import subprocess
import tempfile

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
N, D, SHOWN = 90, 3, 12
KERNELS = [  # gram's text, svm-train's options, the function
    ("rbf(gamma=0.7)", "-t 2 -g 0.7", lambda x, y: np.exp(-0.7 * ((x[:, None] - y[None]) ** 2).sum(2))),
    ("linear(c=0)", "-t 0", lambda x, y: x @ y.T),
    ("poly(m=3, c=1)", "-t 1 -g 1 -r 1 -d 3", lambda x, y: (x @ y.T + 1) ** 3),
]
MACHINES = [  # kind, C, nu, epsilon, weights of classes
    (0, 1.0, 0.5, 0.1, (1, 1, 1)),
    (0, 10.0, 0.5, 0.1, (1, 1, 1)),
    (0, 0.7, 0.5, 0.1, (3, 1, 0.5)),
    (1, 1.0, 0.3, 0.1, (1, 1, 1)),
    (2, 1.0, 0.2, 0.1, (1, 1, 1)),
    (3, 1.0, 0.5, 0.1, (1, 1, 1)),
    (3, 5.0, 0.5, 0.3, (1, 1, 1)),
    (4, 2.0, 0.4, 0.1, (1, 1, 1)),
]


def make_rows():
    random = np.random.default_rng(7)
    x = random.uniform(-1, 1, (N, D))
    angle = np.arctan2(x[:, 1], x[:, 0])
    labels = np.floor((angle / (2 * np.pi) + 0.5) * 3).clip(0, 2)
    noisy = random.uniform(size=N) < 0.15
    labels[noisy] = random.integers(0, 3, noisy.sum())
    order = [np.flatnonzero(labels == c)[0] for c in range(3)]  # svm-train numbers classes as they appear
    order += [i for i in range(N) if i not in order]
    x, labels = x[order], labels[order]
    return x, labels, np.sin(3 * x[:, 0]) + x[:, 1] ** 2 + 0.2 * random.standard_normal(N)


def train(folder, x, y, options):
    data, model = os.path.join(folder, "data"), os.path.join(folder, "model")
    with open(data, "w") as out:
        for target, row in zip(y, x):
            out.write("%.17g %s\n" % (target, " ".join("%d:%.17g" % (j + 1, v) for j, v in enumerate(row))))
    printed = subprocess.run(["svm-train", *options.split(), "-e", "1e-7", data, model], check=True,
                             capture_output=True, text=True).stdout
    objectives = [float(line.split()[2].rstrip(",")) for line in printed.splitlines() if line.startswith("obj")]
    return objectives, read_model(model)


def read_model(path):
    rho, counts, rows = [], None, []
    with open(path) as lines:
        for line in lines:
            word, *rest = line.split()
            if word == "rho":
                rho = [float(v) for v in rest]
            elif word == "nr_sv":
                counts = [int(v) for v in rest]
            elif word == "SV":
                break
        for line in lines:
            words = line.split()
            vector = np.zeros(D)
            for word in (w for w in words if ":" in w):
                vector[int(word.split(":")[0]) - 1] = float(word.split(":")[1])
            rows.append(([float(w) for w in words if ":" not in w], vector))
    return rho, counts, np.array([c for c, _ in rows]), np.array([v for _, v in rows])


def decisions(model, kernel, x):
    rho, counts, coefficients, vectors = model
    k = kernel(x, vectors)
    if counts is None or len(counts) < 2:
        return (k @ coefficients[:, 0] - rho[0])[:, None]
    first = np.concatenate([[0], np.cumsum(counts)])
    out = []
    for a in range(len(counts)):
        for b in range(a + 1, len(counts)):
            part = slice(first[a], first[a + 1]), slice(first[b], first[b + 1])
            out.append(k[:, part[0]] @ coefficients[part[0], b - 1] + k[:, part[1]] @ coefficients[part[1], a])
    return np.array(out).T - np.array(rho)


def main():
    x, labels, targets = make_rows()
    with tempfile.TemporaryDirectory() as folder, open(os.path.join(HERE, "svm.txt"), "w") as out:
        print("# made by make_svm.py; rows: x, label, target", file=out)
        print(N, D, SHOWN, len(KERNELS) * len(MACHINES), file=out)
        for i in range(N):
            print(" ".join("%.17g" % v for v in [*x[i], labels[i], targets[i]]), file=out)
        for text, options, kernel in KERNELS:
            for kind, c, nu, epsilon, weights in MACHINES:
                y = targets if kind > 2 else labels
                if kind == 1 and text.startswith("linear"):
                    nu = 0.8  # with less, the classes of this sample have no margin, and svm-train divides by 0
                flags = "-s %d %s -c %g -n %g -p %g" % (kind, options, c, nu, epsilon)
                flags += "".join(" -w%d %g" % pair for pair in enumerate(weights)) if kind == 0 else ""
                objectives, model = train(folder, x, y, flags)
                values = decisions(model, kernel, x[:SHOWN])
                print(text, file=out)
                print(kind, c, nu, epsilon, *weights, "%.17g" % sum(objectives), values.shape[1], file=out)
                print(" ".join("%.17g" % v for v in model[0]), file=out)
                print(" ".join("%.17g" % v for v in values.ravel()), file=out)


main()
