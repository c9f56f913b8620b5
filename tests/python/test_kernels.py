"""Kernels as objects: text, algebra, matrices, gradients, facts, other people's kernels."""

import copy
import pickle
import unittest

import numpy as np
from support import D, regression

import gram
from gram.kernels import as_kernel

X, _ = regression(20)
Y = X[:7] + 0.1


class Bags(unittest.TestCase):
    def setUp(self):
        rng = np.random.default_rng(3)
        self.bags = [rng.normal(size=(1 + i % 7, 2)) for i in range(12)]

    def test_means_are_over_all_pairs_of_rows(self):
        got = gram.Kernel("mean(rbf(ell=0.7))")(self.bags, self.bags[:5])
        for i, a in enumerate(self.bags):
            for j, b in enumerate(self.bags[:5]):
                square = ((a[:, None] - b[None]) ** 2).sum(axis=2)
                self.assertAlmostEqual(got[i, j], np.exp(-square / (2 * 0.7**2)).mean(), places=14)

    def test_rows_count_by_their_weights(self):
        rng = np.random.default_rng(4)
        weighted = [(a, rng.uniform(size=len(a))) for a in self.bags]
        kernel = gram.Kernel("mean(rbf(ell=0.7))")
        got = kernel(weighted, self.bags[:5])
        for i, (a, w) in enumerate(weighted):
            for j, b in enumerate(self.bags[:5]):
                square = ((a[:, None] - b[None]) ** 2).sum(axis=2)
                wanted = (w[:, None] * np.exp(-square / (2 * 0.7**2))).sum() / w.sum() / len(b)
                self.assertAlmostEqual(got[i, j], wanted, places=14)
        with self.assertRaisesRegex(ValueError, r"X\[1\]: weights: the shape is \(2,\)"):
            kernel([(a, np.ones(2)) for a in (np.zeros((2, 2)), np.zeros((3, 2)))])
        with self.assertRaisesRegex(ValueError, "bag 0: the weight of row 1 is -1"):
            kernel([(np.zeros((2, 2)), np.array([1.0, -1.0]))])

    def test_numbers_are_found_from_bags(self):
        kernel = gram.Kernel("after(mean(rbf), rbf)").resolve(self.bags)
        self.assertTrue(all(p.set for p in kernel.parameters))
        np.testing.assert_array_equal(kernel.diag(self.bags), 1)

    def test_bags_that_do_not_fit_are_named(self):
        kernel = gram.Kernel("mean(rbf(ell=1))")
        with self.assertRaisesRegex(ValueError, "2 to 3 columns"):
            kernel([np.zeros((2, 2)), np.zeros((2, 3))])
        with self.assertRaisesRegex(ValueError, r"X\[1\]"):
            kernel([np.zeros((2, 2)), np.zeros((0, 2))])


class Text(unittest.TestCase):
    def test_print_reads_back(self):
        for text in ["2*rbf(ell=0.3) + white()", "on(2, matern(nu=1.5, ell=2))", "rbf(ell=[1,2,0.1])", "poly(m=2, c=1)^2"]:
            kernel = gram.Kernel(text)
            self.assertEqual(gram.Kernel(repr(kernel)), kernel)
            self.assertEqual(repr(gram.Kernel(repr(kernel))), repr(kernel))

    def test_every_kernel_of_the_table_is_a_class(self):
        for name, _, _ in gram._core.kernels():
            title = gram.kernels._class_name(name)
            self.assertIn(title, dir(gram))
            kernel = getattr(gram, title)()
            self.assertIsInstance(kernel, gram.Kernel)
            self.assertTrue(repr(kernel).startswith(name if name != "const" else ""), repr(kernel))

    def test_algebra_is_that_of_expressions(self):
        a, b = gram.RBF(0.3), gram.Matern(nu=1.5, ell=2)
        self.assertEqual(2 * a + b, gram.Kernel("2*rbf(ell=0.3) + matern(nu=1.5, ell=2)"))
        self.assertEqual(a * b + 1, gram.Kernel("rbf(ell=0.3)*matern(nu=1.5, ell=2) + 1"))
        self.assertEqual(gram.Linear() ** 3, gram.Kernel("linear()^3"))
        self.assertEqual(a.on(1, 3), gram.Kernel("on([1,3], rbf(ell=0.3))"))
        self.assertEqual(gram.RBF("0.3!"), gram.Kernel("rbf(ell=0.3!)"))
        self.assertEqual(gram.RBF([1, 2]), gram.Kernel("rbf(ell=[1,2])"))
        self.assertEqual(gram.RBF(S=[[2, 0.5], [0.5, 1]]), gram.Kernel("rbf(S=[2,0.5;0.5,1])"))
        self.assertNotEqual(a, gram.RBF(0.4))
        self.assertEqual(len({a, gram.RBF(0.3), b}), 2)
        self.assertEqual([repr(t) for t in (2 * a + b).terms], ["2*rbf(ell=0.3)", "matern(nu=1.5, ell=2)"])

    def test_keeps_through_pickle_and_copy(self):
        kernel = 2 * gram.RBF(0.1 + 0.2) + gram.White()
        self.assertEqual(pickle.loads(pickle.dumps(kernel)), kernel)
        self.assertIs(copy.deepcopy(kernel), kernel)

    def test_wrong_texts_are_named(self):
        with self.assertRaisesRegex(ValueError, "rbf"):
            gram.Kernel("rbff(ell=1)")
        with self.assertRaisesRegex(ValueError, "ell"):
            gram.RBF(-1)
        with self.assertRaises(TypeError):
            gram.RBF(1) + object()
        with self.assertRaises(TypeError):
            gram.RBF(1, 2, 3)
        with self.assertRaisesRegex(ValueError, "count from 1"):
            gram.RBF(1).on(0)


