#!/usr/bin/env python3
"""Writes flats.csv: 400 made-up flats with the faults of real files: an identifier, dates, words, missing values.

    python3 examples/make_flats.py >examples/flats.csv
"""
import datetime
import math
import random

source = random.Random(7)
DISTRICTS = {"Harbour": 3.0, "Old Town": 4.5, "Hill": 1.0, "Mill Road": 0.0, "Station": -1.5}

print("id,listed,district,area,floor,built,rent")
for i in range(400):
    listed = datetime.date(2024, 1, 1) + datetime.timedelta(days=source.randrange(700))
    district = source.choice(list(DISTRICTS))
    area = min(180.0, max(18.0, source.lognormvariate(4.1, 0.4)))
    floor = source.randrange(0, 9)
    built = source.randrange(1890, 2024)
    metre = 11 + DISTRICTS[district] + 90 / area + 0.25 * floor * (built > 1960) + 2.5 * math.exp(-((built - 1900) / 12.0) ** 2)
    metre += 1.2 * (listed - datetime.date(2024, 1, 1)).days / 700 + max(0.0, built - 1995) * 0.11
    rent = metre * area * math.exp(source.gauss(0, 0.06))
    year = "?" if source.random() < 0.04 else built
    storey = "NA" if source.random() < 0.03 else floor
    print(f"F{1000 + i},{listed},{district},{area:.0f},{storey},{year},{rent:.0f}")
