"""Estimators: scikit-learn's own checks, the table they come from, and what users do with them."""

import inspect
import os
import pickle
import unittest
import warnings

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator
from support import NEEDS, InFolder, classes, estimators, quick, regression

import gram
from gram import _table


def linear(A, B):
    return A @ B.T + 1


def fit(name, estimator):
    more = NEEDS.get(name, lambda n: {})(60)
    X, y = classes() if estimator._entry.task == "classification" else regression()
    return (estimator.fit(X, y, **more) if estimator._entry.task in ("regression", "classification") or estimator._entry.views
            else estimator.fit(X, **more)), X


def predict(estimator, X):
    return estimator.predict(X) if hasattr(estimator, "predict") else estimator.transform(X)


class Checks(unittest.TestCase):
    """check_estimator of the scikit-learn that is installed, for every estimator. GRAM_LONG=1: with the default settings of all."""


# Settings with which weights of rows are the same as repeated rows, to the last digits.
_KERNEL = {"kernel": "rbf(ell=1)", "scale": False}
FIXED = {
    "KernelRidge": {**_KERNEL, "alpha": 0.5},
    "GaussianProcessRegressor": {**_KERNEL, "noise": 0.1},
    "BayesianLinearRegression": {"scale": False, "alpha": 1.0},
    "KernelLogisticRegression": {**_KERNEL, "C": 1},
    "SVC": {**_KERNEL, "C": 1, "tolerance": 1e-10},
    "SVR": {**_KERNEL, "C": 1, "tolerance": 1e-10},
}


def _check(name, estimator):
    """All checks. From scikit-learn 1.6 on those that are expected to fail are told, and the one of weights is run by itself."""
    try:
        from sklearn.utils.estimator_checks import check_sample_weight_equivalence_on_dense_data as check_weights
    except ImportError:
        return check_estimator(estimator)
    check_estimator(estimator, expected_failed_checks=gram.estimators.EXPECTED_FAILED_CHECKS.get(name, {}))
    if name in FIXED:
        check_weights(name, getattr(gram, name)(**FIXED[name]))


def _add_checks(name, cls):
    def test(self):
        if name in NEEDS:
            self.skipTest("it learns from more than X and y")
        estimator = cls() if os.environ.get("GRAM_LONG") else quick(name, cls())
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            _check(name, estimator)

    setattr(Checks, f"test_{name}", test)


for _name, _cls in estimators():
    _add_checks(_name, _cls)


class FromTheTable(unittest.TestCase):
    def test_contract(self):
        """The names of INTERFACE.md whose methods there are."""
        for name in ["KernelRidge", "GaussianProcessRegressor", "GaussianProcessClassifier", "SVC", "SVR", "OneClassSVM",
                     "KernelLogisticRegression", "GradientFlow", "KernelPCA", "KernelCCA", "KernelKMeans", "FourierFeatures",
                     "Nystroem"]:
            self.assertIn(name, gram.__all__)

    def test_every_row_is_an_estimator_with_its_options(self):
        for row in gram._core.methods():
            for task, name in row["python"].items():
                parameters = inspect.signature(getattr(gram, name)).parameters
                for option in row["options"]:
                    if option["tasks"] & 1 << _table.TASKS.index(task) and option["argument"] != "COL" and option["name"] not in row["views"]:
                        self.assertIn(_table.python_name(option), parameters)

    def test_names_of_the_command_are_understood(self):
        self.assertEqual(gram.KernelPCA(k=3).n_components, 3)
        self.assertEqual(gram.KernelRidge(**{"lambda": 0.5}).lam, 0.5)
        self.assertEqual(gram.KernelPCA().set_params(k=4).n_components, 4)
        with self.assertRaises(TypeError):
            gram.KernelRidge(gama=1)

    def test_docstrings_have_help(self):
        self.assertIn("noise", gram.KernelRidge.__doc__)
        self.assertIn("(K + n lam I) a = y", gram.KernelRidge.__doc__)
        for name, cls in estimators():
            self.assertTrue(cls._entry.formulas, f"{name}: the row of its method has no formula")
            self.assertIn(cls._entry.formulas[0][1].splitlines()[0], cls.__doc__)
        self.assertIn("precomputed", gram.SVC.__doc__)

    def test_wrong_values_are_refused_by_name(self):
        X, y = regression()
        for settings, message in [
            ({"lam": -1}, "lam"), ({"solver": "nosuch"}, "solver"), ({"lam": 1, "noise": 2}, "one of lam and noise"),
            ({"kernel": "rbff"}, "rbf"), ({"threads": 0}, "threads"), ({"memory": "much"}, "much"),
        ]:
            with self.assertRaisesRegex(ValueError, message):
                gram.KernelRidge(**settings).fit(X, y)

    def test_messages_speak_python(self):
        X, y = regression()
        with self.assertRaises(ValueError) as caught:
            gram.KernelRidge(kernel="min()").fit(X, y)
        self.assertIn("scale=False", str(caught.exception))
        self.assertNotIn("--", str(caught.exception))


