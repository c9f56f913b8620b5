"""Stein thinning and the kernel Stein discrepancy with NumPy: imq(c=1), scores of a standard normal.

    stein.py thin N D M [ROWS THREADS]     M greedy choices
    stein.py ksd N D [ROWS THREADS]        the V-statistic

With r = x - y and q = 1 + |r|^2 the Stein kernel of q^-1/2 is

    q^-1/2 (s.t + (d + (s - t).r - 3 |r|^2/q)/q)

so that three inner products (x.y, s.y + t.x, s.t) and the norms of single points are all that a block needs: one matrix
product, then element by element in place, in blocks of ROWS columns that stay in the cache, in a pool of threads with a
single-threaded BLAS each. Without ROWS and THREADS the fastest are found on a part of the problem first; that is not
timed. The discrepancy takes each pair of blocks once.
"""

import concurrent.futures
import os
import sys
import time

os.environ["BENCH_BLAS_THREADS"] = "1"
import common  # noqa: E402
import numpy as np  # noqa: E402


class Blocks:
    """Points and scores as columns, cut into blocks, with what depends on one point only."""

    def __init__(self, x, s):
        self.n, self.d = x.shape
        self.both = np.ascontiguousarray(np.hstack([x, s]).T)  # 2d x n
        self.x, self.s = x, s
        self.square = (x * x).sum(1)
        self.along = (x * s).sum(1)

    def kernel(self, i, j):
        """k_P of points i (an array of few) against the slice j."""
        d = self.d
        xi, si = self.x[i], self.s[i]
        left = np.concatenate([np.hstack([xi, np.zeros_like(xi)]), np.hstack([si, xi]), np.hstack([np.zeros_like(xi), si])])
        rows = len(xi)
        forms = left @ self.both[:, j]
        dot, cross, scores = forms[:rows], forms[rows : 2 * rows], forms[2 * rows :]
        z = dot
        z *= -2
        z += self.square[j]
        z += self.square[i][:, None]
        q = z + 1
        np.divide(1, q, out=q)
        z *= q
        z *= -3
        z -= cross
        z += self.along[j]
        z += self.along[i][:, None] + d
        z *= q
        z += scores
        np.sqrt(q, out=q)
        z *= q
        return z


def diagonal(blocks):
    return blocks.d + (blocks.s * blocks.s).sum(1)


def thin(blocks, m, rows, threads):
    n = blocks.n
    objective = 0.5 * diagonal(blocks)
    cuts = [slice(a, min(a + rows, n)) for a in range(0, n, rows)]
    index = np.empty(m, dtype=np.int64)

    def part(arguments):
        i, mine = arguments
        best, where = np.inf, -1
        for j in mine:
            objective[j] += blocks.kernel(i, j)[0]
            at = int(objective[j].argmin())
            if objective[j.start + at] < best:
                best, where = objective[j.start + at], j.start + at
        return best, where

    shares = [cuts[t * len(cuts) // threads : (t + 1) * len(cuts) // threads] for t in range(threads)]
    with concurrent.futures.ThreadPoolExecutor(threads) as pool:
        index[0] = objective.argmin()
        for t in range(1, m):
            i = index[t - 1 : t]
            if threads == 1:
                index[t] = part((i, cuts))[1]
            else:
                index[t] = min(pool.map(part, [(i, share) for share in shares if share]))[1]
    return index


def ksd(blocks, rows, threads):
    n, height = blocks.n, 64
    tasks = [slice(a, min(a + height, n)) for a in range(0, n, height)]

    def part(i):
        everything = np.arange(n)
        total = 0.0
        for a in range(i.stop, n, rows):  # pairs above the diagonal count twice
            total += 2 * blocks.kernel(everything[i], slice(a, min(a + rows, n))).sum()
        return total + blocks.kernel(everything[i], i).sum()

    with concurrent.futures.ThreadPoolExecutor(threads) as pool:
        return sum(pool.map(part, tasks)) / n / n


def tuned(work, sizes):
    best = None
    for threads in sorted({1, common.THREADS}):
        for rows in sizes:
            start = time.perf_counter()
            work(rows, threads)
            seconds = time.perf_counter() - start
            if best is None or seconds < best[0]:
                best = (seconds, rows, threads)
    return best[1:]


def main(arguments):
    n, d = int(arguments[1]), int(arguments[2])
    x = common.random_points(common.SEED_X, n, d, np.float64)
    blocks = Blocks(x, -x)
    if arguments[0] == "thin":
        m = int(arguments[3])
        rows, threads = (int(a) for a in arguments[4:6]) if len(arguments) > 4 else tuned(
            lambda r, t: thin(blocks, 20, r, t), (2048, 8192, 32768, n))
        index, cost = common.measure(lambda: thin(blocks, m, rows, threads))
        common.report(**cost, rows=rows, threads=threads, check=common.check(index))
    else:
        part = Blocks(x[:4000], -x[:4000])
        rows, threads = (int(a) for a in arguments[3:5]) if len(arguments) > 3 else tuned(
            lambda r, t: ksd(part, r, t), (128, 256, 512, 1024, 4000))
        value, cost = common.measure(lambda: ksd(blocks, rows, threads))
        common.report(**cost, rows=rows, threads=threads, check=common.check([value]))


if __name__ == "__main__":
    main(sys.argv[1:])
