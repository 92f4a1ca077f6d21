"""The one checker of claims: sentences are rows of a paper's ``claims.yaml``, with their rules.

A *measure* looks at a study and gives cases: on which data, and which numbers came out. The rule of
the row decides each case, the row's data say whether it may.
"""

from __future__ import annotations

import string
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal

import numpy as np
import pandas as pd
from pydantic import Field

from ..settings import Settings, Text
from . import statistics
from .formats import seconds, significant
from .study import Study, hyper
from .verdicts import CONTRADICTED, NOT_TESTED, Claim, on_sentence


class Rule(Settings):
    """What decides a case: bounds on a value, a comparison of means, or an interval.

    ``value`` names numbers that must all keep the bounds, within the measure's ``<value>_error``
    where it knows that; ``holds`` what is already true, false or None; ``means`` compares
    ``stated`` with ``rivals`` (at each of ``levels``); ``interval`` names numbers whose median (or
    ``take``) has a bootstrap interval on the right side of the bound.
    """

    value: str = ""
    holds: str = ""
    interval: str = ""
    take: Literal["median", "mean"] = "median"
    means: Literal["", "lower", "higher"] = ""
    rank: int = 1
    at_most: float | None = None
    below: float | None = None
    at_least: float | None = None
    above: float | None = None
    bound_from: str = ""


class Row(Settings):
    """A sentence: where it stands, whose it is, what is measured, what decides it.

    ``data``: "own" is decided on the paper's own data only, and so is every sentence of a paper;
    "any": one of this project is decided on all data.
    ``only``: data sets that it is about. ``printed``: data sets on which the paper's own table says
    otherwise. ``needs``: experiment -> setting -> least value; ``splits`` counts those that ran.
    """

    claim: Text
    source: Literal["paper", "this project"] = "paper"
    place: str = ""
    measure: str
    options: dict[str, Any] = Field(default_factory=dict)
    rule: Rule
    evidence: str = "{compared}"
    data: Literal["own", "any"] = "own"
    only: tuple[str, ...] = ()
    printed: dict[str, str] = Field(default_factory=dict)
    needs: dict[str, dict[str, float]] = Field(default_factory=dict)


class Check(Settings):
    """A bound that every row of a metric must keep, or the exit status tells."""

    metric: str
    says: Text
    experiment: str = ""
    method: tuple[str, ...] = ()
    column: str = "value"
    at_most: float | None = None
    at_least: float | None = None


@dataclass(frozen=True)
class Case:
    """What a measure found: the data sets looked at, the numbers by name, and which part of them.

    Of the numbers, ``runs`` counts how often something was run that varies between runs.
    """

    data: tuple[str, ...]
    values: Mapping[str, Any] = field(default_factory=dict)
    where: str = ""


Measure = Callable[..., Iterable[Case]]
Differences = Mapping[str, Mapping[str, tuple[float, float, int, str]]]  # by level and rival
MOST_COMPARISONS = 6  # that are written out; more of them are counted


class Words(string.Formatter):
    """Formats evidence: ``{x:sec}`` is a time with its unit, ``{x:sig2}`` two digits."""

    def format_field(self, value: Any, spec: str) -> str:
        """Write one number."""
        if spec == "sec":
            return seconds(value)
        if isinstance(value, tuple | list):
            return ", ".join(format(v, spec) for v in value)
        return significant(value, int(spec[3:])) if spec[:3] == "sig" else format(value, spec)


# ---------------------------------------------------------------- deciding


def made_claims(rows: Iterable[Row], measures: Mapping[str, Measure], study: Study) -> list[Claim]:
    """Return what became of every row, in their order."""
    every = tuple(study.results["dataset"].unique())
    part = cache(study.restricted)  # most rows are about the same data sets
    return [
        claim for row in rows for claim in _of_row(row, measures[row.measure], study, every, part)
    ]


def _of_row(
    row: Row,
    measure: Measure,
    study: Study,
    every: tuple[str, ...],
    part_of: Callable[[tuple[str, ...]], Study],
) -> Iterable[Claim]:
    """Decide on the paper's data and on others apart, so that neither speaks for the other."""
    names = tuple(d for d in every if not row.only or d in row.only)
    of_paper = tuple(d for d in names if study.is_papers(d))
    if row.data == "any" and row.source == "this project":
        parts = [(names, True)]
    else:
        parts = [(of_paper, True), (tuple(d for d in names if d not in of_paper), False)]
    for chosen, papers in parts:
        part = part_of(chosen)
        for case in measure(part, **row.options) if chosen else ():
            yield _claim(row, case, part, papers)


