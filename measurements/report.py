"""Tables, goals and plots, from the rows that `run.py` wrote."""

from __future__ import annotations

import importlib
import json
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from peers import MODULES
from problems import GROWTH, PAPER, STORED

from solution_paths.files import replace_atomically
from solution_paths.verify.verdict import GAP_LIMIT, KKT_LIMIT

NAMES = {peer: importlib.import_module(f"peers.{peer}").NAME for peer in MODULES}
COLOURS = dict(zip(MODULES, [f"C{k}" for k in range(len(MODULES))], strict=True))
C_PATHS = [f"{name} {kernel}" for kernel in ("linear", "rbf") for name in STORED]
C_PATHS += ["g1000 linear", "g500 rbf", "g1000 rbf", "g2000 rbf"]
NO_RUN = "not measured"


# ---------------------------------------------------------------- rows


def read(out: Path) -> pd.DataFrame:
    """Return every repeat of every problem that has been run."""
    parts = [json.loads(file.read_text()) for file in sorted(out.glob("rows/*.json"))]
    frames = [pd.DataFrame(p["rows"]).assign(code=p["code"], machine=p["machine"]) for p in parts]
    if not frames:
        raise ValueError(f"{out / 'rows'} holds no rows: run measurements/run.py first.")
    repeats = pd.concat(frames, ignore_index=True)
    columns = [
        "seconds",
        "wall_s",
        "whole_wall_s",
        "count",
        "kkt",
        "gap",
        "n_points",
        "peak_mb",
        "load",
    ]
    columns += ["recover_s", "certified", "certificate_kkt", "certificate_gap", "note"]
    columns += ["certificate_points", "events", "start_events"]
    return repeats.reindex(columns=[*repeats, *(c for c in columns if c not in repeats)])


def summarise(repeats: pd.DataFrame) -> pd.DataFrame:
    """One row for each problem and peer: medians of times, worst accuracy, or the reason."""
    lines = []
    for (problem, peer), own in repeats.groupby(["problem", "peer"], sort=False):
        good, bad = own[own.status == "ok"], own[own.status != "ok"]
        line = {"problem": problem, "peer": peer, "method": own.method.iloc[0]}
        line |= {"version": own.version.iloc[0], "repeats": len(good)}
        if len(good):
            line |= {"wall_s": good.wall_s.median()}
            line |= {"seconds": good.seconds.median(), "fastest": good.seconds.min()}
            line |= {"slowest": good.seconds.max(), "kkt": good.kkt.max(skipna=False)}
            line |= {"gap": good.gap.max(skipna=False), "peak_mb": good.peak_mb.max()}
            line |= {"load": good.load.median()}
            first = ["count", "n_points", "recover_s", "certified", "certificate_kkt", "note"]
            first += ["certificate_gap", "certificate_points", "events", "start_events"]
            line |= good.iloc[0][first].to_dict()
        line["status"] = bad.status.iloc[0] if len(bad) else "ok"
        line["message"] = bad.message.iloc[0] if len(bad) else ""
        lines.append(line)
    return pd.DataFrame(lines)


def lines(rows: list[dict]) -> list[str]:
    """Say in one line for each peer what a problem took."""
    said = []
    for line in summarise(_complete(rows)).itertuples():
        if line.status == "ok":
            times = f"{seconds(line.seconds):>9} CPU, {seconds(line.wall_s)} wall"
            text = f"{times} (median of {line.repeats}), {_accuracy(line)}"
        else:
            text = f"{line.status}: {line.message}"
        said.append(f"    {line.method:34s}{text}")
    return said


def _complete(rows: list[dict]) -> pd.DataFrame:
    wanted = [
        "seconds",
        "wall_s",
        "kkt",
        "gap",
        "peak_mb",
        "load",
        "count",
        "n_points",
        "recover_s",
        "note",
    ]
    wanted += ["certified", "certificate_kkt", "certificate_gap", "certificate_points"]
    wanted += ["events", "start_events"]
    frame = pd.DataFrame(rows)
    return frame.reindex(columns=[*frame, *(c for c in wanted if c not in frame)])


