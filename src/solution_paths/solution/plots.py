"""Plots of paths and of errors along them; matplotlib is imported when one is drawn.

Every drawn point is a solution at its parameter. Points between breakpoints are added, since lines
in the statement's parameter may be curves on the axis.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ..validation import check_choice, check_number, shown
from .recorded import RecordedPath, single

if TYPE_CHECKING:
    from matplotlib.axes import Axes


Floats = NDArray[np.float64]
# Okabe and Ito's palette: distinguishable with every common form of colour blindness.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#1b1b1f")
DASHES = ("-", "--", "-.", ":")  # repeated colours have other dashes
UNNAMED_GREY, MARK_GREY = "0.65", "0.25"  # of lines without a name, and of the mark
UNIT_PARAMETERS = ("tau", "theta")  # in [0, 1]; other non-negative parameters are scales
MAX_NODES, POINTS_BETWEEN = 2000, 400  # points of a line: breakpoints, and others
COEFS_BY_DEFAULT = 50  # with more coefficients, duals are drawn by default
MAX_COEFS = 200  # coefficients drawn by default
ALL_DUALS, SOME_DUALS = 60, 24  # largest number of rows with all duals drawn; else this many
SHADED_QUANTILES = (0.1, 0.9)  # range of duals that is shaded where only some are drawn
MAX_CIRCLED_JUMPS = 12  # with more jumps, circles at their ends would hide the lines
FONT_SIZE, LINE_SPACING = 8.0, 1.7  # of a legend: in points, and relative to the size
EARLIEST_BREAKPOINT = 1e-6  # times the median breakpoint: earlier ones are rounding
VISIBLE_SHARE = 0.05  # of the usual size of coefficients: smaller ones aren't visible
MARKED_RANGE = 1e2  # factor on both sides of a mark within which a scale is drawn
LARGE_RATIO = 15.0  # times the usual size: larger coefficients need an asinh axis


# -- paths ------------------------------------------------------------------------------------


class View(NamedTuple):
    """The part of the parameter's axis that is drawn.

    Attributes
    ----------
    low, high : float
    log : bool
        Whether the axis is logarithmic.
    zero : bool
        Whether a logarithmic axis also shows 0, beside ``low``.
    """

    low: float
    high: float
    log: bool
    zero: bool = False


def draw_path(
    path: RecordedPath,
    what: str | None,
    ax: Axes | None,
    max_lines: int | None = None,
    mark: float | None = None,
    name: str | None = None,
    unit: float = 1.0,
) -> Axes:
    """Draw a path; see `SolutionPath.plot`.

    The axis shows the path's parameter divided by ``unit``, under another name if one is given.
    """
    what, name = _checked_choice(path, what), path.parameter if name is None else name
    if max_lines is not None:
        check_number(max_lines, "max_lines", least=1, whole=True)
    _check_axes(ax)
    if mark is not None:
        _check_mark(path, mark)
    view = _view(path, what, mark)
    t = _points(path.breakpoints, view)
    curves = _curves(path, what, t)
    size = np.abs(curves).max(axis=1)
    drawn = _largest(size, max_lines) if what == "coef" else _spread(path, curves, max_lines)
    all_curves, curves = curves, curves[drawn]
    is_new = ax is None
    ax = _new_axes() if ax is None else ax
    if what == "coef":
        weight = size if mark is None else np.abs(_curves(path, what, [mark])[:, 0])
        looks = _coef_looks(path, weight[drawn], drawn, _room(ax))
    else:
        looks = _dual_looks(path, drawn, len(all_curves))
        _shade(ax, path, t / unit, all_curves, drawn)
    at, left, right = _standing(path, what, view)
    left, right = left[drawn], right[drawn]
    jump = np.isin(at, path._jumps_at)
    t, curves = broken(t, curves, at, left, right, jump)
    for curve, look in zip(curves, looks, strict=True):
        ax.plot(t / unit, curve, **look)
    _draw_jumps(ax, at[jump] / unit, left[:, jump], right[:, jump], looks)
    shaded = " (shaded: 80 % of rows)" if what == "dual" and len(drawn) < len(all_curves) else ""
    quantity = "coefficient" if what == "coef" else f"dual variable{shaded}"
    axis = view._replace(low=view.low / unit, high=view.high / unit)
    place = None if mark is None else mark / unit
    _set_axes(ax, axis, name, quantity, [place])
    if what == "dual" and view.log and name == "C":
        _scale_like_costs(ax, np.nanmin(curves), np.nanmax(curves), axis.low)
    if what == "coef" and view.log:
        near = np.geomspace(*view[:2], POINTS_BETWEEN)[1:-1] if mark is None else [mark]
        usual = np.abs(_curves(path, what, near)).max(axis=0)
        _make_room(ax, float(np.median(usual)), size.max())
    if place is not None:
        _mark(ax, name, place)
    _legend(ax, is_new)
    return ax


def _check_mark(path: RecordedPath, mark: float) -> None:
    """Refuse what isn't one parameter of the path."""
    if not single(mark):
        raise ValueError(f"{path.parameter} must be one number, not {shown(mark)}.")
    path._statement_parameters(mark)


