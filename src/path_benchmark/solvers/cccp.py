"""The concave-convex procedure for robust SVM classification and regression.

The robust loss is a convex one (hinge, absolute value) minus (1 - theta) times another that is zero
for inliers. Its tangent at the present solution makes a convex problem: the standard machine with
the duals' boxes shifted for the outliers,

    minimise 1/2 a'Ka - y'a  subject to low_i <= a_i <= high_i,

with [0, C] for an inlier and [-C (1 - theta), C theta] for an outlier of label +1, mirrored for -1;
in regression [-C, C], shifted by -+C (1 - theta) for outliers below and above their predictions. It
is solved again, from the last solution, until the set of outliers repeats. Linear models take dual
coordinate descent with shrinking (Hsieh et al., ICML 2008, LIBLINEAR's method), and where that is
slow PIQP, an interior-point method; kernels this package's SMO; all without a bias.

References: Yuille and Rangarajan (2002); Collobert, Sinz, Weston and Bottou (2006).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numba import types
from numba.extending import overload
from numpy.typing import NDArray

from solution_paths.compilation import cached_njit

from ..objectives.robust import Robust, RobustHinge
from .answer import Answer, Stopwatch, reuse_or_build
from .piqp_solver import set_tolerance
from .smo import SMO

NAME = "CCCP"
UNSOLVED = "a convex problem was not solved"
CYCLE = "outliers return to an earlier set, and do not settle"
MOST = 100  # convex problems
INTERIOR = 1e-11  # the interior-point method's tolerance, of residuals and gap, for C = 1
PASSES = 1000  # of coordinate descent; where these don't do, an interior-point method is faster
MOST_STEPS = 10_000  # of the SMO, for each sample
Floats = NDArray[np.float64]


# -- dual coordinate descent ------------------------------------------------------------------


def _dot(rows: Any, i: Any, w: Any) -> None:
    """Return x_i . w, of dense rows or of a CSR matrix's indptr, indices and data."""


@overload(_dot, jit_options={"fastmath": True})
def _dot_compiled(rows: Any, i: Any, w: Any) -> Callable[..., float]:
    if isinstance(rows, types.Array):

        def dense(rows: Any, i: Any, w: Any) -> float:
            total = 0.0
            for k in range(len(w)):
                total += rows[i, k] * w[k]
            return total

        return dense

    def sparse(rows: Any, i: Any, w: Any) -> float:
        indptr, indices, x = rows
        total = 0.0
        for s in range(indptr[i], indptr[i + 1]):
            total += x[s] * w[indices[s]]
        return total

    return sparse


def _add(rows: Any, i: Any, factor: Any, w: Any) -> None:
    """Add factor * x_i to w."""


@overload(_add, jit_options={"fastmath": True})
def _add_compiled(rows: Any, i: Any, factor: Any, w: Any) -> Callable[..., None]:
    if isinstance(rows, types.Array):

        def dense(rows: Any, i: Any, factor: Any, w: Any) -> None:
            for k in range(len(w)):
                w[k] += factor * rows[i, k]

        return dense

    def sparse(rows: Any, i: Any, factor: Any, w: Any) -> None:
        indptr, indices, x = rows
        for s in range(indptr[i], indptr[i + 1]):
            w[indices[s]] += factor * x[s]

    return sparse


@cached_njit(fastmath=True)
def _descend(
    rows: Any,
    diagonal: Floats,
    y: Floats,
    low: Floats,
    high: Floats,
    a: Floats,
    w: Floats,
    tolerance: float,
    passes: int,
    seed: int,
) -> int:
    """Minimise over one dual after the other; return the number of passes, negative if too few."""
    n = len(a)
    np.random.seed(seed)  # noqa: NPY002 (numba has no Generator here)
    active, size = np.arange(n), n
    top, bottom = np.inf, -np.inf  # of projected gradients in the last pass
    for done in range(passes):
        largest, least = -np.inf, np.inf
        for k in range(size):
            j = k + np.random.randint(size - k)  # noqa: NPY002
            active[k], active[j] = active[j], active[k]
        k = 0
        while k < size:
            i = active[k]
            gradient = _dot(rows, i, w) - y[i]
            projected = gradient
            if a[i] <= low[i]:
                if gradient > top and gradient > 0.0:
                    size -= 1
                    active[k], active[size] = active[size], active[k]
                    continue
                projected = min(gradient, 0.0)
            elif a[i] >= high[i]:
                if gradient < bottom and gradient < 0.0:
                    size -= 1
                    active[k], active[size] = active[size], active[k]
                    continue
                projected = max(gradient, 0.0)
            largest, least = max(largest, projected), min(least, projected)
            if projected != 0.0 and diagonal[i] > 0.0:
                new = min(max(a[i] - gradient / diagonal[i], low[i]), high[i])
                _add(rows, i, new - a[i], w)
                a[i] = new
            k += 1
        if size == 0 or largest - least <= tolerance:
            if size == n:
                return done + 1
            size, top, bottom = n, np.inf, -np.inf
            continue
        top = largest if largest > 0.0 else np.inf
        bottom = least if least < 0.0 else -np.inf
    return -passes


