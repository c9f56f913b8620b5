"""What the peers share: the data of measure.c bit for bit, the clock, the memory of this process, a pool of threads.

Threads have to be chosen before NumPy or torch is imported, so importing this module sets them: BENCH_THREADS says how
many threads the job may use, BENCH_BLAS_THREADS how many of them a BLAS call takes.
"""

import itertools
import json
import os
import threading
import time

THREADS = int(os.environ.get("BENCH_THREADS", "0")) or len(os.sched_getaffinity(0))
BLAS_THREADS = int(os.environ.get("BENCH_BLAS_THREADS", "0")) or THREADS
for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS"):
    os.environ[name] = str(BLAS_THREADS)

import numpy as np  # noqa: E402

SEED_X, SEED_Y, SEED_V = 1, 2, 3
CHECK_STRIDE = 997


def random_numbers(seed, count):
    """`count` numbers, uniform with mean 0 and variance 1: SplitMix64 by position."""
    with np.errstate(over="ignore"):
        z = np.uint64(seed << 32) + np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z ^= z >> np.uint64(31)
    return ((z >> np.uint64(11)).astype(np.float64) * 2.0**-53 - 0.5) * 3.4641016151377544


def random_points(seed, n, d, dtype):
    return random_numbers(seed, n * d).reshape(n, d).astype(dtype)


def check(out):
    """The four numbers of print_check."""
    out = np.asarray(out, dtype=np.float64)
    return [float(out[0]), float(out[len(out) // 2]), float(out.mean()), float(np.abs(out).mean())]


def status_bytes(name):
    with open("/proc/self/status") as status:
        for line in status:
            if line.startswith(name + ":"):
                return 1024 * int(line.split()[1])
    raise OSError("/proc/self/status has no line " + name)


def measure(call):
    """Runs call() once: its result and what it cost (seconds, processor seconds, rise of the process's peak memory)."""
    before = status_bytes("VmRSS")
    processor = time.process_time()
    start = time.perf_counter()
    result = call()
    seconds = time.perf_counter() - start
    processor = time.process_time() - processor
    return result, {"seconds": seconds, "cpu_seconds": processor, "peak_bytes": status_bytes("VmHWM") - before}


def in_threads(work, threads):
    """Runs work(tasks) in some threads; all draw from the same tasks 0, 1, 2, ..."""
    tasks = itertools.count()
    failures = []

    def guarded():
        try:
            work(tasks)
        except BaseException as failure:  # a thread's exception would only be printed
            failures.append(failure)

    workers = [threading.Thread(target=guarded) for _ in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    if failures:
        raise failures[0]


def report(**values):
    print(json.dumps(values))
