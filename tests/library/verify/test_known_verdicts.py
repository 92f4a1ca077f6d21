"""What the judge of statements says of spoilt solutions, number by number.

``pytest --write-known`` writes the numbers down, see `helpers.known`.
"""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from helpers.known import assert_same
from helpers.stated_models import EXAMPLES
from path_benchmark.solvers.clarabel_solver import by_clarabel
from solution_paths.problem.bundle import Bundle
from solution_paths.verify.judge import _columns
from solution_paths.verify.judgement import Judgement

pytestmark = pytest.mark.slow

SMALL = ("rounding", "kkt_rounding", "unsure", "resolution", "kkt_resolution", "own_rounding")


def verdicts_of(name):
    """Return what is found, in both precisions, of answers whose parts are off by 1 %."""
    model, t0, t1 = EXAMPLES[name]
    stated = model(0.5 * (t0 + t1))
    rng, found, solved = np.random.default_rng(1), {}, by_clarabel(stated)
    # not what a solver's rounding decides, and no value at a kink, which rounding puts on a side
    parts = [None if v is None else np.round(v, 3) + 1.37e-4 for v in (solved.w, solved.free)]
    duals = [np.round(a - 2.3e-4, 3) for a in solved.duals]  # bounds are multiples of 5e-4
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
        verdict = Judgement(Bundle.of([stated])).verdict(_columns(stated, own)[0], None, exact)
        said = {k: np.nan_to_num(v, nan=-1.0, posinf=-2.0) for k, v in vars(verdict).items()}
        said = {k: np.ravel(v)[0] * (1e14 if k in SMALL else 1.0) for k, v in said.items()}
        said = {k: v for k, v in said.items() if exact or k not in SMALL}
        key = f"{name} | {what}{', exact' if exact else ''} | {', '.join(said)}"
        found[key] = list(map(float, said.values()))
    return found


@pytest.mark.parametrize("name", EXAMPLES)
def test_verdicts_on_spoilt_answers_are_known(name):
    found = verdicts_of(name)
    assert_same(found, "verdicts", near=1e-5, share=1e-4)
