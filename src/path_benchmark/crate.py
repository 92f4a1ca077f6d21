"""A finished suite as an RO-Crate: ``python -m path_benchmark crate SUITE``.

The crate is one zip file, ready for a repository of research data. It holds the workflow, its
package and configuration, all outputs of the suite, and ``ro-crate-metadata.json``, which describes
them by RO-Crate 1.1 and the Workflow Run Crate profile. Data sets are not shipped: they are named
with address, licence and checksum.
"""

from __future__ import annotations

import importlib.metadata
import json
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd

from solution_paths.files import hold, replace_atomically

from .data import registry
from .reporting.formats import count
from .runs.code import CODE
from .runs.rows import commit
from .runs.written import NOTES, changed, digest
from .settings import ConfigError, read_yaml
from .status import counts

METADATA = "ro-crate-metadata.json"
CRATE = "https://w3id.org/ro/crate/1.1"
CONTEXT = [f"{CRATE}/context", "https://w3id.org/ro/terms/workflow-run/context"]
PROFILES = {
    "https://w3id.org/ro/wfrun/process/0.5": "Process Run Crate",
    "https://w3id.org/ro/wfrun/workflow/0.5": "Workflow Run Crate",
    "https://w3id.org/workflowhub/workflow-ro-crate/1.0": "Workflow RO-Crate",
}
SNAKEMAKE = "https://w3id.org/workflowhub/workflow-ro-crate#snakemake"
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
FORMATS = {
    ".cff": "application/yaml",
    ".csv": "text/csv",
    ".html": "text/html",
    ".ipynb": "application/x-ipynb+json",
    ".json": "application/json",
    ".md": "text/markdown",
    ".parquet": "application/vnd.apache.parquet",
    ".pdf": "application/pdf",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".tex": "application/x-tex",
    ".toml": "application/toml",
}
# Files of a paper beside its tables and figures.
PAPER_FILES = {
    "results.parquet": "Results: one row for each number",
    "curves.parquet": "Every point of every curve",
    "claims.csv": "Claims with verdicts and evidence",
    "outputs.json": "What tables and figures show, and where the rows come from",
    "notebook.ipynb": "A notebook that loads the results",
}

Entity = dict[str, Any]


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
    files = _files(folder, root)
    graph = entities(config, suite, root, cells)
    text = json.dumps({"@context": CONTEXT, "@graph": graph}, indent=1, ensure_ascii=False)
    out = folder.with_name(f"{suite}.crate.zip")

    def write(part: Path) -> None:
        with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(METADATA, text)
            for name, file in files.items():
                archive.write(file, name)

    replace_atomically(out, write)
    return out, f"{out}: {count(len(files), 'file')}, {out.stat().st_size / 1e6:.1f} MB."


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


def _files(folder: Path, root: Path) -> dict[str, Path]:
    """Return every file of the crate but its metadata: name in the crate -> file."""
    paths = [root / WORKFLOW]
    for name in SHIPPED:
        paths += sorted((root / name).rglob("*")) if name.endswith("/") else [root / name]
    checkout = {
        file.relative_to(root).as_posix(): file
        for file in paths
        if file.is_file() and not {"__pycache__", ".ipynb_checkpoints"} & set(file.parts)
    }
    shown = [folder / "report.html"]
    for paper in _paper_folders(folder):
        shown += [paper / name for name in PAPER_FILES if (paper / name).is_file()]
        outputs = [
            file for part in ("tables", "figures") for file in sorted((paper / part).iterdir())
        ]
        shown += [file for file in outputs if not file.name.startswith(".")]
    return checkout | {_name(file, folder): file for file in shown}


def _name(file: Path, folder: Path) -> str:
    """Return a result's name in the crate."""
    return f"results/{folder.name}/{file.relative_to(folder).as_posix()}"


# ---------------------------------------------------------------- entities


