"""A finished suite as an RO-Crate: ``python -m path_benchmark crate SUITE``.

The crate is one zip file, ready for a repository of research data. It holds the workflow, its
package and configuration, all outputs of the suite, and ``ro-crate-metadata.json``, which describes
them by RO-Crate 1.1 and the Workflow Run Crate profile. Data sets are not shipped: they are named
with address, licence and checksum. (rocrate is part of solution_paths[workflow].)
"""

from __future__ import annotations

import importlib.metadata
import json
import mimetypes
import zipfile
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd
from rocrate.model import ContextEntity
from rocrate.rocrate import ROCrate

from solution_paths.files import hold, replace_atomically

from .data import registry
from .reporting.formats import count
from .runs.code import CODE
from .runs.rows import commit
from .runs.written import NOTES, changed, digest
from .settings import ConfigError, read_yaml
from .status import counts

CONTEXT = "https://w3id.org/ro/terms/workflow-run/context"
PROFILES = {
    "https://w3id.org/ro/wfrun/process/0.5": "Process Run Crate",
    "https://w3id.org/ro/wfrun/workflow/0.5": "Workflow Run Crate",
    "https://w3id.org/workflowhub/workflow-ro-crate/1.0": "Workflow RO-Crate",
}
WORKFLOW, LICENCE, RUN = "workflow/Snakefile", "LICENSE", "#run"
# The parts of a checkout that are needed to run the workflow again.
SHIPPED = {
    "README.md": "What the workflow is, and how it is run",
    LICENCE: "The licence of the workflow",
    "CITATION.cff": "How to cite the workflow",
    "Makefile": "Builds the environment and runs the suites",
    "pyproject.toml": "The package and what it needs",
    "requirements.lock": "Versions and checksums of everything in the environment",
    "requirements-compiled.lock": "The same of solvers that are compiled",
    "config/": "Configuration: papers, data sets, suites",
    "notebooks/": "Notebooks of the papers",
    "src/": "The library and the benchmark around it",
    "workflow/": "Rules and scripts of the workflow",
}
# Formats that Python doesn't know.
FORMATS = {
    ".cff": "application/yaml",
    ".ipynb": "application/x-ipynb+json",
    ".parquet": "application/vnd.apache.parquet",
    ".tex": "application/x-tex",
    ".toml": "application/toml",
}
PAGE = "All tables, figures and claims on one page"
# Files of a paper beside its tables and figures.
PAPER_FILES = {
    "results.parquet": "Results: one row for each number",
    "curves.parquet": "Every point of every curve",
    "claims.csv": "Claims with verdicts and evidence",
    "outputs.json": "What tables and figures show, and where the rows come from",
    "notebook.ipynb": "A notebook that loads the results",
}


def write_crate(config: Mapping, suite: str, root: Path) -> tuple[Path, str]:
    """Write ``<results>/<suite>.crate.zip``.

    Parameters
    ----------
    config : mapping
        The checkout's configuration.
    suite : str
        A finished suite: its page and its papers' outputs exist and are unchanged.
    root : path
        The checkout.

    Returns
    -------
    file : path
    summary : str
        A sentence on its content.

    Raises
    ------
    ConfigError
        If the suite is unknown, unfinished or running, or one of its files was changed.
    """
    totals, _ = counts(dict(config), suite)
    folder = Path(config["results"], suite)
    _refuse_unfinished(folder, suite)
    cells = {
        what: sum(getattr(c, what) for c in totals.values())
        for what in ("finished", "failed", "left")
    }
    crate = described(config, suite, root, cells)
    out = folder.with_name(f"{suite}.crate.zip")

    def write(part: Path) -> None:
        crate.write_zip(part)
        with zipfile.ZipFile(part, "a", zipfile.ZIP_DEFLATED) as archive:
            for file in _in_folders(root):  # described as folders, without what runs leave there
                archive.write(file, file.relative_to(root).as_posix())

    replace_atomically(out, write)
    with zipfile.ZipFile(out) as archive:
        files = len(archive.namelist()) - 1
    return out, f"{out}: {count(files, 'file')}, {out.stat().st_size / 1e6:.1f} MB."


def _refuse_unfinished(folder: Path, suite: str) -> None:
    """Raise a `ConfigError` if the suite is unfinished, running or changed since it was written."""
    if not (folder / "report.html").is_file():
        raise ConfigError(f"{folder} holds no report.html: run `snakemake {suite}` first.")
    held = hold(folder.parent / ".running.lock")
    if held is None:
        raise ConfigError(f"A run is at work in {folder.parent}: wait until it has ended.")
    held.release()
    for note in sorted(folder.glob(f"*/{NOTES}")):
        _, bad = changed(note)
        if bad:
            raise ConfigError(
                f"{bad} is not what was written: run `snakemake {suite}`, which makes it again."
            )


