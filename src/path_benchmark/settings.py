"""Settings: declared once as typed models; each mistake in them is one sentence.

A configuration is plain YAML without duplicate keys. Models declare the keys, their types and what
they mean; the error for an unknown key names the nearest known one. (pydantic and PyYAML are part
of solution_paths[workflow].)
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin

import yaml  # type: ignore[import-untyped]
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

NAME = r"^[a-z][a-z0-9_]*$"


class ConfigError(ValueError):
    """The configuration is wrong: one sentence says where, what is there and what to do."""


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """YAML without its tags, in which a duplicate key of a mapping is an error."""

    def construct_mapping(self, node: Any, deep: bool = False) -> Any:
        lines: dict[Any, int] = {}
        for key, _ in node.value:
            if key.tag.endswith((":merge", ":seq", ":map")):
                continue
            name, line = self.construct_object(key), key.start_mark.line + 1
            if name in lines:
                problem = f"the key {name!r} stands twice, first in line {lines[name]}"
                raise yaml.constructor.ConstructorError(None, None, problem, key.start_mark)
            lines[name] = line
        return super().construct_mapping(node, deep)


def read_yaml(path: str | Path, error: type[Exception] = ConfigError) -> Any:
    """Return the content of a YAML file; an error names the file and the line."""
    text = _text(path, error)
    try:
        return yaml.load(text, _Loader)
    except yaml.MarkedYAMLError as mistake:
        reason = _misplaced(text, mistake)
    except yaml.YAMLError as mistake:
        reason = f" is not valid YAML ({' '.join(str(mistake).split())}); correct it"
    raise error(f"{path}{reason}.")


def read_json(path: str | Path, error: type[Exception] = ConfigError) -> Any:
    """Return the content of a JSON file; an error names the file and the mistake."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        keys = [key for key, _ in pairs]
        for key in keys:
            if keys.count(key) > 1:
                raise error(f"{path}: the key {key!r} stands twice; leave one of them out.")
        return dict(pairs)

    try:
        return json.loads(_text(path, error), object_pairs_hook=once)
    except json.JSONDecodeError as mistake:
        where = f"in line {mistake.lineno}, column {mistake.colno}"
        raise error(f"{path} is not valid JSON {where}: {mistake.msg}; correct it.") from None


def _text(path: str | Path, error: type[Exception]) -> str:
    """Return the text of a file; an error names the file."""
    try:
        return Path(path).read_text("utf-8")
    except OSError as mistake:
        reason = f"can't be read ({mistake.strerror}); put the file there or remove its name"
    except UnicodeDecodeError as mistake:
        reason = f"is no text in UTF-8 (byte {mistake.start}); save it as such"
    raise error(f"{path} {reason}.")


def _misplaced(text: str, mistake: yaml.MarkedYAMLError) -> str:
    """Describe a mistake and its line and column."""
    mark, cause = mistake.problem_mark or mistake.context_mark, mistake.problem
    assert mark is not None  # PyYAML's loaders give each of these errors a place
    line = text.splitlines()[mark.line : mark.line + 1]
    if line and "\t" in line[0][: mark.column + 1]:
        cause = "a tab stands where spaces are expected"
    return (
        f" is not valid YAML in line {mark.line + 1}, column {mark.column + 1}: {cause}; correct it"
    )


def check_folders(folders: Iterable[Path]) -> None:
    """Raise a `ConfigError` if a folder's path, or one above it, is not a folder."""
    for folder in folders:
        for path in (folder, *folder.parents):
            if path.is_dir():
                break
            if path.exists() or path.is_symlink():
                what = "a file" if path.exists() else "a link to nothing"
                raise ConfigError(f"{path} is {what} and should be a folder; move it away.")


