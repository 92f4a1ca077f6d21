"""Models of the workflow's configuration: config/config.yaml and config/papers/*.yaml."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import Field

from ..settings import Count, Name, Names, Settings
from .supervision import Limits


class DataSetSettings(Settings):
    """Settings of a data set in every paper; a paper's model may add further ones.

    Attributes
    ----------
    title : str
        Its title in outputs; by default its name without underscores.
    sources : tuple of str
        Names in config/datasets.yaml of the data sets that it is made of; by default its name.
    splits : int, optional
        The number of its splits, if that is limited.
    place : str
        Its place in the paper: "Table 1". A data set without a place is a stand-in: it shows that
        everything works, and decides nothing about the paper.
    instead_of : str
        The paper's data set that a stand-in replaces because it is not public; every output says
        so.
    """

    # Excluded fields change no number and are not part of a cell's identity.
    title: str = Field(default="", exclude=True)
    sources: tuple[Name, ...] = ()
    splits: Count | None = Field(default=None, exclude=True)
    place: str = Field(default="", exclude=True)
    instead_of: str = Field(default="", exclude=True)

    def complaints(self, name: str, n: int | None) -> Iterator[str]:
        """Yield complaints about settings that can't work on the data set; papers override this.

        ``n`` is its number of rows, None if that is a parameter of its builder.
        """
        yield from ()


class Run(Settings):
    """The runs of an experiment in a suite; every further key overrides a setting.

    Attributes
    ----------
    datasets : tuple of str
        Names of data sets of the paper.
    splits : int
        Number of splits; they are numbered from 0.
    splits_per_job : int, optional
        Number of splits in one job, by default all. A job takes some seconds to start.
    """

    datasets: Names
    splits: Count
    splits_per_job: Count | None = None


class PaperFile(Settings):
    """A file config/papers/<paper>.yaml; its parts have separate models."""

    title: str
    citation: str
    settings: dict[str, Any] = Field(default_factory=dict)
    datasets: dict[Name, dict[str, Any]]
    experiments: dict[Name, dict[str, Any] | None]
    suites: dict[Name, dict[Name, dict[str, Any]]] = Field(default_factory=dict)


class Config(Settings):
    """The whole configuration of the workflow.

    Attributes
    ----------
    offline : bool
        Use only local data sets; download nothing.
    only : str
        Experiments to run, separated by commas; empty: all.
    results : str
        Folder of all results.
    reference : str
        Folder of reference results, whose cells are used instead of computing them; empty: none.
    recompute : {"", "changed"}
        Which finished cells are computed again: none, or those made by other code.
    solver_limits : Limits
        Limits of one call of an outside solver; not part of a cell's identity.
    suites : dict
        Suite -> its description, one sentence.
    papers : dict
        Paper -> its file.
    """

    offline: bool = False
    only: Annotated[str, Field(pattern=r"^([a-z_0-9]+(,[a-z_0-9]+)*)?$")] = ""
    results: Annotated[str, Field(min_length=1)] = "results"
    reference: str = ""
    recompute: Literal["", "changed"] = ""
    solver_limits: Limits = Limits()
    suites: dict[Name, str]
    papers: dict[Name, dict[str, Any]]
