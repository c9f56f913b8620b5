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
    ("--method gp --kernel rbf(ell=1.5) --noise 0.1 --solver vecchia:5", 1e-10),
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


def check_shuffles():
    """Permutations that ranks share: the same figures to the last digit, by the default's many looks, by factors, and by matrices."""
    for what in ("--x x1 --y y", "--x x1 --y y --kernel rbf", "--x x1 --y y --kernel white", "--mutual x1,x2,y"):
        words = f"test independence rows.csv {what} --permutations 99 --json".split()
        one = ranks.good(0, *words).json
        for count in (2, 3, 4):
            many = ranks.good(count, *words).json
            assert "permutations" in many["cluster"]["spread"], many["cluster"]["spread"]
            for name in ("p_value", "statistic"):
                assert many[name] == one[name], f"{words}: {name} {many[name]} by {count} ranks, {one[name]} by one"
    print("shuffles: good", flush=True)


def write_quoted(path, wrong=None):
    """A table whose texts have line ends and quotes, with comments and blank lines between its rows; row `wrong` has a field too many. Returns its line."""
    line, lines = 1, ["name,x1,y"]
    for i in range(1500):
        lines += ["# a comment, with \"a quote", ""] if i % 7 == 0 else []
        at = len(lines) + line
        text = '"two\nlines, ""quoted"""' if i % 3 == 0 else "plain"
        lines.append(f"{text},{(i * 37 % 101) / 50},{(i * 37 % 101) % 10 + i % 3}{',4' if i == wrong else ''}")
        if i == wrong:
            found = at
        line += text.count("\n")
    with open(path, "w", encoding="ascii") as file:
        file.write("\n".join(lines) + "\n")
    return found if wrong is not None else None


def check_passes():
    """Blocks of a file in passes: each rank parses its own, and records go on over line ends. What is wrong is named whoever has it."""
    words = "fit quoted.csv --target y --task regression --kernel rbf(ell=1) --lambda 1e-3 --solver nystrom:20 --stream".split()
    write_quoted("quoted.csv")
    wanted = None
    for count in (0, 2, 3):
        ranks.good(count, *words, "-o", "quoted.gram")
        found = ranks.predictions("quoted.gram", "quoted.csv")
        wanted = wanted or found
        assert ranks.distance(found, wanted) <= 1e-8, f"{count} ranks: off by {ranks.distance(found, wanted)}"
    line = write_quoted("quoted.csv", 1400)
    for count in (0, 3):
        result = ranks.run(count, *words, "--ignore", "name", "-o", "quoted.gram")
        assert result.code == 3 and f"quoted.csv:{line}:" in result.err, f"line {line}, {count} ranks: {result.err}"
    print("passes: good", flush=True)


def main():
    ranks.good(0, "make", "friedman", "--n", "60", "--noise", "0.5", "-o", "rows.csv")
    ranks.good(0, "make", "moons", "--n", "60", "--noise", "0.2", "-o", "classes.csv")
    ranks.good(0, "make", "friedman", "--n", "40", "--seed", "5", "-o", "held.csv")
    ranks.good(0, "fit", "rows.csv", "--kernel", "rbf(ell=2)", "--lambda", "1e-3", "-o", "rows.gram")
    check_shuffles()
    check_passes()
    check_verbs()
    check_sizes()


if __name__ == "__main__":
    main()
