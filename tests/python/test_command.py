"""The command and the package: the same numbers bit for bit, and each other's models. Against scikit-learn where the model is the same."""

import json
import subprocess
import sys
import unittest
import zipfile

import numpy as np
from support import InFolder, classes, regression

import gram
from gram.command import path

# option of the command: parameter of the estimator
FITS = [
    ("KernelRidge", {"method": "krr", "kernel": "rbf(ell=0.7)", "lambda": 0.01}, {}),
    ("KernelRidge", {"method": "krr"}, {}),
    ("KernelRidge", {"method": "krr", "solver": "nystrom:20", "kernel": "matern", "noise": 0.1}, {}),
    ("KernelRidge", {"method": "krr", "loss": "huber", "kernel": "rbf(ell=1)", "lambda": 0.01}, {}),
    ("GaussianProcessRegressor", {"method": "gp", "kernel": "2*matern(nu=1.5, ell=1)", "noise": 0.1}, {}),
    ("GaussianProcessRegressor", {"method": "gp", "kernel": "const*rbf"}, {"std": True}),
    ("BayesianLinearRegression", {"method": "bayes"}, {}),
    ("GradientFlow", {"method": "flow", "kernel": "rbf(ell=1)", "flow-time": 10}, {}),
    ("SVR", {"method": "svm", "kernel": "rbf(ell=1)", "C": 2, "task": "regression"}, {}),
]
CLASSES = [
    ("SVC", {"method": "svm", "kernel": "rbf(ell=1)", "C": 2}, {}),
    ("SVC", {"method": "svm"}, {"prob": True}),
    ("KernelLogisticRegression", {"method": "logistic", "kernel": "rbf(ell=1)", "C": 2}, {"prob": True}),
    ("GaussianProcessClassifier", {"method": "gp", "kernel": "3*rbf(ell=1)", "tune": "none"}, {"prob": True}),
]


def parameters(options):
    return {{"lambda": "lam"}.get(n, n.replace("-", "_")): v for n, v in options.items() if n not in ("method", "task")}


