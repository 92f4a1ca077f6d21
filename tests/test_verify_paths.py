"""The judge and the robust machines' objectives, which share no formula, agree about paths."""

import numpy as np
import pytest

import solution_paths as own
from solution_paths.certify import score
from solution_paths.objectives import Solution
from solution_paths.verify import judge
from stated_objectives import answer, statement

n, d = 30, 4
r = np.random.default_rng(0)
X = np.round(r.normal(size=(n, d)), 1)
u = np.round(X[:, 0] - X[:, 1] + r.normal(size=n), 1)
y = np.where(u > 0, 1, -1)

PATHS = {
    f"outlier {kind}, {kernel}": lambda follow=follow, target=target, kernel=kernel: follow(
        X, target, 1.0, kernel=kernel, homotopy="theta"
    )
    for kind, follow, target in (
        ("svm", own.outlier_svm_path, y),
        ("svr", own.outlier_svr_path, u),
    )
    for kernel in ("linear", "rbf")
}


def points(path, count=5):
    """Return parameters between breakpoints, as the walk counts them."""
    rng, t = np.random.default_rng(5), path._t
    pieces = np.flatnonzero(np.diff(t) > 0)
    some = rng.choice(pieces, size=min(count, len(pieces)), replace=False)
    return t[some] + rng.uniform(size=len(some)) * (t[some + 1] - t[some])


def two_verdicts(path, t, solution):
    column = Solution(*(None if v is None else np.asarray(v)[..., None] for v in solution))
    old = score(path.objective, np.array([t]), column)
    stated = statement(path.objective, t, column)
    return old, judge(stated, answer(path.objective, t, solution))


@pytest.mark.parametrize("name", PATHS)
def test_paths_pass_both_judges(name):
    path = PATHS[name]()
    for t in points(path):
        old, found = two_verdicts(path, t, path._solution_at(t))
        assert found.status == "holds"
        assert found.primal == pytest.approx(old.primal[0], rel=1e-13)
        assert abs(found.gap - old.gap[0]) <= found.rounding + old.rounding[0] + 1e-15


@pytest.mark.parametrize("name", PATHS)
def test_both_judges_bound_the_optimum_alike_from_spoilt_solutions(name):
    path, rng, compared = PATHS[name](), np.random.default_rng(1), 0
    for t in points(path):
        solution = path._solution_at(t)
        best = two_verdicts(path, t, solution)[1].primal
        for size in (1e-9, 1e-8):
            spoilt = Solution(
                *(
                    None if v is None else v * (1 + size * rng.normal(size=np.shape(v)))
                    for v in solution
                )
            )
            old, found = two_verdicts(path, t, spoilt)
            if not (np.isfinite(old.gap[0]) and np.isfinite(found.gap)):
                continue
            compared += 1
            assert found.dual <= best + 1e-13 * abs(best)
            assert found.gap == pytest.approx(old.gap[0], rel=1e-3, abs=1e-15)
    assert compared