def _curves(path: RecordedPath, what: str, t: Any) -> Floats:
    """Return coefficients, of all outputs, or duals at parameters: curves (m, k)."""
    return _as_rows(path.coef(t)) if what == "coef" else path.dual(t)


def _recorded(path: RecordedPath, what: str, nodes: NDArray[np.int64]) -> Floats:
    """Return the same at recorded points."""
    if what == "dual":
        return path.duals_at(nodes)
    return _as_rows(path._coefficients(path.variables_at(nodes)[0]))


def _as_rows(coefficients: Floats) -> Floats:
    """Return coefficients (d, k), or (o, d, k) of several outputs, as rows."""
    return coefficients if coefficients.ndim == 2 else np.concatenate(coefficients)


def _signs(path: RecordedPath) -> Floats | None:
    """Return the sign of each sample's label; None in regression."""
    return None if path.reading_or_none is None else path.reading_or_none.signs


def _largest(size: Floats, max_lines: int | None) -> NDArray[np.int64]:
    """Return the indices of the coefficients that become largest."""
    return np.sort(
        np.argsort(-size, kind="stable")[: MAX_COEFS if max_lines is None else max_lines]
    )


def _spread(path: RecordedPath, curves: Floats, max_lines: int | None) -> NDArray[np.int64]:
    """Return the rows whose duals are drawn: of each class some that move, spread by their mean."""
    n = len(curves)
    count = max_lines or (n if n <= ALL_DUALS else SOME_DUALS)
    if n <= count:
        return np.arange(n)
    moves = np.ptp(curves, axis=1) > 0.0
    groups = [np.flatnonzero(group & moves) for group in _classes(path, n)]
    groups = [group for group in groups if len(group)] or [np.arange(n)]
    count = min(count, sum(len(group) for group in groups))
    chosen = []
    for group, share in zip(groups, _shares([len(group) for group in groups], count), strict=True):
        order = group[np.argsort(curves[group].mean(axis=1), kind="stable")]
        chosen.append(order[np.linspace(0, len(group) - 1, share).round().astype(int)])
    return np.sort(np.concatenate(chosen))


def _shares(sizes: list[int], count: int) -> list[int]:
    """Distribute lines among groups by their sizes, at least one each if possible."""
    first = min(max(round(count * sizes[0] / sum(sizes)), 1), max(count - len(sizes) + 1, 1))
    return [first, count - first][: len(sizes)]


def _classes(path: RecordedPath, n: int) -> list[NDArray[np.bool_]]:
    """Return the members of each class; all samples in regression."""
    signs = _signs(path)
    if signs is None:
        return [np.full(n, True)]
    return [members for members in (signs < 0, signs > 0) if members.any()]


def _shade(ax: Axes, path: RecordedPath, t: Floats, curves: Floats, drawn: Any) -> None:
    """Shade the range of most duals of each class, if only some are drawn."""
    if len(drawn) == len(curves):
        return
    signs = _signs(path)
    for members in _classes(path, len(curves)):
        low, high = np.quantile(curves[members], SHADED_QUANTILES, axis=0)
        colour = PALETTE[int(signs is not None and signs[members][0] > 0)]
        ax.fill_between(t, low, high, color=colour, alpha=0.1, linewidth=0, zorder=0.5)


