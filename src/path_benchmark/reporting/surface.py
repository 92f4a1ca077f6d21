"""A surface over two parameters, known along lines: drawn, and turned by hand on the page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure

from . import figures as fig

VIEW = (25, -55)  # elevation and azimuth at first, in degrees


@dataclass(frozen=True)
class Trace:
    """Lines or points of one kind: each (x, y, z) holds sequences of equal length.

    Attributes
    ----------
    name : str
        Empty: not in the legend.
    parts : sequence of (x, y, z)
    points : bool
        Drawn as marks, not joined.
    """

    name: str
    parts: Sequence[tuple[Sequence[float], Sequence[float], Sequence[float]]]
    points: bool = False


@dataclass(frozen=True)
class Surface:
    """What is drawn over two parameters.

    Attributes
    ----------
    labels : (x, y, z)
        Names of the axes.
    traces : list of Trace
    """

    labels: tuple[str, str, str]
    traces: list[Trace]

    def content(self) -> dict:
        """Return what the page's script is given: numbers to five digits."""
        traces = [
            {
                "name": trace.name,
                "points": trace.points,
                "parts": [[_short(values) for values in part] for part in trace.parts],
            }
            for trace in self.traces
        ]
        return {"labels": list(self.labels), "view": list(VIEW), "traces": traces}


def _short(values: Sequence[float]) -> list[float]:
    return [float(f"{float(v):.5g}") for v in values]


def surface_figure(surface: Surface) -> Figure:
    """Draw a surface as readers without JavaScript, and of the PDF, see it."""
    figure, _ = fig.new_figure(size=(6.4, 4.6))
    figure.clear()
    ax = figure.add_subplot(projection="3d")
    ax.view_init(*VIEW)
    for k, trace in enumerate(surface.traces):
        colour = fig.PALETTE[k % len(fig.PALETTE)]
        for j, (x, y, z) in enumerate(trace.parts):
            label = trace.name if j == 0 and trace.name else "_nolegend_"
            if trace.points:
                ax.plot(x, y, z, fig.MARKERS[k], color=colour, ms=4.0, label=label)
            else:
                ax.plot(x, y, z, color=colour, linewidth=1.0, label=label)
    for axis, label in zip("xyz", surface.labels, strict=True):
        getattr(ax, f"set_{axis}label")(label)
        ax.locator_params(axis=axis, nbins=5)
    ax.set_box_aspect(np.ones(3), zoom=0.85)
    fig.legend_below(figure, np.array([[ax]]), columns=3)
    return figure