class Use(InFolder):
    def test_all_of_them_keep_through_pickle_file_and_clone(self):
        for name, cls in estimators():
            with self.subTest(name):
                model, X = fit(name, quick(name, cls()))
                said = predict(model, X)
                np.testing.assert_array_equal(predict(pickle.loads(pickle.dumps(model)), X), said)
                self.assertEqual(clone(model).get_params(), model.get_params())
                model.save("model.gram")
                other = gram.load("model.gram")
                if name not in _table.MAPS and model.model_.method == cls._entry.method:  # else it is kept as another method's
                    self.assertIs(type(other), cls)
                np.testing.assert_array_equal(predict(other, X), said)
                self.assertEqual(other.report_["method"], model.report_["method"])

    def test_report(self):
        X, y = regression()
        model = gram.KernelRidge(kernel="rbf(ell=1)", lam=0.01).fit(X, y)
        self.assertEqual(model.report_["n"], len(y))
        self.assertIn("leave-one-out", repr(model.report_))
        self.assertIn("<table>", model.report_._repr_html_())
        self.assertEqual(model.loo_rmse_, model.report_["loo_rmse"])
        self.assertAlmostEqual(np.sqrt(np.mean((y - model.loo_predictions_) ** 2)), model.loo_rmse_, places=12)
        with self.assertRaises(AttributeError):
            model.nothing_

    def test_not_fitted(self):
        for name, cls in estimators():
            with self.subTest(name), self.assertRaises(NotFittedError):
                predict(cls(), np.zeros((3, 3)))

    def test_pipeline_and_grid(self):
        X, y = classes(count=3)
        grid = GridSearchCV(make_pipeline(StandardScaler(), gram.SVC(kernel="rbf(ell=1)", scale=False)), {"svc__C": [0.1, 1, 10]}, cv=3)
        self.assertGreater(grid.fit(X, y).best_score_, 0.6)
        self.assertGreater(cross_val_score(gram.KernelRidge(kernel="rbf"), *regression(), cv=3).mean(), 0.8)

    def test_metadata(self):
        self.assertIn("sample_weight", inspect.signature(gram.KernelRidge.fit).parameters)
        self.assertIn("groups", inspect.signature(gram.SVC.fit).parameters)
        self.assertIn("row_noise", inspect.signature(gram.GaussianProcessRegressor.fit).parameters)
        self.assertIn("label", inspect.signature(gram.CoupledEmbedding.fit).parameters)

    def test_weights_repeat_rows(self):
        X, y = regression()
        w = np.arange(len(y)) % 3
        settings = {"kernel": "rbf(ell=1)", "noise": 0.1, "scale": False}
        weighted = gram.KernelRidge(**settings).fit(X, y, sample_weight=w)
        repeated = gram.KernelRidge(**settings).fit(np.repeat(X, w, axis=0), np.repeat(y, w))
        np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), atol=1e-9)

    def test_row_noise(self):
        X, y = regression()
        noise = np.full(len(y), 0.2)
        a = gram.GaussianProcessRegressor(kernel="2*rbf(ell=1)", tune="none", scale=False, noise=0.05).fit(X, y, row_noise=noise)
        b = gram.GaussianProcessRegressor(kernel="2*rbf(ell=1)", tune="none", scale=False, noise=0.25).fit(X, y)
        np.testing.assert_allclose(a.predict(X), b.predict(X), rtol=1e-8)

    def test_classes_of_any_type(self):
        X, y = classes(count=3)
        for labels in [np.array(["low", "middle", "high"]), np.array([2.0, -1, 7]), np.array([10, 20, 30]), np.array(["ä", "b", "c d,e"], object)]:
            model = gram.SVC(kernel="rbf(ell=1)", C=10).fit(X, labels[y])
            self.assertEqual(set(model.classes_), set(labels))
            self.assertGreater(model.score(X, labels[y]), 0.8)
            model.save("classes.gram")
            np.testing.assert_array_equal(gram.load("classes.gram").predict(X), model.predict(X))
        two = gram.KernelLogisticRegression(kernel="rbf(ell=1)", C=10).fit(X, y > 0)
        self.assertEqual(two.predict(X).dtype, bool)
        np.testing.assert_allclose(two.predict_proba(X).sum(1), 1)
        self.assertEqual(gram.SVC(kernel="rbf(ell=1)", C=10, class_weight={0: 1, 1: 2, 2: 0.5}).fit(X, y).decision_function(X).shape, (len(y), 3))

    def test_layouts(self):
        X, y = regression()
        settings = {"kernel": "rbf(ell=1)", "lam": 0.01}
        said = gram.KernelRidge(**settings).fit(X, y).predict(X)
        wide = np.zeros((len(X), 7))
        wide[:, 2:5] = X
        for same in [wide[:, 2:5], np.asfortranarray(X), np.repeat(X, 2, axis=0)[::2]]:
            np.testing.assert_array_equal(gram.KernelRidge(**settings).fit(same, y).predict(same), said)

    def test_precomputed(self):
        X, y = regression()
        c = (y > 0).astype(int)
        k = gram.RBF(1.0)
        for cls, target, settings in [(gram.KernelRidge, y, {"lam": 0.01}), (gram.SVC, c, {"C": 1.0}), (gram.SVR, y, {"C": 1.0}),
                                      (gram.GaussianProcessRegressor, y, {"noise": 0.1})]:
            given = cls(kernel="precomputed", **settings).fit(k(X), target)
            plain = cls(kernel=k, scale=False, **settings).fit(X, target)
            np.testing.assert_allclose(given.predict(k(X[:9] + 0.1, X)), plain.predict(X[:9] + 0.1), rtol=1e-5, atol=1e-8)
        pca = gram.KernelPCA(kernel="precomputed").fit(k(X))
        np.testing.assert_allclose(pca.eigenvalues_, gram.KernelPCA(kernel=k, scale=False).fit(X).eigenvalues_, rtol=1e-10)
        with self.assertRaisesRegex(ValueError, "square"):
            gram.SVC(kernel="precomputed").fit(X, c)

    def test_a_function_as_kernel(self):
        X, y = regression(30)

        def rbf(A, B):
            return np.exp(-((A[:, None] - B[None]) ** 2).sum(-1) / 2)

        mine = gram.KernelRidge(kernel=rbf, lam=0.01).fit(X, y)
        np.testing.assert_allclose(mine.predict(X), gram.KernelRidge(kernel="rbf(ell=1)", lam=0.01).fit(X, y).predict(X), rtol=1e-8)

        def raises(A, B):
            raise LookupError("from the kernel")

        with self.assertRaisesRegex(LookupError, "from the kernel"):
            gram.KernelRidge(kernel=raises, lam=0.01).fit(X, y)
        for bad in [3.5j, object(), ["rbf"]]:
            with self.assertRaises(TypeError):
                gram.KernelRidge(kernel=bad).fit(X, y)

    def test_kernels_without_an_expression_are_pickled_with_the_estimator(self):
        X, y = regression()
        mixed = 0.5 * gram.Kernel(linear) * gram.Kernel("rbf").on(1, 2) + gram.Kernel(linear) ** 2
        for kernel, rows, settings in [
            ("precomputed", gram.RBF(1.0)(X), {"lam": 0.1}), (linear, X, {"lam": 0.1}), (mixed, X, {}),
            (gram.Kernel(linear) + gram.Kernel("rbf"), X, {"ard": True}), (mixed.terms[0], X, {"lam": 0.1}),
        ]:
            with self.subTest(kernel):
                model = gram.KernelRidge(kernel=kernel, **settings)
                self.assertEqual(repr(pickle.loads(pickle.dumps(model)).kernel), repr(kernel) if kernel is not linear else repr(linear))
                model.fit(rows, y)
                again = pickle.loads(pickle.dumps(model))
                np.testing.assert_array_equal(again.predict(rows), model.predict(rows))
                self.assertEqual(repr(again.kernel_), repr(model.kernel_))
                self.assertEqual(dict(again.report_), dict(model.report_))
                np.testing.assert_array_equal(pickle.loads(pickle.dumps(again)).predict(rows), model.predict(rows))
                with self.assertRaisesRegex(ValueError, "cannot be kept in a file"):
                    model.save("model.gram")
        with self.assertRaises((pickle.PicklingError, AttributeError)):
            pickle.dumps(gram.KernelRidge(kernel=lambda A, B: A @ B.T))

    def test_given_matrices_in_a_search(self):
        X, y = classes()
        grid = GridSearchCV(gram.SVC(kernel="precomputed"), {"C": [0.1, 1, 10]}, cv=3, n_jobs=2)
        plain = GridSearchCV(gram.SVC(kernel="rbf(ell=1)", scale=False), {"C": [0.1, 1, 10]}, cv=3)
        K = gram.RBF(1.0)(X)
        np.testing.assert_allclose(grid.fit(K, y).cv_results_["mean_test_score"], plain.fit(X, y).cv_results_["mean_test_score"])

    def test_sparse_rows(self):
        """Scipy's rows, with columns unsorted and repeated, as the same with their zeros written out; other estimators refuse them as usual."""
        sparse = __import__("scipy.sparse").sparse
        rng = np.random.default_rng(3)
        at = (rng.integers(0, 60, 400), rng.integers(0, 300, 400))
        X = sparse.coo_matrix((rng.normal(size=400), at), shape=(60, 300))
        csr, dense, y = sparse.csr_matrix(X), X.toarray(), X.toarray()[:, :40].sum(1)
        classes = np.array(["low", "middle", "high"])[np.digitize(y, [-0.5, 0.5])]
        made = [
            (gram.KernelRidge(kernel="rbf(ell=2)", lam=0.01, scale=False), y),
            (gram.KernelRidge(kernel="rbf(ell=9)", lam=0.01), y),
            (gram.GaussianProcessRegressor(kernel="2*rbf(ell=2)", noise=0.1, scale=False), y),
            (gram.SVR(kernel="linear", C=1, scale=False, tolerance=1e-11), y),
            (gram.SVC(kernel="rbf(ell=2)", C=3, scale=False, tolerance=1e-11), classes),
            (gram.KernelLogisticRegression(kernel="rbf(ell=2)", lam=0.01, scale=False), classes),
        ]
        for estimator, target in made:
            with self.subTest(estimator=estimator):
                fitted = estimator.fit(csr, target)
                self.assertEqual(fitted.n_features_in_, 300)
                ask = fitted.predict if target is y else fitted.decision_function
                got, again = ask(csr), pickle.loads(pickle.dumps(fitted)).predict(X)
                np.testing.assert_array_equal(again, fitted.predict(dense))
                if estimator.scale:
                    continue  # sparse rows are not centred
                full = estimator.fit(dense, target)
                np.testing.assert_allclose(got, (full.predict if target is y else full.decision_function)(dense), atol=1e-9)
        X, y = regression()
        for name, cls in estimators():
            if cls()._sparse():
                continue
            needs_y = cls._entry.task in ("regression", "classification") or cls._entry.views
            with self.subTest(name), self.assertRaisesRegex(TypeError, "dense data is required"):
                cls().fit(sparse.csr_matrix(X), *([y > 0] if needs_y else []))
        model = gram.KernelRidge(kernel="rbf(ell=1)", lam=0.1).fit(X, y)
        rows = sparse.csr_matrix(X)
        for use in [lambda: model.predict(rows), lambda: gram.RBF(1.0)(rows), lambda: gram.mmd_test(rows, X)]:
            with self.assertRaisesRegex(TypeError, "dense data is required"):
                use()

    def test_intervals_and_draws(self):
        X, y = regression()
        model = gram.GaussianProcessRegressor(kernel="2*rbf(ell=1)", noise=0.1).fit(X, y)
        at = X[:5] + 0.2
        mean, std = model.predict(at, return_std=True)
        _, cov = model.predict(at, return_cov=True)
        np.testing.assert_allclose(np.sqrt(np.diag(cov)), std, rtol=1e-9)
        _, lower, upper = model.predict(at, interval=0.9)
        np.testing.assert_allclose((upper - lower) / 2, 1.6448536269514722 * std, rtol=1e-12)
        draws = model.sample_y(at, 2000, random_state=1)
        _, latent = model.predict(at, return_std=True, latent=True)
        np.testing.assert_allclose(draws.std(1), latent, rtol=0.1)
        np.testing.assert_allclose(draws.mean(1), mean, atol=0.05)
        self.assertLess(model.log_marginal_likelihood_, 0)
        with self.assertRaises(RuntimeError):
            model.predict(at, return_std=True, return_cov=True)
        quantiles = gram.KernelRidge(quantile=[0.1, 0.9], kernel="rbf(ell=1)", lam=0.01).fit(X, y).predict(at)
        self.assertTrue((quantiles[:, 0] < quantiles[:, 1]).all())

    def test_kinds_of_rows(self):
        """u'' = 2 on [0, 1], u(0) = 0, u(1) = 1: u = x^2."""
        X = np.linspace(0, 1, 11)[:, None]
        kind = np.array(["value"] + ["laplacian"] * 9 + ["value"])
        y = np.where(kind == "value", X[:, 0], 2.0)
        solution = gram.Collocation(kernel="rbf(ell=0.5)", scale=False).fit(X, y, kind=kind)
        np.testing.assert_allclose(solution.predict([[0.25], [0.5]]), [0.0625, 0.25], atol=1e-3)

    def test_two_views(self):
        X, y = regression()
        second = np.column_stack([y, X[:, 2]])
        cca = gram.KernelCCA(kernel="rbf", n_components=2, permutations=19).fit(X, second)
        a, b = cca.transform(X, second)
        self.assertGreater(np.corrcoef(a[:, 0], b[:, 0])[0, 1], 0.8)
        couple = gram.CoupledEmbedding(n_components=1, gamma=0.1).fit(X, second, label=np.where(y > 0, "a", "b"))
        self.assertEqual(couple.transform(X).shape, (len(y), 1))

    def test_several_targets(self):
        X, y = regression()
        both = gram.KernelRidge(kernel="rbf(ell=1)", lam=0.01).fit(X, np.column_stack([y, -y]))
        np.testing.assert_allclose(both.predict(X)[:, 1], -both.predict(X)[:, 0], atol=1e-12)
        with self.assertRaises(ValueError):
            gram.GaussianProcessRegressor(kernel="rbf(ell=1)", noise=1).fit(X, np.column_stack([y, -y]))

    def test_reconstruction_and_labels(self):
        X, _ = regression()
        pca = gram.KernelPCA(kernel="linear", n_components=3).fit(X)
        np.testing.assert_allclose(pca.reconstruct(X), X, atol=1e-6)
        self.assertFalse(hasattr(gram.MercerExpansion(), "reconstruct"))
        clusters = gram.KernelKMeans(n_clusters=3).fit(X)
        self.assertEqual(set(clusters.labels_), {0, 1, 2})
        np.testing.assert_array_equal(clusters.labels_, clusters.predict(X))

    def test_convergence(self):
        from sklearn.exceptions import ConvergenceWarning

        X, y = classes(200)
        with self.assertWarns(ConvergenceWarning):
            gram.SVC(kernel="rbf(ell=1)", C=1e4, iterations=3).fit(X, y)

    def test_memory_budget(self):
        X, y = regression(400)
        with self.assertRaisesRegex(MemoryError, "budget|MiB|GiB"):
            gram.KernelRidge(kernel="rbf(ell=1)", lam=1, solver="exact", memory="200K").fit(X, y)


