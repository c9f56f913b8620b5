"""Tests of hypotheses, thinning, embeddings: results, and the formulas by hand."""

import unittest

import numpy as np
from support import InFolder, regression

import gram

X, y = regression(50)


class Given(InFolder):
    def test_hsic_given(self):
        rng = np.random.default_rng(3)
        z = rng.normal(size=(120, 1))
        a, b = np.sin(2 * z) + 0.3 * rng.normal(size=(120, 1)), z**2 + 0.3 * rng.normal(size=(120, 1))
        free = gram.hsic_test(a, b, given=z, seed=4)
        self.assertEqual((free.reject, len(free.kernel), free.n), (False, 3, 120))
        self.assertTrue(gram.hsic_test(a, a + 0.2 * rng.normal(size=(120, 1)), given=z).reject)
        self.write_csv("given.csv", np.hstack([a, b, z]), header=["a", "b", "z"])
        told = self.gram("test", "independence", "given.csv", "--x", "a", "--y", "b", "--given", "z", "--seed", "4")
        mine = (free.statistic, free.p_value, *free.details["unexplained"])
        self.assertEqual(mine, (told["statistic"], told["p_value"], told["unexplained_x"], told["unexplained_y"]))

    def test_refused(self):
        a, b, z = X[:, 0], X[:, 1], X[:, 2]
        for wrong, word in [(dict(given=z[:30]), "given has 30 rows"), (dict(given=z, method="gamma"), "leave method"), (dict(given=a), "determined")]:
            with self.assertRaisesRegex(ValueError, word):
                gram.hsic_test(a, b, **wrong)
        with self.assertRaisesRegex(ValueError, "two variables"):
            gram.hsic_test(a, b, y, given=z)


class Thinning(InFolder):
    def test_density_as_the_command(self):
        """Indices and weights of a mixture with its density are those of the command, and hold the modes' weights."""
        rng = np.random.default_rng(6)
        x = rng.normal(size=(300, 1)) + np.where(rng.uniform(size=(300, 1)) < 0.2, -6, 6)
        text = "mixture(means=[-6,6], weights=[1,4])"
        mine = gram.stein_thinning(x, 20, density=text, weights=True)
        self.write_csv("modes.csv", x, header=["x"])
        told = self.gram("thin", "modes.csv", "-m", "20", "--density", text, "--optimal-weights")
        self.assertEqual([i - 1 for i in told["indices"]], mine.indices.tolist())
        np.testing.assert_array_equal(mine.weights, told["weights"])
        self.assertLess(abs(np.mean(x[mine.indices] < 0) - np.mean(x < 0)), 0.06)


