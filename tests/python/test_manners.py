"""Manners: the interpreter is free while the library works, Ctrl-C stops it, threads and processes share, nothing crashes."""

import contextlib
import gc
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
import unittest
import warnings

import numpy as np
from support import NEEDS, classes, estimators, quick, regression

import gram


def _predict(model, X):
    return model.predict(X)


def _fit_in_child(n):
    X, y = regression(n)
    return gram.KernelRidge(kernel="rbf(ell=1)", lam=0.01).fit(X, y).predict(X[:3]).tolist()


class Interpreter(unittest.TestCase):
    def test_import_is_light(self):
        code = "import gram, sys; sys.exit('sklearn' in sys.modules or 'scipy' in sys.modules)"
        self.assertEqual(subprocess.run([sys.executable, "-c", code], check=False).returncode, 0)

    def test_the_lock_is_released(self):
        X = np.random.default_rng(0).normal(size=(6000, 10))
        beats, stop = [], threading.Event()

        def beat():
            while not stop.wait(0.002):
                beats.append(time.monotonic())

        thread = threading.Thread(target=beat)
        thread.start()
        start = time.monotonic()
        gram.Matern(nu=0.7, ell=1)(X, threads=1)
        end = time.monotonic()
        stop.set()
        thread.join()
        inside = [b for b in beats if start < b < end]
        self.assertGreater(len(inside), 5, f"{len(inside)} beats of another thread in {end - start:.2f} s")

    def test_interrupt(self):
        code = (
            "import numpy as np, gram, sys, time\n"
            "X = np.random.default_rng(0).normal(size=(60000, 20))\n"
            "print('ready', flush=True)\n"
            "try:\n"
            "    gram.Matern(nu=0.7, ell=1).dot(X, np.ones(60000))\n"
            "except KeyboardInterrupt:\n"
            "    print('interrupted', flush=True)\n"
        )
        child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
        self.assertEqual(child.stdout.readline(), "ready\n")
        time.sleep(0.5)
        start = time.monotonic()
        child.send_signal(signal.SIGINT)
        said = child.stdout.readline()
        took = time.monotonic() - start
        child.stdout.close()
        child.wait()
        self.assertEqual(said, "interrupted\n")
        self.assertLess(took, 2.5)

    def test_progress(self):
        X = np.random.default_rng(0).normal(size=(9000, 10))
        said = []
        with gram.context(progress=lambda what, share: said.append((what, share)), threads=1):
            gram.Matern(nu=0.7, ell=1)(X)
        self.assertTrue(said and all(0 <= share <= 1 for _, share in said))

        def stop(what, share):
            raise RuntimeError("enough")

        with self.assertRaisesRegex(RuntimeError, "enough"), gram.context(progress=stop, threads=1):
            gram.Matern(nu=0.7, ell=1)(X)

    def test_settings(self):
        with gram.context(seed=5):
            with gram.context(threads=1):
                self.assertEqual(gram._settings.run()[:3], (1, 0, 5))
            self.assertEqual(gram._settings.run(seed=9)[2], 9)
        self.assertEqual(gram._settings.run()[2], 0)
        self.assertEqual(gram._settings.run(memory="1G")[1], 2**30)
        for bad in [{"threads": 0}, {"threads": 1.5}, {"memory": "x"}, {"memory": 0}, {"seed": -1}]:
            with self.assertRaises(ValueError):
                gram._settings.run(**bad)