def seconds(value: float) -> str:
    """Seconds with a unit that suits them."""
    if not np.isfinite(value):
        return "–"
    for unit, name in ((1e-6, "µs"), (1e-3, "ms"), (1.0, "s")):
        if value < 1000 * unit or name == "s":
            return f"{value / unit:.3g} {name}"
    raise AssertionError("never reached")


def _accuracy(line) -> str:
    return f"KKT {_short(line.kkt)}, gap {_short(line.gap)}"


def _short(value: float) -> str:
    return "–" if pd.isna(value) else "infeasible" if value == np.inf else f"{value:.0e}"


# ---------------------------------------------------------------- goals


@dataclass(frozen=True)
class Goal:
    """What was asked, what was measured, and whether that is enough."""

    goal: str
    measured: str
    met: str

    @classmethod
    def at_most(cls, goal: str, value: float | None, limit: float, show=None) -> Goal:
        """Compare a number with its limit."""
        if value is None or not np.isfinite(value):
            return cls(goal, NO_RUN, NO_RUN)
        text = show(value) if show else f"{value:.3g}"
        return cls(goal, text, "met" if value <= limit else "not met")


class Table:
    """Looks numbers up in the summary; None where there was no run."""

    def __init__(self, summary: pd.DataFrame):
        self._rows = {(r.problem, r.peer): r for r in summary.itertuples()}

    def get(self, problem: str, peer: str = "ours", column: str = "seconds"):
        """Return one number."""
        row = self._rows.get((problem, peer))
        usable = row is not None and row.status == "ok"
        return getattr(row, column) if usable else None

    def ratio(self, problem: str, other: str, column: str = "seconds") -> float | None:
        """Ours over theirs."""
        ours, theirs = self.get(problem, column=column), self.get(problem, other)
        return ours / theirs if ours and theirs else None

    def reason(self, problem: str, peer: str = "ours") -> str:
        """Why there is no number."""
        row = self._rows.get((problem, peer))
        return NO_RUN if row is None else f"{row.status}: {row.message}"


# our goal in seconds, and what PEERS.md measured for R svmpath and qpOASES
SPEED = {
    "g1000 linear": (0.012, 0.47, 8.2),
    "g500 rbf": (0.02, 0.91, 0.47),
    "g1000 rbf": (0.14, 5.3, 4.3),
    "g2000 rbf": (0.85, 27.3, None),
}
SOLVES = {"diabetes": 20, "spam": 60, "splice": 60}


def goals(summary: pd.DataFrame) -> list[Goal]:
    """Check every goal of the issue against this run."""
    table = Table(summary)
    return [
        *_speed_goals(table),
        *_quantile_goals(table),
        *_growth_goals(summary, table),
        *_exactness_goals(summary, table),
    ]


def _speed_goals(table: Table) -> list[Goal]:
    found = []
    for problem, (limit, svmpath, qpoases) in SPEED.items():
        own = table.get(problem)
        found.append(
            Goal.at_most(f"C-path, {problem}: at most {seconds(limit)}", own, limit, seconds)
        )
        if problem != "g1000 linear":
            half = f"C-path, {problem}: half of that (aim)"
            found.append(Goal.at_most(half, own, limit / 2, seconds))
        for peer, theirs in (("svmpath_r", svmpath), ("qpoases", qpoases)):
            if theirs:
                text = f"C-path, {problem}: ours / {NAMES[peer]} at most {limit / theirs:.2g}"
                ratio = table.ratio(problem, peer)
                goal = Goal.at_most(text, ratio, limit / theirs)
                if ratio is None:
                    goal = Goal(text, table.reason(problem, peer), NO_RUN)
                found.append(goal)
    for problem in ("g200 rbf", *(p for p in SPEED if p.endswith("rbf")), "g1000 linear"):
        text = f"{problem}: faster than 100 cold SVC fits at 1e-3 (ours / theirs below 1)"
        found.append(Goal.at_most(text, table.ratio(problem, "svc_1e3"), 1.0))
    return found