class Matrices(unittest.TestCase):
    def setUp(self):
        self.kernel = gram.Kernel("1.5*rbf(ell=0.7) + on(2, matern(nu=1.5, ell=1.2))")

    def by_hand(self, A, B):
        r2 = ((A[:, None] - B[None]) ** 2).sum(-1)
        t = np.sqrt(3) * np.abs(A[:, None, 1] - B[None, :, 1]) / 1.2
        return 1.5 * np.exp(-r2 / (2 * 0.49)) + (1 + t) * np.exp(-t)

    def test_matrix(self):
        np.testing.assert_allclose(self.kernel(X, Y), self.by_hand(X, Y), rtol=1e-14)
        K = self.kernel(X)
        np.testing.assert_array_equal(K, K.T)
        np.testing.assert_array_equal(self.kernel.diag(X), np.diag(K))
        np.testing.assert_allclose(self.kernel.dot(X, np.ones(20)), K.sum(1), rtol=1e-13)
        np.testing.assert_allclose(self.kernel.distance(X, Y) ** 2, 5 - 2 * self.kernel(X, Y), rtol=1e-12)

    def test_layouts_and_types(self):
        wide = np.zeros((20, 5))
        wide[:, :3] = X
        K = self.kernel(X)
        for same in [wide[:, :3], np.asfortranarray(X), X[::-1][::-1], X.tolist(), X.astype(">f8")]:
            np.testing.assert_array_equal(self.kernel(same), K)
        np.testing.assert_allclose(self.kernel(X.astype(np.float32)), K, rtol=1e-4)
        readonly = X.copy()
        readonly.setflags(write=False)
        np.testing.assert_array_equal(self.kernel(readonly), K)
        self.assertEqual(gram.RBF(1)(np.arange(4)).shape, (4, 4))

    def test_no_copy_is_made(self):
        wide = np.zeros((20, 5))
        for a in [X, wide[:, :3], wide[::2, 1:4]]:
            self.assertIs(gram._arrays.points(a), a)

    def test_out_is_written_to(self):
        out = np.empty((20, 20))
        self.assertIs(self.kernel(X, out=out), out)
        with self.assertRaisesRegex(ValueError, "shape"):
            self.kernel(X, out=np.empty((20, 3)))

    def test_gradients_against_differences(self):
        W = np.random.default_rng(1).normal(size=(20, 7))
        gradient = self.kernel.parameter_gradient(X, Y, weights=W)
        values = np.array([p.value for p in self.kernel.parameters])
        for i, value in enumerate(values):
            h = 1e-5 * value
            step = np.eye(len(values))[i] * h
            up, down = (self.kernel.with_values(values + s)(X, Y) for s in (step, -step))
            self.assertAlmostEqual(gradient[i], (W * (up - down)).sum() / (2 * h), places=6)
        all_pairs = self.kernel.input_gradient(X, Y)
        self.assertEqual(all_pairs.shape, (20, 7, D))
        for k in range(D):
            step = np.eye(D)[k] * 1e-5
            difference = (self.kernel(X + step, Y) - self.kernel(X - step, Y)) / 2e-5
            np.testing.assert_allclose(all_pairs[:, :, k], difference, atol=1e-7)
        np.testing.assert_allclose(self.kernel.input_gradient(X, Y, weights=W), np.einsum("ij,ijk->ik", W, all_pairs), atol=1e-12)

    def test_bad_arrays(self):
        for bad, message in [(X * np.nan, "nan"), (np.empty((0, 3)), "no numbers"), (np.zeros((2, 2, 2)), "two dimensions")]:
            with self.assertRaisesRegex(ValueError, message):
                self.kernel(bad)
        with self.assertRaises(ValueError):
            self.kernel(np.array([["a", "b", "c"]]))
        with self.assertRaises(ValueError):
            self.kernel(X, Y[:, :2])
        with self.assertRaisesRegex(ValueError, "no value"):
            gram.RBF()(X)