def _claim(row: Row, case: Case, study: Study, papers: bool) -> Claim:
    holds, test = decide(row.rule, case.values)
    values = {"compared": test, **case.values}
    evidence = Words().format(row.evidence, **values)
    if "{compared}" not in row.evidence and test:
        evidence = f"{evidence}; {test}"
    outcome = on_sentence(holds, runs=case.values.get("runs"))
    lacking = "" if papers else "not the paper's data"
    lacking = lacking or _cut_short(row, study, case.data)
    if lacking:
        evidence = f"{lacking}; there: {outcome}: {evidence}"
    source, printed = row.source, [row.printed[d] for d in case.data if d in row.printed]
    if printed:
        source, evidence = CONTRADICTED, f"{evidence}; in print: {'; '.join(printed)}"
    return Claim(
        Words().format(row.claim, **values),
        study.named(case.data),
        NOT_TESTED if lacking else outcome,
        evidence,
        source,
        case.where,
        row.place,
        row.claim,
    )


def _cut_short(row: Row, study: Study, data: tuple[str, ...]) -> str:
    """Say which setting was below what the sentence is about, "" if none was."""
    for experiment, least in row.needs.items():
        for key, wanted in least.items():
            if key == "splits":
                mask = study.results["experiment"] == experiment
                mask &= study.results["dataset"].isin(data)
                reached = study.results.loc[mask, "split"].nunique()
            else:
                reached = np.max(getattr(study.settings[experiment], key))
            if reached < wanted:
                return f"cut short ({key}: {reached:g}, not {wanted:g})"
    return ""


def decide(rule: Rule, values: Mapping[str, Any]) -> tuple[bool | None, str]:
    """Return whether a case holds, None where it can't be told, and the test in words."""
    if rule.holds:
        return values[rule.holds], ""
    if rule.means:
        return _on_means(rule, values)
    if rule.interval:
        return _on_interval(rule, values)
    numbers = np.atleast_1d(np.asarray(values[rule.value], float))
    errors = np.broadcast_to(values.get(f"{rule.value}_error", 0.0), numbers.shape)
    text = f"bound: {_bounds(rule)}"
    if not len(numbers) or np.isnan(numbers).any():
        return None, text
    low, high = numbers - errors, numbers + errors
    if _kept(rule, low, high):
        return True, text
    ends = zip(low, high, strict=True)
    beyond = any(not _kept(rule, a, a) and not _kept(rule, b, b) for a, b in ends)
    return (False if beyond else None), text


def _kept(rule: Rule, low: np.ndarray | float, high: np.ndarray | float) -> bool:
    """Tell whether all that lies between low and high keeps the bounds."""
    tests = (
        rule.at_most is None or np.all(high <= rule.at_most),
        rule.below is None or np.all(high < rule.below),
        rule.at_least is None or np.all(low >= rule.at_least),
        rule.above is None or np.all(low > rule.above),
    )
    return all(tests)


def _bounds(rule: Rule) -> str:
    names = ("at_least", "above", "at_most", "below")
    parts = [
        f"{n.replace('_', ' ')} {getattr(rule, n):g}" for n in names if getattr(rule, n) is not None
    ]
    return ", ".join(parts) + (f" ({rule.bound_from})" if rule.bound_from else "")


def _on_means(rule: Rule, values: Mapping[str, Any]) -> tuple[bool | None, str]:
    """Decide at every level: all must hold; one that fails is enough."""
    levels = values.get("levels") or [("", values["stated"], values["rivals"])]
    lower, decided = rule.means == "lower", {}
    for level, stated, rivals in levels:
        decided[level] = statistics.ahead(stated, rivals, lower, rule.rank)
    outcomes = [holds for holds, _ in decided.values()]
    holds = False if False in outcomes else True if all(outcomes) else None
    differences = {level: by_rival for level, (_, by_rival) in decided.items()}
    many = len(levels) > 1 and sum(map(len, differences.values())) > MOST_COMPARISONS
    return holds, _counted(differences) if many else _in_words(differences)


def _in_words(differences: Differences) -> str:
    """Return each comparison at each level."""
    texts = {
        level: "; ".join(f"{name}: {text}" for name, (*_, text) in by_rival.items())
        for level, by_rival in differences.items()
    }
    return "; ".join(f"{level}: {text}" if level else text for level, text in texts.items())


def _counted(differences: Differences) -> str:
    """Return the levels at which the stated method's mean is lower or higher than each rival's."""
    texts = []
    for name in dict.fromkeys(name for by_rival in differences.values() for name in by_rival):
        places: dict[str, list[str]] = {"lower": [], "higher": []}
        compared = {level: by[name] for level, by in differences.items() if name in by}
        for level, (change, p, _, _) in compared.items():
            if p < statistics.LEVEL:
                places["lower" if change < 0 else "higher"].append(level)
        words = [_places(word, at, len(compared)) for word, at in places.items() if at]
        texts.append(f"than {name}: {', '.join(words) or 'nowhere lower or higher'}")
    splits = min(n for by_rival in differences.values() for _, _, n, _ in by_rival.values())
    chance = f"by more than chance at a level of {statistics.LEVEL:g}, {splits} splits"
    return f"{'; '.join(texts)} ({chance})"


