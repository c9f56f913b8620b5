"""Bayesian optimisation from Python: the same studies as in C and in the command."""

import math
import os
import random
import tempfile
import unittest

import gram


def bowl(point):
    return (point["x"] - 3) ** 2 + (math.log10(point["rate"]) + 2) ** 2 + abs(point["n"] - 4) + (point["mode"] != "b")


SPACE = {"x": (0, 10), "rate": (1e-4, 1, "log"), "n": (1, 9, "int"), "mode": ["a", "b", "c"]}


class Optimize(unittest.TestCase):
    def test_minimum_of_all_kinds(self):
        found = gram.minimize(bowl, SPACE, 45, seed=1)
        self.assertLess(found.value, 0.1)
        self.assertEqual((found.point["n"], found.point["mode"]), (4, "b"))
        self.assertIsInstance(found.point["n"], int)
        self.assertEqual(found.evaluations, 45)
        self.assertGreaterEqual(found.std, 0)
        self.assertEqual(set(found.study.importance), set(SPACE))

    def test_same_seed_same_points(self):
        points = [gram.minimize(bowl, SPACE, 12, seed=5).study.trials for _ in range(2)]
        self.assertEqual([t.point for t in points[0]], [t.point for t in points[1]])

    def test_failures_and_exceptions(self):
        def fails(point):
            if point["x"] > 5:
                raise RuntimeError("too far")
            return None if point["x"] < 1 else point["x"]

        found = gram.minimize(fails, {"x": (0, 10)}, 20, catch=(RuntimeError,))
        self.assertGreater(found.failed, 0)
        self.assertLess(found.value, 1.3)
        with self.assertRaisesRegex(ValueError, "no evaluation of 3"):
            gram.minimize(lambda point: None, {"x": (0, 1)}, 3)
        with self.assertRaisesRegex(ValueError, "budget = 0"):
            gram.minimize(lambda point: None, {"x": (0, 1)}, 0)

    def test_constraints_and_maximize(self):
        found = gram.minimize(lambda p: (p["x"], [p["x"] - 0.6]), {"x": (0, 1)}, 15, maximize=True, constraints=1)
        self.assertLessEqual(found.point["x"], 0.6)
        self.assertGreater(found.value, 0.58)

    def test_recommended_and_regret(self):
        draw = random.Random(3)
        study = gram.Study({"x": (0, 10)}, noise=0.04, kappa=1.5)
        self.assertIsNone(study.recommended)
        for _ in range(20):
            trial = study.ask()
            study.tell(trial, (trial.point["x"] - 4) ** 2 / 10 + 0.2 * draw.gauss(0, 1))
        mean, std = study.predict([{"x": i / 200} for i in range(2001)])
        found = study.recommended
        self.assertLessEqual(found.mean, mean.min() + 1e-9)
        self.assertAlmostEqual(found.mean, study.predict([found.point])[0][0], 12)
        upper = found.mean + 1.5 * found.std
        self.assertAlmostEqual(study.regret, upper - (mean - 1.5 * std).min(), 3)

    def test_exact_values_recommend_the_best_and_regret_ends(self):
        found = gram.minimize(lambda p: (p["x"] - 3) ** 2, {"x": (0, 10)}, 40, noise=0, regret=1e-2)
        self.assertLess(found.evaluations, 40)
        self.assertEqual(found.study.recommended.point, found.point)
        with self.assertRaisesRegex(ValueError, "no bound is known with constraints"):
            constrained = gram.Study({"x": (0, 1)}, constraints=1)
            constrained.tell(constrained.ask(), 1.0, [-1.0])
            constrained.regret

    def test_batch_files_and_bad_use(self):
        study = gram.Study(SPACE)
        batch = [study.ask() for _ in range(3)]
        for trial in reversed(batch[1:]):
            study.tell(trial, bowl(trial.point))
        study.tell({"x": 3, "rate": 0.01, "n": 4, "mode": "b"}, 0)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "study.json")
            study.save(path)
            back = gram.Study.load(path)
        self.assertEqual([t.point for t in back.trials], [t.point for t in study.trials])
        self.assertEqual(back.best.value, 0)
        self.assertEqual(back.ask().point, batch[0].point)
        with self.assertRaisesRegex(ValueError, "told already"):
            study.tell(batch[1], 1)
        with self.assertRaisesRegex(ValueError, "not one of"):
            study.tell({"x": 3, "rate": 0.01, "n": 4, "mode": "z"}, 0)
        with self.assertRaisesRegex(ValueError, "lower bound 3 is above"):
            gram.Study({"x": (3, 1)})
        with self.assertRaisesRegex(ValueError, "write .lower, upper."):
            gram.Study({"x": (3, 1, "odd")})
        with self.assertRaises(OSError):
            gram.Study.load("/no/such/file")

    def test_candidates(self):
        rows = [{"x": float(i), "kind": kind} for i in range(5) for kind in ("u", "v")]
        study = gram.Study({"x": (0, 4), "kind": ["u", "v"]}, candidates=rows)
        seen = []
        for _ in rows:
            trial = study.ask()
            seen.append(trial.row)
            self.assertEqual(trial.point, rows[trial.row])
            study.tell(trial, trial.point["x"])
        self.assertEqual(sorted(seen), list(range(10)))
        with self.assertRaisesRegex(ValueError, "all 10 candidates"):
            study.ask()


if __name__ == "__main__":
    unittest.main()