class SameBits(InFolder):
    @staticmethod
    def parts(path):
        """What a model file holds, by name; model.json as what it says."""
        with zipfile.ZipFile(path) as archive:
            parts = {entry: archive.read(entry) for entry in archive.namelist()}
        parts["model.json"] = json.loads(parts["model.json"])
        return parts

    def compare(self, name, options, wishes, X, y):
        model = getattr(gram, name)(**parameters(options)).fit(X, y)
        words = [word for option, value in options.items() for word in (f"--{option}", str(value))]
        self.write_csv("data.csv", X, y)
        self.write_csv("new.csv", X[:20] + 0.05)
        # the command's report leads with an estimate, which the package makes when it is asked to
        report = self.gram("fit", "data.csv", *words, "--estimate", "no", "-o", "command.gram")
        self.gram("predict", "command.gram", "new.csv", *[f"--{wish}" for wish in wishes], "-o", "said.csv")
        said = gram.read_table("said.csv")
        model.save("python.gram")
        parts = self.parts("command.gram")
        self.assertIn("gram fit", parts["model.json"]["facts"].pop("command"))  # which only the command has
        self.assertEqual(parts, self.parts("python.gram"), f"{name} {options}: the files differ")
        for fact in ["kernel", "lambda", "loo_rmse", "log_marginal_likelihood", "objective", "cv_accuracy"]:
            self.assertEqual(report.get(fact), model.report_.get(fact), fact)
        return model, said, X[:20] + 0.05

    def test_regression(self):
        X, y = regression()
        for name, options, wishes in FITS:
            with self.subTest(name, **options):
                model, said, new = self.compare(name, options, wishes, X, y)
                np.testing.assert_array_equal(said["mean"], model.predict(new))
                if "std" in wishes:
                    np.testing.assert_array_equal(said["std"], model.predict(new, return_std=True)[1])

    def test_classification(self):
        X, y = classes(count=3)
        for name, options, wishes in CLASSES:
            with self.subTest(name, **options):
                model, said, new = self.compare(name, options, wishes, X, y)
                np.testing.assert_array_equal(said["label"].astype(float), model.predict(new))
                if "prob" in wishes:
                    np.testing.assert_array_equal(said["p_1"], model.predict_proba(new)[:, 1])

    def test_structure(self):
        X, _ = regression()
        self.write_csv("data.csv", X)
        for verb, estimator, options in [
            ("pca", gram.KernelPCA(n_components=3), ["-k", "3"]), ("cluster", gram.KernelKMeans(n_clusters=4), ["-k", "4"]),
            ("cluster", gram.SpectralClustering(n_clusters=2), ["-k", "2", "--method", "spectral"]),
            ("features", gram.FourierFeatures(n_components=10), ["--fourier", "10"]),
            ("features", gram.Nystroem(n_components=7), ["--nystrom", "7"]),
        ]:
            with self.subTest(verb, options=options):
                self.gram(verb, "data.csv", *options, "--model", "command.gram")
                estimator.fit(X).save("python.gram")
                with open("command.gram", "rb") as a, open("python.gram", "rb") as b:
                    self.assertEqual(a.read(), b.read())

    def test_tests(self):
        X, y = regression()
        self.write_csv("a.csv", X[:30])
        self.write_csv("b.csv", X[30:] * 1.4)
        for method in ["aggregated", "permutation", "gamma"]:
            kernel = {} if method == "aggregated" else {"kernel": "rbf"}
            mine = gram.mmd_test(X[:30], X[30:] * 1.4, method=method, seed=3, **kernel)
            words = [w for option, value in kernel.items() for w in (f"--{option}", value)]
            theirs = self.gram("test", "two-sample", "a.csv", "b.csv", "--method", method, "--seed", "3", *words)
            self.assertEqual((mine.statistic, mine.p_value, mine.reject, repr(mine.kernel)),
                             (theirs["statistic"], theirs["p_value"], theirs["reject"], theirs["kernel"]))
        self.write_csv("data.csv", X, y)
        mine = gram.hsic_test(X[:, :2], y, seed=1)
        theirs = self.gram("test", "independence", "data.csv", "--x", "1:2", "--y", "y", "--seed", "1")
        self.assertEqual((mine.statistic, mine.p_value), (theirs["statistic"], theirs["p_value"]))
        mine = gram.ksd_test(X, density="gaussian(sd=1)", seed=2)
        self.write_csv("x.csv", X)
        theirs = self.gram("test", "fit", "x.csv", "--density", "gaussian(sd=1)", "--seed", "2")
        self.assertEqual((mine.statistic, mine.p_value), (theirs["statistic"], theirs["p_value"]))
        self.assertEqual((gram.stein_thinning(X, 5, density="gaussian(sd=1)").indices + 1).tolist(),
                         self.gram("thin", "x.csv", "-m", "5", "--density", "gaussian(sd=1)")["indices"])
        self.assertEqual((gram.herding(X, 5).indices + 1).tolist(), self.gram("thin", "x.csv", "-m", "5", "--method", "herding")["indices"])
        self.assertEqual((gram.kernel_thinning(X, 7, seed=4).indices + 1).tolist(),
                         self.gram("thin", "x.csv", "-m", "7", "--method", "split", "--seed", "4")["indices"])


class BothWays(InFolder):
    def test_models_of_the_command_load(self):
        X, y = classes(count=2)
        names = np.array(["no", "yes"])[y]
        with open("data.csv", "w") as file:
            file.write("a,b,c,answer\n")
            for row, name in zip(X, names):
                file.write(",".join(repr(float(v)) for v in row) + f",{name}\n")
        self.gram("fit", "data.csv", "-o", "m.gram")
        model = gram.load("m.gram")
        self.assertIsInstance(model, gram.SVC)
        self.assertEqual(list(model.classes_), ["no", "yes"])
        self.assertEqual(list(model.feature_names_in_), ["a", "b", "c"])
        self.gram("predict", "m.gram", "data.csv", "-o", "said.csv")
        self.assertEqual(list(gram.read_table("said.csv")["label"]), list(model.predict(X)))

    def test_damaged_and_missing_files(self):
        with self.assertRaises(FileNotFoundError):
            gram.load("nothing.gram")
        with open("bad.gram", "wb") as file:
            file.write(b"PK\3\4 not a model")
        with self.assertRaisesRegex(ValueError, "bad.gram"):
            gram.load("bad.gram")

    def test_read_table(self):
        with open("t.csv", "w") as file:
            file.write("a;b\n1,5;x\n".replace(",", ".") + "2;y\n;x\n")
        table = gram.read_table("t.csv")
        self.assertEqual(table.names, ["a", "b"])
        np.testing.assert_array_equal(table["a"], [1.5, 2, np.nan])
        self.assertEqual(list(table["b"]), ["x", "y", "x"])
        with self.assertRaisesRegex(ValueError, "t.csv:4"):
            gram.read_table("t.csv", keep_missing=False)
        with self.assertRaises(FileNotFoundError):
            gram.read_table("u.csv")
        with self.assertRaises(KeyError):
            table["c"]

    def test_cli(self):
        self.assertEqual(gram.cli(["kernel", "rbf(ell=1)", "--json", "-o", "k.json"]) in (0, 2), True)
        self.assertEqual(gram.cli(["nosuchverb"]), 2)
        done = subprocess.run([sys.executable, "-m", "gram", "--version"], capture_output=True, text=True, check=True)
        self.assertIn(gram.__version__, done.stdout)
        self.assertEqual(subprocess.run([path(), "--version"], capture_output=True, text=True, check=True).stdout, done.stdout)


