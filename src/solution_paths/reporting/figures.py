"""Figures: one style, colours that everybody can tell apart, PNG for the page and PDF for print."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import matplotlib as mpl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from ..files import replace_atomically

# Okabe and Ito's palette: distinguishable with every common form of colour blindness.
BLUE, ORANGE, GREEN, RED = "#0072B2", "#E69F00", "#009E73", "#D55E00"
PURPLE, SKY, BLACK, GREY = "#CC79A7", "#56B4E9", "#000000", "#777777"
PALETTE = (BLUE, RED, GREEN, ORANGE, PURPLE, SKY, BLACK)
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
SETTINGS = {
    "font.size": 10,
    "axes.labelsize": 10,
    "axes.titlesize": 10,
    "legend.fontsize": 9,
    "legend.frameon": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.25,
    "lines.linewidth": 1.4,
    "savefig.dpi": 160,
    "figure.constrained_layout.use": True,
    "pdf.fonttype": 42,
}


@contextmanager
def style() -> Iterator[None]:
    """Draw in the house style inside the block; matplotlib's own settings come back after it."""
    with mpl.rc_context(SETTINGS):
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


def save(figure: Figure, out_dir: str | Path, name: str) -> None:
    """Write ``name.png`` and ``name.pdf``, each atomically."""
    for suffix in ("png", "pdf"):
        # No creation date, so that the same results give the same file.
        metadata = {"CreationDate": None} if suffix == "pdf" else {}
        replace_atomically(
            Path(out_dir) / f"{name}.{suffix}",
            lambda part, s=suffix, m=metadata: figure.savefig(part, format=s, metadata=m),
        )