def entities(config: Mapping, suite: str, root: Path, cells: Mapping[str, int]) -> list[Entity]:
    """Return the entities that describe a suite, each with a unique ``@id``.

    Parameters
    ----------
    config, suite, root
        See `write_crate`.
    cells : mapping
        Numbers of cells that are ``finished``, ``failed`` and ``left``.
    """
    folder = Path(config["results"], suite)
    cited = read_yaml(root / "CITATION.cff")
    authors = [_author(k, author) for k, author in enumerate(cited["authors"])]
    shipped = [_shipped(root, name, what) for name, what in SHIPPED.items()]
    page = _file(folder / "report.html", folder, "All tables, figures and claims on one page")
    papers = [entity for paper in _paper_folders(folder) for entity in _paper(paper, folder)]
    results = pd.concat(
        [pd.read_parquet(paper / "results.parquet") for paper in _paper_folders(folder)]
    )
    software, data = list(_software(results)), list(_data(results, config))
    shown = [page, *(e for e in papers if e["@type"] == "Dataset" and "citation" in e)]
    return [
        _descriptor(),
        _root(cited, suite, config, authors, [*shipped, *shown], papers),
        _workflow(root, cited, authors, software),
        *shipped,
        page,
        *papers,
        _run(folder, suite, cells, results, shown, data),
        *_target(suite),
        *data,
        *software,
        *authors,
        *_terms(),
    ]


def _refs(entities: Iterable[Entity]) -> Entity | list[Entity]:
    """Return references to entities; a single one is no list, as RO-Crate requires."""
    references = [{"@id": entity["@id"]} for entity in entities]
    return references[0] if len(references) == 1 else references


def _descriptor() -> Entity:
    conforms = [{"@id": CRATE}, {"@id": [*PROFILES][-1]}]
    return {
        "@id": METADATA,
        "@type": "CreativeWork",
        "about": {"@id": "./"},
        "conformsTo": conforms,
    }


def _root(
    cited: Mapping,
    suite: str,
    config: Mapping,
    authors: list[Entity],
    parts: list[Entity],
    papers: list[Entity],
) -> Entity:
    return {
        "@id": "./",
        "@type": "Dataset",
        "name": f"Results of the suite {suite}: {cited['title']}",
        "description": config["suites"][suite],
        "datePublished": datetime.now(UTC).date().isoformat(),
        "license": {"@id": LICENCE},
        "author": _refs(authors),
        "keywords": ", ".join(cited["keywords"]),
        "conformsTo": [{"@id": profile} for profile in PROFILES],
        "mainEntity": {"@id": WORKFLOW},
        "hasPart": _refs([{"@id": WORKFLOW}, *parts]),
        "citation": _refs(e for e in papers if e["@type"] == "ScholarlyArticle"),
        "mentions": {"@id": RUN},
    }


def _workflow(root: Path, cited: Mapping, authors: list[Entity], software: list[Entity]) -> Entity:
    return {
        "@id": WORKFLOW,
        "@type": ["File", "SoftwareSourceCode", "ComputationalWorkflow"],
        "name": cited["title"],
        "version": commit(root) or cited["version"],
        "programmingLanguage": {"@id": SNAKEMAKE},
        "license": {"@id": LICENCE},
        "creator": _refs(authors),
        "input": {"@id": "#target"},
        "softwareRequirements": _refs(software),
        "encodingFormat": _format(WORKFLOW),
        **_size(root / WORKFLOW),
    }


def _shipped(root: Path, name: str, what: str) -> Entity:
    """Describe a file or folder of the checkout; the licence is one of its terms, too."""
    if name.endswith("/"):
        return {"@id": name, "@type": "Dataset", "name": what}
    kinds = ["File", "CreativeWork"] if name == LICENCE else "File"
    about = {"about": {"@id": "./"}} if name == "README.md" else {}
    spdx = {}
    if name == LICENCE:
        short = read_yaml(root / "CITATION.cff")["license"]
        what, spdx = short, {"identifier": f"https://spdx.org/licenses/{short}"}
    described = {"@id": name, "@type": kinds, "name": what, **about, **spdx}
    return {**described, "encodingFormat": _format(name), **_size(root / name)}


