"""Figures: one style, colours that everybody can tell apart; SVG for the page, PDF and PNG."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.container import ErrorbarContainer
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from solution_paths.files import replace_atomically

from . import formats

# Okabe and Ito's palette: distinguishable with every common form of colour blindness.
BLUE, ORANGE, GREEN, RED = "#0072B2", "#E69F00", "#009E73", "#D55E00"
# INK is the page's text colour: an inline picture takes whatever that is, in the dark as well.
PURPLE, SKY, INK, GREY = "#CC79A7", "#56B4E9", "#1b1b1f", "#777777"
PALETTE = (BLUE, RED, GREEN, ORANGE, PURPLE, SKY, INK)
DASHES = ("-", "--", "-.", ":", (0, (6, 1, 1, 1, 1, 1)), (0, (8, 3)), (0, (1, 3)))
DODGE = 0.015  # of an axis, between error bars at one place
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
STYLE = Path(__file__).with_name("templates") / "house.mplstyle"
FORMATS = ("svg", "png", "pdf")


@contextmanager
def style() -> Iterator[None]:
    """Draw in the house style inside the block; matplotlib's own settings come back after it."""
    with mpl.rc_context(fname=STYLE):
        yield


def new_figure(columns: int = 1, rows: int = 1, size: tuple[float, float] = (4.2, 3.2)) -> tuple:
    """Return (figure, 2-D array of axes); each panel has the given size in inches.

    No global state is touched, so that drawing works without a display and leaks nothing.
    """
    figure = Figure(figsize=(size[0] * columns, size[1] * rows))
    FigureCanvasAgg(figure)
    return figure, figure.subplots(rows, columns, squeeze=False)


def legend_below(figure: Figure, axes: object, columns: int | None = None) -> object:
    """Put one legend for all panels below them, by default two entries for each panel's width."""
    handles, labels = axes[0][0].get_legend_handles_labels()
    columns = min(len(labels), columns or 2 * axes.shape[1])
    return figure.legend(handles, labels, loc="outside lower center", ncols=columns)


def plain_log_ticks(ax: object) -> None:
    """Label logarithmic axes with plain numbers at 1, 2 and 5 times powers of ten."""
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_locator(LogLocator(base=10, subs=(1.0, 2.0, 5.0), numticks=30))
        axis.set_minor_locator(NullLocator())
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))


def seconds_axis(ax: object) -> None:
    """Make the y axis one of seconds: logarithmic, its ticks 1, 2 and 5 with their SI units."""
    ax.set_yscale("log", nonpositive="clip")
    low, high = ax.get_ylim()
    subs = (1.0, 1.5, 2.0, 3.0, 5.0, 7.0) if high / low < 15 else (1.0, 2.0, 5.0)
    subs = subs if high / low < 300 else (1.0,)
    ax.yaxis.set_major_locator(LogLocator(base=10, subs=subs, numticks=30))
    ax.yaxis.set_major_formatter(
        FuncFormatter(
            lambda value, _: formats.seconds(
                value, 1 + (f"{value:.0e}" != f"{value:.1e}".replace(".0", ""))
            )
        )
    )
    ax.yaxis.set_minor_locator(NullLocator())


def logit_ticks(end: float) -> tuple[list[float], list[str]]:
    """Return ticks of a logit axis on (end, 1 - end), and their names; the ends have most room.

    Ticks at 0.1, 0.01, ... and their mirror images; of more than three powers two have room.
    """
    last = int(np.ceil(-np.log10(end) - 1e-9)) - 1
    powers = list(range(last, 0, -1 if last <= 3 else -int(np.ceil(last / 2))))
    ticks = [*(10.0**-k for k in powers), 0.5, *(1 - 10.0**-k for k in reversed(powers))]
    if last <= 3:
        return ticks, [f"{t:.{max(last, 1)}g}" if t < 0.5 else f"{t:g}" for t in ticks]
    low = [f"$10^{{-{k}}}$" for k in powers]
    high = [f"$1{{-}}10^{{-{k}}}$" for k in reversed(powers)]
    return ticks, [*low, "0.5", *high]


def logit_axis(ax: object, end: float) -> None:
    """Spread both ends of an x axis on (end, 1 - end)."""
    ax.set_xscale("logit")
    ticks, names = logit_ticks(end)
    ax.set_xticks(ticks, names, fontsize=9)
    ax.set_xticks([], minor=True)
    ax.set_xlim(end, 1.0 - end)


