"""gram.compare and gram.explain: the command's numbers, from arrays and frames."""

import json
import os
import subprocess
import tempfile
import unittest

import numpy as np

import gram


def rows(n=40, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, 2))
    return X, 3 * X[:, 0] + 0.3 * rng.normal(size=n)


class Compare(unittest.TestCase):
    def test_command(self):
        """The same errors as the command has for a file of the same numbers."""
        X, y = rows()
        found = gram.compare(X, y, methods=["bayes", "baselines"], folds=4)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "data.csv")
            np.savetxt(path, np.column_stack([X, y]), delimiter=",", fmt="%.17g", header="x1,x2,y", comments="")
            command = os.environ.get("GRAM")
            if not command:
                self.skipTest("no command")
            said = subprocess.run(
                [command, "compare", path, "--methods", "bayes,baselines", "--folds", "4", "--json", "--quiet"],
                capture_output=True, text=True, check=True,
            )
        other = json.loads(said.stdout)
        self.assertEqual([r["name"] for r in found["rows"]], [r["name"] for r in other["rows"]])
        for mine, theirs in zip(found["rows"], other["rows"]):
            self.assertEqual(mine["error"], theirs["error"])

    def test_mean(self):
        """The baseline by hand: folds of one row each."""
        X, y = rows(12)
        found = gram.compare(X, y, methods="mean", folds=12)
        left = [y[i] - np.delete(y, i).mean() for i in range(12)]
        self.assertAlmostEqual(found["rows"][0]["error"], np.sqrt(np.mean(np.square(left))), places=12)
        self.assertIn("mean", repr(found))

    def test_classes(self):
        X, y = rows(60)
        found = gram.compare(X, np.where(y > 0, "up", "down"), methods="sgd,mean")
        self.assertEqual(found["task"], "classification")
        self.assertLess(found["best"]["error"], 0.4)

    def test_wrong(self):
        X, y = rows()
        with self.assertRaisesRegex(ValueError, "krr"):
            gram.compare(X, y, methods="krrr")
        with self.assertRaisesRegex(ValueError, "39 rows"):
            gram.compare(X, y[1:])
        with self.assertRaisesRegex(ValueError, "two dimensions"):
            gram.compare(X[:, 0], y)


class Explain(unittest.TestCase):
    def test_line(self):
        X, y = rows(200)
        model = gram.KernelRidge(kernel="linear").fit(X, y)
        found = gram.explain(model, X, y, row=3)
        first = found["importance"][0]
        self.assertEqual(first["feature"], "x1")
        self.assertLess(abs(first["value"] - 18 * X[:, 0].var()), 4 * first["se"] + 0.3)
        self.assertGreater(first["share"], 0.98)
        self.assertEqual(found["row"], 4)
        self.assertAlmostEqual(found["function"], model.predict(X[3:4])[0], places=9)
        curve = found["dependence"][0]
        self.assertAlmostEqual((curve["curves"][0]["value"][-1] - curve["curves"][0]["value"][0]) / (curve["at"][-1] - curve["at"][0]), 3, places=0)

    def test_classes_and_no_target(self):
        X, y = rows(80)
        for labels in (np.where(y > 0, "up", "down"), np.where(y > 0, 7, 2)):
            model = gram.KernelLogisticRegression(kernel=gram.RBF(1.0), lam=0.01).fit(X, labels)
            found = gram.explain(model, X, labels)
            self.assertEqual(found["importance"][0]["feature"], "x1")
            self.assertGreater(found["importance"][0]["value"], 0)
            blind = gram.explain(model, X)
            self.assertIsNone(blind["importance"][0]["value"])

    def test_wrong(self):
        X, y = rows()
        model = gram.KernelRidge(kernel="linear").fit(X, y)
        with self.assertRaisesRegex(ValueError, "nobody"):
            gram.explain(model, X, y, features=["nobody"])
        with self.assertRaisesRegex(ValueError, "row"):
            gram.explain(model, X, y, row=40)


if __name__ == "__main__":
    unittest.main()
