"""Methods that the library got after the package was written: they are estimators, without a line of Python."""

import inspect
import unittest

import numpy as np
from sklearn.utils.estimator_checks import check_estimator

import gram


class Dummy(unittest.TestCase):
    def test_nearest(self):
        self.assertIn("NearestMean", dir(gram))
        parameters = inspect.signature(gram.NearestMean).parameters
        self.assertEqual(parameters["nearby"].default, 1)
        self.assertNotIn("kernel", parameters)
        self.assertIn("KNeighborsRegressor", gram.NearestMean.__doc__)
        self.assertIn("f(x) = (1/m) sum of y_i", gram.NearestMean.__doc__)
        rng = np.random.default_rng(0)
        X, y = rng.normal(size=(40, 2)), rng.normal(size=40)
        np.testing.assert_array_equal(gram.NearestMean().fit(X, y).predict(X), y)
        Z = (X - X.mean(0)) / X.std(0)
        near = np.argsort(((Z[:, None] - Z[None]) ** 2).sum(-1), axis=1)[:, :3]
        np.testing.assert_allclose(gram.NearestMean(nearby=3).fit(X, y).predict(X), y[near].mean(1), rtol=1e-12)
        with self.assertRaisesRegex(ValueError, "nearby"):
            gram.NearestMean(nearby=0).fit(X, y)
        with self.assertRaises(TypeError):
            gram.NearestMean().fit(X, y, sample_weight=np.ones(40))
        check_estimator(gram.NearestMean())

    def test_paired(self):
        rng = np.random.default_rng(0)
        X, Y = rng.normal(size=(30, 2)), rng.normal(size=(30, 3))
        model = gram.RowsNearby(kernel="rbf(ell=1)", scale=False).fit(X, Y)
        a, b = model.transform(X, Y)
        np.testing.assert_allclose(a[:, 0], gram.RBF(1)(X).mean(1), rtol=1e-12)
        np.testing.assert_allclose(b[:, 0], gram.RBF(1)(Y).mean(1), rtol=1e-12)


if __name__ == "__main__":
    unittest.main()
