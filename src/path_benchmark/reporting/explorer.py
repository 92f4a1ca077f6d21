"""A path to be turned by hand: what the page's explorer is given, for any model.

An `Explorer` has one or more *choices* (data sets); each has *slices*: one exact path in the first
parameter, at one value of a second parameter where the model has two. A slice holds panels of
curves. A new model needs a few lines: `slices_of` reads what `add_exploration` wrote; else build
`Slice` and `Curve` directly:

>>> jump = Curve("alpha", [0.0, 0.4, 0.4, 1.0], [0.0, 0.2, 0.7, 1.0])
>>> Slice("path", (0.0, 1.0), {"duals": [jump]}).panels["duals"][0].at(0.4)
(0.2, 0.7)
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from ..runs import exploring
from . import figures as fig
from . import formats
from .study import Study, hyper

# Lines are thinned so that none moves by more than this share of its panel's height.
THINNED = 1e-3
RATES = {"tnr": "true negative rate", "tpr": "true positive rate", "accuracy": "accuracy"}
ERROR_PANEL, RATE_PANEL = "validation error", "rates"


@dataclass(frozen=True)
class Curve:
    """An exact function of the parameter.

    Attributes
    ----------
    name : str
    x, y : sequences of float
        ``x`` ascends. A *line* joins its points; where an x is repeated it jumps, and has the
        values on both sides. A *step* has the value ``y[k]`` from ``x[k]`` to ``x[k + 1]``.
    step : bool
    """

    name: str
    x: Sequence[float]
    y: Sequence[float]
    step: bool = False

    def at(self, t: float) -> tuple[float, float]:
        """Return the values on the left and on the right of a place; equal where none jumps."""
        x, y = np.asarray(self.x, float), np.asarray(self.y, float)
        left, right = np.searchsorted(x, t, "left"), np.searchsorted(x, t, "right")
        if self.step:
            return float(y[max(left - 1, 0)]), float(y[max(right - 1, 0)])
        if left < right:
            return float(y[left]), float(y[right - 1])
        value = float(np.interp(t, x, y))
        return value, value


@dataclass(frozen=True)
class Slice:
    """One path, at one value of the second parameter if there is one.

    Attributes
    ----------
    label : str
        "λ = 0.01"
    span : (float, float)
        Range of the parameter.
    panels : dict of str to list of Curve
        The panel `ERROR_PANEL`, if there is one, holds the one curve that is to be least.
    grid : sequence of float
        Where a grid search would look.
    samples : dict, optional
        ``labels`` and ``first`` (+1 or -1; the decision near the start), and ``changes``: for each
        sample where its decision changes.
    """

    label: str
    span: tuple[float, float]
    panels: dict[str, list[Curve]]
    grid: Sequence[float] = ()
    samples: dict | None = None

    @property
    def least(self) -> tuple[float, list[tuple[float, float]]]:
        """The least validation error, and the closed intervals where it is reached."""
        curve = self.panels[ERROR_PANEL][0]
        return minimisers(curve, self.span)

    @property
    def missed_by(self) -> float:
        """How much larger the least error on the grid is than the least of all."""
        if ERROR_PANEL not in self.panels or not len(self.grid):
            return 0.0
        return min(error for _, error in self.grid_points) - self.least[0]

    @property
    def grid_points(self) -> list[tuple[float, float]]:
        """What a grid search sees: the error at each of its places (right of a step)."""
        curve = self.panels[ERROR_PANEL][0]
        return [(float(t), curve.at(t)[1]) for t in self.grid]


def minimisers(curve: Curve, span: tuple[float, float]) -> tuple[float, list[tuple[float, float]]]:
    """Return the least value of a step or a line, and the intervals where it is reached."""
    x, y = np.asarray(curve.x, float), np.asarray(curve.y, float)
    least = float(y.min())
    reached = y <= least + 1e-12 * max(abs(least), 1.0)
    if not curve.step:
        return least, [(float(t), float(t)) for t in x[reached]]
    ends = np.append(x[1:], span[1])
    intervals: list[tuple[float, float]] = []
    for low, high in zip(x[reached], ends[reached], strict=True):
        if intervals and intervals[-1][1] == low:
            low = intervals.pop()[0]
        intervals.append((float(low), float(high)))
    return least, intervals


@dataclass(frozen=True)
class Explorer:
    """Everything that one explorer shows.

    Attributes
    ----------
    parameter : str
        Symbol of the path's parameter.
    choices : dict of str to list of Slice
        Data set -> slices in the order of the second parameter.
    second : str
        Symbol of the second parameter, "" where there is none.
    logit : bool
        Spread both ends of (0, 1).
    """

    parameter: str
    choices: dict[str, list[Slice]]
    second: str = ""
    logit: bool = False
    notes: list[str] = field(default_factory=list)

    def content(self) -> dict:
        """Return what the page's script is given: plain lists, curves thinned."""
        return {
            "parameter": self.parameter,
            "second": self.second,
            "logit": self.logit,
            "choices": [
                {"name": name, "slices": [_plain(s) for s in slices]}
                for name, slices in self.choices.items()
            ],
        }

    def missed(self) -> list[str]:
        """Say for each path what a grid search misses, in a sentence."""
        return [
            self._missed(name, s)
            for name, slices in self.choices.items()
            for s in slices
            if ERROR_PANEL in s.panels and len(s.grid)
        ]

    def _missed(self, name: str, s: Slice) -> str:
        (value, where), best = s.least, s.least[0] + s.missed_by
        places = "; ".join(interval(*w) for w in where[:3])
        more = f" and in {formats.count(len(where) - 3, 'further interval')}" if where[3:] else ""
        text = (
            f"{name}, {s.label}: the least {ERROR_PANEL} is {100 * value:.2f} %, for "
            f"{self.parameter} in {places}{more}; "
        )
        grid = f"the best of {len(s.grid)} grid points has {100 * best:.2f} %"
        return text + grid + (": the grid misses it." if best > value + 1e-12 else ".")


