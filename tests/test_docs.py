"""The examples in the documents run, and their paths are certified."""

import ast
import inspect
import re
import runpy
import subprocess
import sys
from pathlib import Path as FilePath

import nbformat
import numpy as np
import pytest
import yaml

import solution_paths
from path_benchmark import papers
from path_benchmark.runs.cells import read_cell
from solution_paths import Curve, SolutionPath

ROOT = FilePath(__file__).parents[1]
DOCUMENTS = ["README.md", "CONTRIBUTING.md"]
DOCUMENTS += [
    f"docs/{name}.md" for name in ("engine", "models", "own_loss", "benchmark", "cluster")
]
IMAGE = re.compile(r"!\[[^]]*\]\(([^)]+)\)")


def examples(name: str) -> list[str]:
    """Return the Python examples of a document."""
    return re.findall(r"```python\n(.*?)```", (ROOT / name).read_text("utf-8"), re.DOTALL)


def example(name: str) -> str:
    """Return the one Python example of a document."""
    (code,) = examples(name)
    return code


@pytest.mark.parametrize("name", ["README.md", "docs/engine.md", "docs/own_loss.md"])
def test_examples_end_with_a_certificate_that_holds(name, tmp_path):
    for code in examples(name):  # each in a process of its own, in a folder that they share
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, timeout=600
        )
        assert done.returncode == 0, done.stderr
        assert done.stderr == ""
    assert done.stdout.splitlines()[-1].startswith("certificate holds:")


def test_the_radius_of_the_ambiguity_set_is_the_multiplier():
    code, said = example("docs/models.md"), []
    exec(code, {"print": said.append})
    assert said == [True]


def test_the_table_of_models_has_every_path_once_and_says_how_to_call_it():
    text = (ROOT / "docs/models.md").read_text("utf-8").partition("## Choose by question")[2]
    rows = [row.split(" | ") for row in text.partition("## What")[0].splitlines() if "`" in row]
    rows = [row for row in rows if len(row) == 6]
    named = [name for row in rows for name in re.findall(r"`(\w+)`", row[1])]
    assert sorted(named) == sorted(
        name for name, own in PUBLIC.items() if inspect.isfunction(own) and name.endswith("_path")
    )
    for row in rows:
        call = compile(row[5].strip("` |"), "use", "eval", flags=ast.PyCF_ONLY_AST).body
        while isinstance(call.args[0], ast.Call):
            call = call.args[0]
        signature = inspect.signature(PUBLIC[call.func.id])
        names = {argument.arg: None for argument in call.keywords}
        signature.bind(*[None] * len(call.args), **names)


def test_examples_are_as_short_as_the_documents_say():
    lines = [line for line in examples("README.md")[0].splitlines() if line.strip()]
    assert len(lines) <= 10
    assert len((ROOT / "README.md").read_text("utf-8").splitlines()) <= 150


PUBLIC = {name: getattr(solution_paths, name) for name in solution_paths.__all__}


@pytest.mark.parametrize("name", [name for name in PUBLIC if inspect.isfunction(PUBLIC[name])])
def test_every_public_function_has_an_example_with_a_certificate(name):
    _, _, examples = inspect.getdoc(PUBLIC[name]).partition("\nExamples\n--------\n")
    assert ">>> path.certify().ok\nTrue" in examples


ESTIMATORS = {name: PUBLIC[name] for name in solution_paths.ESTIMATORS}
METHODS = {f"SolutionPath.{name}": own for name, own in inspect.getmembers(SolutionPath, callable)}
METHODS |= {  # what they have of their own beside scikit-learn's fit, predict and decision_function
    f"{name}.{method}": getattr(own, method)
    for name, own in ESTIMATORS.items()
    for method in sorted({"predict_proba", "reweight", "update"} & set(dir(own)))
}
SHOWN = {"Curve": Curve, **ESTIMATORS}
SHOWN |= {name: own for name, own in METHODS.items() if not name.partition(".")[2].startswith("_")}


@pytest.mark.parametrize("name", SHOWN)
def test_every_method_of_a_path_and_every_estimator_has_an_example(name):
    _, _, examples = inspect.getdoc(SHOWN[name]).partition("\nExamples\n--------\n")
    assert f"{name.rpartition('.')[2]}(" in examples


def test_examples_are_asked_of_all_methods():
    some = {"SolutionPath.coef", "SolutionPath.load", "SolutionPath.piece_values"}
    assert some | {"WeightedSVR.update"} <= set(SHOWN)


@pytest.mark.parametrize("name", [name for name in PUBLIC if inspect.isfunction(PUBLIC[name])])
def test_every_parameter_of_a_public_function_is_documented(name):
    section = re.search(
        r"\nParameters\n-+\n(.*?)\n\w+\n---", inspect.getdoc(PUBLIC[name]), re.DOTALL
    )
    lines = re.findall(r"^\*{0,2}(\w[\w, ]*)(?: : .+)?$", section[1], re.MULTILINE)
    documented = [own for line in lines for own in line.split(", ")]
    assert sorted(documented) == sorted(inspect.signature(PUBLIC[name]).parameters)


