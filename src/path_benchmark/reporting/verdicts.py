"""Verdicts: on a published number, and on a sentence of a paper. Their rules stand here alone."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass

import numpy as np
import pandas as pd

from .statistics import LEAST_SPLITS, LEVEL, difference_interval, draw_interval, sign_test

# On numbers.
AGREES, DIFFERS, MISSING = "agrees", "differs", "missing"
CANT_TELL = "can't tell"
NOT_IN_PAPER, NOT_COMPARED = "not in the paper", "seconds: not compared"
NOT_COMPARABLE = "not comparable: another implementation in another language"
NOT_CERTIFIED = "differs: path not certified"
ABSENT = f"{MISSING}: not at hand"
# On sentences.
SUPPORTED, NOT_SUPPORTED = "supported", "not supported"
INCONCLUSIVE, NOT_TESTED = "inconclusive", "not tested here"
# Whose a sentence is. What the paper's own tables contradict is never counted as the paper's.
PAPER, PROJECT = "paper", "this project"
CONTRADICTED = "paper, contradicted by its own table"
# Means agree where the interval of their difference lies within this share of the published error;
# of a count without spread, of which ours vary, within the other.
MARGIN, COUNT_MARGIN = 0.2, 0.1
# Two single numbers without a spread agree within this share; two ratios of times within a factor.
SINGLE_SHARE, RATIO_FACTOR = 0.05, 2.0
# A sentence about times needs so many runs (data sets, splits) or repeats.
LEAST_RUNS = 3
SHIFT = "the table as a whole is shifted"

# What a reader sees of a verdict at a glance; worst first, as a cell of several shows its worst.
GLYPHS = {
    DIFFERS: "✗",
    NOT_SUPPORTED: "✗",
    MISSING: "∅",
    INCONCLUSIVE: "?",
    CANT_TELL: "?",
    AGREES: "✓",
    SUPPORTED: "✓",
    NOT_TESTED: "–",
    NOT_IN_PAPER: "·",
    "not compared": "·",
    "not comparable": "·",
}
# Verdicts that say whether something was reproduced, and those that say that it can't be told.
DECIDED = (AGREES, DIFFERS, SUPPORTED, NOT_SUPPORTED)

RULES = {
    SUPPORTED: "the sentence holds on the data that it is about: in every case looked at, or by a "
    "test or interval that is named with its number of splits",
    NOT_SUPPORTED: "it doesn't, and what was run can tell",
    INCONCLUSIVE: f"what was run can't tell: a test doesn't reject at {LEVEL:.0%}, an interval "
    f"holds the bound, there are fewer than {LEAST_SPLITS} splits for means, or fewer than "
    f"{LEAST_RUNS} runs of something else that varies, or only bounds are known",
    NOT_TESTED: "its conditions were not met here: the paper's data were not run, or a setting was "
    "cut short; what came out on other data stands in the evidence",
    AGREES: "counts and settings: equal up to half a printed digit. Means: Welch's 95 % interval "
    "of their difference, from both standard deviations and numbers of splits, lies within "
    f"{MARGIN:.0%} of the published error (of an AUC: of 100 less it), and the table as a whole is "
    "not shifted; a published count without spread is one more draw of ours, and the margin "
    f"{COUNT_MARGIN:.0%}; of data whose parts are fixed, single numbers within {SINGLE_SHARE:.0%}. "
    f"Ratios of times: within a factor of {RATIO_FACTOR:g}. Seconds of different machines are "
    "never compared, nor ratios to another implementation in another language",
    DIFFERS: "the interval of the difference leaves the margin and doesn't hold zero; a path that "
    "is not certified differs whatever its numbers",
    CANT_TELL: "the interval of the difference holds zero and is wider than the margin; there are "
    f"fewer than {LEAST_SPLITS} splits; or the means of a table are shifted together: a sign test "
    f"over its data sets rejects at {LEVEL:.0%}",
    MISSING: "the paper has the number; here the data or the solver were not at hand, or what "
    "would give it is not finished",
    NOT_IN_PAPER: "the paper has no such number: these data, or this quantity, are not in it",
}


def kind(verdict: str) -> str:
    """Return what kind of verdict a cell's text states, "" for a text that states none.

    A text begins with its kind: "differs: 10 times lower", "agrees: tied for best".
    """
    if verdict == NOT_COMPARED:
        return "not compared"
    if verdict == NOT_COMPARABLE:
        return "not comparable"
    head = verdict.split(":", 1)[0]
    return head if head in GLYPHS else ""


def worst(kinds: Iterable[str]) -> str:
    """Return the verdict that a reader must not miss among several, "" of none."""
    order = list(GLYPHS)
    return min((k for k in kinds if k), key=order.index, default="")


def on_count(paper: float, ours: float, tolerance: float = 0.0) -> str:
    """Verdict for counts and settings: equal up to half a printed digit, or not."""
    return _absent(paper, ours) or _agrees(
        abs(paper - ours) <= tolerance + 1e-12 * abs(paper),
    )


def on_mean(
    paper: float,
    ours: float,
    paper_std: float | None = None,
    ours_std: float | None = None,
    paper_n: int = 1,
    ours_n: int = 1,
    fixed: bool = False,
    of: float | None = None,
) -> str:
    """Verdict for measured values, means over ``paper_n`` and ``ours_n`` splits.

    Parameters
    ----------
    fixed : bool
        The data's parts are given, so that there is but one split.
    of : float, optional
        What the margin is a share of: the published error, `paper` itself unless given.
    """
    if absent := _absent(paper, ours):
        return absent
    if fixed and ours_n == 1:
        return _agrees(abs(paper - ours) <= SINGLE_SHARE * abs(paper))
    if ours_n < LEAST_SPLITS or _unknown(ours_std):
        return f"{CANT_TELL}: {ours_n} split{'s' * (ours_n != 1)} here"
    measured, size = (ours, ours_std, ours_n), abs(paper if of is None else of)
    if not _unknown(paper_std) and paper_n > 1:
        low, high = difference_interval(measured, (paper, paper_std, paper_n))
        margin = MARGIN * size
    else:
        low, high = draw_interval(paper, *measured)
        margin = COUNT_MARGIN * size
    if max(-low, high) <= margin:
        return AGREES
    if low > 0.0 or high < 0.0:
        return DIFFERS
    known = f"{(high - low) / 2 / size:.0%}" if size else f"{(high - low) / 2:.3g}"
    return f"{CANT_TELL}: known to ± {known}, the margin is {margin / size if size else 0:.0%}"


def shifted(frame: pd.DataFrame, units: list[str]) -> tuple[pd.DataFrame, str]:
    """Look whether the means of a table are shifted together.

    Parameters
    ----------
    frame : DataFrame
        A comparison, whose means have ``splits``.
    units : list of str
        The columns that tell apart what is independent: data sets.

    Returns
    -------
    frame, text
        With cells that agreed no longer doing so where it is shifted, and what the sign test says.
    """
    if "splits" not in frame or not set(units) <= set(frame):
        return frame, ""
    known = frame[frame["paper"].notna() & frame["ours"].notna() & (frame["splits"] > 1)]
    if len(known) < 2:
        return frame, ""
    apart = (known["ours"] - known["paper"]) / known["paper"].abs()
    lower, n, _ = sign_test(apart)
    below, of, p = sign_test(apart.groupby([known[c] for c in units]).mean())
    text = f"Ours is lower in {lower} of {n} cells, and on average in {below} of {of} data sets"
    if p >= LEVEL:
        return frame, f"{text} (sign test over these p = {p:.2g})."
    verdict = frame["verdict"].where(frame["verdict"] != AGREES, f"{CANT_TELL}: {SHIFT}")
    frame = frame.assign(verdict=frame["verdict"].where(~frame.index.isin(known.index), verdict))
    return frame, f"{text} (sign test over these p = {p:.2g}): {SHIFT}, and no cell of it agrees."


def on_ratio(paper: float, ours: float) -> str:
    """Verdict for a ratio of times: agrees within a factor of two, else says how far off."""
    if absent := _absent(paper, ours):
        return absent
    if max(paper / ours, ours / paper) <= RATIO_FACTOR:
        return AGREES
    far, way = (paper / ours, "lower") if ours < paper else (ours / paper, "higher")
    return f"{DIFFERS}: {far:.2g} times {way}"


def _agrees(yes: bool) -> str:
    return AGREES if yes else DIFFERS


def _absent(paper: float | None, ours: float | None) -> str:
    if _unknown(ours):
        return MISSING
    return NOT_IN_PAPER if _unknown(paper) else ""


def _unknown(value: float | None) -> bool:
    return value is None or bool(np.isnan(value))


@dataclass(frozen=True)
class Claim:
    """A sentence, the data on which it was looked at, what came out, and the numbers.

    ``source`` says whose it is. ``where`` says which part of the data: a split, a range of sizes,
    an experiment; ``place`` where in the paper it stands. ``sentence`` is the same of all claims
    that are one sentence of the paper, on other data or of other methods.
    """

    claim: str
    dataset: str
    verdict: str
    evidence: str
    source: str = PAPER
    where: str = ""
    place: str = ""
    sentence: str = ""


def on_sentence(holds: bool | None, *, tested: bool = True, runs: int | None = None) -> str:
    """Verdict on a sentence.

    Parameters
    ----------
    holds : bool or None
        Whether it holds in what was run; None where that can't be told.
    tested : bool
        Whether its conditions were met: the paper's data, uncut settings.
    runs : int, optional
        Number of runs or repeats, where the result varies between them.
    """
    if not tested:
        return NOT_TESTED
    if holds is None or (runs is not None and runs < LEAST_RUNS):
        return INCONCLUSIVE
    return SUPPORTED if holds else NOT_SUPPORTED


def claims_frame(claims: list[Claim]) -> pd.DataFrame:
    """Return claims as a table."""
    names = ["claim", "dataset", "verdict", "evidence", "source", "where", "place", "sentence"]
    return pd.DataFrame([asdict(claim) for claim in claims], columns=names)