class Facts(unittest.TestCase):
    def test_parameters(self):
        p = gram.Kernel("2*rbf(ell=0.3!)").parameters
        self.assertEqual([(q.name, q.value, q.set, q.fixed) for q in p], [("const", 2, True, False), ("rbf.ell", 0.3, True, True)])
        self.assertTrue(np.isnan(gram.RBF().parameters[0].value))

    def test_resolve_is_the_median(self):
        r = np.sqrt(((X[:, None] - X[None]) ** 2).sum(-1))[np.triu_indices(20, 1)]
        self.assertAlmostEqual(gram.RBF().resolve(X).parameters[0].value, np.median(r), places=12)
        self.assertEqual(len(gram.RBF(2).with_ard(3).parameters), 3)

    def test_facts(self):
        facts = gram.RBF(1).facts(2)
        self.assertEqual((facts["universal"], facts["stationary"], facts["rank"]), (True, True, "infinite"))
        self.assertEqual(gram.Linear().facts(3)["rank"], 3)

    def test_samples_have_the_covariance(self):
        at = np.linspace(0, 1, 4)[:, None]
        draws = gram.RBF(0.5).sample(at, 4000, seed=3)
        np.testing.assert_allclose(draws @ draws.T / 4000, gram.RBF(0.5)(at), atol=0.08)


class Foreign(unittest.TestCase):
    def test_kernels_of_scikit_learn(self):
        from sklearn.gaussian_process import kernels as sk

        for theirs in [
            2.5 * sk.RBF(0.7) + sk.WhiteKernel(0.1),
            sk.Matern(length_scale=[1, 2, 3], nu=1.5) * sk.ConstantKernel(3),
            sk.Matern(nu=np.inf, length_scale=0.4),
            sk.RationalQuadratic(length_scale=0.6, alpha=1.7),
            sk.DotProduct(sigma_0=0.5) ** 2,
            sk.Matern(length_scale=1.3, nu=0.9),
        ]:
            np.testing.assert_allclose(as_kernel(theirs)(X), theirs(X), rtol=1e-9, atol=1e-12, err_msg=str(theirs))
        one = sk.ExpSineSquared(length_scale=1.2, periodicity=2.5)
        np.testing.assert_allclose(as_kernel(one)(X[:, :1]), one(X[:, :1]), rtol=1e-12)
        self.assertTrue(as_kernel(sk.RBF(0.7, "fixed")).parameters[0].fixed)
        with self.assertRaisesRegex(ValueError, "CompoundKernel"):
            as_kernel(sk.CompoundKernel([sk.RBF()]))

    def test_functions(self):
        def laplace(A, B):
            return np.exp(-np.abs(A[:, None] - B[None]).sum(-1))

        kernel = 2 * as_kernel(laplace) + gram.White()
        np.testing.assert_allclose(kernel(X), 2 * laplace(X, X) + np.eye(20), rtol=1e-13)
        self.assertIn("laplace", repr(kernel))

    def test_a_function_that_raises(self):
        def bad(A, B):
            raise KeyError("mine")

        with self.assertRaisesRegex(KeyError, "mine"):
            as_kernel(bad)(X)
        with self.assertRaisesRegex(ValueError, "shape"):
            as_kernel(lambda A, B: np.zeros(3))(X)
        with self.assertRaises(TypeError):
            as_kernel(object())
        with self.assertRaises(TypeError):
            as_kernel(None)


if __name__ == "__main__":
    unittest.main()
