"""The list of data sets, ``config/datasets.yaml``, read and checked."""

import functools
import inspect
import os
import re
from collections.abc import Iterator
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Generic, Literal, Self, TypeVar

from pydantic import AfterValidator, Field, model_validator

from ..settings import Count, Exact, Name, Text, check, read_yaml, unknown_key
from . import parsers
from .errors import DataError, UnknownDataSet
from .generated import BUILDERS

CONFIG_VARIABLE = "SOLUTION_PATHS_DATASETS"
CONFIG_NAME = Path("config") / "datasets.yaml"

FileName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")]
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Address = Annotated[str, Field(pattern=r"^(https?|ftp)://[^ ]+$")]


def _is_address(text: str) -> str:
    if not re.match("(https?|ftp)://", text):
        raise ValueError(
            "it should be an address that begins with http://, https:// or ftp://, or be left out"
        )
    return text


Homepage = Annotated[str, AfterValidator(_is_address)]  # comments may follow the address
Parser, Options = TypeVar("Parser"), TypeVar("Options")

# Keys that an entry of each source needs, and keys that it must not have.
NEEDS = {
    "files": ("files",),
    "bundled": ("builder",),
    "generated": ("builder", "parameters"),
    "derived": ("builder", "parents"),
}
REFUSES = {"files": ("builder", "parents")}


class FileForm(Exact, Generic[Parser, Options]):
    """One file that holds the data set; an entry may have several, in different encodings.

    ``sha256`` is None if the official file was not available; the content of such a file is
    compared with the entry's content hash, if there is one.
    """

    name: FileName
    sha256: Sha256 | None
    bytes: Count | None = None
    urls: Annotated[tuple[Address, ...], Field(strict=False)] = ()
    parser: Parser
    options: Options


AnyFileForm = Annotated[
    FileForm[Literal["csv"], parsers.Csv]
    | FileForm[Literal["svmlight"], parsers.Svmlight]
    | FileForm[Literal["mat"], parsers.Mat]
    | FileForm[Literal["arff"], parsers.Arff]
    | FileForm[Literal["fasta"], parsers.Fasta]
    | FileForm[Literal["series"], parsers.Series],
    Field(discriminator="parser"),
]


class Labels(Exact):
    """Numbers of rows of both labels."""

    negative: Count
    positive: Count

    @property
    def counts(self) -> dict[int, int]:
        """Numbers of rows by label, -1 and +1."""
        return {-1: self.negative, 1: self.positive}


class Target(Exact):
    """The target of a regression, and its range after `transform`."""

    name: Text
    min: float
    max: float


class Content(Exact):
    """Hash of the numbers of a data set, which all of its file formats share.

    Attributes
    ----------
    sha256 : str
        See `content_hash`.
    digits : int, optional
        Significant decimal digits that are compared, if official files differ in precision.
    """

    sha256: Sha256
    digits: Annotated[int, Field(ge=1, le=17)] | None = None


class Description(Exact):
    """The description of a data set in ``config/datasets.yaml``, which explains the keys."""

    title: Text
    source: Literal["files", "bundled", "generated", "derived"]
    task: Literal["classification", "regression", "series"]
    n: Count
    d: Count
    licence: Text
    files: Annotated[tuple[AnyFileForm, ...], Field(min_length=1, strict=False)] = ()
    homepage: Homepage | None = None
    builder: Text | None = None
    parameters: dict[str, bool | int | float] = Field(default_factory=dict)
    parents: Annotated[tuple[Text, ...], Field(min_length=1, strict=False)] = ()
    labels: Labels | None = None
    positive: Text | None = None
    target: Target | None = None
    transform: Literal["log1p"] | None = None
    content: Content | None = None
    notes: str = ""

    @model_validator(mode="after")
    def _agrees_with_itself(self) -> Self:
        for complaint in self._complaints():
            raise ValueError(complaint)
        return self

    def _complaints(self) -> Iterator[str]:
        stated = {key for key in self.model_fields_set if getattr(self, key) is not None}
        lacking = [key for key in NEEDS[self.source] if key not in stated]
        yield from (f"a set whose source is {self.source!r} needs {key!r}" for key in lacking)
        superfluous = [key for key in REFUSES.get(self.source, ("files",)) if key in stated]
        yield from (f"a set whose source is {self.source!r} has no {key!r}" for key in superfluous)
        if self.builder is not None:
            yield from self._unfit_for_the_builder()
        if self.task == "classification":
            if self.positive is None:
                yield "a classification needs 'positive', which says what +1 is"
            for form in self.files:
                yield from _unnamed_classes(form)

    def _unfit_for_the_builder(self) -> Iterator[str]:
        """Yield complaints about unknown and missing parameters of the builder."""
        if self.builder not in BUILDERS:
            yield f"builder.{unknown_key(str(self.builder), BUILDERS)}"
            return
        parameters = list(inspect.signature(BUILDERS[self.builder]).parameters)[len(self.parents) :]
        for name in self.parameters.keys() - set(parameters):
            yield f"parameters.{unknown_key(name, parameters)}"
        for name in set(parameters) - self.parameters.keys():
            yield f"{self.builder} needs the parameter {name!r}"


