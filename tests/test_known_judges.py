"""What objectives and the judge of statements say of spoilt solutions, number by number.

``python tests/test_known_judges.py`` writes the numbers down, see `known`.
"""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from known import AFTER, BEFORE, SPARSE, U, X, Y, assert_same, digest, write_down
from path_benchmark.solvers.stated import by_clarabel
from solution_paths.kernels import Kernel
from solution_paths.objectives import (
    Hinge,
    RobustHinge,
    RobustTube,
    Solution,
    Tube,
)
from solution_paths.verify.judge import _columns
from solution_paths.verify.judgement import Judgement
from stated_models import EXAMPLES

RBF = Kernel("rbf", 0.3)

# ---------------------------------------------------------------- terms of objectives

COSTS = {"cost0": BEFORE, "cost1": AFTER}
OUTLIERS = {"theta0": 1.0, "theta1": -0.7, "s0": -0.2, "s1": 0.1}
FAR = {"theta0": 0.9, "theta1": -0.7, "s0": 0.8, "s1": 0.1, "epsilon0": 0.1}
OBJECTIVES = {
    "hinge": lambda: Hinge(X, Y, **COSTS, lam=2.0),
    "hinge, sparse": lambda: Hinge(SPARSE, Y, **COSTS),
    "hinge, no bias": lambda: Hinge(X, Y, **COSTS, bias="none"),
    "hinge, penalised bias": lambda: Hinge(X, Y, **COSTS, bias="feature", intercept_scaling=2.0),
    "hinge, rbf": lambda: Hinge(X, Y, **COSTS, kernel=RBF, lam=0.5),
    "hinge, rbf, no bias": lambda: Hinge(X, Y, **COSTS, kernel=RBF, bias="none", diagonal=0.1),
    "hinge, rbf, penalised bias": lambda: Hinge(X, Y, **COSTS, kernel=RBF, bias="feature"),
    "tube": lambda: Tube(X, U, **COSTS, epsilon0=0.1, epsilon1=0.2),
    "tube, rbf": lambda: Tube(X, U, **COSTS, epsilon0=0.1, kernel=RBF, diagonal=0.1),
    "robust hinge": lambda: RobustHinge(X, Y, cost0=0.5, **OUTLIERS),
    "robust hinge, rbf": lambda: RobustHinge(X, Y, cost0=0.5, kernel=RBF, **OUTLIERS),
    "robust tube": lambda: RobustTube(X, U, cost0=0.5, **FAR),
    "robust tube, rbf": lambda: RobustTube(X, U, cost0=0.5, kernel=RBF, **FAR),
}
CASES = (("", False, 0.0), (", exact", True, 0.0), (", two parts", True, 0.25))
CASES = (*CASES, (", w implied", False, 0.0), (", w implied, exact", True, 0.0))
SMALL = ("rounding", "kkt_rounding", "unsure", "resolution", "kkt_resolution", "own_rounding")


def columns(own):
    """Return solutions: none, small, large, of balanced duals and of others."""
    rng = np.random.default_rng(3)
    signs = Y if len(own.classes) else np.ones(30)
    a = rng.uniform(-0.01, 0.3, size=(30, 6)) * signs[:, None]
    a[:, 2:] -= a[:, 2:].mean(axis=0)
    a *= [0.0, 0.1, 1.0, 0.1, 3.0, 0.0]
    w = rng.normal(size=(4, 6)) * [0.0, 0.1, 1.0, 0.01, 3.0, 1e-4]
    b = rng.normal(size=6) * [0.0, 0.0, 1.0, 0.1, 2.0, 0.0]
    if own.kernel.name != "linear":
        return Solution(a, None, b)
    return Solution(a, w, b)


def terms_of(name):
    """Return an objective's terms of these solutions, in both precisions; roundings by 1e14."""
    own, found = OBJECTIVES[name](), {}
    s = columns(own)
    if "no bias" in name or "robust" in name:
        s = Solution(s.a, s.w, np.zeros(6))
    for case, exact, low in CASES:
        given = Solution(s.a, None, s.b) if "implied" in case else s
        terms = own.terms(np.linspace(0.1, 0.9, 6), given, exact, low)._asdict()
        shown = {k: np.broadcast_to(np.nan if v is None else v, 6) for k, v in terms.items()}
        shown = {k: np.nan_to_num(v, nan=-1.0, posinf=-2.0) for k, v in shown.items()}
        parts = [digest(1e14 * v if k in SMALL else v)[1] for k, v in shown.items()]
        found[f"{name}{case} | {', '.join(shown)}"] = parts
    return found


@pytest.mark.parametrize("name", OBJECTIVES)
def test_terms_of_an_objective_are_known(name):
    found = terms_of(name)
    assert_same(found, "terms", list(found), near=1e-9)


# ---------------------------------------------------------------- verdicts on statements


def verdicts_of(name):
    """Return what is found, in both precisions, of answers whose parts are off by 1 %."""
    model, t0, t1 = EXAMPLES[name]
    stated = model(0.5 * (t0 + t1))
    rng, found, solved = np.random.default_rng(1), {}, by_clarabel(stated)
    # not what a solver's rounding decides, and no value at a kink, which rounding puts on a side
    parts = [None if v is None else np.round(v, 3) + 1.37e-4 for v in (solved.w, solved.free)]
    duals = [np.round(a, 3) for a in solved.duals]
    answer = replace(solved, w=parts[0], free=parts[1], duals=duals)

    def off(v):
        return None if v is None else v * (1.0 + 0.01 * rng.normal(size=np.shape(v)))

    spoilt = {
        "coefficients": replace(answer, w=off(answer.w), free=off(answer.free)),
        "duals": replace(answer, duals=[0.99 * a for a in answer.duals]),
        "each dual": replace(answer, duals=[off(a) for a in answer.duals]),
    }
    if answer.w is not None:
        spoilt["no duals"] = replace(spoilt["coefficients"], duals=None)
    for (what, own), exact in product(spoilt.items(), (False, True)):
        if what == "no duals" and not exact:  # those that values imply may be on either side of one
            continue
        verdict = Judgement([stated]).verdict(_columns(stated, own)[0], None, exact)
        said = {k: np.nan_to_num(v, nan=-1.0, posinf=-2.0) for k, v in vars(verdict).items()}
        said = {k: np.ravel(v)[0] * (1e14 if k in SMALL else 1.0) for k, v in said.items()}
        said = {k: v for k, v in said.items() if exact or k not in SMALL}
        key = f"{name} | {what}{', exact' if exact else ''} | {', '.join(said)}"
        found[key] = list(map(float, said.values()))
    return found


@pytest.mark.parametrize("name", EXAMPLES)
def test_verdicts_on_spoilt_answers_are_known(name):
    found = verdicts_of(name)
    assert_same(found, "verdicts", list(found), near=1e-5, share=1e-4)


if __name__ == "__main__":
    write_down({k: v for name in OBJECTIVES for k, v in terms_of(name).items()}, "terms", 1e-9)
    write_down({k: v for name in EXAMPLES for k, v in verdicts_of(name).items()}, "verdicts", 1e-5)
