# %% [markdown]
# # A tour of gram in Python
#
# From a kernel to a model, a test and a thinned sample, in six steps. `examples/tour.py` is the program, `examples/tour.ipynb` the same as
# a notebook. Figures need matplotlib, all else NumPy and scikit-learn.

# %%
import numpy as np

import gram

rng = np.random.default_rng(7)

# %% [markdown]
# ## Kernels are objects
#
# They add, multiply and print as the expressions that the command and C read. A number that is left out is free: a fit learns it.

# %%
k = 2 * gram.RBF(0.3) + gram.Matern(nu=1.5, ell=2).on(1) * gram.Periodic(p=12, ell=1)
print(k)
print(k([[0.0], [0.5]]).round(4))
print({name: known for name, known in k.facts(1).items() if name in ("stationary", "universal", "characteristic")})

# %% [markdown]
# ## A Gaussian process
#
# Forty noisy values of a wave that ends. Without a word about the kernel it is `const*rbf`, and its numbers and the noise are those of the
# largest marginal likelihood.

# %%
X = np.sort(rng.uniform(-3, 3, size=(40, 1)), axis=0)
y = np.sin(3 * X[:, 0]) * np.exp(-X[:, 0] ** 2 / 4) + 0.1 * rng.normal(size=40)
gp = gram.GaussianProcessRegressor().fit(X, y)
print(f"noise: a deviation of {gp.noise_ ** 0.5:.2f}, left-out error {gp.loo_rmse_:.2f}")

# %% picture: the posterior mean, its interval of 95 %, and the data
import matplotlib.pyplot as plt

at = np.linspace(-4, 4, 300)[:, None]
mean, lower, upper = gp.predict(at, interval=0.95, latent=True)
figure, axes = plt.subplots()
axes.fill_between(at[:, 0], lower, upper, alpha=0.3, linewidth=0)
axes.plot(at[:, 0], mean)
axes.plot(X[:, 0], y, "k.", markersize=4)

# %% [markdown]
# `report_` has everything that `gram info` prints: a mapping, which shows itself as the command's table.

# %%
print(gp.report_["method"], gp.report_["task"], gp.report_["n"], sorted(name for name in gp.report_ if name.startswith("loo")))

# %% [markdown]
# ## A machine in a pipeline
#
# Estimators follow scikit-learn's conventions. Here two half moons, the width of the kernel and C by a grid; without either gram would
# choose both itself.

# %%
from sklearn.datasets import make_moons
from sklearn.model_selection import GridSearchCV

P, moon = make_moons(150, noise=0.2, random_state=0)
grid = GridSearchCV(gram.SVC(), {"kernel": [gram.RBF(ell) for ell in (0.1, 0.5, 2.0)], "C": [1, 10]}, cv=5).fit(P, moon)
print(grid.best_params_, f"{grid.best_score_:.3f}")

# %% picture: where the machine changes its mind
side = np.linspace(-1.6, 2.6, 80)
a, b = np.meshgrid(side, side)
score = grid.best_estimator_.decision_function(np.column_stack([a.ravel(), b.ravel()])).reshape(a.shape)
figure, axes = plt.subplots()
axes.contour(a, b, score, levels=[-1, 0, 1], colors="0.4", linestyles=["dashed", "solid", "dashed"], linewidths=1)
for label in (0, 1):
    axes.plot(*P[moon == label].T, ".", markersize=5)
axes.set_ylim(-1.2, 1.8)

# %% [markdown]
# ## Are two samples of one distribution?
#
# Both have mean 0 and variance 1. The test sees that one of them has two humps, and the witness function shows where.

# %%
first = rng.normal(size=(150, 1))
second = np.sign(rng.normal(size=(150, 1))) * 0.9 + np.sqrt(1 - 0.9**2) * rng.normal(size=(150, 1))
found = gram.mmd_test(first, second, kernel="rbf(ell=0.5)", seed=1)
print(found.reject, found.p_value <= 0.01)

# %% picture: the witness: above 0 the first sample has more mass, below the second
axes = found.plot()

# %% [markdown]
# ## Twenty rows that stand for two thousand
#
# A sample of a banana-shaped density, as Markov chains make them. Stein thinning chooses rows by the density's scores alone.

# %%
chain = rng.normal(size=(2000, 2)) * [3, 1]
chain[:, 1] += 0.1 * chain[:, 0] ** 2 - 1
scores = np.column_stack([-chain[:, 0] / 9 + (chain[:, 1] - 0.1 * chain[:, 0] ** 2 + 1) * 0.2 * chain[:, 0],
                          -(chain[:, 1] - 0.1 * chain[:, 0] ** 2 + 1)])
thinned = gram.stein_thinning(chain, 20, scores)
print(len(thinned), bool(thinned.discrepancy[-1] < thinned.discrepancy[0] / 3))

# %% picture: the chosen rows among all
axes = thinned.plot()

# %% [markdown]
# ## The same model in the shell
#
# What an estimator saves the command reads, and the other way round.

# %%
import os
import tempfile

path = os.path.join(tempfile.mkdtemp(), "wave.gram")
gp.save(path)
print("exit code", gram.cli(["info", path, "-o", os.path.join(os.path.dirname(path), "info.txt")]))
print(type(gram.load(path)).__name__, bool((gram.load(path).predict(X) == gp.predict(X)).all()))
