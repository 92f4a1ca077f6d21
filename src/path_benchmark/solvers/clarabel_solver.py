"""Clarabel, an interior-point method, called directly: the oracle of the tests.

Hinge, linear kernel: the primal in (w, b, slacks), whose multipliers are alpha. Else the dual.
The objective is divided by the largest cost, so that the tolerances mean the same at every scale.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from ..objectives import Hinge, Machine, Tube
from .answer import Answer, Stopwatch, not_a_hinge, reuse_or_build
from .programmes import Answered, Parameters, Programme

NAME = "Clarabel"
TIGHT_OPTIONS: dict = {}
STATED_GAP = 1e-8
DEFAULTS = {"tol_gap_abs": 1e-13, "tol_gap_rel": 1e-13, "tol_feas": 1e-13, "max_iter": 200}


def version() -> str:
    """Version of the package, or "not installed"."""
    try:
        import clarabel
    except ImportError:
        return "not installed"
    return clarabel.__version__


def supports(objective: Machine) -> str:
    """Empty when the objective can be solved, else the reason why it can't."""
    return "" if isinstance(objective, Tube) else not_a_hinge(objective, diagonal=True)


def solve(
    objective: Hinge | Tube, options: dict | None = None, start: Answer | None = None
) -> Answer:
    """Solve; options: any setting of Clarabel, by default tolerances of 1e-13. No warm start."""
    try:
        import clarabel
    except ImportError as error:
        return Answer(status="not available", message=f"clarabel: {error}")
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_threads = 1
    for name, value in {**DEFAULTS, **(options or {})}.items():
        setattr(settings, name, value)
    scale = max(float(objective.costs().max()), np.finfo(float).tiny)
    form = _Tube if isinstance(objective, Tube) else _Primal if _linear(objective) else _Dual
    key = (form, objective.kernel, objective.lam, objective.bias, objective.bias_value)
    key = (*key, objective.diagonal)
    state, setup = reuse_or_build(objective, start, key, lambda: form.matrices(objective))
    P, A = state.value
    q, b, n_zero = form.vectors(objective, scale)
    cones = [clarabel.ZeroConeT(n_zero)] if n_zero else []
    cones.append(clarabel.NonnegativeConeT(A.shape[0] - n_zero))
    with Stopwatch() as watch:
        found = clarabel.DefaultSolver(
            P / scale if form is _Primal else P, q, A, b, cones, settings
        ).solve()
    x, z = np.array(found.x), np.array(found.z)
    # "InsufficientProgress" is what it says when 1e-13 is beyond reach; the judge sees how far off.
    known = {"Solved": "solved", "AlmostSolved": "inaccurate", "InsufficientProgress": "inaccurate"}
    return Answer(
        **form.solution(objective, x, z, scale),
        cpu_s=watch.cpu_s,
        wall_s=watch.wall_s,
        setup_cpu_s=setup,
        iterations=int(found.iterations),
        status=known.get(str(found.status), "failed"),
        message=str(found.status),
        state=state,
    )


def _linear(objective: Hinge) -> bool:
    """Whether w is finite-dimensional: what is added to the diagonal is a feature a sample."""
    return objective.linear and not objective.diagonal


class _Primal:
    """Variables: w (features), the bias if it is free, slacks. Rows: margins, then slacks >= 0."""

    @staticmethod
    def matrices(objective: Hinge) -> tuple[sp.csc_matrix, sp.csc_matrix]:
        X, y = sp.csr_matrix(objective.features()), objective.y[:, None]
        (n, d), free = X.shape, int(objective.free_bias)
        P = sp.diags(np.r_[np.full(d, objective.lam), np.zeros(n + free)]).tocsc()
        blocks = [X.multiply(y)]
        if free:
            blocks.append(sp.csr_matrix(y))
        margins = sp.hstack([*blocks, sp.eye(n)])
        slacks = sp.hstack([sp.csr_matrix((n, d + free)), sp.eye(n)])
        return P, (-sp.vstack([margins, slacks])).tocsc()

    @staticmethod
    def vectors(objective: Hinge, scale: float) -> tuple[np.ndarray, np.ndarray, int]:
        n, d = objective.n, objective.X.shape[1] + (objective.bias != "none")
        return np.r_[np.zeros(d), objective.costs() / scale], np.r_[-np.ones(n), np.zeros(n)], 0

    @staticmethod
    def solution(objective: Hinge, x: np.ndarray, z: np.ndarray, scale: float) -> dict:
        d = objective.X.shape[1]
        value = 1.0 if objective.free_bias else objective.bias_value
        alpha = np.clip(z[: objective.n] * scale, 0.0, objective.costs())
        return {"alpha": alpha, "w": x[:d].copy(), "b": float(x[d] * value) if value else 0.0}


