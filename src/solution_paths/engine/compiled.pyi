# For type checkers: their view of `struct`, which they can't infer from its code. The rest of the
# compiled engine has no types of its own; numba infers them.
from typing import Any, TypeVar, dataclass_transform

T = TypeVar("T")

@dataclass_transform(frozen_default=True, kw_only_default=False)
def struct(cls: type[T]) -> type[T]: ...
def __getattr__(name: str) -> Any: ...