def _quantile_goals(table: Table) -> list[Goal]:
    found = []
    for name, limit in SOLVES.items():
        ratio = table.ratio(name, "liblinear_nine")
        text = f"quantile path, {name}: start and all kinks at most {limit} LIBLINEAR solves"
        found.append(Goal.at_most(text, ratio, limit))
        read = table.ratio(name, "liblinear_nine", "recover_s")
        text = f"quantile path, {name}: recovery at any tau at most .1 LIBLINEAR solve"
        found.append(Goal.at_most(text, read, 0.1))
    peak = table.get("splice", column="peak_mb")
    text = "quantile path, splice: at most 1.5 GB"
    return [*found, Goal.at_most(text, peak, 1536, lambda mb: f"{mb / 1024:.2f} GB")]


def growth(summary: pd.DataFrame, kind: str) -> pd.DataFrame:
    """Seconds for each event of the path, against n."""
    keys = {f"growth {kind} {n}": n for n in GROWTH}
    own = summary[summary.problem.isin(keys) & (summary.status == "ok")].copy()
    own["n"] = own.problem.map(keys)
    own["each"] = own.seconds / own["count"]
    return own.sort_values("n")


def exponent(table: pd.DataFrame) -> float | None:
    """Slope of log(seconds for each breakpoint) on log(n)."""
    if len(table) < 3:
        return None
    return float(np.polyfit(np.log(table.n), np.log(table.each), 1)[0])


def _growth_goals(summary: pd.DataFrame, table: Table) -> list[Goal]:
    found = []
    for kind in ("C", "tau"):
        sizes = growth(summary, kind)
        span = f"n = {sizes.n.min():,} to {sizes.n.max():,}" if len(sizes) else "no size"
        text = (
            f"growth, path in {kind}: time for each breakpoint grows slower than n (exponent < 1)"
        )
        slope = exponent(sizes)
        found.append(Goal.at_most(text, slope, 0.999, lambda s, span=span: f"{s:.2f} over {span}"))
        last = f"growth {kind} {GROWTH[-1]}"
        time, peak = table.get(last), table.get(last, column="peak_mb")
        texts = [f"growth, path in {kind}: n = 100,000 within {what}" for what in ("120 s", "2 GB")]
        for text, value, limit, show in (
            (texts[0], time, 120, seconds),
            (texts[1], peak, 2048, lambda mb: f"{mb / 1024:.2f} GB"),
        ):
            missing = Goal(text, table.reason(last), "not met" if time is None else NO_RUN)
            never = table.reason(last) == NO_RUN
            found.append(
                Goal.at_most(text, value, limit, show) if value is not None or never else missing
            )
    return found


def _exactness_goals(summary: pd.DataFrame, table: Table) -> list[Goal]:
    found = []
    for problem, low, high in (("g200 linear", 373, 375), ("g200 rbf", 345, 348)):
        count = table.get(problem, column="events")
        if count is not None:  # ties are several events at one breakpoint
            text = f"events on {problem}: {low} to {high}"
            verdict = "met" if low <= count <= high else "not met"
            found.append(Goal(text, f"{count:.0f}", verdict))
    for problem in ("a8a tau", "a8a C"):
        text = f"{problem}: the whole path (n = 22,696) with a certificate"
        found.append(_certified(text, table, problem))
    ours = summary[summary.peer == "ours"]
    holds = (ours.status == "ok") & (ours.kkt <= KKT_LIMIT) & (ours.gap <= GAP_LIMIT)
    holds &= ours.certified.fillna(False).astype(bool)
    wrong = ", ".join(ours.problem[~holds])
    text = f"every path of this run is exact (KKT <= {KKT_LIMIT:g}, gap <= {GAP_LIMIT:g})"
    verdict = "met" if holds.all() else "not met"
    found.append(
        Goal(text, f"{holds.sum()} of {len(ours)}" + (f"; not {wrong}" * bool(wrong)), verdict)
    )
    return found


