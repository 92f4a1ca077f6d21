"""What paths tell callbacks of their progress, and what these raise: it ends a path, unchanged."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from types import TracebackType
from typing import Self, TypeAlias

from ..validation import check_callback

Callback: TypeAlias = Callable[[float, int], object]  # is told (done, n_events)


class Raised(BaseException):
    """Carries what a callback raised past all that handles errors of paths."""

    def __init__(self, by: Telling, error: Exception):
        super().__init__(error)
        self.by, self.error = by, error


class Telling:
    """A callback, whose errors leave the block that is entered with it as they were raised.

    Within the block nothing takes them for errors of the path.
    """

    def __init__(self, callback: Callback) -> None:
        check_callback(callback)
        self.callback = callback

    def __call__(self, done: float, events: int) -> None:
        """Tell the callback."""
        try:
            self.callback(done, events)
        except Exception as error:
            raise Raised(self, error) from None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        raised: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if isinstance(raised, Raised) and raised.by is self:
            error, context = raised.error, raised.error.__context__
            try:
                raise error
            finally:
                error.__context__ = context


class Told(Telling):
    """A callback that is never told less than before."""

    def __init__(self, callback: Callback) -> None:
        super().__init__(callback)
        self.done, self.events = 0.0, 0

    def __call__(self, done: float, events: int) -> None:
        """Tell the callback, of no less than before."""
        self.done, self.events = max(self.done, min(float(done), 1.0)), max(self.events, events)
        super().__call__(self.done, self.events)

    def at_end(self, events: int) -> None:
        """Tell that the path is there."""
        with self:
            self(1.0, events)

    def of_second_half(self, done: float, events: int) -> None:
        """Tell of a walk in whose first half nothing happens."""
        self(max(2.0 * done - 1.0, 0.0), events)


def telling(callback: Callback | None) -> AbstractContextManager[Told | None]:
    """Return what tells a callback of one path, to be entered; None where there is none."""
    return nullcontext() if callback is None else Told(callback)
