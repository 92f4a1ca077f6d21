"""Draw docs/images/staircase.png and docs/images/step.png: the pictures of docs/engine.md."""

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from path_benchmark.reporting import figures as fig

HERE = Path(__file__).parent
PAIR = {"color": fig.BLUE, "marker": "o", "markersize": 8, "linestyle": "none", "zorder": 5}


def staircase() -> Figure:
    """Draw the staircases of support vector regression and of a hinge whose cost grows."""
    figure, axes = fig.new_figure(2, size=(4.6, 3.1))
    left, right = axes[0]
    steps(left, kinks=[-1.0, 1.0], levels=[1.0, 0.0, -1.0])
    left.set_title("epsilon-insensitive loss: two kinks, three levels")
    for x, y, text in (
        (-2.25, 1.12, "piece 0"),
        (-0.42, 0.12, "piece 1"),
        (1.5, -0.88, "piece 2"),
        (-0.9, 0.62, "kink 0"),
        (1.1, -0.45, "kink 1"),
    ):
        left.text(x, y, text, color=fig.GREY)
    left.plot([0.35], [0.0], **PAIR)
    left.plot([-1.0], [0.3], **PAIR | {"color": fig.RED})
    arrow(left, (0.35, 0.0), (0.9, 0.0), fig.BLUE)
    arrow(left, (-1.0, 0.3), (-1.0, 0.9), fig.RED)
    left.set_xticks([-1, 1], [r"$y_i-\varepsilon$", r"$y_i+\varepsilon$"])
    left.set_yticks([-1, 0, 1], ["$-C$", "$0$", "$C$"])

    steps(right, kinks=[1.0], levels=[1.0, 0.0])
    right.plot([-4.0, 1.0, 1.0], [1.35, 1.35, 1.0], color=fig.GREY, linestyle="--", linewidth=1.2)
    right.set_title(r"hinge loss, $y_i=1$: the level moves with $t=C$")
    for x in (-1.6, 0.1):
        arrow(right, (x, 1.0), (x, 1.35), fig.GREY)
    right.plot([-0.75], [1.0], **PAIR)
    right.plot([1.0], [0.45], **PAIR | {"color": fig.RED})
    right.text(-1.35, 0.8, "inside the margin:\n$a_i=C$, $z_i$ free to move", va="top")
    right.text(1.12, 0.45, "on the margin:\n$z_i=1$, $a_i$ free to move", va="center")
    right.set_xticks([1], ["$y_i$"])
    right.set_yticks([0, 1, 1.35], ["$0$", "$t$", "$t+h$"])
    for ax in (left, right):
        ax.set_xlabel("value $z_i$")
        ax.grid(visible=False)
    left.set_ylabel("dual $a_i$")
    left.set(xlim=(-2.4, 2.4), ylim=(-1.35, 1.4))
    right.set(xlim=(-2.0, 3.1), ylim=(-0.3, 1.55))
    return figure


def steps(ax: Axes, kinks: list[float], levels: list[float], **style: object) -> None:
    """Draw one staircase, from far left to far right."""
    x = np.repeat([-4.0, *kinks, 5.0], 2)[1:-1]
    ax.plot(x, np.repeat(levels, 2), **{"color": fig.BLACK, "linewidth": 1.6} | style)


def arrow(ax: Axes, start: tuple, end: tuple, color: str) -> None:
    """Draw an arrow."""
    ax.annotate("", end, start, arrowprops={"arrowstyle": "->", "color": color, "linewidth": 1.3})


def step() -> Figure:
    """Draw what the ratio test compares: values against kinks, pinned duals against levels."""
    figure, axes = fig.new_figure(2, size=(4.6, 3.1))
    left, right = axes[0]
    end, t = 0.52, np.array([0.0, 1.0])
    left.set_title("coordinates on pieces: values against kinks")
    left.plot(t, [1.0, 1.0], color=fig.GREY, linestyle="--")
    left.text(0.01, 1.04, "kink", color=fig.GREY)
    lines = (("$z_1$", 0.48, 0.66), ("$z_2$", 0.30, -0.10), ("$z_3$", 0.02, 0.12))
    for text, start, rate in lines:
        draw_line(left, start, rate, 1.0, end, fig.BLUE)
        left.text(0.01, start + 0.06, text, color=fig.BLUE)
    left.set_ylabel("value $z_i$")

    right.set_title("coordinates at kinks: duals against levels")
    for intercept, rate, text in ((0.75, 0.3, "level $C=t$"), (0.0, 0.0, "level $0$")):
        right.plot(t, intercept + rate * t, color=fig.GREY, linestyle="--")
        right.text(0.01, intercept + 0.25 * rate + 0.04, text, color=fig.GREY)
    lines = (("$a_4$", 0.5, 0.58), ("$a_5$", 0.3, -0.3 / end))
    draw_line(right, *lines[1][1:], 0.0, end, fig.RED)
    draw_line(right, *lines[0][1:], None, end, fig.RED)
    for text, start, _ in lines:
        right.text(0.01, start + 0.07, text, color=fig.RED)
    crossing = (0.75 - lines[0][1]) / (lines[0][2] - 0.3)
    mark(right, crossing, 0.75 + 0.3 * crossing, hollow=True)
    right.set_ylabel("dual $a_i$")
    for ax in (left, right):
        ax.axvline(end, color=fig.ORANGE, linewidth=1.2, zorder=0)
        ax.set_xticks([0, end], ["$t$", "$t+h$: the next event"])
        ax.grid(visible=False)
        ax.set(xlim=(0, 1), ylim=(-0.1, 1.2))
        ax.set_yticks([])
    return figure


def draw_line(
    ax: Axes, start: float, rate: float, goal: float | None, end: float, color: str
) -> None:
    """Draw a line up to the event, dotted beyond, and mark where it would reach its goal."""
    ax.plot([0, end], [start, start + rate * end], color=color, linewidth=1.8)
    ax.plot([end, 1], [start + rate * end, start + rate], color=color, linestyle=":")
    if goal is None or rate == 0:
        return
    at = (goal - start) / rate
    if 0 < at < 1:
        mark(ax, at, goal, hollow=abs(at - end) > 1e-9)


def mark(ax: Axes, x: float, y: float, hollow: bool) -> None:
    """Mark where an event would be: filled where it is the first."""
    inside = "white" if hollow else fig.ORANGE
    ax.plot([x], [y], "o", markersize=8, color=fig.ORANGE, markerfacecolor=inside, zorder=6)


if __name__ == "__main__":
    with fig.style():
        for draw in (staircase, step):
            draw().savefig(HERE / f"{draw.__name__}.png", dpi=110)