@unittest.skipUnless(__import__("importlib.util").util.find_spec("pandas"), "pandas is not installed")
class Frames(InFolder):
    def frame(self, n=80):
        import pandas as pd

        rng = np.random.default_rng(0)
        frame = pd.DataFrame({"age": rng.normal(size=n), "colour": rng.choice(["red", "green", "blue"], n), "old": rng.random(n) > 0.5})
        frame["colour"] = frame["colour"].astype("category")
        price = frame["age"] + (frame["colour"] == "red") * 2.0 + 0.1 * rng.normal(size=n)
        return frame, price.rename("price")

    def test_names_and_categories(self):
        frame, price = self.frame()
        model = gram.KernelRidge(kernel="rbf").fit(frame, price)
        self.assertEqual(list(model.feature_names_in_), ["age", "colour", "old"])
        self.assertGreater(model.score(frame, price), 0.9)
        np.testing.assert_array_equal(model.predict(frame[["old", "age", "colour"]]), model.predict(frame))
        with self.assertRaisesRegex(ValueError, "colour"):
            model.predict(frame[["age", "old"]])
        with self.assertRaisesRegex(ValueError, "data frame"):
            model.predict(np.zeros((2, 3)))

    def test_the_command_sees_the_same_columns(self):
        frame, price = self.frame()
        frame = frame[["age", "colour"]]
        model = gram.KernelRidge(kernel="rbf(ell=1)", lam=0.01).fit(frame, price)
        model.save("frame.gram")
        frame.assign(price=price).to_csv("frame.csv", index=False, float_format="%.17g")
        said = self.gram("predict", "frame.gram", "frame.csv", "-o", "said.csv")
        self.assertEqual(said["n"], len(frame))
        np.testing.assert_array_equal(gram.read_table("said.csv")["mean"], model.predict(frame))
        self.gram("fit", "frame.csv", "--kernel", "rbf(ell=1)", "--lambda", "0.01", "-o", "command.gram")
        np.testing.assert_array_equal(gram.load("command.gram").predict(frame), model.predict(frame))

    def test_missing_values(self):
        frame, price = self.frame()
        frame.loc[3, "colour"] = None
        with self.assertRaisesRegex(ValueError, "colour"):
            gram.KernelRidge().fit(frame, price)

    def test_numeric_frames_keep_their_names(self):
        frame, price = self.frame()
        model = gram.KernelRidge(kernel="rbf(ell=1)", lam=0.1).fit(frame[["age", "old"]], price)
        self.assertEqual([c["name"] for c in model.model_.columns()], ["age", "old"])
        self.assertEqual(model.report_["targets"], ["price"])
        with self.assertRaises(ValueError):
            model.predict(frame[["old", "age"]])


if __name__ == "__main__":
    unittest.main()
