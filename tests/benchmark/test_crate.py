"""The RO-Crate of a finished suite: its structure, its files, what it says of the run."""

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from helpers import ROOT, made_up
from path_benchmark import crate
from path_benchmark.__main__ import main
from path_benchmark.papers.reports import get_outputs
from path_benchmark.runs import written
from path_benchmark.settings import ConfigError
from path_benchmark.status import configuration
from solution_paths.files import hold

pytestmark = pytest.mark.slow

PAPER = "robust_svm"
METADATA, FORM = "ro-crate-metadata.json", "https://w3id.org/ro/crate/1.1"


@pytest.fixture
def config(tmp_path, monkeypatch):
    """Return a configuration whose suite quick, made up, is finished."""
    study, outputs = made_up.study_of(made_up.robust_svm()), get_outputs(PAPER)
    folder = tmp_path / "quick" / PAPER
    outputs.write(study, folder)
    study.results.drop(columns="hyper").to_parquet(folder / "results.parquet")
    made = [folder / "outputs.json", *sorted((folder / "tables").iterdir())]
    written.record(folder, "outputs", made)
    (tmp_path / "quick" / "report.html").write_text("<p>Made up.")
    return configuration(ROOT) | {"results": str(tmp_path)}


def read(file):
    """Return a crate's entities by name, and the names of its files."""
    with zipfile.ZipFile(file) as archive:
        assert archive.testzip() is None
        content = json.loads(archive.read(METADATA))
        names = archive.namelist()
    assert set(content) == {"@context", "@graph"}
    found = {entity["@id"]: entity for entity in content["@graph"]}
    assert len(found) == len(content["@graph"])  # each name stands once
    assert len(names) == len(set(names))
    return found, names


def references(value):
    """Yield every name that a value refers to."""
    if isinstance(value, dict):
        assert set(value) == {"@id"}  # RO-Crate is flat: no entity stands within another
        yield value["@id"]
    elif isinstance(value, list):
        for part in value:
            yield from references(part)


def kinds(entity):
    found = entity["@type"]
    return set(found if isinstance(found, list) else [found])


def test_every_file_is_there_and_every_name_resolves(config):
    file, said = crate.write_crate(config, "quick", ROOT)
    assert said.startswith(f"{file}: ")
    found, names = read(file)
    for name, entity in found.items():
        if "File" in kinds(entity):
            assert name in names
            with zipfile.ZipFile(file) as archive:
                assert len(archive.read(name)) == int(entity["contentSize"])
        elif "Dataset" in kinds(entity):
            assert name == "./" or any(n.startswith(name) for n in names)
    # Addresses beyond the crate may be named without an entity: of the specification and of terms.
    told = {
        n for e in found.values() for key, v in e.items() if key != "@id" for n in references(v)
    }
    beyond = {"https://snakemake.readthedocs.io", "https://doi.org/10.1093/bioinformatics/bts480"}
    assert told - set(found) == {FORM, *beyond}
    # What the suite shows is described, file by file.
    shown = {name for name in names if name.startswith("results/")}
    assert len(shown) > 10
    assert shown == {name for name in found if name.startswith("results/") and name[-1] != "/"}