class Sharing(unittest.TestCase):
    def test_eight_threads_at_once(self):
        X, y = classes()
        model = gram.SVC(kernel="rbf(ell=1)", C=1, prob=True).fit(X, y)
        right = model.predict_proba(X)
        wrong = []

        def work():
            for _ in range(20):
                if not np.array_equal(model.predict_proba(X), right):
                    wrong.append(1)

        threads = [threading.Thread(target=work) for _ in range(8)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertFalse(wrong)

    def test_fits_in_threads(self):
        X, y = regression()
        right = gram.KernelRidge(kernel="rbf").fit(X, y).predict(X)
        said = [None] * 8

        def work(i):
            said[i] = gram.KernelRidge(kernel="rbf").fit(X, y).predict(X)

        threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        for one in said:
            np.testing.assert_array_equal(one, right)

    def test_deleted_while_in_use(self):
        X, y = regression(400)
        for _ in range(5):
            model = gram.KernelRidge(kernel="matern(nu=0.7, ell=1)", lam=0.1).fit(X, y)
            many = np.repeat(X, 50, axis=0)
            thread = threading.Thread(target=lambda m=model, z=many: m.predict(z))
            thread.start()
            del model, many
            gc.collect()
            thread.join()

    def test_arrays_changed_meanwhile(self):
        """Rows that are not scaled are read where they are, so a fit may meet what nobody checked: results are of no use, no more."""
        X, y = regression(300)
        clean = X.copy()
        stop = threading.Event()

        def change():
            rng = np.random.default_rng(0)
            while not stop.is_set():
                i, j = rng.integers(300), rng.integers(3)
                X[i, j] = rng.choice([np.nan, np.inf, -1e300, 1e9, 0.0])
                time.sleep(1e-5)
                X[i, j] = clean[i, j]

        uses = [lambda: gram.RBF(1)(X), lambda: gram.Matern(nu=0.7, ell=1).dot(X, y), lambda: gram.mmd_test(X[:150], X[150:], permutations=19)]
        for name, cls in estimators():
            if name in NEEDS or name.startswith("Network"):
                continue
            made = quick(name, cls()).set_params(scale=False)
            target = [y > 0] if made._entry.task == "classification" else [y] if made._entry.task == "regression" or made._entry.views else []
            uses.append(lambda made=made, target=target: made.fit(X, *target))
        uses.append(lambda: gram.KernelRidge(kernel="rbf(ell=1)", lam=0.1, solver="nystrom:20", scale=False).fit(X, y).predict(X))
        thread = threading.Thread(target=change)
        thread.start()
        try:
            for use in uses * 3:
                with contextlib.suppress(ValueError), warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    use()
        finally:
            stop.set()
            thread.join()

    def test_fork_after_use(self):
        right = _fit_in_child(60)
        X, y = regression()
        model = gram.KernelRidge(kernel="rbf(ell=1)", lam=0.01).fit(X, y)
        for method in ["fork", "spawn"]:
            with multiprocessing.get_context(method).Pool(2) as pool:
                self.assertEqual(pool.map(_fit_in_child, [60] * 4), [right] * 4)
                for said in pool.starmap(_predict, [(model, X)] * 3):
                    np.testing.assert_array_equal(said, model.predict(X))

    def test_joblib(self):
        from joblib import Parallel, delayed

        X, y = regression()
        model = gram.KernelRidge(kernel="rbf(ell=1)", lam=0.01).fit(X, y)
        for backend in ["loky", "threading"]:
            for said in Parallel(2, backend=backend)(delayed(_predict)(model, X) for _ in range(4)):
                np.testing.assert_array_equal(said, model.predict(X))


class Hostile(unittest.TestCase):
    """What no caller should do: exceptions, never a crash."""

    def test_core_is_not_fooled(self):
        core = gram._core
        kernel = core.kernel_parse("rbf(ell=1)")
        X = np.zeros((4, 2))
        for i, wrong in enumerate([
            lambda: kernel.matrix(None, X, None, np.empty((4, 3))), lambda: kernel.matrix(None, None, None, np.empty((4, 4))),
            lambda: kernel.matrix(None, X, None, b"x" * 128), lambda: kernel.matrix((1, 2), X, None, np.empty((4, 4))),
            lambda: kernel.matrix(None, X[:, ::-1], None, np.empty((4, 4))), lambda: kernel.matrix(None, X[::-1], None, np.empty((4, 4))),
            lambda: kernel.matrix(None, X.astype(int), None, np.empty((4, 4))), lambda: kernel.add(3), lambda: kernel.on((1 << 70,)),
            lambda: kernel.product(None, X, None, np.ones((3, 1)), np.empty((4, 1))), lambda: kernel.with_values(np.zeros(7)),
            lambda: core.learner(((1, 2),), None), lambda: core.learner((), 7), lambda: core.learner((("nosuch", "b"),), None),
            lambda: core.learner((), None).learn(None, X, ((1, 2),), X, None, None, None, None, (), None),
            lambda: core.learner((), None).learn(None, X, None, np.zeros(3), None, None, None, None, (), None),
            lambda: core.learner((), None).fitted(None, None), lambda: core.thin(None, None, 1, X, None, 0, False, 1 << 60, False),
            lambda: core.model_of_bytes(None, b""), lambda: core.hsic_test(None, (), (), 0, 0.05, 9), lambda: type(kernel)(),
            lambda: core.mmd_test(None, None, X, X, 99, False, 0.05, 9, 0, 0.0, 7, 0.1, 4.0),
        ]):
            with self.subTest(i), self.assertRaises((ValueError, TypeError, OverflowError, BufferError, MemoryError)):
                wrong()

    def test_levels_out_of_range(self):
        X = np.array([[0.0, 5.0], [1.0, 0.0], [2.0, 1.0]])
        learner = gram._core.learner((("method", "krr"), ("kernel", "rbf(ell=1)"), ("lambda", "1")), None)
        features = (("a", None), ("b", ("u", "v")))
        with self.assertRaisesRegex(ValueError, "not the place"):
            learner.learn(None, X, features, np.zeros(3), None, None, None, None, (), None)
        with self.assertRaises(TypeError):
            learner.fitted(None, gram._core)

    def test_shapes_and_values(self):
        X, y = regression()
        for bad in [X[:, 0], X * np.nan, X * np.inf, X[:0], np.array([["a"] * 3] * 60), X.tolist()[:-1]]:
            with self.assertRaises((ValueError, TypeError)):
                gram.KernelRidge().fit(bad, y)
        for bad in [y[:7], y * np.nan, None, np.array(["a"] * 60)]:
            with self.assertRaises((ValueError, TypeError)):
                gram.KernelRidge().fit(X, bad)
        model = gram.KernelRidge(kernel="rbf(ell=1)", lam=1).fit(X, y)
        for bad in [X[:, :2], X * np.nan, "text", None, np.empty((0, 3))]:
            with self.assertRaises((ValueError, TypeError)):
                model.predict(bad)
        for weights in [-np.ones(60), np.zeros(60), np.ones(5), np.full(60, np.nan)]:
            with self.assertRaises(ValueError):
                gram.KernelRidge(kernel="rbf(ell=1)", lam=1).fit(X, y, sample_weight=weights)

    def test_not_fitted(self):
        from sklearn.exceptions import NotFittedError

        for name, cls in estimators():
            with self.subTest(name), self.assertRaises(NotFittedError):
                getattr(cls(), "predict" if hasattr(cls, "predict") else "transform")(np.zeros((3, 3)))

    def test_object_arrays(self):
        X, y = regression()
        right = gram.KernelRidge(kernel="rbf(ell=1)", lam=0.1).fit(X, y).predict(X)
        numbers = gram.KernelRidge(kernel="rbf(ell=1)", lam=0.1).fit(X.astype(object), y.astype(object))
        np.testing.assert_array_equal(numbers.predict(X.astype(object)), right)
        mixed = X.astype(object)
        for wrong in ["text", None, [1, 2], object(), 1j]:
            mixed[7, 1] = wrong
            for use in [lambda: gram.KernelRidge().fit(mixed, y), lambda: numbers.predict(mixed), lambda: gram.RBF(1.0)(mixed),
                        lambda: gram.mmd_test(mixed, X), lambda: gram.KernelRidge().fit(X, mixed[:, 1])]:
                with self.assertRaises((ValueError, TypeError)):
                    use()

    def test_kernels_that_are_none(self):
        X, y = regression()
        for bad in [3.5j, object(), ["rbf"], {}, b"rbf", True, np.zeros((2, 2)), X]:
            with self.subTest(bad), self.assertRaises((TypeError, ValueError)):
                gram.KernelRidge(kernel=bad).fit(X, y)
            with self.subTest(bad), self.assertRaises((TypeError, ValueError)):
                gram.Kernel(bad)
        for text in ["", "rbf(", "nosuch", "rbf(ell=-1)", "rbf(ell=0.3", "precomputed()", "2**rbf", "rbf" * 1000, "(" * 5000]:
            with self.subTest(text[:20]), self.assertRaises(ValueError):
                gram.SVC(kernel=text).fit(X, y > 0)

    def test_functions_that_fail(self):
        X, y = regression(200)

        def raises(A, B):
            raise LookupError("from the kernel")

        def sometimes(A, B):
            if A[0, 0] > 0:
                raise LookupError("from the kernel")
            return A @ B.T

        def interrupted(A, B):
            raise KeyboardInterrupt

        wrong = [(raises, LookupError), (sometimes, LookupError), (interrupted, KeyboardInterrupt), (lambda A, B: A, ValueError),
                 (lambda A, B: None, (TypeError, ValueError)), (lambda A, B: "text", (TypeError, ValueError)),
                 (lambda A: A, TypeError)]
        for function, error in wrong:
            for use in [lambda f=function: gram.KernelRidge(kernel=f, lam=0.1).fit(X, y), lambda f=function: gram.Kernel(f)(X, threads=2),
                        lambda f=function: gram.SVC(kernel=f, C=1).fit(X, y > 0), lambda f=function: gram.herding(X, 3, kernel=f)]:
                with self.assertRaises(error):
                    use()

        for use in [gram.KernelRidge(lam=0.1), gram.SVC(C=1)]:
            with self.assertRaises(ValueError):
                use.set_params(kernel=lambda A, B: np.full((len(A), len(B)), np.nan)).fit(X, y > 0)

        def fails_later(A, B):
            if fails_later.now:
                raise LookupError("now")
            return A @ B.T + 1

        fails_later.now = False
        model = gram.KernelRidge(kernel=fails_later, lam=0.1).fit(X, y)
        fails_later.now = True
        with self.assertRaisesRegex(LookupError, "now"):
            model.predict(X)
        fails_later.now = False
        self.assertEqual(model.predict(X).shape, (200,))

    def test_functions_that_call_back(self):
        """A kernel that is computed by gram itself, and one whose array goes while it is used."""
        X, y = regression(150)
        inner = gram.RBF(1.0)
        np.testing.assert_array_equal(gram.Kernel(lambda A, B: inner(A, B))(X, threads=2), inner(X))
        kept = []

        def keeps(A, B):
            kept.append(A)
            A.flags.writeable and A.fill(0.0)
            return inner(A, B)

        gram.Kernel(keeps)(X)
        gc.collect()
        self.assertTrue(all(np.isfinite(a).all() for a in kept))

    def test_names_that_clash(self):
        try:
            import pandas as pd
        except ImportError:
            self.skipTest("pandas is not installed")
        X, y = regression()
        for names in [["y", "y_", "weights"], ["a,b", "1:3", "x=1"], ["ü", " ", "c\nd"]]:
            frame = pd.DataFrame(X, columns=names)
            model = gram.KernelRidge(kernel="rbf(ell=1)", lam=0.1).fit(frame, pd.Series(y, name="y"), sample_weight=np.ones(60))
            np.testing.assert_allclose(model.predict(frame), gram.KernelRidge(kernel="rbf(ell=1)", lam=0.1).fit(X, y).predict(X), rtol=1e-9)

    def test_nothing_leaks(self):
        X, y = regression()

        def held():
            gc.collect()
            with open("/proc/self/statm") as file:
                return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

        def work():
            model = gram.KernelRidge(kernel="rbf(ell=1)", lam=0.1).fit(X, y)
            model.predict(X)
            (gram.RBF(1) + 2)(X)
            try:
                gram.RBF(1)(X * np.nan)
            except ValueError:
                pass

        for _ in range(30):
            work()
        before = held()
        for _ in range(200):
            work()
        self.assertLess(held() - before, 8 << 20)


if __name__ == "__main__":
    unittest.main()