def _checked_choice(path: RecordedPath, what: str | None) -> str:
    what = what if what is None else check_choice(what, "what", ("coef", "dual"))
    if what == "coef":
        path._check_linear()
    few = path.linear and path.line.start.features <= COEFS_BY_DEFAULT
    return what or ("coef" if few else "dual")


def _view(path: RecordedPath, what: str, mark: float | None) -> View:
    """Return the informative part of the parameter's axis.

    A scale is drawn logarithmically if it spans a decade. It begins where coefficients become
    visible, at a breakpoint that isn't many orders of magnitude before most others.
    """
    nodes, (first, end) = path.breakpoints, path.range
    low, high = float(nodes[0]), float(nodes[-1])
    positive, log = nodes[nodes > 0.0], False
    if path.parameter not in UNIT_PARAMETERS and first >= 0.0 and len(positive):
        start = _start(positive)
        if what == "coef" and not path.coef([first]).any():
            start = _first_seen(path, start, high) if high > start else start
        log = high >= 10.0 * start
        low = start if log else low
    if end == np.inf:  # a ray
        high *= 1.5 if log else 1.1
    zero = log and mark == 0.0
    if mark is not None and log and mark > 0.0:
        low, high = (
            max(min(low, mark), mark / MARKED_RANGE),
            min(max(high, mark), mark * MARKED_RANGE),
        )
    elif mark is not None and not log:
        low, high = min(low, mark), max(high, mark)
    return View(low, high, log, zero)


def _start(places: Floats) -> float:
    """Return the first of ascending places that isn't many orders of magnitude before most."""
    least = max(np.quantile(places, 0.01), EARLIEST_BREAKPOINT * np.median(places))
    return float(places[places >= least][0])


