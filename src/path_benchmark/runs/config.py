"""The workflow's configuration: what config/config.yaml and config/papers/*.yaml may hold."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import Field

from ..settings import Count, Name, Names, Settings
from .supervision import Limits


class DataSetSettings(Settings):
    """What every paper may say of a data set; a paper's own model adds to it.

    Attributes
    ----------
    title : str
        For people; its name without underscores unless given.
    sources : tuple of str
        Names in config/datasets.yaml of what it is made of; its own name unless given.
    splits : int, optional
        How many splits there are, where that is limited.
    place : str
        Where in the paper it stands: "Table 1". Without, it is not the paper's but a stand-in: it
        shows that everything works, and decides nothing about the paper.
    instead_of : str
        What of the paper's a stand-in takes the place of, where that is not public; every output
        says so.
    """

    # What is excluded decides no number, and is no part of a cell's identity.
    title: str = Field(default="", exclude=True)
    sources: tuple[Name, ...] = ()
    splits: Count | None = Field(default=None, exclude=True)
    place: str = Field(default="", exclude=True)
    instead_of: str = Field(default="", exclude=True)

    def complaints(self, name: str, n: int | None) -> Iterator[str]:
        """Say what can't work on the data set; a paper's own model does.

        ``n`` is its number of rows, None where that is a parameter of what generates it.
        """
        yield from ()


class Run(Settings):
    """What a suite runs of an experiment; every further key overrides a setting of it.

    Attributes
    ----------
    datasets : tuple of str
        Names in the paper's data sets.
    splits : int
        How many, numbered from 0.
    splits_per_job : int, optional
        One job takes that many splits; all of them unless given. A job costs some seconds to start.
    """

    datasets: Names
    splits: Count
    splits_per_job: Count | None = None


class PaperFile(Settings):
    """A file config/papers/<paper>.yaml; its parts have models of their own."""

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
        Use only the data sets that are at hand; nothing is downloaded.
    only : str
        Names of experiments, separated by commas: run only these. Empty: all.
    results : str
        Folder of everything that is computed.
    reference : str
        Folder of finished cells that are taken over instead of being computed; empty: none.
    recompute : {"", "changed"}
        Which finished cells are computed again: none, or those that other code made.
    solver_limits : Limits
        What one call of an outside solver may take. No part of a cell's identity.
    suites : dict
        Suite -> what it is, in a sentence.
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
