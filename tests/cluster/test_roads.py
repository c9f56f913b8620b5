"""Every road that is spread over ranks, by 1 to 4 of them, against one process: the model that is written, what it predicts, and the report."""
import sys

import ranks

# words, tolerance of predictions and of figures, what must be spread
ROADS = [
    ("exact", "--kernel rbf(ell=1.5) --lambda 1e-3 --solver exact --precision f64", 1e-10, ["factor", "inverse", "kernel products"]),
    ("exact mixed", "--kernel rbf(ell=1.5) --lambda 1e-3 --solver exact --precision mixed", 1e-10, ["factor", "kernel products"]),
    ("exact, several numbers", "--kernel 2*matern(nu=1.5,ell=2)+linear --lambda 1e-2 --solver exact", 1e-10, ["factor"]),
    ("cg", "--kernel rbf(ell=1.5) --lambda 1e-3 --solver cg", 1e-7, ["kernel products"]),
    ("nystrom", "--kernel rbf(ell=1.5) --lambda 1e-3 --solver nystrom:40", 1e-8, ["features", "kernel products"]),
    ("nystrom, lambda by leave-one-out", "--kernel rbf(ell=1.5) --solver nystrom:40 --tune loo", 1e-6, ["features"]),
    ("fourier", "--kernel rbf(ell=1.5) --lambda 1e-3 --solver fourier:64", 1e-8, ["features"]),
    ("in passes", "--kernel rbf(ell=1.5) --lambda 1e-3 --solver nystrom:40 --stream", 1e-8, ["sums over rows"]),
    ("gp", "--method gp --kernel 2*rbf(ell=1.5) --noise 0.2", 1e-10, ["factor", "kernel products"]),
    ("gp flat", "--method gp --kernel 2*rbf(ell=1.5) --noise 0.2 --mean flat", 1e-10, ["factor"]),
    ("gp tuned", "--method gp --kernel const*rbf", 1e-5, ["factor", "gradient", "starts"]),
    ("gp cg", "--method gp --kernel 2*rbf(ell=1.5) --noise 0.2 --solver cg", 1e-6, ["kernel products"]),
    ("vecchia", "--method gp --solver vecchia:20 --kernel 2*rbf(ell=1.5) --noise 0.2", 1e-10, ["neighbours"]),
    ("vecchia tuned", "--method gp --solver vecchia:10", 1e-3, ["starts", "neighbours"]),
    ("cells", "--kernel rbf(ell=1.5) --lambda 1e-3 --solver cells:60", 0, ["cells"]),
    ("cells tuned", "--solver cells:150", 0, ["cells"]),
    ("svm grid", "--method svm --kernel rbf --epsilon 0.1", 1e-4, ["grid"]),
]
FIGURES = ["train_rmse", "loo_rmse", "norm", "effective_dimension", "log_marginal_likelihood"]


def check_road(name, words, tolerance, spread, data, held):
    words = words.split()
    one = ranks.good(0, "fit", data, *words, "-o", "one.gram", "--json").json
    kind = ["--std"] if "gp" in words else []
    wanted = ranks.predictions("one.gram", held, *kind)
    for count in (1, 2, 3, 4):
        many = ranks.good(count, "fit", data, *words, "-o", "many.gram", "--json").json
        if count == 1:
            assert open("one.gram", "rb").read() == open("many.gram", "rb").read(), f"{name}: one rank has other bits"
            continue
        missing = [s for s in spread if s not in many["cluster"]["spread"].split(", ")]
        assert not missing, f"{name}: {missing} not spread over {count}: {many['cluster']['spread']}"
        for figure in FIGURES:
            if one.get(figure) is not None:
                error = abs(many[figure] - one[figure]) / (1 + abs(one[figure]))
                assert error <= tolerance, f"{name}: {figure} {many[figure]} by {count}, {one[figure]} by one"
        error = ranks.distance(ranks.predictions("many.gram", held, *kind), wanted)
        assert error <= tolerance, f"{name}: predictions off by {error} with {count} ranks"
        if tolerance == 0:
            assert open("one.gram", "rb").read() == open("many.gram", "rb").read(), f"{name}: {count} ranks have another model"
        print(f"{name}, {count} ranks: predictions off by {error:.1e}", flush=True)


def main():
    ranks.good(0, "make", "friedman", "--n", "331", "--noise", "0.5", "-o", "rows.csv")
    ranks.good(0, "make", "friedman", "--n", "50", "--seed", "5", "-o", "held.csv")
    for road in ROADS:
        if len(sys.argv) > 1 and sys.argv[1] not in road[0]:
            continue
        check_road(*road, "rows.csv", "held.csv")


if __name__ == "__main__":
    main()
