#!/usr/bin/env python3
"""Writes sine.csv: 100 points of y = sin(x) + noise, x uniform on [0, 10], noise normal with deviation 0.1.

    python3 examples/make_sine.py >examples/sine.csv
"""
import math
import random

source = random.Random(1)
print("x,y")
for _ in range(100):
    x = round(source.uniform(0, 10), 4)
    print(f"{x:.4f},{math.sin(x) + source.gauss(0, 0.1):.4f}")