class _Dual:
    """Variables: alpha / scale. Rows: balance if the bias is free, alpha >= 0, alpha <= costs."""

    @staticmethod
    def matrices(objective: Hinge) -> tuple[sp.csc_matrix, sp.csc_matrix]:
        n, y = objective.n, objective.y
        Q = objective.gram() * y[:, None] * y[None, :]
        rows = [sp.csr_matrix(y[None, :])] if objective.free_bias else []
        return sp.csc_matrix(np.triu(Q)), sp.vstack([*rows, -sp.eye(n), sp.eye(n)]).tocsc()

    @staticmethod
    def vectors(objective: Hinge, scale: float) -> tuple[np.ndarray, np.ndarray, int]:
        # With alpha = scale u the objective is scale^2/lam (u'Qu/2 - (lam/scale) 1'u).
        n, free = objective.n, int(objective.free_bias)
        q = np.full(n, -objective.lam / scale)
        return q, np.r_[np.zeros(free), np.zeros(n), objective.costs() / scale], free

    @staticmethod
    def solution(objective: Hinge, x: np.ndarray, z: np.ndarray, scale: float) -> dict:
        alpha = np.clip(x * scale, 0.0, objective.costs())
        return {"alpha": alpha, "b": _bias(objective, z, scale)}


class _Tube:
    """Variables: a / scale and s = |a| / scale. Rows: balance, a <= s, -a <= s, s <= costs."""

    @staticmethod
    def matrices(objective: Tube) -> tuple[sp.csc_matrix, sp.csc_matrix]:
        one, zero = sp.eye(objective.n), sp.csr_matrix((objective.n, objective.n))
        rows = (
            [sp.csr_matrix(np.repeat([[1.0, 0.0]], objective.n, axis=1))]
            if objective.free_bias
            else []
        )
        A = sp.vstack([*rows, sp.bmat([[one, -one], [-one, -one], [zero, one]])]).tocsc()
        return sp.block_diag([np.triu(objective.gram()), zero]).tocsc(), A

    @staticmethod
    def vectors(objective: Tube, scale: float) -> tuple[np.ndarray, np.ndarray, int]:
        n, free, small = objective.n, int(objective.free_bias), objective.lam / scale
        q = small * np.r_[-objective.y, np.full(n, objective.epsilon())]
        return q, np.r_[np.zeros(free + 2 * n), objective.costs() / scale], free

    @staticmethod
    def solution(objective: Tube, x: np.ndarray, z: np.ndarray, scale: float) -> dict:
        cost = objective.costs()
        a = np.clip(x[: objective.n] * scale, -cost, cost)
        return {"alpha": a, "b": _bias(objective, z, scale)}


def _bias(objective: Hinge | Tube, z: np.ndarray, scale: float) -> float | None:
    """Return the balance's multiplier, a free bias; the duals imply any other."""
    return float(z[0] * scale / objective.lam) if objective.free_bias else None


class Solver:
    """One programme; Clarabel has no warm start, so each call sets it up.

    Parameters
    ----------
    programme : Programme
    tolerance : float
        Absolute and relative, of residuals and gap.
    """

    def __init__(self, programme: Programme, tolerance: float = 1e-9) -> None:
        import clarabel

        self.programme, self._clarabel = programme, clarabel
        self._settings = clarabel.DefaultSettings()
        self._settings.verbose, self._settings.max_threads = False, 1
        for name in ("tol_gap_abs", "tol_gap_rel", "tol_feas"):
            setattr(self._settings, name, tolerance)
        A, _, G, low = programme.fixed
        one = sp.eye_array(A.shape[1], format="csr")
        self._low, self._one = np.flatnonzero(np.isfinite(low)), one
        self._rows = sp.vstack([A, G, -one[self._low]]).tocsc()

    def solve(self, at: Parameters) -> Answered:
        """Return the model at parameters."""
        _, b, _, low = self.programme.fixed
        with Stopwatch() as watch:
            P, c, h, high = self.programme.moving(at)
            rows, right = self._rows, [b, h, -low[self._low]]
            if high is not None:
                rows, right = sp.vstack([rows, self._one]).tocsc(), [*right, high]
            sides = np.concatenate(right)
            kinds = self._clarabel.ZeroConeT, self._clarabel.NonnegativeConeT
            cones = [kinds[0](len(b)), kinds[1](len(sides) - len(b))]
            upper = sp.triu(P, format="csc")
            made = self._clarabel.DefaultSolver(upper, c, rows, sides, cones, self._settings)
            answer = made.solve()
            found = self.programme.read(np.array(answer.x), np.array(answer.z)[: len(b)], at)
        status = str(answer.status)
        return Answered(found, watch.cpu_s, watch.wall_s, status == "Solved", status)