def _parts(X: Any) -> tuple[Any, Any, Floats]:
    rows = sp.csr_array(X)
    return rows.indptr, rows.indices, rows.data.astype(np.float64)


class LinearSolver:
    """Dual coordinate descent on the rows of one data set.

    Parameters
    ----------
    X : (n, d) array or CSR matrix
    """

    def __init__(self, X: Any):
        self.X = X
        self.rows: Any = np.ascontiguousarray(X) if isinstance(X, np.ndarray) else _parts(X)
        squares = X.power(2) if sp.issparse(X) else X**2
        self.diagonal = np.asarray(squares.sum(axis=1), dtype=np.float64).ravel()
        self._interior: Any = None

    def solve(self, y: Floats, low: Floats, high: Floats, a: Floats, tolerance: float) -> tuple:
        """Return (a, values, w, passes); negative if it didn't converge.

        Where C is large or columns are correlated coordinate descent would need very many passes;
        it then begins again at the interior-point method's solution.
        """
        y = np.array(y)
        a, w, passes = self._descent(y, low, high, a, tolerance)
        if passes < 0:
            start = self._interior_point(y, low, high)
            if start is not None:
                a, w, passes = self._descent(y, low, high, start, tolerance)
                passes = abs(passes)  # PIQP's solution, of which all duals may not reach tolerance
        return a, np.asarray(self.X @ w).ravel(), w, passes

    def _descent(
        self, y: Floats, low: Floats, high: Floats, a: Floats, tolerance: float
    ) -> tuple[Floats, Floats, int]:
        a = np.clip(a, low, high)
        idle = self.diagonal == 0.0  # any dual minimises -y a at an end of its box
        a[idle] = np.where(y > 0, high, low)[idle]
        w = np.asarray(self.X.T @ a, dtype=np.float64).ravel()
        passes = _descend(self.rows, self.diagonal, y, low, high, a, w, tolerance, PASSES, 1)
        return a, w, passes

    def _interior_point(self, y: Floats, low: Floats, high: Floats) -> Floats | None:
        """Minimise ||w||^2 / 2 - y'a subject to w = X'a, low <= a <= high; None if that fails."""
        import piqp

        n, d = self.X.shape
        scale = max(np.abs(low).max(), np.abs(high).max())
        unbounded = np.full(d, np.inf)
        moving = {
            "c": np.r_[np.zeros(d), -y / scale],
            "x_l": np.r_[-unbounded, low / scale],
            "x_u": np.r_[unbounded, high / scale],
        }
        if self._interior is None:
            self._interior = piqp.SparseSolver()
            set_tolerance(self._interior, INTERIOR)
            P = sp.diags_array(np.r_[np.ones(d), np.zeros(n)]).tocsc()
            A = sp.hstack([-sp.eye_array(d), sp.csc_array(self.X.T)]).tocsc()
            self._interior.setup(P, A=A, b=np.zeros(d), **moving)
        else:
            self._interior.update(**moving)
        if self._interior.solve() != piqp.PIQP_SOLVED:
            return None
        return self._interior.result.x[d:] * scale


class KernelSolver:
    """SMO without a bias on one Gram matrix."""

    def __init__(self, K: Floats):
        self.K = K
        self.smo = SMO(K, kernel="precomputed")

    def solve(self, y: Floats, low: Floats, high: Floats, a: Floats, tolerance: float) -> tuple:
        """Return (a, values, None, iterations); negative if it didn't converge."""
        limit = MOST_STEPS * len(y)
        result = self.smo.solve_box(y, low, high, start=a, tol=tolerance, max_iterations=limit)
        count = result.iterations if result.status == "solved" else -max(result.iterations, 1)
        return result.alpha, self.K @ result.alpha, None, count


# -- the procedure ----------------------------------------------------------------------------


def version() -> str:
    """Version of this project: the procedure and its solvers are its own."""
    from .smo import version as smo_version

    return smo_version()