def _first_seen(path: RecordedPath, start: float, high: float) -> float:
    """Return where coefficients that begin at 0 reach a share of their usual size.

    The usual size is the median on a logarithmic axis, since they may be far larger at an end.
    """
    parameters = np.geomspace(start, high, POINTS_BETWEEN // 4)
    parameters[[0, -1]] = start, high
    size = np.abs(_curves(path, "coef", parameters)).max(axis=0)
    return float(parameters[max(int((size >= VISIBLE_SHARE * np.median(size)).argmax()) - 1, 0)])


def _points(nodes: Floats, view: View) -> Floats:
    """Return the breakpoints in view, at most `MAX_NODES`, and points between them."""
    low, high, log, zero = view
    if not high > low:
        return np.array([low])
    inside = nodes[(nodes > low) & (nodes < high)]
    if len(inside) > MAX_NODES:
        inside = inside[np.linspace(0, len(inside) - 1, MAX_NODES).astype(int)]
    fill = (
        np.geomspace(low, high, POINTS_BETWEEN) if log else np.linspace(low, high, POINTS_BETWEEN)
    )
    first = np.linspace(0.0, low, POINTS_BETWEEN // 10)[: -1 if zero else 0]
    return np.unique(np.concatenate([first, [low], inside, fill[1:-1], [high]]))


def _standing(path: RecordedPath, what: str, view: View) -> tuple[Floats, Floats, Floats]:
    """Return recorded parameters in view with two points, and the values on both sides."""
    nodes = path.points.t[:-1] if path.ray and len(path.points) > 1 else path.points.t
    new = np.append(True, np.diff(nodes) != 0.0)
    first = np.flatnonzero(new)
    last = np.append(first[1:], len(new)) - 1
    at = path.scale.value(nodes[first])
    begin = 0.0 if view.zero else view.low
    kept = np.flatnonzero((last > first) & (at >= begin) & (at < view.high))
    if len(kept) > MAX_NODES:
        kept = kept[np.linspace(0, len(kept) - 1, MAX_NODES).astype(int)]
    left, right = (_recorded(path, what, ends[kept]) for ends in (first, last))
    at = at[kept]
    if len(at) > 1 and at[0] > at[-1]:  # the statement's parameter is an inverse
        at, left, right = at[::-1], right[:, ::-1], left[:, ::-1]
    return at, left, right


def broken(
    t: Floats, curves: Floats, at: Floats, left: Floats, right: Floats, jump: NDArray[np.bool_]
) -> tuple[Floats, Floats]:
    """Return lines with both values at places, and a gap between them where they jump."""
    keep, breaks = ~np.isin(t, at), np.full_like(left[:, jump], np.nan)
    values = np.concatenate([curves[:, keep], left, breaks, right], axis=1)
    t = np.concatenate([t[keep], at, at[jump], at])
    order = np.argsort(t, kind="stable")
    return t[order], values[:, order]


def _draw_jumps(
    ax: Axes, at: Floats, left: Floats, right: Floats, looks: list[dict[str, Any]]
) -> None:
    """Join the ends of broken lines by dotted lines, with open circles if jumps are few."""
    few = len(at) <= MAX_CIRCLED_JUMPS
    slack = 1e-9 * np.abs(np.concatenate([left, right])).max(initial=0.0)
    for begin, end, look in zip(left, right, looks, strict=True):
        moved = np.abs(end - begin) > slack
        if not moved.any():
            continue
        colour, places = look["color"], at[moved]
        dots = ax.vlines(places, begin[moved], end[moved], colors=colour, linestyles=":")
        dots.set(linewidth=0.9 if few else 0.6, alpha=1.0 if few else 0.4, zorder=1.2)
        if few and "label" in look:
            ends = np.concatenate([begin[moved], end[moved]])
            ax.plot(np.tile(places, 2), ends, "o", color=colour, ms=3.0, mfc="none")


def _coef_looks(path: RecordedPath, size: Floats, drawn: Any, room: int) -> list[dict[str, Any]]:
    """Return the styles of coefficients' lines: the largest have names, colours and dashes."""
    names = None if path._several else path.feature_names
    looks: list[dict[str, Any]] = [{"color": UNNAMED_GREY, "linewidth": 0.7, "zorder": 1.5}] * len(
        size
    )
    order = np.argsort(-size, kind="stable")[: min(room, len(PALETTE))]
    for k, place in enumerate(order[size[order] > 0.0].tolist()):
        name = f"x{drawn[place]}" if names is None else str(names[drawn[place]])
        looks[place] = _style(k) | {"linewidth": 1.5, "label": name, "zorder": 2.9 - 0.05 * k}
    return looks


def _dual_looks(path: RecordedPath, drawn: Any, n: int) -> list[dict[str, Any]]:
    """Return the styles of duals' lines, by the samples' classes."""
    thin = {"linewidth": 0.7, "alpha": 0.7}
    signs = _signs(path)
    side = np.full(n, False) if signs is None else signs > 0
    looks, named = [], set()
    for positive in side[drawn].tolist():
        label = [] if signs is None else [str(path.reading.classes[int(positive)])]
        if len(drawn) < n:
            label.append(f"{(side[drawn] == positive).sum()} of {(side == positive).sum()} rows")
        new = {"label": ": ".join(label)} if label and positive not in named else {}
        named.add(positive)
        looks.append(thin | _style(int(positive)) | new)
    return looks


def _make_room(ax: Axes, usual: float, largest: float) -> None:
    """Use an asinh axis if some coefficients become far larger than usual."""
    from matplotlib.ticker import AsinhLocator

    if 0.0 < LARGE_RATIO * usual < largest:
        ax.set_yscale("asinh", linear_width=usual)
        ax.yaxis.set_major_locator(AsinhLocator(usual, numticks=5))


def _scale_like_costs(ax: Axes, least: float, largest: float, low: float) -> None:
    """Use a logarithmic axis for duals, which are bounded by C."""
    if max(largest, -least) <= 10.0 * low:
        return
    if least >= -1e-9 * largest:
        ax.set_yscale("log", nonpositive="clip")
        ax.set_ylim(0.5 * low, 2.0 * largest)
    else:
        ax.set_yscale("symlog", linthresh=low)


# -- errors -----------------------------------------------------------------------------------


class Function(Protocol):
    """The part of `curves.Curve` that is needed to draw a function of a parameter."""

    @property
    def edges(self) -> Floats:
        """The ends of its pieces."""

    def __call__(self, t: Any) -> Any:
        """Return its values."""

    def on(self, edges: Any) -> Any:
        """Return the function on other pieces."""

    def best(self) -> Any:
        """Return where the function is least."""


def draw_curve(
    curve: Function,
    ax: Axes | None,
    parameter: str,
    folds: Sequence[Function],
    mark: float | None,
) -> Axes:
    """Draw a function of a parameter, the intervals where it is least, and those of folds."""
    _check_axes(ax)
    is_new = ax is None
    ax = _new_axes() if ax is None else ax
    view = _curve_view(curve, parameter, mark)
    for k, fold in enumerate(folds):
        label = "folds" if k == 0 else None
        ax.plot(*_trace(fold, view), color=UNNAMED_GREY, linewidth=0.7, zorder=1.5, label=label)
    ax.plot(*_trace(curve, view), color=PALETTE[0], linewidth=1.6, label="mean" if folds else None)
    best = _draw_best(ax, curve, view)
    _set_axes(ax, view, parameter, "error", [mark, best])
    if mark is not None:
        _mark(ax, parameter, mark)
    _legend(ax, is_new)
    return ax


def draw_surface(
    curves: Sequence[Function],
    parameter: str,
    names: Sequence[str],
    ax: Axes | None,
    mark: tuple[int, float],
) -> Axes:
    """Draw an error along the lines of a surface, and its minimum over all of them.

    ``names`` are those of the lines; ``mark`` is the index of a line, and a parameter on it.
    """
    _check_axes(ax)
    is_new = ax is None
    ax = _new_axes() if ax is None else ax
    views = [_curve_view(curve, parameter, None) for curve in curves]
    log = all(view.log for view in views)
    ends = min(view.low for view in views), max(view.high for view in views)
    view = View(*ends, log, log and any(view.zero for view in views))
    named = set(np.linspace(0, len(curves) - 1, min(len(curves), len(PALETTE))).astype(int))
    for k, curve in enumerate(curves):
        look: dict[str, Any] = {"color": UNNAMED_GREY, "linewidth": 0.7}
        if k in named:
            look = _style(sorted(named).index(k)) | {"label": names[k]}
        ax.plot(*_trace(curve, view), **look)
    line, place = mark
    place = min(max(place, 0.0 if view.zero else view.low), view.high)
    ax.plot([place], [float(curves[line](place))], "*", color=PALETTE[6], ms=11, label="least")
    _set_axes(ax, view, parameter, "error", [place])
    _legend(ax, is_new)
    return ax


def _curve_view(curve: Function, parameter: str, mark: float | None) -> View:
    """Return the part of the axis on which a function changes, slightly extended."""
    edges = curve.edges[np.isfinite(curve.edges)]
    low, high = float(edges[0]), float(edges[-1])
    if high <= low:
        high = 2.0 * low if low > 0 else 1.0
    goes_on = curve.edges[-1] == np.inf
    positive = edges[edges > 0.0]
    log = parameter not in UNIT_PARAMETERS and low >= 0.0 and len(positive) > 0
    if log:
        start = _start(positive)
        log = high >= 10.0 * start
        low = max(low, 0.5 * start) if log else low
    best = curve.best().parameter
    zero = log and 0.0 in (mark, best)
    seen = [] if mark is None else [mark]
    if best < np.inf and (not log or best >= EARLIEST_BREAKPOINT * np.median(positive)):
        seen.append(best)
    for place in seen:
        if place > 0.0 or not log:
            low, high = min(low, place), max(high, place)
    return View(low, high * 1.5 if goes_on else high, log, zero)


def _trace(curve: Function, view: View) -> tuple[Floats, Floats]:
    """Return points of a curve in view, with both values where it jumps."""
    begin = 0.0 if view.zero else view.low
    low, high = max(begin, float(curve.edges[0])), min(view.high, float(curve.edges[-1]))
    inner = curve.edges[(curve.edges > low) & (curve.edges < high)]
    part = curve.on(np.concatenate([[low], inner, [high]]))
    begin, end = part.edges[:-1], part.edges[1:]
    bent = part.sag != 0.0
    if part.reciprocal or view.log:
        bent |= part.left != part.right
    fill = _points(np.array([low, high]), view._replace(low=max(view.low, low), high=high))
    fill = fill[(fill >= low) & (fill <= high)]
    piece = np.clip(np.searchsorted(part.edges, fill, side="right") - 1, 0, len(begin) - 1)
    added = bent[piece] & (fill > begin[piece]) & (fill < end[piece])
    t = np.concatenate([begin, fill[added], end])
    values = np.concatenate([part.left, part(fill[added]), part.right])
    place = np.concatenate([np.arange(len(begin)), piece[added], np.arange(len(begin))])
    order = np.lexsort((t, place))
    return t[order], values[order]


def _draw_best(ax: Axes, curve: Function, view: View) -> float:
    """Shade the intervals where a function is least; mark the middle of the first, return it."""
    best = curve.best()
    begin = 0.0 if view.zero else view.low
    for low, high in np.clip(best.intervals, begin, view.high).tolist():
        if high > low:
            ax.axvspan(low, high, color=PALETTE[4], alpha=0.35, linewidth=0)
    label = f"least: {best.value:.4g}"
    place = min(max(best.parameter, begin), view.high)
    ax.plot([place], [best.value], "*", color=PALETTE[1], ms=11, label=label, zorder=3)
    return place


# -- axes -------------------------------------------------------------------------------------


def _style(k: int) -> dict[str, Any]:
    return {"color": PALETTE[k % len(PALETTE)], "linestyle": DASHES[k % len(DASHES)]}


def _new_axes() -> Axes:
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            "A figure needs matplotlib, which isn't installed; run "
            "`pip install solution_paths[plot]`."
        ) from error
    return plt.subplots(figsize=(7.2, 3.8), layout="constrained")[1]


def _check_axes(ax: Axes | None) -> None:
    if ax is not None and not hasattr(ax, "plot"):
        raise TypeError(f"ax must be matplotlib Axes, not {shown(ax)}.")


def _set_axes(
    ax: Axes, view: View, parameter: str, quantity: str, marks: Sequence[float | None]
) -> None:
    """Set labels, and limits with a margin beside marks at the ends."""
    if view.zero:
        ax.set_xscale("symlog", linthresh=view.low, linscale=0.5)
        decades = np.arange(np.ceil(np.log10(view.low)), np.floor(np.log10(view.high)) + 1)
        ax.set_xticks([0.0, *10.0**decades])
    elif view.log:
        ax.set_xscale("log")
    if view.high > view.low:
        low, high = view[:2]
        share = (high / low) ** 0.02 if view.log else 0.02 * (high - low)
        if low in marks:
            low = low / share if view.log else low - share
        if high in marks:
            high = high * share if view.log else high + share
        ax.set_xlim(-0.05 * view.low if view.zero else low, high)
    ax.set_xlabel(parameter)
    ax.set_ylabel(quantity)


def _room(ax: Axes) -> int:
    """Return the number of lines of a legend that fit beside the axes."""
    height = ax.get_window_extent().height * 72.0 / ax.figure.dpi
    return max(int(height / (LINE_SPACING * FONT_SIZE)) - 1, 1)  # one for what is marked


def _mark(ax: Axes, parameter: str, mark: float) -> None:
    label = f"{parameter} = {mark:.4g}"
    ax.axvline(mark, color=MARK_GREY, linestyle="--", linewidth=1.0, zorder=3.5, label=label)


def _legend(ax: Axes, beside: bool) -> None:
    """Add a legend, beside new axes and inside given ones, if any line has a name."""
    lines = [line for line in ax.lines if not str(line.get_label()).startswith("_child")]
    lines.sort(key=lambda line: -line.get_zorder())
    if not lines:
        return
    outside = {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0), "frameon": False}
    place = outside if beside else {"loc": "best"}
    # Names may begin with an underscore, which matplotlib hides, and hold dollars.
    legend = ax.legend(lines, ["name"] * len(lines), fontsize=FONT_SIZE, **place)
    for text, line in zip(legend.get_texts(), lines, strict=True):
        text.set_parse_math(False)
        text.set_text(str(line.get_label()))
