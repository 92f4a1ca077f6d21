"""The examples in the documents run, and their paths are certified."""

import ast
import inspect
import re
import runpy
import subprocess
import sys
import warnings

import matplotlib.pyplot as plt
import nbformat
import numpy as np
import pytest
import yaml

import solution_paths
from helpers import ROOT, estimators
from path_benchmark import papers
from path_benchmark.runs.cells import read_cell
from solution_paths import Curve, SolutionPath

pytestmark = pytest.mark.slow

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


CERTIFIED = ["README.md", "docs/engine.md", "docs/own_loss.md", "docs/index.md"]
CERTIFIED += ["docs/quantiles.md", "docs/probabilities.md"]
STATED = {  # examples whose output the text states, and how many
    "docs/intervals.md": 2,
    "docs/models.md": 2,
}


def test_every_example_of_a_document_is_run():
    """By one of the tests here; `CONTRIBUTING.md` has a paper, which is accepted and runs."""
    written = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *(ROOT / "config").glob("*.md")]
    found = {
        str(file.relative_to(ROOT)) for file in written if "```python" in file.read_text("utf-8")
    }
    assert found == {*CERTIFIED, *STATED, "CONTRIBUTING.md"}


@pytest.mark.parametrize("name", STATED)
def test_examples_print_what_the_text_says(name, tmp_path):
    text = (ROOT / name).read_text("utf-8")
    stated = re.findall(r"```python\n(.*?)```\n\nIt prints `([^`]+)`", text, re.DOTALL)
    assert len(stated) == len(examples(name)) == STATED[name]
    for code, said in stated:
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, timeout=600
        )
        assert (done.stdout.strip(), done.stderr) == (said, "")


GALLERY = {  # what an example prints, as its text and its pictures say
    "certificate.py": r"certificate holds(.|\n)*\nholds$",
    "conditional_conformal.py": r"no features: covers 1.00 before 2, 0.7(.|\n)*holds",
    "conformal.py": r"\d+ steps, a 90 % set: \[\[(.|\n)*row 0 moves(.|\n)*holds(.|\n)*holds",
    "cost_path.py": r"the last breakpoint is C = \d+\nleast error 0\.\d+, for C on \[\[",
    "exact_cross_validation.py": r"largest difference at the grid's values: 0\.0000",
    "instance_weights.py": r"the same coefficients as trained anew: True",
    "label_sets.py": r"SVM(.|\n)*: 0\.[89]\d+ hold(.|\n)*\n0 comparisons(.|\n)*certificate holds",
    "lasso_tie.py": r"wrong on 200 tables: \{'lasso_path': 0, 'lars_path': [1-9]\d*\}",
    "leave_one_out_curve.py": r"least error 2993(.|\n)*\n(2993\.\d+) \2\ncertificate holds",
    "own_loss.py": r"certificate holds(.|\n)*least mean absolute error: \d\.\d+, at a cost of",
    "probabilities.py": r"labels that agree: 100%\n.*contradicts: [1-9](.|\n)*certificate holds",
    "quantile_fan.py": r"by themselves: lines cross at [1-9](.|\n)*together: lines cross at 0",
    "quantile_path.py": r"least error (0\.\d+), on (.|\n)*certificate holds",
    "unbalanced_classes.py": r"balanced: error 0\.\d+ at C = (.|\n)*the grid: error",
}


def test_every_example_of_the_gallery_is_run():
    assert {file.name for file in (ROOT / "docs/gallery").glob("*.py")} == set(GALLERY)


@pytest.mark.parametrize("name", GALLERY)
def test_the_gallery_prints_what_it_says_and_warns_of_nothing(name, capsys):
    plt.close("all")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", module="numba|llvmlite")
        runpy.run_path(str(ROOT / "docs/gallery" / name), run_name="__main__")
    said = capsys.readouterr().out.strip()
    assert re.search(GALLERY[name], said), said
    assert plt.get_fignums()
    numbers = re.findall(r"\d+\.\d+", said)
    if name == "own_loss.py":  # the star is at the cost that is printed
        (star,) = [line for line in plt.gca().lines if line.get_marker() == "*"]
        assert f"{star.get_xdata()[0]:.4f}" == numbers[-1]
        assert f"{star.get_ydata()[0]:.4f}" == numbers[-2]
    if name in ("unbalanced_classes.py", "exact_cross_validation.py"):  # no grid sees less
        exact, grid = (
            float(re.search(rf"{own}.* error (0\.\d+)", said)[1]) for own in OF_GRID[name]
        )
        assert exact <= grid
    plt.close("all")


