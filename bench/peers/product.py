"""K(X, Y) v for the Gaussian kernel without holding K, in NumPy and in torch, as well as we can write it.

    product.py LIBRARY FORM BLAS N M D DTYPE ELL ROWS COLUMNS     times one product; M = 0: a set with itself
    product.py LIBRARY FORM BLAS N M D DTYPE ELL                  tries block sizes on that problem, prints the fastest

LIBRARY is numpy or torch. BLAS is `pool` (as many Python threads as the job has, each with a library of one thread; the
libraries release the interpreter lock) or `threads` (one Python thread, the library uses all). FORM is `square` (all
blocks) or `symmetric` (X with itself, each block off the diagonal used for both of its sides).

The exponent comes out of the matrix product alone: with a row (x / ell^2, -|x|^2 / (2 ell^2), 1) for each x and
(y, 1, -|y|^2 / (2 ell^2)) for each y their inner product is -|x - y|^2 / (2 ell^2). So a block costs one product, one
exp in place and one product with v: no temporary, no further pass. Blocks of Y are laid out contiguously once.
"""

import os
import sys
import time

if __name__ == "__main__" and len(sys.argv) > 3 and sys.argv[3] == "pool":
    os.environ["BENCH_BLAS_THREADS"] = "1"

import common  # noqa: E402  (sets the number of threads, so it comes before the libraries)
import numpy as np  # noqa: E402

BLOCKS = [(128, 512), (256, 256), (256, 512), (256, 1000), (500, 500), (500, 1000), (500, 2000), (1000, 1000),
          (1000, 2000), (2000, 2000), (64, 8000), (100, 20000)]


def augmented(x, y, ell):
    scale = 1.0 / (ell * ell)
    one = np.ones((len(x), 1), x.dtype)
    left = np.hstack([x * x.dtype.type(scale), (x * x).sum(1, keepdims=True) * x.dtype.type(-0.5 * scale), one])
    one = np.ones((len(y), 1), y.dtype)
    right = np.hstack([y, one, (y * y).sum(1, keepdims=True) * y.dtype.type(-0.5 * scale)])
    return left, right


class Numpy:
    """The three operations on a block, in NumPy."""

    def __init__(self):
        self.empty = np.empty
        self.zeros = np.zeros

    def take(self, array):
        return array

    def kernel_block(self, left, right, block):
        np.matmul(left, right, out=block)
        np.exp(block, out=block)

    def add_product(self, out, block, v):
        out += block @ v

    def add_transposed(self, out, block, v):
        out += v @ block


class Torch:
    """The same in torch."""

    def __init__(self):
        import torch

        torch.set_num_threads(common.BLAS_THREADS)
        torch.set_grad_enabled(False)
        self.torch = torch
        self.types = {np.dtype(np.float64): torch.float64, np.dtype(np.float32): torch.float32}

    def empty(self, size, dtype):
        return self.torch.empty(size, dtype=self.types[np.dtype(dtype)])

    def zeros(self, size, dtype):
        return self.torch.zeros(size, dtype=self.types[np.dtype(dtype)])

    def take(self, array):
        return self.torch.from_numpy(array)

    def kernel_block(self, left, right, block):
        self.torch.mm(left, right, out=block)
        block.exp_()

    def add_product(self, out, block, v):
        out.addmv_(block, v)

    def add_transposed(self, out, block, v):
        out.addmv_(block.t(), v)


def cut(size, step):
    return [slice(i, min(i + step, size)) for i in range(0, size, step)]


def work_area(library, rows, columns, dtype):
    """A function that gives the first h x w numbers of one reused buffer as a block."""
    buffer = library.empty(rows * columns, dtype)
    return lambda h, w: buffer[: h * w].reshape(h, w)


def square(library, threads, x, y, v, ell, rows, columns):
    left, right = augmented(x, y, ell)
    out = library.zeros(len(x), x.dtype)
    panels = cut(len(x), rows)
    lefts = [library.take(left[i]) for i in panels]
    rights = [library.take(np.ascontiguousarray(right[j].T)) for j in cut(len(y), columns)]
    parts = [library.take(v[j]) for j in cut(len(y), columns)]

    def work(tasks):
        area = work_area(library, rows, columns, x.dtype)
        for i in tasks:
            if i >= len(panels):
                return
            target, a = out[panels[i]], lefts[i]
            for b, part in zip(rights, parts):
                block = area(a.shape[0], b.shape[1])
                library.kernel_block(a, b, block)
                library.add_product(target, block, part)

    common.in_threads(work, threads)
    return np.asarray(out)


def symmetric(library, threads, x, y, v, ell, rows, columns):
    assert y is x and rows == columns
    left, right = augmented(x, x, ell)
    panels = cut(len(x), rows)
    lefts = [library.take(left[i]) for i in panels]
    rights = [library.take(np.ascontiguousarray(right[j].T)) for j in panels]
    parts = [library.take(v[j]) for j in panels]
    sums = []

    def work(tasks):
        area = work_area(library, rows, rows, x.dtype)
        out = library.zeros(len(x), x.dtype)
        sums.append(out)
        targets = [out[i] for i in panels]
        for i in tasks:
            if i >= len(panels):
                return
            a = lefts[i]
            for j in range(i, len(panels)):
                block = area(a.shape[0], rights[j].shape[1])
                library.kernel_block(a, rights[j], block)
                library.add_product(targets[i], block, parts[j])
                if j > i:
                    library.add_transposed(targets[j], block, parts[i])

    common.in_threads(work, threads)
    return sum(np.asarray(one) for one in sums)


def tune(call, form, columns_at_most):
    """The fastest block size: all are tried once, the four fastest twice more."""
    fastest = {}
    for rows, columns in BLOCKS:
        if columns <= columns_at_most and (form is square or rows == columns):
            fastest[rows, columns] = timed(call, rows, columns)
    for block in sorted(fastest, key=fastest.get)[:4] * 2:
        fastest[block] = min(fastest[block], timed(call, *block))
    best = min(fastest, key=fastest.get)
    common.report(seconds=fastest[best], rows=best[0], columns=best[1])


def timed(call, *arguments):
    start = time.perf_counter()
    call(*arguments)
    return time.perf_counter() - start


def main(arguments):
    library = {"numpy": Numpy, "torch": Torch}[arguments[0]]()
    form = {"square": square, "symmetric": symmetric}[arguments[1]]
    threads = common.THREADS if arguments[2] == "pool" else 1
    n, m, d = (int(text) for text in arguments[3:6])
    dtype = {"f64": np.float64, "f32": np.float32}[arguments[6]]
    ell = float(arguments[7])
    x = common.random_points(common.SEED_X, n, d, dtype)
    y = common.random_points(common.SEED_Y, m, d, dtype) if m else x
    v = common.random_numbers(common.SEED_V, len(y)).astype(dtype)

    small = x[:2000]  # starts the library's threads; not timed
    form(library, threads, small, small, v[: len(small)], ell, 500, 500)

    def call(rows, columns):
        return form(library, threads, x, y, v, ell, rows, columns)

    if len(arguments) == 8:
        tune(call, form, len(y))
        return
    rows, columns = int(arguments[8]), int(arguments[9])
    out, cost = common.measure(lambda: call(rows, columns))
    common.report(**cost, check=common.check(out))


if __name__ == "__main__":
    main(sys.argv[1:])