def test_the_site_lists_every_public_name():
    listed = re.findall(r"^   (\w+)$", (ROOT / "docs/api.rst").read_text("utf-8"), re.MULTILINE)
    assert sorted(listed) == sorted(set(PUBLIC) - {"__version__"})


def test_the_worked_example_has_the_breakpoints_that_the_text_derives():
    names: dict = {}
    exec(example("docs/engine.md"), names)
    path = names["path"]
    np.testing.assert_allclose(path.breakpoints, [0, 1 / 12, 1 / 4, 1 / 3], atol=1e-15)
    np.testing.assert_allclose(path.coef(path.breakpoints)[0], [0, 1 / 2, 1 / 2, 2 / 3], atol=1e-15)
    np.testing.assert_allclose(path.dual(0.2)[1], 1 / 4 - 2 * 0.2, atol=1e-15)
    np.testing.assert_allclose(path.dual(9.0)[2], (2 / 3 + 9.0) / 3, atol=1e-14)


NOTEBOOKS = sorted(set((ROOT / "notebooks").glob("*.ipynb")) - {ROOT / "notebooks/results.ipynb"})


@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.stem)
def test_notebooks_are_shipped_with_what_they_show(file):
    """The rule `notebook` runs them: `make quick` has them again, with outputs to be copied."""
    cells = nbformat.read(file, as_version=4).cells
    code = [cell for cell in cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))
    found = [output for cell in code for output in cell.outputs]
    assert {output.output_type for output in found} <= {"stream", "display_data", "execute_result"}
    kinds = [kind for output in found for kind in output.get("data", {})]
    page = (ROOT / f"docs/results/{file.stem}.md").read_text("utf-8")
    assert kinds.count("image/png") >= min(3, page.count("\n![")) > 0  # the paper's figures
    assert kinds.count("image/svg+xml") >= 2  # those of its model
    assert kinds.count("text/html") >= 3  # tables
    assert sum("certificate holds" in output.get("text", "") for output in found) >= 1
    assert f'results_folder("{file.stem}")' in code[0].source
    assert file.stat().st_size < 500_000


def test_what_the_data_say_of_the_papers_is_current():
    said = (ROOT / "docs/reproduction.md").read_text("utf-8")
    written = runpy.run_path(str(ROOT / "docs/reproduction.py"))["written"]
    assert written(said) == said, "run python docs/reproduction.py"
    changed = said.replace("| Prostate | downloaded | 97 |", "| Prostate | downloaded | 98 |")
    assert changed != said
    assert written(changed) == said


def test_new_paper_is_accepted_and_runs(tmp_path, monkeypatch):
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    settings = re.search(r"```yaml\n(.*?)```", text, re.DOTALL)[1]
    folder = tmp_path / "hastie"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "experiments.py").write_text(example("CONTRIBUTING.md"))
    monkeypatch.setattr(papers, "__path__", [*papers.__path__, str(tmp_path)])
    for module in ("", ".experiments"):
        monkeypatch.delitem(sys.modules, f"{papers.__name__}.hastie{module}", raising=False)
    config = {"suites": {"quick": "Small."}, "papers": {"hastie": yaml.safe_load(settings)}}
    (paper,) = papers.check_config(config).values()
    (cell,) = paper.run(config, "quick", "path", "two_moons", [0], tmp_path / "cells")
    rows, _ = read_cell(cell)
    assert dict(zip(*(rows[c].to_pylist() for c in ("metric", "value")), strict=True)) == {
        "certificate": 1.0,
        "breakpoints": rows["n_breakpoints"].to_pylist()[0],
    }


@pytest.mark.parametrize("name", [name for name in DOCUMENTS if name != "docs/own_loss.md"])
def test_pictures_and_links_lead_somewhere(name):
    file = ROOT / name
    text = file.read_text("utf-8")
    links = [link for link in re.findall(r"\]\(([^)#]+)\)", text) if "://" not in link]
    assert links  # in docs/own_loss.md there are none
    for link in {*IMAGE.findall(text), *links}:
        assert (file.parent / link).exists(), link


def test_paths_in_the_text_exist():
    named = re.compile(r"`((?:src|config|docs|workflow|tests|notebooks)/[\w./]+)`")
    found = {name: set(named.findall((ROOT / name).read_text("utf-8"))) for name in DOCUMENTS}
    assert {name for name in DOCUMENTS if found[name]} == {
        "CONTRIBUTING.md",
        "docs/engine.md",
        "docs/benchmark.md",
        "docs/cluster.md",
    }
    for path in set().union(*found.values()):
        assert (ROOT / path).exists() or "hastie" in path, path  # the paper of an example
