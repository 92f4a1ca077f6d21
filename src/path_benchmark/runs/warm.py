"""Compile everything that jobs will need, once."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from solution_paths.__main__ import compile_all

from ..objectives.robust import robust_hinge
from ..solvers import cccp, smo


def warm_up() -> str:
    """Compile the functions of the library and of the benchmark's solvers; return a message."""
    compile_all()
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    y = np.where(X[:, 0] + rng.normal(size=40) > 0, 1.0, -1.0)
    for rows in (X, sp.csr_array(X)):
        cccp.solve(robust_hinge(rows, y, 1.0).at(0.5))
    smo.warm_up()
    return "compiled: all paths, SMO, coordinate descent\n"
