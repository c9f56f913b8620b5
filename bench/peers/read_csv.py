"""pandas.read_csv: read_csv.py default|round_trip FILE. The second rounds numbers correctly."""

import sys

import common

import pandas


def main(arguments):
    precision = None if arguments[0] == "default" else arguments[0]
    frame, cost = common.measure(lambda: pandas.read_csv(arguments[1], float_precision=precision))
    common.report(**cost, check=common.check(frame.to_numpy().ravel()[:: common.CHECK_STRIDE]))


main(sys.argv[1:])