def _paper_folders(folder: Path) -> list[Path]:
    """List the papers' folders of a suite."""
    return sorted(file.parent for file in folder.glob("*/outputs.json"))


def _in_folders(root: Path) -> Iterator[Path]:
    """Yield the files of the checkout's folders that are shipped."""
    for name in SHIPPED:
        for file in sorted((root / name).rglob("*")) if name.endswith("/") else ():
            hidden = {"__pycache__", ".ipynb_checkpoints"} & set(file.parts)
            if file.is_file() and not hidden and file != root / WORKFLOW:
                yield file


# ---------------------------------------------------------------- what is in it


def described(config: Mapping, suite: str, root: Path, cells: Mapping[str, int]) -> ROCrate:
    """Return the crate of a suite: its files, and what describes them.

    Parameters
    ----------
    config, suite, root
        See `write_crate`.
    cells : mapping
        Numbers of cells that are ``finished``, ``failed`` and ``left``.
    """
    folder, cited = Path(config["results"], suite), read_yaml(root / "CITATION.cff")
    places = _paper_folders(folder)
    results = pd.concat([pd.read_parquet(place / "results.parquet") for place in places])
    crate = ROCrate(version="1.1")
    crate.metadata.extra_contexts.append(CONTEXT)
    for profile, name in PROFILES.items():
        version = profile.rpartition("/")[2]
        _add(crate, {"@id": profile, "@type": "CreativeWork", "name": name, "version": version})
    authors = [_add(crate, _author(k, author)) for k, author in enumerate(cited["authors"])]
    software = [_add(crate, entity) for entity in _software(results)]
    workflow = {
        "name": cited["title"],
        "version": commit(root) or cited["version"],
        "license": {"@id": LICENCE},
        "creator": authors,
        "input": _target(crate, suite),
        "softwareRequirements": software,
        **_form(root / WORKFLOW),
    }
    crate.add_workflow(
        root / WORKFLOW,
        WORKFLOW,
        properties=workflow,
        main=True,
        lang="snakemake",
        record_size=True,
    )
    for name, what in SHIPPED.items():
        _ship(crate, root, name, what, cited)
    page = _add_file(crate, folder / "report.html", folder, PAGE)
    shown = [page, *(_paper(crate, place, folder) for place in places)]
    data = [_add(crate, entity) for entity in _data(results, config)]
    run = _add(crate, {**_run(folder, suite, cells, results), "result": shown})
    run["object"] = [{"@id": "#suite"}, {"@id": "config/"}, *data]
    about = {
        "name": f"Results of the suite {suite}: {cited['title']}",
        "description": config["suites"][suite],
        "datePublished": datetime.now(UTC).date().isoformat(),
        "license": {"@id": LICENCE},
        "author": authors,
        "keywords": ", ".join(cited["keywords"]),
        "conformsTo": [{"@id": profile} for profile in PROFILES],
        "citation": [place["citation"] for place in shown[1:]],
        "mentions": run,
    }
    for name, value in about.items():
        crate.root_dataset[name] = value
    return crate


def _add(crate: ROCrate, entity: dict[str, Any]) -> ContextEntity:
    """Add something that is no file."""
    properties = {key: value for key, value in entity.items() if key != "@id"}
    return crate.add(ContextEntity(crate, entity["@id"], properties))


def _form(file: Path) -> dict[str, str]:
    form = FORMATS.get(file.suffix) or mimetypes.guess_type(file.name)[0] or "text/plain"
    return {"encodingFormat": form, "sha256": digest(file)}


def _add_file(crate: ROCrate, file: Path, folder: Path, name: str, **more: str) -> Any:
    """Add a file of the suite's results."""
    properties = {"name": name, **more, **_form(file)}
    return crate.add_file(file, _name(file, folder), properties=properties, record_size=True)


def _name(file: Path, folder: Path) -> str:
    """Return a result's name in the crate."""
    return f"results/{folder.name}/{file.relative_to(folder).as_posix()}"


def _ship(crate: ROCrate, root: Path, name: str, what: str, cited: Mapping) -> None:
    """Add a file of the checkout, or name a folder; the licence is one of its terms, too."""
    if name.endswith("/"):
        crate.add_dataset(dest_path=name, properties={"name": what})
        return
    properties = {"name": what, **_form(root / name)}
    if name == "README.md":
        properties["about"] = {"@id": "./"}
    if name == LICENCE:
        short = cited["license"]
        properties |= {"@type": ["File", "CreativeWork"], "name": short}
        properties["identifier"] = f"https://spdx.org/licenses/{short}"
    crate.add_file(root / name, name, properties=properties, record_size=True)


