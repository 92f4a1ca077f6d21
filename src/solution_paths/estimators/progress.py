"""Progress of a fit, for the estimator's callback: the paths of all rows, then the folds."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

from ..solution import Callback
from ..solution.callbacks import GuardedCallback


class Progress:
    """Reports the progress of a fit to a callback.

    In a block that is entered with ``unchanged`` errors of the callback are raised unchanged.

    Parameters
    ----------
    callback : callable or None
        Called as ``callback(done, n_events)``, with the share of the work and the events of all
        paths so far.
    paths : int
        Number of paths of all rows.
    folds : int
        Number of folds that follow, each of which counts as much as all rows.
    """

    def __init__(self, callback: Callback | None, paths: int = 1, folds: int = 0):
        self.callback = None if callback is None else GuardedCallback(callback)
        self.paths, self.parts = paths, 1 + folds
        self.events: list[int] = []
        # share of the work on all rows that is done; paths of all rows begun; folds done
        self.done, self.begun, self.folds = 0.0, 0, 0

    @property
    def unchanged(self) -> AbstractContextManager[object]:
        """A context in which errors of the callback are raised unchanged."""
        return nullcontext() if self.callback is None else self.callback

    def path_callback(self) -> Callback | None:
        """Return the callback of the next path of all rows."""
        if self.callback is None:
            return None
        k, before = len(self.events), self.begun
        self.events.append(0)
        self.begun += 1

        def report_path(done: float, events: int) -> None:
            self.events[k] = events
            self.done = min((before + done) / self.paths, 1.0)
            self._report()

        return report_path

    def end_fold(self, events: int) -> None:
        """Report that a fold is done."""
        self.folds += 1
        self.events.append(events)
        self._report()

    def _report(self) -> None:
        if self.callback is not None:
            self.callback((self.done + self.folds) / self.parts, sum(self.events))