OF_GRID = {
    "unbalanced_classes.py": ("balanced:", "the grid:"),
    "exact_cross_validation.py": ("every C:", "the grid:"),
}


@pytest.mark.parametrize("name", ["README.md", "docs/models.md"])
def test_every_estimator_is_named(name):
    text = (ROOT / name).read_text("utf-8")
    rows = [row for row in text.splitlines() if row.startswith("| ")]
    named = {own for row in rows for own in re.findall(r"`(\w+)`", row)}
    assert set(estimators.ESTIMATORS) <= named


def test_the_table_of_estimators_says_what_each_chooses():
    text = (ROOT / "docs/models.md").read_text("utf-8").partition("| estimator |")[2]
    rows = [row.strip("| ").split(" | ") for row in text.partition("\n\n")[0].splitlines()[2:]]
    found = set()
    for names, chosen, over in rows:
        own, functions = re.findall(r"`(\w+[A-Z]\w+)`", names), re.findall(r"`(\w+)`", over)
        found |= set(own)
        for name, parameter in zip(own, chosen.split(", "), strict=False):
            model = PUBLIC[name]()
            assert parameter.split()[0] == (getattr(model, "_parameter", "") or "nothing;")
        assert all(function in PUBLIC for function in functions)
    assert found == set(estimators.ESTIMATORS)


def test_the_table_of_sizes_is_what_was_measured():
    sizes = runpy.run_path(str(ROOT / "measurements/sizes.py"))
    page = (ROOT / "docs/sizes.md").read_text("utf-8")
    rows = [row for row in page.splitlines() if re.match(r"\|.*`\w+_path`", row)]
    asked = [
        (name, f"`{function}`", f"{n:,}", f"{d:,}")
        for name, (function, _, of) in sizes["ROWS"].items()
        for n, d, _ in of
    ]
    assert [tuple(row.strip("| ").split(" | ")[:4]) for row in rows] == asked
    assert re.search(r"Measured on .+, commit [0-9a-f]{7,}.*, one BLAS thread\.", page)
    assert {function.strip("`") for _, function, _, _ in asked} <= set(PUBLIC)
    own = {"seconds": 1.234, "megabytes": 5.6, "breakpoints": 7}
    assert sizes["row"]("SVM", 1000, 10, 1.0, own).endswith("| 1.2 | 6 | 7 |")
    assert f"> {sizes['LIMIT']}" in sizes["row"]("SVM", 1000, 10, 1.0, {"seconds": None})
    changed = sizes["written"](page, "nothing")
    assert "nothing\n<!-- end -->" in changed
    assert len(changed) < len(page)


@pytest.mark.parametrize("name", CERTIFIED)
def test_examples_end_with_a_certificate_that_holds(name, tmp_path):
    for code in examples(name):  # each in a process of its own, in a folder that they share
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, timeout=600
        )
        assert done.returncode == 0, done.stderr
        assert done.stderr == ""
    assert done.stdout.splitlines()[-1].startswith("certificate holds:")


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


ESTIMATORS = {name: PUBLIC[name] for name in estimators.ESTIMATORS}
METHODS = {f"SolutionPath.{name}": own for name, own in inspect.getmembers(SolutionPath, callable)}
METHODS |= {  # what they have of their own beside scikit-learn's fit, predict and decision_function
    f"{name}.{method}": getattr(own, method)
    for name, own in ESTIMATORS.items()
    for method in sorted({"predict_proba", "reweight", "update"} & set(dir(own)))
    if not isinstance(getattr(own, method), property)  # which says where it is
}
SHOWN = {"Curve": Curve, **ESTIMATORS}
SHOWN |= {name: own for name, own in METHODS.items() if not name.partition(".")[2].startswith("_")}


@pytest.mark.parametrize("name", SHOWN)
def test_every_method_of_a_path_and_every_estimator_has_an_example(name):
    _, _, examples = inspect.getdoc(SHOWN[name]).partition("\nExamples\n--------\n")
    assert f"{name.rpartition('.')[2]}(" in examples


def test_examples_are_asked_of_all_methods():
    some = {"SolutionPath.coef", "SolutionPath.load", "SolutionPath.crossings"}
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
