"""Draw docs/images/graphs.png and docs/images/example.png: the pictures of docs/engine.md."""

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from path_benchmark.reporting import figures as fig
from solution_paths import solution_path
from solution_paths.problem import Losses, Problem, pieces

HERE = Path(__file__).parent
POINT = {"color": fig.BLUE, "marker": "o", "markersize": 8, "linestyle": "none", "zorder": 5}
X, Y = np.array([[1.0], [2.0], [3.0]]), np.array([1.0, 1.0, 2.0])


def graphs() -> Figure:
    """Draw the graphs of the epsilon-insensitive loss and of a hinge whose cost grows."""
    figure, axes = fig.new_figure(2, size=(4.6, 3.1))
    left, right = axes[0]
    steps(left, knots=[-1.0, 1.0], duals=[1.0, 0.0, -1.0])
    left.set_title("epsilon-insensitive loss: two knots, three segments")
    for x, y, text in (
        (-2.25, 1.12, "segment"),
        (-0.42, 0.12, "segment"),
        (1.4, -0.88, "segment"),
        (-0.9, 0.62, "knot"),
        (1.1, -0.45, "knot"),
    ):
        left.text(x, y, text, color=fig.GREY)
    left.plot([0.35], [0.0], **POINT)
    left.plot([-1.0], [0.3], **POINT | {"color": fig.RED, "marker": "s"})
    arrow(left, (0.35, 0.0), (0.9, 0.0), fig.BLUE)
    arrow(left, (-1.0, 0.3), (-1.0, 0.9), fig.RED)
    left.set_xticks([-1, 1], [r"$y_i-\varepsilon$", r"$y_i+\varepsilon$"])
    left.set_yticks([-1, 0, 1], ["$-C$", "$0$", "$C$"])

    steps(right, knots=[1.0], duals=[1.0, 0.0])
    right.plot([-4.0, 1.0, 1.0], [1.35, 1.35, 1.0], color=fig.GREY, linestyle="--", linewidth=1.2)
    right.set_title("hinge loss, $y_i=1$: the slope moves with $C$")
    for x in (-1.6, 0.1):
        arrow(right, (x, 1.0), (x, 1.35), fig.GREY)
    right.plot([-0.75], [1.0], **POINT)
    right.plot([1.0], [0.45], **POINT | {"color": fig.RED, "marker": "s"})
    right.text(-1.35, 0.8, "on a segment:\n$a_i=C$, $z_i$ may move", va="top")
    right.text(1.12, 0.45, "at the knot:\n$z_i=1$, $a_i$ may move", va="center")
    right.set_xticks([1], ["$y_i$"])
    right.set_yticks([0, 1, 1.35], ["$0$", "$C$", "$C+h$"])
    for ax in (left, right):
        ax.set_xlabel("value $z_i$")
        ax.grid(visible=False)
    left.set_ylabel("dual $a_i$")
    left.set(xlim=(-2.4, 2.4), ylim=(-1.35, 1.4))
    right.set(xlim=(-2.0, 3.1), ylim=(-0.3, 1.55))
    return figure


def steps(ax: Axes, knots: list[float], duals: list[float], **style: object) -> None:
    """Draw one graph, from far left to far right."""
    x = np.repeat([-4.0, *knots, 5.0], 2)[1:-1]
    ax.plot(x, np.repeat(duals, 2), **{"color": fig.INK, "linewidth": 1.6} | style)


def arrow(ax: Axes, start: tuple, end: tuple, color: str) -> None:
    """Draw an arrow."""
    ax.annotate("", end, start, arrowprops={"arrowstyle": "->", "color": color, "linewidth": 1.3})


def model(C: float) -> Problem:
    """State the example of docs/engine.md."""
    return Problem(Losses(pieces([Y], [-C, C]), X), ridge=1.0)


def example() -> Figure:
    """Draw the example's graphs at one C, then its values and its duals for all C."""
    path = solution_path(model, 0.0, np.inf, parameter="C")
    figure, (axes,) = fig.new_figure(3, size=(3.7, 3.3))
    at, C = 0.2, np.array([*path.breakpoints, 0.42])
    z, a = X @ path.coef(C), path.dual(C)
    for i in range(len(Y)):
        colour, dashes, marker = fig.PALETTE[i], fig.DASHES[i], fig.MARKERS[i]
        line = {"color": colour, "linestyle": dashes, "marker": marker, "label": f"sample {i + 1}"}
        steps(axes[0], [Y[i]], [at, -at], color=colour, linestyle=dashes)
        point = (X[i] @ path.coef(at), path.dual(at)[i])
        axes[0].plot(*point, **POINT | {"color": colour, "marker": marker})
        axes[1].plot(C, z[i] - Y[i], **line)
        axes[2].plot(C, a[i], **line)
    axes[0].set_title("three graphs and their points, C = 0.2")
    axes[0].set(
        xlim=(0.0, 2.6), ylim=(-0.3, 0.3), xlabel="value $z_i = x_i w$", ylabel="dual $a_i$"
    )
    axes[1].set_title("distance of each value from its knot")
    axes[1].set(ylabel="$z_i - y_i$")
    axes[2].set_title("duals, between the slopes $-C$ and $C$")
    axes[2].fill_between(C, -C, C, color=fig.GREY, alpha=0.15, linewidth=0.0)
    axes[2].set(ylabel="dual $a_i$")
    for ax in axes[1:]:
        ax.set(xlim=(0.0, 0.42), xlabel="$C$")
        ax.set_xticks(path.breakpoints, ["0", "1/12", "1/4", "1/3"])
    axes[1].legend()
    return figure


if __name__ == "__main__":
    with fig.style():
        for draw in (graphs, example):
            draw().savefig(HERE / f"{draw.__name__}.png", dpi=110)
