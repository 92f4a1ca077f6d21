"""Samples at the threshold of capped losses: when a local optimum is one."""

import numpy as np

from solution_paths import verify
from solution_paths.problem import Losses, Problem
from solution_paths.problem.branches import Branches, robust_hinges
from solution_paths.verify.partitions import at_threshold


def test_local_optimality_with_many_samples_at_the_threshold_is_undecided():
    """Twice so many samples at the threshold, half of them on either side of the origin."""
    for pairs, decided in ((3, True), (4, False)):
        X = np.array([[1.0, 0.0], *[[0.0, 1.0]] * pairs, *[[0.0, -1.0]] * pairs])
        y = np.ones(len(X))

        def machine(own, X=X):
            return Problem(Losses(own, X), ridge=1.0)

        branches = Branches.along(
            lambda t, y=y: robust_hinges(y, 1.0, t, 0.0), machine, np.ones(len(y), int), (0.0, 1.0)
        )
        a, z = np.array([1.0, *[1.2] * (2 * pairs)]), X @ [1.0, 0.0]
        inliers = np.ones(len(y), int)
        answer = verify.Answer(np.array([1.0, 0.0]), None, [a])
        assert verify.judge(branches.problem(0.4, inliers), answer).status == "holds"
        found = at_threshold(branches, 0.4, inliers, z, a)
        assert len(found.samples) == 2 * pairs
        assert found.decided == decided
        assert (found.local is None) == (not decided)