class AgainstScikitLearn(unittest.TestCase):
    def test_kernel_ridge(self):
        from sklearn.kernel_ridge import KernelRidge

        X, y = regression()
        theirs = KernelRidge(alpha=0.1, kernel="rbf", gamma=0.5).fit(X, y)
        mine = gram.KernelRidge(alpha=0.1, kernel="rbf(gamma=0.5)", intercept=False, scale=False).fit(X, y)
        np.testing.assert_allclose(mine.predict(X + 0.1), theirs.predict(X + 0.1), rtol=1e-8)

    def test_gaussian_process(self):
        from sklearn.gaussian_process import GaussianProcessRegressor, kernels

        X, y = regression()
        kernel = 2.0 * kernels.Matern(length_scale=1.3, nu=1.5)
        theirs = GaussianProcessRegressor(kernel, alpha=0.1, optimizer=None).fit(X, y)
        mine = gram.GaussianProcessRegressor(kernel, noise=0.1, mean="zero", scale=False, tune="none").fit(X, y)
        at = X[:7] + 0.1
        np.testing.assert_allclose(mine.predict(at), theirs.predict(at), rtol=1e-8)
        np.testing.assert_allclose(mine.predict(at, return_std=True, latent=True)[1], theirs.predict(at, return_std=True)[1], rtol=1e-8)
        np.testing.assert_allclose(mine.predict(at, return_cov=True, latent=True)[1], theirs.predict(at, return_cov=True)[1], rtol=1e-8, atol=1e-10)
        self.assertAlmostEqual(mine.log_marginal_likelihood_, theirs.log_marginal_likelihood(), places=8)

    def test_svc(self):
        from sklearn.svm import SVC, SVR, OneClassSVM

        X, y = classes()
        target = regression()[1]
        theirs = SVC(C=2, gamma=0.5, tol=1e-6).fit(X, y)
        mine = gram.SVC(C=2, kernel="rbf(gamma=0.5)", scale=False, tolerance=1e-6).fit(X, y)
        np.testing.assert_allclose(mine.decision_function(X), theirs.decision_function(X), atol=1e-4)
        three = classes(count=3)[1]
        np.testing.assert_array_equal(gram.SVC(C=2, kernel="rbf(gamma=0.5)", scale=False).fit(X, three).predict(X),
                                      SVC(C=2, gamma=0.5).fit(X, three).predict(X))
        theirs = SVR(C=2, gamma=0.5, epsilon=0.1, tol=1e-6).fit(X, target)
        mine = gram.SVR(C=2, kernel="rbf(gamma=0.5)", epsilon=0.1, scale=False, tolerance=1e-6).fit(X, target)
        np.testing.assert_allclose(mine.predict(X), theirs.predict(X), atol=1e-4)
        theirs = OneClassSVM(gamma=0.5, nu=0.3, tol=1e-6).fit(X)
        mine = gram.OneClassSVM(kernel="rbf(gamma=0.5)", nu=0.3, scale=False, tolerance=1e-6).fit(X)
        a, b = mine.decision_function(X), theirs.decision_function(X)
        np.testing.assert_allclose(a / np.abs(a).max(), b / np.abs(b).max(), atol=1e-4)

    def test_kernel_pca(self):
        from sklearn.decomposition import KernelPCA

        X, _ = regression()
        theirs = KernelPCA(2, kernel="rbf", gamma=0.5).fit_transform(X)
        mine = gram.KernelPCA(n_components=2, kernel="rbf(gamma=0.5)", scale=False).fit_transform(X)
        np.testing.assert_allclose(np.abs(mine), np.abs(theirs), atol=1e-8)


if __name__ == "__main__":
    unittest.main()