def _certified(text: str, table: Table, problem: str) -> Goal:
    if table.get(problem) is None:
        reason = table.reason(problem)
        return Goal(text, reason, NO_RUN if reason == NO_RUN else "not met")
    own = {c: table.get(problem, column=c) for c in ("certified", "certificate_kkt", "seconds")}
    points = table.get(problem, column="certificate_points")
    shown = f"{seconds(own['seconds'])}, KKT {own['certificate_kkt']:.0e} at {points:.0f} points"
    return Goal(text, shown, "met" if own["certified"] else "not met")


# ---------------------------------------------------------------- page


def write(out: Path) -> int:
    """Write repeats.csv, summary.csv, goals.csv, benchmark.md and two plots."""
    repeats = read(out)
    summary = summarise(repeats)
    order = {p: k for k, p in enumerate([*C_PATHS, *PAPER])}
    summary = summary.sort_values(
        "problem", key=lambda names: [order.get(n, 99) for n in names], kind="stable"
    )
    checks = pd.DataFrame([vars(goal) for goal in goals(summary)])
    for name, frame in (("repeats", repeats), ("summary", summary), ("goals", checks)):
        replace_atomically(
            out / f"{name}.csv", lambda part, frame=frame: frame.to_csv(part, index=False)
        )
    replace_atomically(
        out / "benchmark.md", lambda part: part.write_text(page(repeats, summary, checks))
    )
    for name, draw in (("benchmark", draw_times), ("growth", draw_growth)):
        figure = draw(summary)
        replace_atomically(
            out / f"{name}.png",
            lambda part, figure=figure: figure.savefig(part, format="png", dpi=150),
        )
    print(f"\n{checks.to_string(index=False)}\n\nWritten: {out / 'benchmark.md'}")
    return 0


def page(repeats: pd.DataFrame, summary: pd.DataFrame, checks: pd.DataFrame) -> str:
    """Return the whole report as Markdown."""
    load = repeats["load"].dropna()
    busy = ""
    if len(load) and load.max() > 1.5:
        busy = (
            f" **The machine was shared**: load averages of {load.min():.1f} to {load.max():.1f} "
            "were seen, where this benchmark alone makes about 1."
        )
    codes = repeats.code.nunique()
    mixed = " **Rows of different versions of the code are mixed.**" if codes > 1 else ""
    times = summary[[c in C_PATHS or c in PAPER for c in summary.problem]]
    sized = summary[~summary.index.isin(times.index)]
    how = [
        f"- **{NAMES[p]}** ({_versions(summary, p)}): {importlib.import_module(f'peers.{p}').HOW}."
        for p in MODULES
    ]
    return "\n".join(
        [
            "# Speed and accuracy, ours and theirs",
            "",
            f"{repeats.machine.iloc[-1]}; {repeats['at'].min()} to {repeats['at'].max()}; BLAS on "
            "one thread; every peer in its own process, repeats interleaved, compilation excluded; "
            "medians of CPU and wall seconds, with the number of repeats (1 where a run takes more "
            "than 20 s); goals are judged on CPU seconds, which on one thread are what the wall "
            "clock shows when nobody else computes. Accuracy is "
            "the worst over all points that a method handed out, by one judge: KKT "
            f"violation (margins in units of 1, duals of the largest cost), relative duality gap."
            f"{busy}{mixed}",
            "",
            "## Goals",
            "",
            checks.to_markdown(index=False, disable_numparse=True),
            "",
            "## Times",
            "",
            _markdown(times),
            "",
            "## Growth (linear, d = 20) and a8a",
            "",
            _markdown(sized),
            "",
            "![times](benchmark.png)",
            "![growth](growth.png)",
            "",
            "## How each is called",
            "",
            *how,
            "",
        ]
    )