def _places(word: str, levels: list[str], all_levels: int) -> str:
    """Return at how many levels a mean is lower or higher, and at which ones."""
    if len(levels) == all_levels:
        return f"{word} at all {all_levels}"
    return f"{word} at {len(levels)} of {all_levels} ({', '.join(levels)})"


def _on_interval(rule: Rule, values: Mapping[str, Any]) -> tuple[bool | None, str]:
    numbers, take = np.asarray(values[rule.interval], float), getattr(np, rule.take)
    if not len(numbers):
        return None, "nothing was measured"
    groups = values.get("groups", np.arange(len(numbers)))
    low, high = statistics.interval(numbers, groups, take)
    holds, n = True if _kept(rule, low, high) else None, len(set(groups))
    if holds is None and not (_kept(rule, low, low) or _kept(rule, high, high)):
        holds = False
    drawn = f"95 % bootstrap interval {low:.3g} to {high:.3g} ({n} splits or data sets drawn)"
    drawn = drawn if n > 1 else "no interval of one split or data set"
    text = f"{rule.take} {take(numbers):.3g}, {drawn}; bound: {_bounds(rule)}"
    return (holds if n >= statistics.LEAST_SPLITS else None), text


def complaints(checks: Iterable[Check], results: pd.DataFrame) -> list[str]:
    """Return a sentence for each row that breaks a bound; what is no number breaks it."""
    sentences = []
    for check in checks:
        rows = results[results["metric"] == check.metric]
        if check.experiment:
            rows = rows[rows["experiment"] == check.experiment]
        if check.method:
            rows = rows[rows["method"].isin(check.method)]
        value = rows[check.column].astype(float)
        low = -np.inf if check.at_least is None else check.at_least
        high = np.inf if check.at_most is None else check.at_most
        sentences += [
            f"{row.experiment} on {row.dataset}, split {row.split}: "
            + Words().format(check.says, value=getattr(row, check.column))
            for row in rows[~value.between(low, high)].itertuples()
        ]
    return sentences


# ---------------------------------------------------------------- measures that papers share


def independent(rows: pd.DataFrame) -> np.ndarray:
    """Return what is drawn of rows: data sets, or the splits where there is but one.

    Splits of a data set share its rows, and say nothing of other data.
    """
    column = "dataset" if rows["dataset"].nunique() > 1 else "split"
    return rows[column].astype(str).to_numpy()


def scores(
    study: Study,
    experiment: str,
    metric: str,
    stated: str,
    rivals: list[str],
    names: Mapping[str, str],
    level: str = "",
    at: str = "all",
    **chosen: Any,
) -> Iterable[Case]:
    """Give the values by split of a method and its rivals, for each data set.

    Parameters
    ----------
    level : str
        A hyper-parameter at each of whose values (``at``: "all", or the "first" or "last" of them)
        methods are compared.
    **chosen
        Hyper-parameters of the rows.
    """
    part = study.only(experiment=experiment, metric=metric)
    for key, value in chosen.items():
        part = part[hyper(part, key) == value]
    for dataset, group in part.groupby("dataset", sort=False):
        # a rival that is missing has no splits: then nothing is decided
        by_method = {m: group[group["method"] == m] for m in (stated, *rivals)}
        if not len(by_method[stated]) or not any(len(by_method[m]) for m in rivals):
            continue
        places = sorted(set(hyper(by_method[stated], level))) if level else [None]
        places = {"first": places[:1], "last": places[-1:]}.get(at, places)
        levels = []
        for place in places:
            values = {
                names[m]: (rows if place is None else rows[hyper(rows, level) == place])
                .groupby("split")["value"]
                .mean()
                for m, rows in by_method.items()
            }
            first = values.pop(names[stated])
            levels.append(("" if place is None else f"{place:g}", first, values))
        numbers = {"levels": levels, "level": ", ".join(name for name, _, _ in levels), **chosen}
        yield Case((dataset,), {**numbers, "stated_method": names[stated]})


def values(
    study: Study, metric: str, experiment: str = "", method: str = "", by: str = "", **fields: Any
) -> Iterable[Case]:
    """Give all values of a metric; ``by`` is a column for each of whose values there is a case.

    Their largest and smallest are ``worst`` and ``least``; ``groups`` tells splits apart.
    """
    chosen = {"metric": metric, "experiment": experiment, "method": method}
    rows = study.only(**{column: value for column, value in chosen.items() if value})
    for key, group in rows.groupby(by or (lambda _: ""), sort=False):
        measured = group["value"].to_numpy(float)
        numbers = {
            "values": measured,
            "worst": measured.max(),
            "least": measured.min(),
            "n": len(measured),
        }
        data = tuple(group["dataset"].unique())
        groups = independent(group)
        yield Case(data, {**numbers, "groups": groups, "key": key, **fields})
