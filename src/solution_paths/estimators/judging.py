"""Warnings and errors about the solution of an estimator that is not reliable."""

from __future__ import annotations

import warnings

from ..errors import PathError, PathWarning
from ..solution.approximate import GapCertificate
from ..solution.follow import remedy_for
from ..validation import callers_level
from ..verify.verdict import ERROR_LIMIT
from .fitted import Fitted


def judge(model: Fitted, t: float, where: str, check: str, chosen_by: list[Fitted]) -> None:
    """Warn, or raise, once, if a solution that is used is not reliable.

    Parameters
    ----------
    model : Fitted
        The fit to all rows.
    t : float
        The parameter's value.
    where : str
        How the message names it, as in "at C = 3".
    check : {"warn", "raise", "ignore"}
    chosen_by : list of Fitted
        The fits to the folds whose errors at t chose the parameter.
    """
    if check == "ignore":
        return
    doubts = model.certificates(t)
    of_folds = [
        doubts_of_fold
        for doubts_of_fold in (fold.certificates(t) for fold in chosen_by)
        if doubts_of_fold
    ]
    all_doubts = doubts + [entry for doubts_of_fold in of_folds for entry in doubts_of_fold]
    if not all_doubts:
        return
    labels = [repr(label) for label, _, _ in doubts if label is not None]
    whose = f" of {_listed(labels)} against the rest" if labels else ""
    if of_folds:
        folds = f"those of {len(of_folds)} of {len(chosen_by)} folds"
        whose = f"{whose} and {folds}" if doubts else f" in {folds[9:]}, which cv compares,"
    worst = max(
        (certificate for _, _, certificate in all_doubts), key=lambda certificate: certificate.error
    )
    limit, what = ERROR_LIMIT, "objective and in optimality conditions"
    if isinstance(worst, GapCertificate):
        limit, what = worst.limit, "objective"
    _, path, _ = all_doubts[0]
    text = (
        f"The solution{whose} {where} may be off by {worst.error:.1e} (limit {limit:g}), in "
        f"{what}; {remedy_for(path.line.start)}."
    )
    if check == "raise":
        raise PathError(text, path)
    warnings.warn(text, PathWarning, stacklevel=callers_level())


def _listed(labels: list[str]) -> str:
    kind = "the class" if len(labels) == 1 else "the classes"
    return f"{kind} {', '.join(labels)}"


def warn_of_truncation(
    name: str, begin: float, end: float, errors: list[PathError], check: str
) -> None:
    """Warn, once, if a parameter was chosen from a part of its range only."""
    if not errors or check == "ignore":
        return
    paths = "a path" if len(errors) == 1 else f"{len(errors)} paths"
    text = (
        f"{name} is chosen from {begin:.6g} to {end:.6g} alone, where all paths are exact, since "
        f"{paths} could not be followed further: {errors[0]}"
    )
    warnings.warn(text, PathWarning, stacklevel=callers_level())