def _paper(crate: ROCrate, place: Path, folder: Path) -> Any:
    """Add a paper's files; return its folder, which cites it."""
    content = json.loads((place / "outputs.json").read_text("utf-8"))
    descriptions = {table["name"]: {"name": table["heading"]} for table in content["tables"]}
    for figure in [*content["figures"], *content["explorers"]]:
        descriptions[figure["name"]] = {"name": figure["heading"], "description": figure["caption"]}
    named = {place / name: {"name": what} for name, what in PAPER_FILES.items()}
    for file in sorted([*(place / "tables").iterdir(), *(place / "figures").iterdir()]):
        if not file.name.startswith("."):
            named[file] = descriptions[file.stem]
    files = [_add_file(crate, f, folder, **about) for f, about in named.items() if f.is_file()]
    article = {"@id": f"#{place.name}", "@type": "ScholarlyArticle", "name": content["citation"]}
    paper = {"name": content["title"], "description": content["summary"], "hasPart": files}
    paper["citation"] = _add(crate, article)
    return crate.add_dataset(dest_path=f"{_name(place, folder)}/", properties=paper)


def _run(
    folder: Path, suite: str, cells: Mapping[str, int], results: pd.DataFrame
) -> dict[str, Any]:
    """Describe the run: its status, and the origin of its rows."""
    commits = sorted({json.loads(text).get("commit") or "unknown" for text in results["versions"]})
    machines = sorted(results["machine"].unique())
    ended = datetime.fromtimestamp((folder / "report.html").stat().st_mtime, UTC)
    failed = cells["failed"]
    status = {
        "actionStatus": f"http://schema.org/{'Failed' if failed else 'Completed'}ActionStatus"
    }
    if failed:
        status["error"] = f"{count(failed, 'cell')} failed"
    return {
        "@id": RUN,
        "@type": "CreateAction",
        "name": f"snakemake {suite}",
        "description": (
            f"Cells: {cells['finished']} finished, {failed} failed, {cells['left']} not run. "
            f"Rows were made by commits {', '.join(commits)} on {'; '.join(machines)}."
        ),
        "endTime": ended.isoformat(timespec="seconds"),
        "instrument": {"@id": WORKFLOW},
        **status,
    }


def _target(crate: ROCrate, suite: str) -> ContextEntity:
    """Add the workflow's one parameter, and its value here; return the parameter."""
    about = {"name": "target", "description": "the suite that is run", "additionalType": "Text"}
    about |= {"@id": "#target", "@type": "FormalParameter", "valueRequired": False}
    target = _add(crate, {**about, "defaultValue": "paper"})
    value = {"@id": "#suite", "@type": "PropertyValue", "name": "target", "value": suite}
    _add(crate, {**value, "exampleOfWork": target})
    return target


def _data(results: pd.DataFrame, config: Mapping) -> Iterator[dict[str, Any]]:
    """Describe each data set that was read: address, licence and checksums of its files."""
    pairs = results[["paper", "dataset"]].drop_duplicates().itertuples(index=False)
    datasets = {paper: spec["datasets"] for paper, spec in config["papers"].items()}
    used = {
        source: None
        for paper, name in pairs
        for source in datasets[paper][name].get("sources", [name])
    }
    entries = registry()
    for name in sorted(used):
        entry = entries[name]
        sums = [f"{file.name}: sha256 {file.sha256}" for file in entry.files if file.sha256]
        more = {"url": str(entry.homepage).split()[0]} if entry.homepage else {}
        yield {
            "@id": f"#data-{name}",
            "@type": "CreativeWork",
            "name": entry.title,
            "description": "; ".join([f"{entry.source}, {entry.n} x {entry.d}", *sums]),
            "license": entry.licence,
            **more,
        }


def _software(results: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Describe the packages and solvers that made the rows, with their versions."""
    software = {("snakemake", importlib.metadata.version("snakemake"))}
    for text in results["versions"].unique():
        versions = json.loads(text)
        software |= {(n, v) for n, v in versions.items() if n not in (*CODE, "commit", "date")}
    solvers = results[["method", "method_version"]].dropna().drop_duplicates()
    software |= set(solvers.itertuples(index=False, name=None))
    for name, version in sorted(software):
        key = f"{name}-{version}".replace(" ", "-")
        yield {
            "@id": f"#{key}",
            "@type": "SoftwareApplication",
            "name": name,
            "softwareVersion": version,
        }


def _author(k: int, author: Mapping) -> dict[str, Any]:
    """Describe an author of CITATION.cff: a person, or with a single name an organisation."""
    key = author.get("orcid") or f"#author-{k + 1}"
    if "name" in author:
        return {"@id": key, "@type": "Organization", "name": author["name"]}
    given, family = author.get("given-names", ""), author["family-names"]
    person = {"@id": key, "@type": "Person", "name": f"{given} {family}".strip()}
    return {**person, "affiliation": author["affiliation"]} if "affiliation" in author else person