def interval(low: float, high: float) -> str:
    """Write an interval with as many digits as its two ends need to differ by two."""
    width = max(high - low, 1e-9)
    decimals = int(np.clip(1 - np.floor(np.log10(width)), 2, 9))
    return f"[{low:.{decimals}f}, {high:.{decimals}f}]"


def _plain(s: Slice) -> dict:
    panels = [
        {"name": name, "curves": [_thinned(c, curves) for c in curves]}
        for name, curves in s.panels.items()
    ]
    content: dict = {"label": s.label, "span": list(s.span), "panels": panels}
    if ERROR_PANEL in s.panels:
        value, where = s.least
        content |= {"least": [value, [list(w) for w in where]], "grid": s.grid_points}
    if s.samples:
        content["samples"] = s.samples
    return content


def _thinned(curve: Curve, panel: list[Curve]) -> dict:
    """Return a curve as lists of numbers; a line without vertices that nobody would see."""
    x, y = np.asarray(curve.x, float), np.asarray(curve.y, float)
    if curve.step:
        keep = np.append(True, np.diff(y) != 0.0)
    else:
        height = max(max(c.y) for c in panel) - min(min(c.y) for c in panel)
        keep = thin(x, y, THINNED * height)
    x, y = x[keep], y[keep]
    # A step's places are exact; a line is drawn, and read to four digits.
    digits = ((x, 9 if curve.step else 6), (y, 5 if curve.step else 4))
    numbers = [[float(f"{v:.{d}g}") for v in values] for values, d in digits]
    return {"name": curve.name, "step": curve.step, "x": numbers[0], "y": numbers[1]}


def thin(x: np.ndarray, y: np.ndarray, error: float) -> np.ndarray:
    """Choose vertices so that the line through them stays within ``error`` of all others.

    Douglas and Peucker's way, with vertical distances; jumps (a repeated x) are kept.
    """
    keep = np.zeros(len(x), bool)
    keep[[0, -1]] = True
    same = np.flatnonzero(np.diff(x) == 0.0)
    keep[same], keep[same + 1] = True, True
    ends = np.flatnonzero(keep)
    todo = list(itertools.pairwise(ends))
    while todo:
        a, b = todo.pop()
        if b - a < 2:
            continue
        off = np.abs(np.interp(x[a + 1 : b], x[[a, b]], y[[a, b]]) - y[a + 1 : b])
        k = a + 1 + int(off.argmax())
        if off.max() > error:
            keep[k] = True
            todo += [(a, k), (k, b)]
    return keep


# ---------------------------------------------------------------- from results


def explorer_of(
    study: Study, parameter: str, second: str, lines: str, symbol: str = "", logit: bool = False
) -> Explorer | None:
    """Return the explorer of all data sets on which the experiment ``explore`` ran; None of none.

    Its setting ``grid`` holds the grid's points, or how many there are of them in [0, 1]. See
    `slices_of` and `Explorer`; ``symbol`` is ``second``, unless given.
    """
    if not study.ran("explore"):
        return None
    grid, symbol = study.settings["explore"].grid, symbol or second
    points = np.linspace(0.0, 1.0, grid) if isinstance(grid, int) else grid
    choices = {
        study.name(dataset): slices_of(study, "explore", dataset, second, symbol, points, lines)
        for dataset in study.ran("explore")
    }
    return Explorer(parameter, choices, second=symbol, logit=logit)


def slices_of(
    study: Study,
    experiment: str,
    dataset: str,
    second: str,
    symbol: str,
    grid: Iterable[float],
    lines: str,
) -> list[Slice]:
    """Return the slices that `add_exploration` wrote for one data set (its first split).

    Parameters
    ----------
    study : Study
    experiment, dataset : str
    second, symbol : str
        Hyper-parameter that tells the slices apart, and how people write it.
    grid : iterable of float
    lines : str
        What the lines are: "coefficients", "duals".
    """
    rows = study.curves
    rows = rows[
        (rows["experiment"] == experiment) & (rows["dataset"] == dataset) & (rows["split"] == 0)
    ]
    value = hyper(rows, second).astype(float)
    return [
        _slice(rows[value == v], f"{symbol} = {v:g}", list(grid), lines)
        for v in sorted(value.unique())
    ]


