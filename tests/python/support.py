"""What the tests of the Python package share: seeded data, the command, and a folder of their own."""

import json
import os
import shutil
import subprocess
import tempfile
import unittest

import numpy as np

import gram
from gram.command import path

N, D = 60, 3


def regression(n=N, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, D))
    return X, np.sin(X[:, 0]) + 0.3 * X[:, 1] + 0.1 * rng.normal(size=n)


def classes(n=N, count=2, seed=0):
    X, y = regression(n, seed)
    return X, np.digitize(y, np.quantile(y, np.linspace(0, 1, count + 1)[1:-1]))


def estimators():
    """(name, class) of all, those of the table and those that are named maps."""
    return [(name, getattr(gram, name)) for name in gram._estimator_names()]


class InFolder(unittest.TestCase):
    """A test that starts in an empty folder."""

    def setUp(self):
        self.before = os.getcwd()
        self.folder = tempfile.mkdtemp()
        os.chdir(self.folder)

    def tearDown(self):
        os.chdir(self.before)
        shutil.rmtree(self.folder)

    def gram(self, *arguments):
        """The command's JSON."""
        done = subprocess.run([path(), *arguments, "--json"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def write_csv(self, name, X, y=None, header=None):
        """Numbers in the shortest digits that read back."""
        columns = X if y is None else np.column_stack([X, y])
        header = header or [f"x{j + 1}" for j in range(X.shape[1])] + (["y"] if y is not None else [])
        with open(name, "w") as file:
            file.write(",".join(header) + "\n")
            for row in columns:
                file.write(",".join(repr(float(v)) if not isinstance(v, str) else v for v in row) + "\n")


def quick(name, estimator):
    """Settings that make a fit of a slow method short, for tests that ask nothing of the numbers chosen."""
    settings = {
        "GaussianProcessClassifier": {"kernel": "2*rbf(ell=1)", "tune": "none"},
        "GaussianProcessRegressor": {"kernel": "2*rbf(ell=1)", "alpha": 0.01},
        "KernelLogisticRegression": {"kernel": "rbf(ell=1)", "C": 1},
        "SVR": {"kernel": "rbf(ell=1)", "C": 10},
        "NetworkRegressor": {"width": 32, "steps": 200},
        "NetworkClassifier": {"width": 32, "steps": 200},
        "KernelCCA": {"permutations": 9},
        "BayesianQuadrature": {"measure": "normal(0,1)*normal(0,1)*normal(0,1)", "kernel": "rbf(ell=1)"},
        "Collocation": {"kernel": "rbf(ell=1)"},
    }
    return estimator.set_params(**settings.get(name, {}))


#: What fit needs beside X and y, for n rows; such methods are not for scikit-learn's checks, whose data know nothing of it.
NEEDS = {"Collocation": lambda n: {"kind": np.where(np.arange(n) % 2, "value", "laplacian")}, "BayesianQuadrature": lambda n: {}}
