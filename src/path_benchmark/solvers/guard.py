"""Who is told before an outside solver is called, and may refuse the call: nobody, by default.

A supervisor that sees the process from outside (`runs.supervision`) sets a guard, so that
a solver that hangs, dies or eats memory becomes an answer with a reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

# Called with a baseline's name; as a context it gives the reason of a refusal, or nothing.
Guard = Callable[[str], AbstractContextManager[str | None]]


def _nobody(name: str) -> AbstractContextManager[str | None]:
    return nullcontext()


_guard: Guard = _nobody


def watched(name: str) -> AbstractContextManager[str | None]:
    """Announce a solver's call; the context gives the reason why it must not be made, if any."""
    return _guard(name)


@contextmanager
def guarded_by(guard: Guard) -> Iterator[None]:
    """Let every solver's call inside the block be announced to ``guard``."""
    global _guard
    outer, _guard = _guard, guard
    try:
        yield
    finally:
        _guard = outer
