"""Settings: declared once as typed models, and every mistake in them told in one sentence.

A configuration is plain YAML. Models say which keys there are, of which type, and what they mean;
an unknown key is refused with the nearest known one. (pydantic is part of
solution_paths[workflow].)
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

NAME = r"^[a-z][a-z0-9_]*$"


class ConfigError(ValueError):
    """The configuration is wrong: one sentence says where, what was found and what to do."""


class Settings(BaseModel):
    """Base of every settings model: unknown keys are errors, values don't change."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def _unique(values: tuple) -> tuple:
    if len(set(values)) < len(values):
        raise ValueError(f"{list(values)} names an entry twice")
    return values


Name = Annotated[str, Field(pattern=NAME)]
Count = Annotated[int, Field(ge=1)]
Positive = Annotated[float, Field(gt=0)]
NotNegative = Annotated[float, Field(ge=0)]
Share = Annotated[float, Field(ge=0, le=1)]
Names = Annotated[tuple[Name, ...], Field(min_length=1), AfterValidator(_unique)]
Counts = Annotated[tuple[Count, ...], Field(min_length=1), AfterValidator(_unique)]
Positives = Annotated[tuple[Positive, ...], Field(min_length=1), AfterValidator(_unique)]
Shares = Annotated[tuple[Share, ...], Field(min_length=1), AfterValidator(_unique)]


def check(model: type[Settings], content: Any, where: str, also_known: Iterable[str] = ()) -> Any:
    """Return the content as an instance of the model, or raise a `ConfigError` of one sentence.

    ``also_known`` are keys that may stand beside the model's and were taken out before.
    """
    try:
        return model.model_validate(content)
    except ValidationError as error:
        raise ConfigError(_sentence(error, model, where, also_known)) from None


def _sentence(
    error: ValidationError, model: type[Settings], where: str, also_known: Iterable[str]
) -> str:
    """Say where and what the first mistake is, and how many more there are."""
    mistakes = error.errors(include_url=False)
    first = mistakes[0]
    place = ".".join([where, *(str(part) for part in first["loc"])])
    if first["type"] == "extra_forbidden":
        text = unknown_key(place, [*_keys_beside(model, first["loc"]), *also_known])
    elif first["type"] == "missing":
        text = f"{place} is missing; add it"
    else:
        text = f"{place} is {first['input']!r}: {_plain(first['msg'])}; correct it"
    more = f" ({len(mistakes) - 1} more mistakes follow)" if len(mistakes) > 1 else ""
    return f"config: {text}{more}."


def unknown_key(place: str, known: Iterable[str]) -> str:
    """Say that the key at a place is unknown, and which known one is nearest."""
    known, key = sorted(known), place.rpartition(".")[2]
    near = difflib.get_close_matches(key, known, n=1, cutoff=0.5)
    remedy = f"did you mean {near[0]!r}" if near else f"known are {', '.join(known) or 'none'}"
    return f"{place} is an unknown name; {remedy}"


def _keys_beside(model: type[Settings], loc: tuple) -> Iterable[str]:
    """List the keys that a model knows at the place of an unknown one."""
    for part in loc[:-1]:
        field = model.model_fields.get(part)
        model = (field and _model_in(field.annotation)) or model
    return model.model_fields


def _model_in(annotation: Any) -> type[Settings] | None:
    """Find a settings model inside a type such as tuple[Solver, ...]."""
    if isinstance(annotation, type) and issubclass(annotation, Settings):
        return annotation
    inner = [_model_in(part) for part in getattr(annotation, "__args__", ())]
    return next((model for model in inner if model), None)


def _plain(message: str) -> str:
    return message.removeprefix("Value error, ").replace("Input should", "it should")
