"""The Gaussian Gram matrix K(X, X) in full.

    matrix.py sklearn N D ELL      scikit-learn's rbf_kernel as it is shipped
    matrix.py torch N D ELL        torch, as well as we can write it (no target; for the reader)
"""

import os
import sys

if __name__ == "__main__" and sys.argv[1:2] == ["torch"]:
    os.environ["BENCH_BLAS_THREADS"] = "1"

import common  # noqa: E402  (sets the number of threads, so it comes before the libraries)
import numpy as np  # noqa: E402

ROWS, COLUMNS = 128, 1000


def by_sklearn(x, ell):
    from sklearn.metrics.pairwise import rbf_kernel

    gamma = 1.0 / (2.0 * ell * ell)
    rbf_kernel(x[:1000], gamma=gamma)  # imports and threads; not timed
    return lambda: rbf_kernel(x, gamma=gamma)


def by_torch(x, ell):
    import torch

    from product import augmented

    torch.set_num_threads(1)
    torch.set_grad_enabled(False)

    def call(points):
        left, right = augmented(points, points, ell)
        left, right = torch.from_numpy(left), torch.from_numpy(np.ascontiguousarray(right.T))
        memory = np.empty((len(points), len(points)))  # NumPy asks for huge pages, torch does not
        out = torch.from_numpy(memory)

        def work(tasks):
            block = torch.empty(ROWS, COLUMNS, dtype=out.dtype)
            for task in tasks:
                i = ROWS * task
                if i >= len(points):
                    return
                rows = left[i : i + ROWS]
                for j in range(0, len(points), COLUMNS):
                    columns = right[:, j : j + COLUMNS]
                    part = block.view(-1)[: rows.shape[0] * columns.shape[1]].view(rows.shape[0], -1)
                    torch.mm(rows, columns, out=part)
                    torch.exp(part, out=out[i : i + ROWS, j : j + COLUMNS])

        common.in_threads(work, common.THREADS)
        return memory

    call(x[:1000])
    return lambda: call(x)


def main(arguments):
    n, d, ell = int(arguments[1]), int(arguments[2]), float(arguments[3])
    x = common.random_points(common.SEED_X, n, d, np.float64)
    call = {"sklearn": by_sklearn, "torch": by_torch}[arguments[0]](x, ell)
    out, cost = common.measure(call)
    common.report(**cost, check=common.check(out.reshape(-1)[:: common.CHECK_STRIDE]))


if __name__ == "__main__":
    main(sys.argv[1:])
