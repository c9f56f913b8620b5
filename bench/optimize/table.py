"""The table of docs/optimize.md from results.csv: medians with quartiles and the number of seeds.

    table.py [FILE]
"""

import csv
import os
import statistics
import sys
from collections import defaultdict

METHODS = ("gram", "skopt", "botorch", "random", "sobol")


def short(value):
    return f"{value:.2g}" if value < 10 else f"{value:.0f}"


def cell(values):
    if not values:
        return "-"
    if len(values) < 4:
        return f"{short(statistics.median(values))} ({len(values)})"
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    return f"{short(middle)} [{short(low)}, {short(high)}] ({len(values)})"


def main():
    path = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "results.csv")
    found = defaultdict(list)
    with open(path, encoding="utf-8") as file:
        for row in csv.DictReader(file):
            found[row["problem"], row["method"]].append(float(row["regret"]))
    for problem in dict.fromkeys(problem for problem, _ in found):
        print(f"| {problem} |", " | ".join(cell(found[problem, method]) for method in METHODS), "|")


if __name__ == "__main__":
    main()