def test_the_root_says_what_the_specification_asks(config):
    found, _ = read(crate.write_crate(config, "quick", ROOT)[0])
    descriptor, root = found[METADATA], found["./"]
    assert descriptor["about"] == {"@id": "./"}
    assert {"@id": FORM} in descriptor["conformsTo"]
    assert {"name", "description", "datePublished", "license", "mainEntity"} <= set(root)
    assert set(references(root["conformsTo"])) == set(crate.PROFILES)
    assert found[root["license"]["@id"]]["identifier"].endswith("/BSD-3-Clause")
    workflow = found[root["mainEntity"]["@id"]]
    assert kinds(workflow) == {"File", "SoftwareSourceCode", "ComputationalWorkflow"}
    assert found[workflow["programmingLanguage"]["@id"]]["name"] == "Snakemake"
    # Every file and folder is part of the root, and a paper's files of its folder.
    parts = [*references(root["hasPart"])]
    held = {n for n, e in found.items() if {"File", "Dataset"} & kinds(e)} - {"./"}
    assert sorted(parts) == sorted(held)
    place = f"results/quick/{PAPER}/"
    files = {n for n in held if n.startswith(place) and n != place}
    assert set(references(found[place]["hasPart"])) == files
    # Tables and figures are called what the page calls them.
    file = Path(config["results"], "quick", PAPER, "outputs.json")
    content = json.loads(file.read_text("utf-8"))
    for table in content["tables"]:
        assert found[f"{place}tables/{table['name']}.csv"]["name"] == table["heading"]
    for figure in content["figures"]:
        drawn = found[f"{place}figures/{figure['name']}.svg"]
        assert (drawn["name"], drawn["description"]) == (figure["heading"], figure["caption"])


def test_the_run_is_told_as_it_was(config):
    found, _ = read(crate.write_crate(config, "quick", ROOT)[0])
    run = found[crate.RUN]
    assert run["instrument"] == {"@id": found["./"]["mainEntity"]["@id"]}
    assert run["actionStatus"].endswith("/CompletedActionStatus")
    assert " 0 finished, 0 failed, " in run["description"]
    assert {f"results/quick/{PAPER}/", "results/quick/report.html"} == set(
        references(run["result"])
    )
    assert {"#suite", "config/", "#data-wdbc"} <= set(references(run["object"]))
    assert found["#suite"]["value"] == "quick"
    data = found["#data-wdbc"]
    assert data["license"] == "CC BY 4.0 (UCI)"
    assert "wdbc.data: sha256 d606af" in data["description"]
    cells = {"finished": 3, "failed": 2, "left": 0}
    failed = crate.described(config, "quick", ROOT, cells).dereference(crate.RUN)
    assert failed["actionStatus"].endswith("/FailedActionStatus")
    assert failed["error"] == "2 cells failed"


def test_people_are_those_of_the_citation():
    person = {"given-names": "Ada", "family-names": "Example", "orcid": "https://orcid.org/0"}
    told = crate._author(1, person)
    assert (told["@id"], told["@type"], told["name"]) == (
        "https://orcid.org/0",
        "Person",
        "Ada Example",
    )
    assert crate._author(0, {"name": "The authors"})["@type"] == "Organization"


def test_the_workflow_in_it_can_be_planned(config, tmp_path):
    file, _ = crate.write_crate(config, "quick", ROOT)
    with zipfile.ZipFile(file) as archive:
        archive.extractall(tmp_path / "unpacked")
    asked = "snakemake", "-n", "--cores", "1", "robust_svm", "--config", "only=toys"
    environment = os.environ | {"PYTHONPATH": str(tmp_path / "unpacked" / "src")}
    environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environment['PATH']}"
    ran = subprocess.run(
        asked, cwd=tmp_path / "unpacked", env=environment, capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stderr[-2000:]


def test_what_is_not_finished_is_refused_in_a_sentence(config, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    told = ["crate", "quick", "--results", str(tmp_path)]
    held = hold(tmp_path / ".running.lock")
    with pytest.raises(ConfigError, match=r"A run is at work in .*: wait"):
        crate.write_crate(config, "quick", ROOT)
    held.release()
    assert main(told) == 0
    assert capsys.readouterr().out.startswith(str(tmp_path / "quick.crate.zip"))
    table = next((tmp_path / "quick" / PAPER / "tables").glob("*.csv"))
    table.write_text("other\n")
    assert main(told) == 1
    assert f"{table.name} is not what was written: run" in capsys.readouterr().err
    assert main(["crate", "paper", "--results", str(tmp_path)]) == 1
    assert "holds no report.html: run `snakemake paper` first" in capsys.readouterr().err
    assert main(["crate", "quik"]) == 1
    assert "did you mean 'quick'" in capsys.readouterr().err