class Results(unittest.TestCase):
    def test_mmd_by_hand(self):
        a, b = X[:20], X[20:]
        k = gram.RBF(1.0)
        found = gram.mmd_test(a, b, kernel=k, method="permutation", biased=True, scale=False)
        by_hand = k(a).mean() + k(b).mean() - 2 * k(a, b).mean()
        self.assertAlmostEqual(found.statistic, by_hand, places=12)
        self.assertEqual((found.n, found.m, found.kernel), (20, 30, k))
        self.assertIn("two samples", repr(found))
        with self.assertRaises(TypeError):
            bool(found)

    def test_hsic_by_hand(self):
        k = gram.RBF(1.0)
        H = np.eye(50) - 1 / 50
        by_hand = np.trace(k(X) @ H @ k(y) @ H) / 50**2
        self.assertAlmostEqual(gram.hsic_test(X, y, kernel_x=k, kernel_y=k, scale=False).statistic, by_hand, places=12)
        self.assertEqual(len(gram.hsic_test(X[:, 0], X[:, 1], y).kernel), 3)

    def test_ksd_of_a_good_sample(self):
        rng = np.random.default_rng(2)
        good = rng.normal(size=(150, 2))
        self.assertFalse(gram.ksd_test(good, -good).reject)
        self.assertTrue(gram.ksd_test(good * 1.6, lambda z: -z).reject)
        np.testing.assert_allclose(gram.density_scores("gaussian(sd=2)", good), -good / 4, rtol=1e-12)

    def test_thinning_is_better_than_every_kth(self):
        k = gram.RBF(1.0)
        for chosen in [gram.herding(X, 8, kernel=k), gram.kernel_thinning(X, 8, kernel=k, seed=1)]:
            i = chosen.indices
            by_hand = np.sqrt(k(X).mean() + k(X[i]).mean() - 2 * k(X, X[i]).mean())
            self.assertAlmostEqual(chosen.discrepancy[-1], by_hand, places=10)
            plain = X[::6][:8]
            self.assertLess(by_hand, np.sqrt(k(X).mean() + k(plain).mean() - 2 * k(X, plain).mean()))
        weighted = gram.stein_thinning(X, 8, -X, weights=True)
        self.assertAlmostEqual(weighted.weights.sum(), 1, places=9)

    def test_witness_and_conditional(self):
        k = gram.RBF(0.8)
        np.testing.assert_allclose(gram.witness(X[:20], X[20:], X[:5], kernel=k), k(X[:5], X[:20]).mean(1) - k(X[:5], X[20:]).mean(1), atol=1e-14)
        embedding = gram.ConditionalEmbedding(X, kernel=k, lam=0.01)
        by_hand = np.linalg.solve(k(X) + 50 * 0.01 * np.eye(50), k(X, X[:3] + 0.1)).T
        np.testing.assert_allclose(embedding.weights(X[:3] + 0.1), by_hand, atol=1e-10)
        np.testing.assert_allclose(embedding.expect(y, X[:3] + 0.1), by_hand @ y, atol=1e-10)

    def test_plots(self):
        """What is drawn, on axes that only write it down."""

        class Axes:
            def __init__(self):
                self.calls = []

            def __getattr__(self, name):
                return lambda *a, **k: self.calls.append((name, a))

        axes = Axes()
        found = gram.mmd_test(X[:20, 0], X[20:, 0], kernel="rbf(ell=1)", scale=False)
        self.assertIs(found.plot(axes), axes)
        name, (at, values) = axes.calls[0]
        self.assertEqual((name, at.shape), ("plot", (300,)))
        np.testing.assert_allclose(values, gram.witness(X[:20, :1], X[20:, :1], at[:, None], kernel="rbf(ell=1)"))
        axes = Axes()
        gram.mmd_test(X[:20], X[20:]).plot(axes)
        gram.herding(X, 5).plot(axes)
        self.assertEqual([name for name, _ in axes.calls].count("scatter"), 4)
        axes = Axes()
        gram.hsic_test(X, y, scale=False).plot(axes)
        np.testing.assert_array_equal(axes.calls[0][1], [X[:, 0], y])
        axes = Axes()
        gram.ksd_test(X, -X).plot(axes)
        np.testing.assert_array_equal(axes.calls[0][1], [X[:, 0], X[:, 1]])

    def test_plots_with_matplotlib(self):
        try:
            import matplotlib
        except ImportError:
            with self.assertRaisesRegex(ImportError, "matplotlib"):
                gram.herding(X, 5).plot()
            return
        matplotlib.use("Agg")
        import matplotlib.pyplot as plt

        results = [gram.mmd_test(X[:20, 0], X[20:, 0], kernel="rbf(ell=1)"), gram.mmd_test(X[:20], X[20:]), gram.hsic_test(X, y),
                   gram.ksd_test(X, -X), gram.herding(X, 5), gram.stein_thinning(X, 5, -X), gram.kernel_thinning(X, 5)]
        for result in results:
            axes = result.plot()
            axes.figure.canvas.draw()
            self.assertTrue(axes.lines or axes.collections)
            plt.close(axes.figure)

    def test_wrong_use(self):
        for call in [
            lambda: gram.mmd_test(X, X[:, :2]), lambda: gram.mmd_test(X, X, method="nosuch"), lambda: gram.hsic_test(X, y[:7]),
            lambda: gram.ksd_test(X), lambda: gram.ksd_test(X, X[:3]), lambda: gram.herding(X, 0), lambda: gram.herding(X, 51),
            lambda: gram.stein_thinning(X, 5), lambda: gram.density_scores("nosuch()", X), lambda: gram.ConditionalEmbedding(X, lam=0),
            lambda: gram.ksd_test(X, -X, density="gaussian()"), lambda: gram.mmd_test(X, X * np.nan),
        ]:
            with self.assertRaises(ValueError):
                call()


if __name__ == "__main__":
    unittest.main()
