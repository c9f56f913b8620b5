"""Few rows: fewer than ranks, parts without any, blocks that are not full. And verbs and methods of which nothing is spread, or only folds and grids:
the same results as one process, printed once."""
import re

import ranks

SIZES = (2, 3, 5, 95, 97, 193)
FITS = [
    ("--kernel rbf(ell=1.5) --lambda 1e-2 --solver exact", 1e-10),
    ("--kernel rbf(ell=1.5) --lambda 1e-2 --solver cg", 1e-7),
    ("--kernel rbf(ell=1.5) --lambda 1e-2 --solver nystrom:2", 1e-8),
    ("--kernel rbf(ell=1.5) --lambda 1e-2 --solver fourier:16", 1e-8),
    ("--method gp --kernel rbf(ell=1.5) --noise 0.1 --solver exact", 1e-10),
]
# printed alike by one process and by three, but for times and what ranks cost
VERBS = [
    "fit rows.csv",
    "fit classes.csv --method logistic --kernel rbf",
    "fit rows.csv --method gp --solver vecchia:10 --kernel 2*rbf(ell=1.5) --noise 0.3",
    "fit rows.csv --method gp --solver inducing:20 --kernel 2*rbf(ell=1.5) --noise 0.3",
    "fit rows.csv --method spline --features x1",
    "predict rows.gram held.csv",
    "pca rows.csv -k 2 --kernel rbf(ell=2)",
    "cluster rows.csv -k 3",
    "test two-sample rows.csv held.csv --permutations 99",
    "test two-sample rows.csv held.csv --method wild --permutations 99",
    "test independence rows.csv --x x1 --y y --permutations 99",
    "kernel rbf(ell=1) rows.csv --check",
    "info rows.gram",
]


def check_sizes():
    for n in SIZES:
        ranks.good(0, "make", "friedman", "--n", str(n), "--noise", "0.5", "-o", "few.csv")
        for words, tolerance in FITS:
            ranks.good(0, "fit", "few.csv", *words.split(), "--task", "regression", "-o", "one.gram")
            ranks.good(4, "fit", "few.csv", *words.split(), "--task", "regression", "-o", "many.gram")
            error = ranks.distance(ranks.predictions("many.gram", "held.csv"), ranks.predictions("one.gram", "held.csv"))
            assert error <= tolerance, f"{n} rows, {words}: predictions off by {error}"
        print(f"{n} rows by 4 ranks: good", flush=True)


def printed(text):
    """Lines without times, memory and ranks; numbers to six digits, and none of those that are rounding errors."""
    lines = [line for line in text.splitlines() if not re.match(r"time, memory|ranks |  accuracy|memory", line)]
    rounded = re.sub(r"-?\d+\.\d+(e[-+]?\d+)?", lambda found: f"{float(found.group()):.5g}", "\n".join(lines))
    return re.sub(r"\b\d\S*e-1\d", "0", rounded)


def check_verbs():
    for words in VERBS:
        variables = {"GRAM_ESTIMATE": "auto", "GRAM_SPREAD_ROWS": "1000"}
        one = ranks.good(0, *words.split(), variables=variables)
        many = ranks.good(3, *words.split(), variables=variables)
        assert printed(many.out) == printed(one.out), f"{words}:\n{many.out}\n{one.out}"
        print(f"{words}: good", flush=True)


def main():
    ranks.good(0, "make", "friedman", "--n", "60", "--noise", "0.5", "-o", "rows.csv")
    ranks.good(0, "make", "moons", "--n", "60", "--noise", "0.2", "-o", "classes.csv")
    ranks.good(0, "make", "friedman", "--n", "40", "--seed", "5", "-o", "held.csv")
    ranks.good(0, "fit", "rows.csv", "--kernel", "rbf(ell=2)", "--lambda", "1e-3", "-o", "rows.gram")
    check_verbs()
    check_sizes()


if __name__ == "__main__":
    main()
