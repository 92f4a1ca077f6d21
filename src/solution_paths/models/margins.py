"""The statement of double margins whose outer one moves with rho >= ||w||_1.

The loss max(0, 1 - m, 1 + m - kappa rho) is two hinges as long as kappa rho >= 2. Below it is
1 - h + |m - h| with h = kappa rho / 2. With rho = rho+ - r, rho+ >= 2 / kappa and r >= 0, both are

    (1 - m - kappa r / 2)^+ + (1 + m - kappa rho+ + kappa r / 2)^+ + kappa r / 2,

which is jointly convex. At an optimum r = 0 or rho+ = 2 / kappa: subtracting the same amount from
both lowers the last term by kappa / 2 times the amount and raises at most one of the hinges by as
much. So each sample has two plain hinges, b, rho+ and r are free variables, and rho+ - r is the
radius of the l1 constraint.
"""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from ..errors import PathWarning
from ..problem import L1Constraint, Losses, Problem, Product, losses, penalties
from ..problem.maps import frozen
from ..validation import Floats, Rows, callers_level, check_number
from .limits import from_least
from .samples import Reading, Samples, SolutionPath, model_path
from .weights import check_shares

LEAST_REACH = 1e-5  # least effect of a column on predictions: below it accuracy is lost
BEYOND_ZERO = 1.001  # the end of a path in lam1, relative to the value from which on all is zero


class Margins(NamedTuple):
    """Samples, labels -1 and +1, shares of losses, kappa, the reading, maps of both hinges."""

    samples: Samples
    signs: Floats
    shares: Floats
    kappa: float
    reading: Reading
    maps: list[tuple[Product, Floats]]

    @classmethod
    def of(
        cls, X: Rows, y: ArrayLike, kappa: float, sample_weight: ArrayLike | None = None
    ) -> Margins:
        """Check data and kappa; warn where ||w||_1 <= rho keeps every column's effect too small."""
        samples = Samples.of(X).centred()
        signs, classes = samples.labels(y, X)
        shares = check_shares(sample_weight, X, signs, classes)
        kappa = check_number(kappa, "kappa", above=0)
        reach = samples.largest_range * 2.0 / kappa
        if 0.0 < reach < LEAST_REACH:
            warnings.warn(
                "With ||w||_1 <= rho, about 2 / kappa, the columns of X change predictions by "
                f"{reach:.0e} at most, beside margins of 1, and accuracy is lost; scale them up, "
                "or take a smaller kappa.",
                PathWarning,
                stacklevel=callers_level(),
            )
        reading, maps = samples.reading("sign", classes, [[1.0, 0.0, 0.0]]), []
        for side, rho in ((signs, [0.0, kappa / 2]), (-signs, [kappa, -kappa / 2])):  # rho+ and r
            free = np.column_stack([side, np.tile(rho, (samples.n, 1))])
            maps.append((Product(sp.diags_array(side).tocsr(), samples.X), frozen(free)))
        return cls(samples, signs, shares, kappa, reading, maps)

    def problem(self, cost: float, lam1: float, lam2: float) -> Problem:
        """Return the problem whose losses have the total weight ``cost``."""
        half, hinges = self.kappa / 2, losses.shortfall(np.ones(self.samples.n), cost * self.shares)
        least = Losses(penalties.at_least(2, [2 / self.kappa, 0.0]), 0, np.eye(3)[1:])
        groups = [*(Losses(hinges, *pair) for pair in self.maps), least]
        price, radius = [0.0, lam1, cost * half - lam1], L1Constraint(0.0, [0.0, 1.0, -1.0])
        return Problem(groups, ridge=lam2, linear=price, constraint=radius)

    def in_lam1(self, lam2: float, largest: float, least: float, **options: Any) -> SolutionPath:
        """Return the path in lam1 from the least, up to where all is zero."""

        def model(t: float) -> Problem:
            return self.problem(1.0, t, lam2)

        span = from_least(least, "lam1_min") | {"parameter": "lam1", "reading": self.reading}
        span["t1"] = max(BEYOND_ZERO * largest or 1.0, BEYOND_ZERO * span["t0"])
        return model_path(model, **span, **options)

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