class Settings(BaseModel):
    """Base of every settings model: unknown keys are errors, values don't change."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Exact(Settings):
    """Settings whose values must have the stated type: text is no number, ``yes`` is not 1.

    A tuple, which YAML writes as a list, says ``Field(strict=False)``; its entries stay exact.
    """

    model_config = ConfigDict(strict=True)


def _unique(values: tuple[Any, ...]) -> tuple[Any, ...]:
    if len(set(values)) < len(values):
        raise ValueError(f"{list(values)} names an entry twice")
    return values


Name = Annotated[str, Field(pattern=NAME)]
Text = Annotated[str, Field(min_length=1)]
Count = Annotated[int, Field(ge=1)]
Positive = Annotated[float, Field(gt=0)]
NotNegative = Annotated[float, Field(ge=0)]
Share = Annotated[float, Field(ge=0, le=1)]
Names = Annotated[tuple[Name, ...], Field(min_length=1), AfterValidator(_unique)]
Counts = Annotated[tuple[Count, ...], Field(min_length=1), AfterValidator(_unique)]
Positives = Annotated[tuple[Positive, ...], Field(min_length=1), AfterValidator(_unique)]
Shares = Annotated[tuple[Share, ...], Field(min_length=1), AfterValidator(_unique)]


def check(
    model: type[Settings],
    content: Any,
    where: str,
    also_known: Iterable[str] = (),
    *,
    file: str = "config",
    error: type[Exception] = ConfigError,
) -> Any:
    """Return the content as an instance of the model, or raise an error of one sentence.

    Parameters
    ----------
    model : type of Settings
    content : mapping
    where : str
        The keys that lead to the content, joined by dots; empty for a whole file.
    also_known : iterable of str
        Further allowed keys, which the caller has removed from the content.
    file : str
        Beginning of the sentence.
    error : type
        Class of the error.
    """
    try:
        return model.model_validate(content)
    except ValidationError as mistakes:
        first, *others = mistakes.errors(include_url=False)
        keys = _keys(content, first)
        place = ".".join([*filter(None, [where]), *map(str, keys)])
        text = _sentence(first, place, [*_known_at(model, first["loc"]), *also_known])
        more = f" ({len(others)} more mistakes follow)" if others else ""
        raise error(f"{file}: {text}{more}.") from None


def _sentence(first: Any, place: str, known: Iterable[str]) -> str:
    """Describe a mistake and its remedy."""
    kind, context = first["type"], first.get("ctx", {})
    if kind == "extra_forbidden":
        return unknown_key(place, known)
    if kind in ("missing", "union_tag_not_found"):
        return f"{place} is missing; add it"
    sentence = f"{place or 'the top level'} is {first['input']!r}: {_plain(first['msg'])}"
    if kind == "union_tag_invalid":
        sentence = f"{place} is {context['tag']!r}: it should be {context['expected_tags']}"
    elif isinstance(first["input"], dict):  # a rule about several keys: too much to be repeated
        sentence = f"{place}: {_plain(first['msg'])}" if place else _plain(first["msg"])
    return f"{sentence}; correct it"


def _keys(content: Any, mistake: Any) -> list[Any]:
    """Return the keys that lead to a mistake.

    Pydantic's location also names the member of a union that it tried; that is no key of the file.
    """
    keys: list[Any] = []
    for part in mistake["loc"]:
        steps = range(len(content)) if isinstance(content, list | tuple) else content
        if isinstance(steps, dict | range) and part in steps:
            keys, content = [*keys, part], content[part]
    if mistake["type"] == "missing":
        keys.append(mistake["loc"][-1])
    elif mistake["type"].startswith("union_tag"):  # the key that chooses a type
        keys.append(mistake["ctx"]["discriminator"].strip("'"))
    return keys


def unknown_key(place: str, known: Iterable[str]) -> str:
    """Say that the key at a place is unknown, and name the nearest known one."""
    known, key = sorted(known), place.rpartition(".")[2]
    near = difflib.get_close_matches(key, known, n=1, cutoff=0.5)
    remedy = f"did you mean {near[0]!r}" if near else f"known are {', '.join(known) or 'none'}"
    return f"{place} is an unknown name; {remedy}"


def _known_at(model: type[Settings], loc: tuple[Any, ...]) -> set[str]:
    """List the keys that are allowed at the place of an unknown one."""
    models = [model]
    for part in loc[:-1]:
        types = [m.model_fields[part].annotation for m in models if part in m.model_fields]
        chosen = [m for m in models if part in _tags(m)]
        models = [m for each in types for m in _models_in(each)] or chosen or models
    return {key for m in models for key in m.model_fields}


def _models_in(annotation: Any) -> list[type[Settings]]:
    """List the settings models inside a type such as tuple[Solver, ...]."""
    if isinstance(annotation, type) and issubclass(annotation, Settings):
        return [annotation]
    return [m for part in getattr(annotation, "__args__", ()) for m in _models_in(part)]


def _tags(model: type[Settings]) -> list[Any]:
    """List the values of a model's Literal fields, which distinguish it from others."""
    types = [field.annotation for field in model.model_fields.values()]
    return [tag for each in types if get_origin(each) is Literal for tag in get_args(each)]


def _plain(message: str) -> str:
    return message.removeprefix("Value error, ").replace("Input should", "it should")