def finish(figure: Figure) -> None:
    """Hold a figure to the house's rules, whoever drew it.

    Error bars at one place stand beside each other, no line is told by its colour alone, and no
    panel that needs a legend lacks one.
    """
    panels = [ax for ax in figure.axes if ax.name != "3d"]
    for ax in panels:
        _dodge(ax)
        _tell_apart(ax, [*figure.legends, *filter(None, [ax.get_legend()])])
    named = {ax: ax.get_legend_handles_labels()[1] for ax in panels}
    named = {ax: labels for ax, labels in named.items() if len(labels) > 1}
    bare = [ax for ax in named if ax.get_legend() is None]
    if figure.legends or not bare:
        return
    if len(named) > 1 and len(set(map(tuple, named.values()))) == 1:
        for ax in set(named) - set(bare):
            ax.get_legend().remove()
        legend_below(figure, np.array([list(named)]))
    else:
        for ax in bare:
            ax.legend()


def _dodge(ax: object) -> None:
    """Move error bars that are drawn at the same places apart."""
    groups: dict[tuple, list[ErrorbarContainer]] = {}
    for bars in ax.containers:
        if isinstance(bars, ErrorbarContainer) and bars.lines[0] is not None:
            groups.setdefault(tuple(bars.lines[0].get_xdata()), []).append(bars)
    scale = ax.xaxis.get_transform()
    low, high = scale.transform(np.asarray(ax.get_xlim()))
    for group in groups.values():
        for k, bars in enumerate(group if len(group) > 1 else []):
            shift = (k - (len(group) - 1) / 2) * DODGE * (high - low)

            def moved(x: object, shift: float = shift) -> np.ndarray:
                return scale.inverted().transform(scale.transform(np.asarray(x, float)) + shift)

            line, caps, segments = bars.lines
            for part in (line, *caps):
                part.set_xdata(moved(part.get_xdata()))
            for part in segments:
                ends = [np.column_stack([moved(s[:, 0]), s[:, 1]]) for s in part.get_segments()]
                part.set_segments(ends)


def _tell_apart(ax: object, legends: list) -> None:
    """Give lines dashes of their own where only their colours differ."""
    lines = [line for line in ax.get_lines() if not line.get_label().startswith("_")]
    lines = [line for line in lines if line.get_linestyle() != "None"]
    looks = [(line.get_linestyle(), line.get_marker()) for line in lines]
    free = [dashes for dashes in DASHES if dashes not in {style for style, _ in looks}]
    again = [k for k, look in enumerate(looks) if look in looks[:k]]
    for k, dashes in zip(again, free if len(again) <= len(free) else [], strict=False):
        lines[k].set_linestyle(dashes)
        for legend in legends:
            for text, handle in zip(legend.get_texts(), legend.legend_handles, strict=True):
                if text.get_text() == lines[k].get_label():
                    handle.set_linestyle(dashes)


def save(figure: Figure, out_dir: str | Path, name: str) -> None:
    """Write ``name.svg``, ``name.png`` and ``name.pdf``, each atomically."""
    figure.draw_without_rendering()  # the layout is found once, for all formats
    figure.set_layout_engine("none")
    # No creation date, so that the same results give the same file.
    dates = {"pdf": {"CreationDate": None}, "svg": {"Date": None, "Creator": None}}
    for suffix in FORMATS:
        options = {"format": suffix, "metadata": dates.get(suffix, {})}
        options |= {"transparent": True} if suffix == "svg" else {}
        replace_atomically(
            Path(out_dir) / f"{name}.{suffix}",
            lambda part, o=options: figure.savefig(part, **o),
        )


def inline(svg: str, name: str, title: str) -> str:
    """Return an SVG file's text as part of a page.

    Its colours are the page's, in the dark as well; its ids are its own; and it is as short as it
    can be: no metadata, no fonts, coordinates to a hundredth of a point.
    """
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<(metadata|style)\b.*?</\1>|<defs>\s*</defs>", "", svg, flags=re.S)
    used = set(re.findall(r"(?:url\(#|xlink:href=\"#)([^\")]+)", svg))
    svg = re.sub(r' id="([^"]*)"', lambda m: m.group(0) if m.group(1) in used else "", svg)
    svg = re.sub(r'( id="|url\(#|xlink:href="#)', rf"\g<1>{name}-", svg)
    svg = re.sub(r"font-family: [^;\"]*;? ?", "", svg)
    svg = re.sub(r'="[^"]*"', lambda m: _LONG.sub(_cut, m.group(0)), svg)
    svg = re.sub(r"\s+", " ", re.sub(INK, "currentColor", svg, flags=re.I))
    for k, colour in enumerate(PALETTE[:-1]):
        svg = re.sub(colour, f"var(--c{k})", svg, flags=re.I)
    svg = re.sub(r"> <(?!tspan)", "><", svg)
    head = re.search(r'width="([\d.]+)pt" height="[\d.]+pt"', svg)
    label = title.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;")
    look = f"width:{float(head.group(1)) / 72:.2f}in;stroke-linejoin:round"
    return svg.replace(head.group(0), f'role="img" aria-label="{label}" style="{look}"', 1)


_LONG = re.compile(r"-?\d+\.\d{3,}")


def _cut(match: re.Match) -> str:
    return f"{float(match.group(0)):.2f}".rstrip("0").rstrip(".")