def _unnamed_classes(form: AnyFileForm) -> Iterator[str]:
    """Yield complaints about classes of a file that aren't named, or named twice."""
    options, where = form.options, f"the options of {form.name}"
    if getattr(options, "positive", None) is None:
        yield f"{where} need 'positive', the labels that are +1"
        return
    if (options.negative is None) != options.rest:
        yield f"{where} need 'negative', the labels that are -1, or 'rest: true' for all others"
    both = {str(v) for v in options.positive} & {str(v) for v in options.negative or ()}
    if both:
        yield f"{where} name the label {min(both)!r} as positive and as negative"


class Entry(Description):
    """A data set's description and name."""

    name: Name


class DataSets(Exact):
    """The file ``config/datasets.yaml``."""

    datasets: Annotated[dict[Name, Description], Field(min_length=1)]

    @model_validator(mode="after")
    def _has_the_parents(self) -> Self:
        for name, entry in self.datasets.items():
            for parent in entry.parents:
                if parent not in self.datasets:
                    raise ValueError(f"{name} is made of {parent}, which is not listed")
        return self


def config_path(config: str | Path | None = None) -> Path:
    """Find ``config/datasets.yaml``: argument, environment, the checkout, the working folder."""
    chosen = config or os.environ.get(CONFIG_VARIABLE)
    if chosen:
        path = Path(chosen)
        if not path.is_file():
            raise DataError(f"There is no list of data sets at {path}.")
        return path.resolve()
    module, cwd = Path(__file__).resolve(), Path.cwd()
    for folder in (module.parents[3], cwd, *cwd.parents):
        if (folder / CONFIG_NAME).is_file():
            return (folder / CONFIG_NAME).resolve()
    raise DataError(
        f"The list of data sets, {CONFIG_NAME}, was found neither beside the package nor above "
        f"{cwd}: run inside a checkout, or name the file in {CONFIG_VARIABLE}."
    )


@functools.lru_cache(maxsize=8)
def _read(path: Path, _stamp: int) -> MappingProxyType:
    content = read_yaml(path, DataError)
    listed = check(DataSets, content, "", file=str(path), error=DataError).datasets
    # `check` has validated each description.
    entries = {
        name: Entry.model_construct(name=name, **dict(description))
        for name, description in listed.items()
    }
    return MappingProxyType(entries)


def registry(config: str | Path | None = None) -> MappingProxyType:
    """Return every known data set, as a read-only mapping from name to `Entry`.

    Parameters
    ----------
    config : path, optional
        A list that replaces the repository's ``config/datasets.yaml``. The environment variable
        ``SOLUTION_PATHS_DATASETS`` does the same.

    Raises
    ------
    DataError
        If the list is missing, or has a mistake, such as an unknown key.
    """
    path = config_path(config)
    return _read(path, path.stat().st_mtime_ns)


def find(name: str, config: str | Path | None = None) -> Entry:
    """Return the entry called `name`, or raise `UnknownDataSet`, which lists the known ones."""
    entries = registry(config)
    if name not in entries:
        names = ", ".join(sorted(entries))
        raise UnknownDataSet(f"There is no data set called {name!r}; the known ones are {names}.")
    return entries[name]
