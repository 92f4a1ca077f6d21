"""The statement of double margins whose outer one moves with rho >= ||w||_1.

The loss max(0, 1 - m, 1 + m - kappa rho) is two hinges as long as kappa rho >= 2. Below it is
1 - h + |m - h| with h = kappa rho / 2. With rho = rho+ - r, rho+ >= 2 / kappa and r >= 0, both are

    (1 - m - kappa r / 2)^+ + (1 + m - kappa rho+ + kappa r / 2)^+ + kappa r / 2,

which is jointly convex, and at an optimum r = 0 or rho+ = 2 / kappa: taking the same from both
lowers the sum by kappa / 2 times what is taken and raises at most one of the hinges by as much. So
each sample has two plain hinges, b, rho+ and r are free variables, and rho+ - r is the radius of
the l1 constraint.
"""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from ..errors import PathWarning
from ..problem import L1Constraint, Losses, Problem, Product, losses, penalties
from ..validation import Floats, Rows, callers_level, check_number
from .limits import from_least
from .samples import Reading, Samples, SolutionPath, model_path
from .weights import check_shares

LEAST_REACH = 1e-5  # of a column, in predictions: below that accuracy is lost
BEHIND = 1.001  # how far a path in lam1 goes beyond the value from which on all is zero


class Margins(NamedTuple):
    """Samples, labels -1 and +1, shares of losses, what changing a label costs, the reading."""

    samples: Samples
    signs: Floats
    shares: Floats
    kappa: float
    reading: Reading

    @classmethod
    def of(
        cls, X: Rows, y: ArrayLike, kappa: float, sample_weight: ArrayLike | None = None
    ) -> Margins:
        """Check data and kappa; warn where ||w||_1 <= rho lets no column change a decision."""
        samples = Samples.of(X).centred()
        signs, classes = samples.labels(y, X)
        shares = check_shares(sample_weight, X, signs, classes)
        kappa = check_number(kappa, "kappa", above=0)
        reach = samples.widest * 2.0 / kappa
        if 0.0 < reach < LEAST_REACH:
            warnings.warn(
                "With ||w||_1 <= rho, about 2 / kappa, the columns of X change predictions by "
                f"{reach:.0e} at most, beside margins of 1, and accuracy is lost; scale them up, "
                "or take a smaller kappa.",
                PathWarning,
                stacklevel=callers_level(),
            )
        reading = samples.reading("sign", classes, [[1.0, 0.0, 0.0]])
        return cls(samples, signs, shares, kappa, reading)

    def problem(self, cost: float, lam1: float, lam2: float) -> Problem:
        """Return the problem whose losses have a total cost."""
        n, y, half, zero = self.samples.n, self.signs, self.kappa / 2, np.zeros(self.samples.n)
        inner, outer = (Product(sp.diags_array(own).tocsr(), self.samples.X) for own in (y, -y))
        hinges = losses.shortfall(np.ones(n), cost * self.shares)
        groups = [
            Losses(hinges, inner, np.column_stack([y, zero, zero + half])),
            Losses(hinges, outer, np.column_stack([-y, zero + self.kappa, zero - half])),
            Losses(penalties.at_least(2, [2 / self.kappa, 0.0]), 0, np.eye(3)[1:]),
        ]
        price, radius = [0.0, lam1, cost * half - lam1], L1Constraint(0.0, [0.0, 1.0, -1.0])
        return Problem(groups, ridge=lam2, linear=price, constraint=radius)

    def in_lam1(self, lam2: float, largest: float, least: float, **options: Any) -> SolutionPath:
        """Return the path in lam1 from the least, up to where all is zero."""

        def model(t: float) -> Problem:
            return self.problem(1.0, t, lam2)

        own = from_least(least, "lam1_min") | {"parameter": "lam1", "reading": self.reading}
        own["t1"] = max(BEHIND * largest or 1.0, BEHIND * own["t0"])
        return model_path(model, **own, **options)

    def largest_lam1(self) -> float:
        """Return the least lam1 at which w, b and rho are zero.

        There no direction (w, b, rho = 1) lowers the objective, which near zero is 1 + rho (lam1 -
        kappa/2) + mean |m_i - kappa rho / 2|: the least of these means is a regression by absolute
        deviations.
        """
        half = self.kappa / 2
        data = self.samples.losses(losses.absolute(half * self.signs, self.shares))
        path = model_path(lambda s: Problem(data, constraint=s), 0.0, 1.0, check="ignore")
        return max(half - path.objective_value(1.0), 0.0)
