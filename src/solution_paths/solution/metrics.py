"""Metrics of predictions, and which of them each kind of model supports.

All are errors: the lower the better. A score, such as the area under a ROC curve, is 1 less it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, NoReturn, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from ..validation import Floats, check_number, shown

Judge: TypeAlias = str | tuple[str, Any] | ArrayLike  # a metric as users give it

RATES = ("f1", "precision", "recall")  # rates of the positive label
AVERAGED = tuple(f"{rate}_{how}" for rate in RATES for how in ("macro", "weighted"))
RANKED = ("roc_auc", "average_precision")  # for one decision a row, and two labels
OF_LABELS = ("balanced_error", *AVERAGED)
OF_TWO = (*OF_LABELS, *RATES, *RANKED)

# The metrics of each kind of reading (see `Reading`); the first is the default.
JUDGED: dict[str, tuple[str, ...]] = {
    "value": ("squared", "absolute", "pinball", "pairs"),
    "robust": ("absolute", "squared", "pinball", "pairs"),
    "quantile": ("pinball", "absolute", "squared", "pairs"),
    "count": ("deviance",),
    "rank": ("pairs",),
    "sign": ("zero_one", "absolute", "squared", *OF_TWO),
    "probability": ("zero_one", "log_loss", "absolute", "squared", *OF_TWO),
    "inside": ("zero_one", *OF_TWO),
    "argmax": ("zero_one", *OF_TWO),
    "order": ("zero_one", "absolute", "squared", "pairs", *OF_TWO),
    "nearest": (),
}
# Synonyms. The error of a scikit-learn score is its negative, or 1 less it.
SYNONYMS = {
    "error": "zero_one",
    "accuracy": "zero_one",
    "balanced_accuracy": "balanced_error",
    "f1_micro": "zero_one",
    "precision_micro": "zero_one",
    "recall_micro": "zero_one",
    "neg_log_loss": "log_loss",
    "neg_mean_squared_error": "squared",
    "neg_mean_absolute_error": "absolute",
    "neg_mean_pinball_loss": "pinball",
    "neg_mean_poisson_deviance": "deviance",
}
DECISIONS = ("sign", "probability")  # kinds whose decisions may also be compared with numbers
PREDICTED = {  # what a path predicts, for error messages
    "value": "numbers",
    "robust": "numbers",
    "quantile": "numbers",
    "count": "counts",
    "rank": "ranks, which any shift leaves as they are",
    "nearest": "the nearer of two planes, whose distances are no lines in the parameter",
}


@dataclass(frozen=True, eq=False)
class Metric:
    """An error of predictions.

    Attributes
    ----------
    name : str
        A name in `JUDGED`, or "costs".
    level : float or None
        The quantile of a pinball loss; None for that of the path.
    label : object
        The positive label; None for the label 1, as in scikit-learn, or the larger one if there is
        no label 1.
    costs : (k, k) array or None
        The cost of a row by its label (first index) and its prediction (second index).
    """

    name: str
    level: float | None = None
    label: Any = None
    costs: Floats | None = None

    def positive(self, classes: Any) -> int:
        """Return the index of the positive label."""
        labels, wanted = classes.tolist(), 1 if self.label is None else self.label
        if wanted in labels:
            return labels.index(wanted)
        if self.label is None:
            return len(labels) - 1
        raise ValueError(
            f"{self.name} of the label {shown(self.label)} is of none of the classes {labels[:5]}; "
            "name one of them."
        )


def check_metric(
    given: Judge | None,
    names: Sequence[str],
    kind: str,
    classes: Any = (),
    argument: str = "metric",
    synonyms: Mapping[str, str] = SYNONYMS,
) -> Metric:
    """Return the metric for a user's argument.

    Parameters
    ----------
    given : str, (str, value), (k, k) array, or None
        A name; a pair such as ``("pinball", tau)`` or ``("f1", label)``; costs; or None, for the
        default.
    names : sequence of str
        The supported names; the first is the default.
    kind : str
        See `Reading`.
    classes : labels
        The classes; none where numbers are predicted.
    argument : str
        Name of the argument, for messages.
    synonyms : dict
        Other names.
    """
    if not names:
        raise ValueError(
            f"This path has no error curve that is exact, since it predicts {PREDICTED[kind]}; use "
            "predict at the parameters that matter."
        )
    asked = _Asked(given, tuple(names), kind, classes, argument, synonyms)
    if given is None:
        return Metric(names[0])
    if isinstance(given, str):
        return asked.named(given)
    if isinstance(given, tuple | list) and len(given) == 2 and isinstance(given[0], str):
        return asked.with_value(*given)
    costs = _costs(given, len(classes)) if len(classes) else None
    if costs is None:
        raise ValueError(f"{argument} must be {asked.wanted}, not {shown(given)}.")
    return Metric("costs", costs=costs)


class _Asked(NamedTuple):
    """The arguments of `check_metric`."""

    given: object
    names: tuple[str, ...]
    kind: str
    classes: Any
    argument: str
    synonyms: Mapping[str, str]

    @property
    def wanted(self) -> str:
        """The accepted values, for messages."""
        names = self.names
        if self.argument == "scoring":  # as estimators call it
            names = tuple("error" if name == "zero_one" else name for name in names)
        names += tuple(
            name for name, same in self.synonyms.items() if same in self.names and name not in names
        )
        more = ", or a matrix of costs" if len(self.classes) else ""
        return f"one of {', '.join(names)}{more}"

    def named(self, given: str) -> Metric:
        """Return the metric of a name."""
        name = self.synonyms.get(given, given)
        if name not in self.names:
            self._refuse(given, name)
        if name in (*RATES, *RANKED) and len(self.classes) > 2:
            rate = name in RATES
            instead = f"{name}_macro or {name}_weighted" if rate else "error or balanced_error"
            raise ValueError(
                f"{self.argument}={given!r} is of two classes, and there are "
                f"{len(self.classes)}; use {instead}."
            )
        if name == "pinball" and self.kind != "quantile":
            raise ValueError(
                f"{self.argument}={given!r} needs a quantile, which this model has none of; say "
                f'which, as in {self.argument}=("pinball", 0.9).'
            )
        return Metric(name)

    def _refuse(self, given: str, name: str) -> NoReturn:
        """Refuse a name that is unknown, or not supported by this path."""
        known_names = {metric for metrics in JUDGED.values() for metric in metrics}
        if self.argument != "metric" or name not in known_names:
            raise ValueError(f"{self.argument} must be {self.wanted}, not {given!r}.")
        predicted = PREDICTED.get(self.kind, "labels")
        raise ValueError(
            f"metric={given!r} is not for this path, which predicts {predicted}; use {self.wanted}."
        )

    def with_value(self, given: str, value: Any) -> Metric:
        """Return the pinball loss of a quantile, or a metric of a label."""
        name = self.synonyms.get(given, given)
        if name == "pinball" and name in self.names:
            tau = check_number(value, f"{self.argument}'s tau", least=0, most=1)
            return Metric(name, level=tau)
        if name in (*RATES, *RANKED) and name in self.names:
            metric = Metric(name, label=value.item() if isinstance(value, np.generic) else value)
            metric.positive(self.classes)
            return metric
        raise ValueError(
            f"{self.argument} must be {self.wanted}, or a pair of such a name and a quantile or a "
            f"label, not {shown(self.given)}."
        )


def _costs(given: Any, count: int) -> Floats | None:
    """Return a matrix of costs, or None."""
    try:
        costs = np.asarray(given)
    except ValueError:  # ragged
        return None
    if costs.dtype.kind not in "biuf" or costs.ndim != 2:
        return None
    if costs.shape != (count, count) or not np.isfinite(costs).all():
        raise ValueError(
            "A matrix of costs holds a finite number for each label and each prediction, in the "
            f"order of the classes: ({count}, {count}) of them, not of shape {costs.shape}."
        )
    return costs.astype(np.float64)
