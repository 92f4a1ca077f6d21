"""What an estimator's callback is told of: the paths of all rows, then those of the folds."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

from ..solution import Callback
from ..solution.telling import Telling


class Progress:
    """Tells a callback how far a fit has come.

    Errors of the callback leave a block that is entered with ``unchanged`` as they were raised.

    Parameters
    ----------
    callback : callable or None
        Called as ``callback(done, n_events)``, with the share of the work and the events of all
        paths so far.
    paths : int
        How many paths there are of all rows.
    folds : int
        How many folds follow, each of which counts as much as all rows.
    """

    def __init__(self, callback: Callback | None, paths: int = 1, folds: int = 0):
        self.callback = None if callback is None else Telling(callback)
        self.paths, self.parts = paths, 1 + folds
        self.events: list[int] = []
        self.done, self.told, self.folds = 0.0, 0, 0  # of the paths of all rows, and of folds

    @property
    def unchanged(self) -> AbstractContextManager[object]:
        """What is to be entered while the callback is told."""
        return nullcontext() if self.callback is None else self.callback

    def of_path(self) -> Callback | None:
        """Return what the next path of all rows is to tell."""
        if self.callback is None:
            return None
        k, before = len(self.events), self.told
        self.events.append(0)
        self.told += 1

        def told(done: float, events: int) -> None:
            self.events[k] = events
            self.done = min((before + done) / self.paths, 1.0)
            self._tell()

        return told

    def of_fold(self, events: int) -> None:
        """Tell that a fold is done."""
        self.folds += 1
        self.events.append(events)
        self._tell()

    def _tell(self) -> None:
        if self.callback is not None:
            self.callback((self.done + self.folds) / self.parts, sum(self.events))