def _format(name: str) -> str:
    return FORMATS.get(Path(name).suffix, "text/plain")


def _size(file: Path) -> Entity:
    return {"contentSize": str(file.stat().st_size), "sha256": digest(file)}


def _file(file: Path, folder: Path, name: str, **more: str) -> Entity:
    entity = {"@id": _name(file, folder), "@type": "File", "name": name, **more}
    return {**entity, "encodingFormat": _format(file.name), **_size(file)}


def _paper(paper: Path, folder: Path) -> Iterator[Entity]:
    """Describe a paper's folder, its files, and the paper."""
    content = json.loads((paper / "outputs.json").read_text("utf-8"))
    descriptions = {table["name"]: {"name": table["heading"]} for table in content["tables"]}
    for figure in [*content["figures"], *content["explorers"]]:
        descriptions[figure["name"]] = {"name": figure["heading"], "description": figure["caption"]}
    files = [
        _file(paper / n, folder, what) for n, what in PAPER_FILES.items() if (paper / n).is_file()
    ]
    for file in sorted([*(paper / "tables").iterdir(), *(paper / "figures").iterdir()]):
        if not file.name.startswith("."):
            files.append(_file(file, folder, **descriptions[file.stem]))
    article = {"@id": f"#{paper.name}", "@type": "ScholarlyArticle", "name": content["citation"]}
    yield {
        "@id": f"{_name(paper, folder)}/",
        "@type": "Dataset",
        "name": content["title"],
        "description": content["summary"],
        "citation": {"@id": article["@id"]},
        "hasPart": _refs(files),
    }
    yield from (*files, article)


def _run(
    folder: Path,
    suite: str,
    cells: Mapping[str, int],
    results: pd.DataFrame,
    shown: list[Entity],
    data: list[Entity],
) -> Entity:
    """Describe the run: its inputs and outputs, its status, and the origin of its rows."""
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
        "object": _refs([{"@id": "#suite"}, {"@id": "config/"}, *data]),
        "result": _refs(shown),
        **status,
    }


def _target(suite: str) -> Iterator[Entity]:
    yield {
        "@id": "#target",
        "@type": "FormalParameter",
        "name": "target",
        "description": "the suite that is run",
        "additionalType": "Text",
        "valueRequired": False,
        "defaultValue": "paper",
    }
    yield {
        "@id": "#suite",
        "@type": "PropertyValue",
        "name": "target",
        "value": suite,
        "exampleOfWork": {"@id": "#target"},
    }


def _data(results: pd.DataFrame, config: Mapping) -> Iterator[Entity]:
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


def _software(results: pd.DataFrame) -> Iterator[Entity]:
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


def _author(k: int, author: Mapping) -> Entity:
    """Describe an author of CITATION.cff: a person, or with a single name an organisation."""
    key = author.get("orcid") or f"#author-{k + 1}"
    if "name" in author:
        return {"@id": key, "@type": "Organization", "name": author["name"]}
    given, family = author.get("given-names", ""), author["family-names"]
    person = {"@id": key, "@type": "Person", "name": f"{given} {family}".strip()}
    return {**person, "affiliation": author["affiliation"]} if "affiliation" in author else person


def _terms() -> Iterator[Entity]:
    """Describe the profiles and the workflow's language, to which other entities refer."""
    for profile, name in PROFILES.items():
        version = profile.rpartition("/")[2]
        yield {"@id": profile, "@type": "CreativeWork", "name": name, "version": version}
    yield {
        "@id": SNAKEMAKE,
        "@type": "ComputerLanguage",
        "name": "Snakemake",
        "url": {"@id": "https://snakemake.readthedocs.io"},
        "identifier": {"@id": "https://doi.org/10.1093/bioinformatics/bts480"},
    }