def _versions(summary: pd.DataFrame, peer: str) -> str:
    known = summary.version[(summary.peer == peer) & (summary.version != "")]
    return known.iloc[0] if len(known) else "not installed"


def _markdown(summary: pd.DataFrame) -> str:
    shown = [
        {
            "problem": r.problem,
            "method": r.method,
            "CPU": seconds(r.seconds) if r.status == "ok" else r.status,
            "wall": seconds(r.wall_s) if r.status == "ok" else "",
            "CPU, fastest to slowest": f"{seconds(r.fastest)} to {seconds(r.slowest)}"
            if r.repeats > 1
            else "",
            "repeats": r.repeats,
            "steps": "" if pd.isna(r.count_) or r.count_ < 0 else f"{r.count_:.0f}",
            "KKT": _short(r.kkt),
            "gap": _short(r.gap),
            "points": "" if pd.isna(r.n_points) else f"{r.n_points:.0f}",
            "peak MB": "" if pd.isna(r.peak_mb) else f"{r.peak_mb:.0f}",
            "note": r.message or ("" if pd.isna(r.note) else r.note),
        }
        for r in summary.rename(columns={"count": "count_"}).itertuples()
    ]
    return pd.DataFrame(shown).to_markdown(index=False, disable_numparse=True) if shown else NO_RUN


def _figure(**options):
    os.environ.setdefault("MPLBACKEND", "Agg")
    import matplotlib.pyplot as plt

    return plt.subplots(layout="constrained", **options)


def draw_times(summary: pd.DataFrame):
    """Draw times on one side, accuracy on the other, a row for each problem."""
    problems = [p for p in [*C_PATHS, *PAPER] if (summary.problem == p).any()]
    figure, axes = _figure(ncols=2, sharey=True, figsize=(11, 1.5 + 0.42 * max(len(problems), 1)))
    for peer in MODULES:
        own = summary[(summary.peer == peer) & (summary.status == "ok")]
        own = own[own.problem.isin(problems)]
        if len(own) == 0:
            continue
        at = [problems.index(p) for p in own.problem]
        style = {"color": COLOURS[peer], "s": 70 if peer == "ours" else 36, "label": NAMES[peer]}
        style["marker"] = "D" if peer == "ours" else "o"
        axes[0].scatter(own.seconds, at, zorder=3, **style)
        axes[1].scatter(np.maximum(own.gap, 1e-17), at, zorder=3, **style)
    axes[0].set_yticks(range(len(problems)), problems)
    axes[0].invert_yaxis()
    axes[0].set_xlabel("median CPU seconds, one thread")
    axes[1].set_xlabel("worst relative duality gap (below 1e-17 drawn there)")
    axes[1].axvline(GAP_LIMIT, color="grey", linestyle="--", linewidth=1)
    for ax in axes:
        ax.set_xscale("log")
        ax.grid(axis="both", linewidth=0.3)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure


def draw_growth(summary: pd.DataFrame):
    """Time for each breakpoint against n, with the fitted exponents."""
    figure, ax = _figure(figsize=(6, 4.2))
    for kind, marker in (("C", "o"), ("tau", "s")):
        own = growth(summary, kind)
        slope = exponent(own)
        if len(own) == 0:
            continue
        fitted = "" if slope is None else f": exponent {slope:.2f}"
        (line,) = ax.plot(own.n, 1e6 * own.each, marker, label=f"path in {kind}{fitted}")
        if slope is not None:
            offset = np.mean(np.log(own.each)) - slope * np.mean(np.log(own.n))
            fit = np.exp(offset) * own.n.astype(float) ** slope
            ax.plot(own.n, 1e6 * fit, "--", color=line.get_color(), linewidth=1)
    ax.set(xscale="log", yscale="log", xlabel="samples n (d = 20, linear)")
    ax.set_ylabel("microseconds for each breakpoint, start included")
    ax.grid(linewidth=0.3)
    if ax.get_legend_handles_labels()[0]:
        ax.legend()
    return figure