def supports(objective: object) -> str:
    """Empty when the objective can be solved, else the reason why it can't."""
    return "" if isinstance(objective, Robust) else "CCCP is for robust losses"


def boxes(objective: Robust, outlier: NDArray[np.int8]) -> tuple[Floats, Floats]:
    """Return the least and largest signed duals, for signs of outliers' duals (0: an inlier)."""
    C, theta = objective.C, objective.theta()
    shift = C * (1.0 - theta) * outlier
    if isinstance(objective, RobustHinge):
        y = objective.y
        return np.where(y > 0, 0.0, -C) - shift, np.where(y > 0, C, 0.0) - shift
    return -C - shift, C - shift


def outliers(objective: Robust, values: Floats) -> NDArray[np.int8]:
    """Return the signs of outliers' duals, 0 for inliers."""
    s = objective.s()
    if isinstance(objective, RobustHinge):
        return np.where(objective.y * values < s, objective.y, 0.0).astype(np.int8)
    error = objective.y - values
    return np.where(np.abs(error) > s, np.sign(error), 0.0).astype(np.int8)


def solver_of(objective: Robust, gram: Floats | None = None) -> LinearSolver | KernelSolver:
    """Return the solver of the convex problems, for the Gram matrix where that is known."""
    if objective.linear:
        return LinearSolver(objective.X)
    return KernelSolver(objective.gram() if gram is None else gram)


def solve(
    objective: Robust, options: dict[str, Any] | None = None, start: Answer | None = None
) -> Answer:
    """Find a stationary point of the robust machine at one theta and s.

    Parameters
    ----------
    objective : RobustHinge or RobustTube
        ``objective.at(t)``.
    options : dict
        ``tolerance`` (1e-6) of the convex solver.
    start : Answer, optional
        Begin there, and with its converted data when they are the same; else with the standard
        machine.

    Returns
    -------
    Answer
        ``iterations`` is the number of convex problems; ``message`` says when it stopped early.
    """
    if reason := supports(objective):
        return Answer(status="not applicable", message=reason)
    tolerance = (options or {}).get("tolerance", 1e-6)
    key = (NAME, objective.kernel)
    state, setup = reuse_or_build(objective, start, key, lambda: solver_of(objective))
    with Stopwatch() as watch:
        a = None if start is None else objective.signed_dual(start.alpha)
        a, w, problems, message = procedure(objective, state.value, tolerance, a)
    return Answer(
        alpha=objective.public_dual(a),
        w=w,
        cpu_s=watch.cpu_s,
        wall_s=watch.wall_s,
        setup_cpu_s=setup,
        iterations=problems,
        status="inaccurate" if message else "solved",
        message=message,
        state=state,
    )


def standard(
    objective: Robust,
    solver: LinearSolver | KernelSolver,
    tolerance: float,
    a: Floats | None = None,
) -> tuple[Floats, Floats, str]:
    """Return the standard machine's (a, values, why it is inaccurate)."""
    nobody = np.zeros(objective.n, dtype=np.int8)
    a = np.zeros(objective.n) if a is None else a
    a, values, _, count = solver.solve(objective.y, *boxes(objective, nobody), a, tolerance)
    return a, values, UNSOLVED if count < 0 else ""


def procedure(
    objective: Robust,
    solver: LinearSolver | KernelSolver,
    tolerance: float,
    a: Floats | None = None,
) -> tuple[Floats, Floats | None, int, str]:
    """Return (a, w, number of convex problems, why it is inaccurate), from signed duals a."""
    values: Floats
    message = ""
    if a is None:
        a, values, message = standard(objective, solver, tolerance)
        problems = 1
    else:
        values = _values(objective, solver, a)
        problems = 0
    seen: set[bytes] = set()
    last: NDArray[np.int8] | None = None
    w: Floats | None = None
    while problems < MOST:
        out = outliers(objective, values)
        if last is not None and np.array_equal(out, last):
            return a, w, problems, message
        if out.tobytes() in seen:  # rounding or the tolerance hides which of the two is lower
            return a, w, problems, message or CYCLE
        seen.add(out.tobytes())
        last = out
        a, values, w, count = solver.solve(objective.y, *boxes(objective, out), a, tolerance)
        message = message or (UNSOLVED if count < 0 else "")
        problems += 1
    return a, w, problems, f"outliers still change after {MOST} convex problems"


def _values(objective: Robust, solver: LinearSolver | KernelSolver, a: Floats) -> Floats:
    if isinstance(solver, KernelSolver):
        return solver.K @ a
    return np.asarray(objective.X @ (objective.X.T @ a)).ravel()