def _slice(rows: pd.DataFrame, label: str, grid: list[float], lines: str) -> Slice:
    of = dict(list(rows.groupby("curve", sort=False)))

    def curves(prefix: str, step: bool, names: dict[str, str]) -> list[Curve]:
        return [
            Curve(names.get(short := name.split(": ")[-1], short), g["x"], g["y"], step)
            for name, g in of.items()
            if name.startswith(prefix)
        ]

    panels = {
        ERROR_PANEL: curves(exploring.ERROR, True, {exploring.ERROR: ERROR_PANEL}),
        RATE_PANEL: sorted(
            curves(f"{exploring.RATE}:", True, RATES),
            key=lambda curve: [*RATES.values(), curve.name].index(curve.name),
        ),
        lines: curves(f"{exploring.LINE}:", False, {}),
    }
    span = of[exploring.RANGE]["x"].to_numpy()
    panels = {name: panel for name, panel in panels.items() if panel}
    return Slice(label, (span[0], span[1]), panels, grid, _samples(of))


def _samples(of: dict[str, pd.DataFrame]) -> dict | None:
    if exploring.SAMPLES not in of:
        return None
    shown = of[exploring.SAMPLES]
    changes: list[list[float]] = [[] for _ in range(len(shown))]
    if exploring.CROSSINGS in of:
        for t, k in of[exploring.CROSSINGS][["x", "y"]].itertuples(index=False):
            changes[int(k)].append(float(f"{t:.9g}"))
    return {
        "labels": [int(v) for v in shown["y"]],
        "first": [1 if v else -1 for v in shown["weight"]],
        "changes": changes,
    }


# ---------------------------------------------------------------- the same as a figure


def path_figure(explorer: Explorer) -> Figure | None:
    """Draw the slice where the grid misses most: its panels below each other.

    The page's explorer begins there as well.
    """
    if not explorer.choices:
        return None
    candidates = [(name, s) for name, slices in explorer.choices.items() for s in slices]
    name, s = max(candidates, key=lambda pair: _rank(pair[1]))
    figure, axes = fig.new_figure(1, len(s.panels), size=(7.2, 2.1))
    for ax, (title, curves) in zip(axes[:, 0], s.panels.items(), strict=True):
        end = _inner_end(s) if explorer.logit else None
        _draw_panel(ax, curves, s, end)
        ax.set_ylabel(title)
        if title == ERROR_PANEL:
            _draw_choice(ax, s)
        elif title == RATE_PANEL:
            ax.set_ylim(-0.03, 1.03)
        if len(curves) <= 4:
            ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
        if explorer.logit:
            fig.logit_axis(ax, end)
        else:
            ax.set_xlim(*s.span)
        ax.label_outer()
    axes[0, 0].set_title(f"{name}, {s.label}", loc="left")
    axes[-1, 0].set_xlabel(explorer.parameter + (", logit scale" if explorer.logit else ""))
    return figure


def _rank(s: Slice) -> tuple[float, float]:
    """Order slices by what a grid misses, then by how small the error is."""
    return round(s.missed_by, 9), -s.least[0] if ERROR_PANEL in s.panels else 0.0


def _inner_end(s: Slice) -> float:
    """How near to 0 and 1 a logit axis has to reach to show every step of the error and rates."""
    x = np.concatenate([np.asarray(c.x, float) for p in s.panels.values() for c in p if c.step])
    x = x[(x > 0.0) & (x < 1.0)]
    return float(np.clip(0.5 * min(np.minimum(x, 1 - x), default=1e-2), 1e-6, 1e-2))


def _draw_panel(ax: object, curves: list[Curve], s: Slice, end: float | None) -> None:
    """Draw the curves of a panel, on a logit axis those parts that are on it."""
    low, high = s.span if end is None else (end, 1.0 - end)
    for k, curve in enumerate(curves):
        look = {"color": fig.PALETTE[k % len(fig.PALETTE)], "label": curve.name}
        look["linestyle"] = fig.DASHES[k // len(fig.PALETTE) if len(curves) > 4 else k]
        if curve.step:
            edges = np.clip(np.append(np.asarray(curve.x, float), s.span[1]), low, high)
            ax.stairs(curve.y, edges, baseline=None, linewidth=1.4, **look)
        else:
            shown = _thinned(curve, curves)
            x, y = np.array(shown["x"]), np.array(shown["y"])
            if end is not None:  # where a straight line is bent
                odds = np.linspace(np.log(end), -np.log(end), 400)
                bent = np.clip(1.0 / (1.0 + np.exp(-odds)), low, high)
                x, y = bent, np.interp(bent, x, y)
            ax.plot(x, y, linewidth=1.1, **look)


def _draw_choice(ax: object, s: Slice) -> None:
    """Shade where the error is least, and mark what a grid search sees."""
    _, where = s.least
    for k, (low, high) in enumerate(where):
        ax.axvspan(low, high, color=fig.ORANGE, alpha=0.45, lw=0.8, label="" if k else "least")
    if len(s.grid):
        t, error = zip(*s.grid_points, strict=True)
        ax.plot(t, error, "o", color=fig.RED, ms=4.5, label=f"grid of {len(t)}", zorder=3)
    ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
