#!/usr/bin/python3
"""Writes matern.txt: matern(nu) and its slope with 50 digits, for tests/unit/test_kernels_matern.c.

Not run by the tests (they read the committed table only); needs python3-mpmath:

    /usr/bin/python3 make_bessel.py > matern.txt

With a = sqrt(2 nu z), z = (r/ell)^2, nu and z taken as the exact doubles that they are:

    k     = 2^(1-nu)/Gamma(nu) a^nu K_nu(a)
    dk/dz = -nu 2^(1-nu)/Gamma(nu) a^(nu-1) K_(nu-1)(a)

Orders: across [0.05, 30], at and around whole and half numbers, where formulas of K_nu change or cancel, and a few
outside. r/ell: from 1e-9 to 50, and further as long as k is above 1e-300.

Format, one item per line, '#' starts a comment: nu and z as hexadecimal floats, then k and dk/dz with 22 digits.
"""
import random

import mpmath as mp

mp.mp.dps = 50
DIGITS = 22

ORDERS = [0.001, 0.05, 0.0731, 0.1, 0.2, 0.3, 0.4999, 0.5 - 1e-9, 0.5, 0.5 + 1e-9, 0.6, 0.7, 0.9, 0.99, 0.9983,
          1 - 1e-7, 1, 1 + 1e-12, 1.0017, 1.01, 1.25, 1.5 - 1e-9, 1.5, 1.5 + 1e-9, 1.75, 2 - 1e-5, 2, 2.0003, 2.3,
          2.5 - 1e-9, 2.5, 2.5 + 1e-9, 3, 3.5, 4.2, 5, 7.5, 10, 12.34, 15.5, 20, 23.7, 29.9, 30, 42.1, 100.25, 333, 1000]


def radii(rng):
    yield from (10.0 ** e for e in range(-9, -2))
    for i in range(34):
        yield 50 * 10 ** (-4 * (i + rng.random()) / 34)
    yield from (1.0, 5.0, 50.0)
    yield from (rng.uniform(50, 70), rng.uniform(70, 110), rng.uniform(110, 2000))


def besselk_pair(nu, a):
    """K_(nu-1), K_nu; large orders, for which mpmath has no good method, by the recurrence from small ones."""
    start = nu if nu < 40 else nu - mp.floor(nu) + 1
    low, high = mp.besselk(start - 1, a), mp.besselk(start, a)
    for j in range(int(mp.nint(nu - start))):
        low, high = high, low + 2 * (start + j) / a * high
    return low, high


def values(nu, z):
    a = mp.sqrt(2 * nu * z)
    front = 2 ** (1 - nu) / mp.gamma(nu)
    low, high = besselk_pair(nu, a)
    return front * a ** nu * high, -nu * front * a ** (nu - 1) * low


def main():
    print("# matern(nu) and its slope, written by make_bessel.py, which explains the format.")
    for order in ORDERS:
        rng = random.Random("matern %r" % order)
        for r in radii(rng):
            z = float(r * r)
            k, slope = values(mp.mpf(float(order)), mp.mpf(z))
            if k < mp.mpf("1e-300") or -slope < mp.mpf("1e-300"):
                continue
            print("%s %s %s %s" % (float(order).hex(), z.hex(), mp.nstr(k, DIGITS, min_fixed=1, max_fixed=0),
                                   mp.nstr(slope, DIGITS, min_fixed=1, max_fixed=0)))


if __name__ == "__main__":
    main()
