"""Callbacks that report the progress of paths; what they raise ends a path, unchanged."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from types import TracebackType
from typing import Self, TypeAlias

from ..validation import check_callback

Callback: TypeAlias = Callable[[float, int], object]  # called with (done, n_events)


class CallbackError(BaseException):
    """Carries an error of a callback past the handlers of errors of paths."""

    def __init__(self, by: GuardedCallback, error: Exception):
        super().__init__(error)
        self.by, self.error = by, error


class GuardedCallback:
    """A callback as a context manager, from which its errors are raised unchanged.

    Within the block they aren't mistaken for errors of the path.
    """

    def __init__(self, callback: Callback) -> None:
        check_callback(callback)
        self.callback = callback

    def __call__(self, done: float, events: int) -> None:
        """Call the callback."""
        try:
            self.callback(done, events)
        except Exception as error:
            raise CallbackError(self, error) from None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        raised: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if isinstance(raised, CallbackError) and raised.by is self:
            error, context = raised.error, raised.error.__context__
            try:
                raise error
            finally:
                error.__context__ = context


class MonotoneProgress(GuardedCallback):
    """A callback whose arguments never decrease."""

    def __init__(self, callback: Callback) -> None:
        super().__init__(callback)
        self.done, self.events = 0.0, 0

    def __call__(self, done: float, events: int) -> None:
        """Call the callback with arguments that are at least the previous ones."""
        self.done, self.events = max(self.done, min(float(done), 1.0)), max(self.events, events)
        super().__call__(self.done, self.events)

    def finish(self, events: int) -> None:
        """Report that the path is complete."""
        with self:
            self(1.0, events)

    def second_half(self, done: float, events: int) -> None:
        """Report the second half of a walk in whose first half nothing happens."""
        self(max(2.0 * done - 1.0, 0.0), events)


def progress_of(callback: Callback | None) -> AbstractContextManager[MonotoneProgress | None]:
    """Return the progress of a path as a context manager; None without a callback."""
    return nullcontext() if callback is None else MonotoneProgress(callback)
