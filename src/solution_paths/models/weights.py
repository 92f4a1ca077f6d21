"""Checks of the weights of samples."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..validation import Floats, Labels, Rows, check_index, check_rows, check_weights

NO_CLASSES: Labels = np.empty(0)  # regression


def updated_weights(
    weights: Floats, enter: ArrayLike, leave: ArrayLike, weight: ArrayLike | None
) -> Floats:
    """Return the weights after some instances have entered and others have left."""
    enter, leave = (
        check_rows(rows, len(weights), name) for name, rows in (("enter", enter), ("leave", leave))
    )
    for row in enter[weights[enter] > 0][:1]:
        raise ValueError(f"enter names row {row}, which takes part already; leave it out.")
    for row in leave[weights[leave] == 0][:1]:
        raise ValueError(f"leave names row {row}, which takes no part; leave it out.")
    new = weights.copy()
    new[leave] = 0.0
    largest = weights.max() if weight is None else weight
    new[enter] = check_weights(largest, len(enter), "weight", of="enter")
    return new


def check_remaining_weight(weights: Floats, labels: Labels | None) -> None:
    """Refuse weights that are all zero or, with labels, zero for a whole class."""
    lost = weightless_class(weights, labels)
    if lost:
        raise ValueError(
            f"leave takes out every instance{lost}, so that the free bias is undetermined; keep at "
            "least one of them."
        )


def weightless_class(weights: Floats, labels: Labels | None) -> str:
    """Name a class that has no weight, for messages; "" where each class has some."""
    if not weights.any():
        return " that had a weight"
    for label in [] if labels is None else np.unique(labels).tolist():
        if not weights[labels == label].any():
            return f" of the class {label!r}"
    return ""


def check_usable(weights: ArrayLike, y: Any, name: str, classes: Labels) -> Floats:
    """Return checked weights that determine a free bias: each class has some weight.

    ``classes`` are the labels that -1 and +1, or codes from 0 on, in y encode; empty in regression.
    """
    weights = check_weights(weights, len(y), name)
    if not weights.any():
        raise ValueError(f"{name} is zero everywhere; give some instance a positive weight.")
    codes = y if y.dtype.kind in "iu" else y > 0
    for code, label in enumerate(np.asarray(classes).tolist()):
        if not weights[codes == code].any():
            raise ValueError(
                f"{name} is zero for every instance of the class {label!r}, so that the free bias "
                "is undetermined; give at least one of them a positive weight."
            )
    return weights


def check_sample_weight(
    weights: ArrayLike | None, X: Rows | None, y: Any, classes: Labels = NO_CLASSES
) -> Floats:
    """Return the weights of checked samples: all 1 where none are given; y as in `check_usable`."""
    check_index(X, weights, "sample_weight")
    weights = 1.0 if weights is None else weights
    return check_usable(weights, y, "sample_weight", classes)


def check_shares(
    weights: ArrayLike | None, X: Rows, y: Any, classes: Labels = NO_CLASSES
) -> Floats:
    """Return the weights as shares of their sum: all 1/n where none are given."""
    sample_weights = check_sample_weight(weights, X, y, classes)
    return np.asarray(sample_weights / sample_weights.sum())


def check_ends(
    X: Rows,
    weights_from: ArrayLike,
    weights_to: ArrayLike,
    signs: Floats,
    classes: Labels = NO_CLASSES,
) -> tuple[Floats, Floats]:
    """Check two weight vectors."""
    check_index(X, weights_from, "weights_from")
    check_index(X, weights_to, "weights_to")
    return (
        check_usable(weights_from, signs, "weights_from", classes),
        check_usable(weights_to, signs, "weights_to", classes),
    )
