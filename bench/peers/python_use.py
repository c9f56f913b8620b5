"""The Python package, and scikit-learn in its place: what calls cost, and the fits that people do most.

    python_use.py gram|sklearn WHAT [N]

    import      importing gram after NumPy
    call        k(X, Y) of two points, the mean over many calls
    estimator   fit and predict of 20 rows by estimators whose kernel and strength are given: seconds of each
    matrix      the Gaussian Gram matrix of N = 8000 rows, d = 10
    memory      fit and predict of an array of N = 1e9 bytes, 20 landmarks, as it is and scaled; peak memory over that before the fit
    krr         kernel ridge regression with its width and ridge chosen, N = 5000, d = 10
    gpr         a Gaussian process with amplitude, length and noise chosen, N = 2000, d = 8
    svc         a support vector machine, kernel and C given, N = 20000, d = 20

Prints seconds, and check values where both sides compute the same; `error` is the mean squared error on other rows.
"""

import json
import sys
import time

import common  # sets the number of threads, so it comes before the libraries
import numpy as np

ELL, ALPHA, C = 10**0.5, 0.1, 1.0


def repeat(call, least=0.5):
    """Seconds of one call, after a first one."""
    call()
    count, start = 0, time.perf_counter()
    while time.perf_counter() - start < least:
        call()
        count += 1
    return (time.perf_counter() - start) / count


def once(call):
    start = time.perf_counter()
    result = call()
    return time.perf_counter() - start, result


def data(n, d):
    x = common.random_points(common.SEED_X, n + 1000, d, np.float64)
    y = np.sin(x[:, 0]) + 0.5 * x[:, 1] * x[:, 1] + 0.2 * common.random_numbers(common.SEED_V, n + 1000)
    return x[:n], y[:n], x[n:], y[n:]


def measure_import(side):
    seconds, _ = once(lambda: __import__("gram" if side == "gram" else "sklearn.kernel_ridge"))
    return {"seconds": seconds}


def measure_call(side):
    x = np.array([[0.0, 1.0], [1.0, 0.5]])
    if side == "gram":
        import gram

        k = gram.RBF(1.0)
        return {"seconds": repeat(lambda: k(x, x))}
    from sklearn.metrics.pairwise import rbf_kernel

    return {"seconds": repeat(lambda: rbf_kernel(x, x, gamma=0.5))}


def ridge(side):
    if side == "gram":
        import gram

        return gram.KernelRidge(kernel=f"rbf(ell={ELL!r})", alpha=ALPHA, intercept=False, scale=False)
    from sklearn.kernel_ridge import KernelRidge

    return KernelRidge(kernel="rbf", gamma=1 / (2 * ELL**2), alpha=ALPHA)


def small_models(side):
    """The same models on both sides: name, estimator, what it predicts by."""
    if side == "gram":
        import gram

        rbf = {"kernel": "rbf(ell=1)", "scale": False}
        return [("SVC", gram.SVC(C=C, **rbf), "predict"), ("SVR", gram.SVR(C=C, **rbf), "predict"),
                ("GPR", gram.GaussianProcessRegressor(noise=ALPHA, tune="none", mean="zero", **rbf), "predict"),
                ("KernelPCA", gram.KernelPCA(n_components=2, **rbf), "transform")]
    from sklearn.decomposition import KernelPCA
    from sklearn.gaussian_process import GaussianProcessRegressor, kernels
    from sklearn.svm import SVC, SVR

    return [("SVC", SVC(C=C, gamma=0.5), "predict"), ("SVR", SVR(C=C, gamma=0.5), "predict"),
            ("GPR", GaussianProcessRegressor(kernels.RBF(1.0), alpha=ALPHA, optimizer=None), "predict"),
            ("KernelPCA", KernelPCA(n_components=2, kernel="rbf", gamma=0.5), "transform")]


def measure_estimator(side):
    x, y, _, _ = data(20, 3)
    model = ridge(side)
    found = {"seconds": repeat(lambda: model.fit(x, y).predict(x)), "check": common.check(model.fit(x, y).predict(x))}
    for name, model, by in small_models(side):
        target = (y > np.median(y)).astype(int) if name == "SVC" else y
        found[name] = repeat(lambda: getattr(model.fit(x, target), by)(x))  # noqa: B023
    return found


def measure_matrix(side, n=8000):
    x, _, _, _ = data(n, 10)
    import gram

    k = gram.RBF(ELL)
    seconds, out = once(lambda: k(x))
    return {"seconds": seconds, "check": common.check(out.ravel())}


def peak():
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmHWM"))


def measure_memory(side, size=1e9):
    import gram

    d = 50
    x = np.random.default_rng(0).standard_normal((int(size / 8 / d), d))
    y = x[:, 0] + 1

    def fit(n, scale):
        return gram.KernelRidge(kernel="rbf(ell=7)", alpha=1, solver="nystrom:20", scale=scale).fit(x[:n], y[:n])

    fit(100, False)
    before = peak()
    seconds, model = once(lambda: fit(len(x), False))
    fitted = peak()
    model.predict(x)
    predicted = peak()
    fit(len(x), True)
    return {"seconds": seconds, "bytes": x.nbytes, "fit": fitted - before, "predict": predicted - fitted, "scaled": peak() - before}


def measure_krr(side, n=5000):
    x, y, new, truth = data(n, 10)
    if side == "gram":
        import gram

        model = gram.KernelRidge(kernel="rbf", scale=False)
    else:
        from sklearn.kernel_ridge import KernelRidge
        from sklearn.model_selection import GridSearchCV

        grid = {"gamma": [0.01, 0.05, 0.25], "alpha": [0.01, 0.1, 1]}
        model = GridSearchCV(KernelRidge(kernel="rbf"), grid, cv=3, scoring="neg_mean_squared_error")
    seconds, _ = once(lambda: model.fit(x, y))
    return {"seconds": seconds, "error": float(np.mean((model.predict(new) - truth) ** 2))}


def measure_gpr(side, n=2000):
    x, y, new, truth = data(n, 8)
    if side == "gram":
        import gram

        model = gram.GaussianProcessRegressor("const*rbf", ard=False, scale=False)
    else:
        from sklearn.gaussian_process import GaussianProcessRegressor
        from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

        model = GaussianProcessRegressor(ConstantKernel() * RBF() + WhiteKernel(), normalize_y=True)
    seconds, _ = once(lambda: model.fit(x, y))
    return {"seconds": seconds, "error": float(np.mean((model.predict(new) - truth) ** 2))}


def measure_svc(side, n=20000):
    x, y, new, _ = data(n, 20)
    labels = (y > np.median(y)).astype(int)
    if side == "gram":
        import gram

        model = gram.SVC(C=C, kernel=f"rbf(ell={20**0.5!r})", scale=False)
    else:
        from sklearn.svm import SVC

        model = SVC(C=C, gamma=1 / 40, cache_size=1000)
    seconds, _ = once(lambda: model.fit(x, labels))
    return {"seconds": seconds, "decisions": model.decision_function(new[:50]).tolist()}


def main():
    side, what = sys.argv[1:3]
    numbers = [int(float(a)) for a in sys.argv[3:]]
    import sklearn

    print(json.dumps({**globals()[f"measure_{what}"](side, *numbers), "sklearn": sklearn.__version__}))


main()
