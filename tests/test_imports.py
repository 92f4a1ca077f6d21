"""The house: who may import whom, and what compiled code depends on."""

import ast
import csv
import importlib
import os
import pkgutil
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from helpers import ROOT
from solution_paths import compilation

LIBRARY, BENCHMARK = "solution_paths", "path_benchmark"
# A package, a file, a wrong import in it, and what the linter calls the contract that it breaks.
WRONG = {
    "a layer below": (LIBRARY, "models/svm.py", "from .. import estimators", "Each layer"),
    "an objective a path": (
        BENCHMARK,
        "objectives/hinge.py",
        "from .. import runs",
        "The benchmark",
    ),
    "the loop a path": (LIBRARY, "homotopy/run.py", "from .. import solution", "Each layer"),
    "the loop the package": (LIBRARY, "homotopy/run.py", "from .. import lasso_path", "Each layer"),
    "the judge a walk": (LIBRARY, "verify/judge.py", "from .. import homotopy", "Each layer"),
    "a walk the judge": (LIBRARY, "homotopy/run.py", "from ..verify import judge", "No walk knows"),
    "a report its paper": (BENCHMARK, "reporting/study.py", "from .. import papers", "The bench"),
    "data a solver": (BENCHMARK, "data/seeds.py", "from .. import solvers", "The benchmark"),
    "a module without a layer": (LIBRARY, "drawer.py", '"""Odds and ends."""', "Each layer"),
    "a paper another one": (
        BENCHMARK,
        "papers/weighted_svm/data.py",
        "from ..quantile_svm.data import prepare as other",
        "No paper knows another one",
    ),
    "a stage a later one": (LIBRARY, "homotopy/state.py", "from . import loop", "No import cycl"),
    "a paper Snakemake": (BENCHMARK, "papers/robust_svm/data.py", "import snakemake", "Snakemake"),
    "the library YAML": (LIBRARY, "kernels/kernel.py", "import yaml", "The library needs nothing"),
    "the library the benchmark": (
        LIBRARY,
        "path.py",
        "from path_benchmark.data.seeds import seed_sequence",
        "The library needs nothing",
    ),
}


@pytest.fixture
def copy(tmp_path):
    """A copy of the package with its contracts."""
    skip = shutil.ignore_patterns("__pycache__", "*.egg-info")
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=skip)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def lint_imports(checkout):
    """Run the linter of imports on a checkout, and return its exit code and what it says."""
    command = [Path(sys.executable).with_name("lint-imports"), "--no-cache"]
    environment = {**os.environ, "PYTHONPATH": str(checkout / "src")}
    done = subprocess.run(
        command, cwd=checkout, env=environment, capture_output=True, text=True, timeout=120
    )
    return done.returncode, done.stdout + done.stderr


def test_the_contracts_hold():
    code, said = lint_imports(ROOT)
    assert code == 0, said
    assert " 0 broken" in said


@pytest.mark.slow
@pytest.mark.parametrize("who", WRONG)
def test_a_wrong_import_breaks_a_contract(copy, who):
    package, name, line, contract = WRONG[who]
    file = copy / "src" / package / name
    before = file.read_text() if file.exists() else ""
    file.write_text(f"{before}\n{line}\n")
    code, said = lint_imports(copy)
    assert code != 0, said
    broken = [text for text in said.splitlines() if " BROKEN" in text]
    assert any(contract in text for text in broken), said


@pytest.mark.parametrize("name", [LIBRARY, BENCHMARK])
def test_a_wheel_holds_every_file_of_the_package(name):
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    patterns = settings["tool"]["setuptools"]["package-data"][name]
    package = ROOT / "src" / name
    packed = {file for pattern in patterns for file in package.glob(pattern)}
    there = {file for file in package.rglob("*.*") if "__pycache__" not in file.parts}
    assert {file for file in there if file.suffix != ".py" and file.is_file()} == packed
    folders = {file.parent for file in there if file.suffix == ".py"}
    assert [folder for folder in folders if not (folder / "__init__.py").is_file()] == []


def test_what_is_kept_depends_on_every_file_with_an_inner_function():
    """Otherwise numba would go on with a function whose callee has changed."""
    source = ROOT / "src" / LIBRARY
    inner = re.compile(r"^@(inner_njit|inline|lean|sums)\b", re.MULTILINE)
    files = {file for file in source.rglob("*.py") if inner.search(file.read_text())}
    assert len(files) > 10
    assert {str(file) for file in files} <= compilation.SOURCES


def test_compiled_functions_call_no_function_that_is_kept_as_machine_code():
    """What Python and compiled functions call is an inner function that a kept one calls."""
    for name in ("cccp", "smo"):
        importlib.import_module(f"{BENCHMARK}.solvers.{name}")
    kept = {id(made): made for made in compilation.FUNCTIONS}
    found = []
    for made in (*compilation.FUNCTIONS, *compilation.INNER):
        named = (made.py_func.__globals__.get(own) for own in made.py_func.__code__.co_names)
        found += [(made.__name__, own.__name__) for own in named if id(own) in kept]
    assert found == []


@pytest.mark.parametrize("name", [LIBRARY, BENCHMARK])
def test_every_module_can_be_imported(name):
    """The outputs of some papers are imported by no other test."""
    package = importlib.import_module(name)
    found = [own.name for own in pkgutil.walk_packages(package.__path__, f"{name}.")]
    assert len(found) > 20
    for module in found:
        importlib.import_module(module)


def test_modules_for_mutants_and_their_tests_exist():
    tree = ast.parse((ROOT / ".ci" / "mutants.py").read_text("utf-8"))
    lines = [own for own in tree.body if isinstance(own, ast.Assign)]
    names = [own.targets[0].id for own in lines]
    lines = lines[names.index("JUDGED") : names.index("MODULES") + 1]
    found: dict = {}
    exec(compile(ast.Module(lines, []), "mutants", "exec"), found)
    assert len(found["MODULES"]) > 140
    for module, tests in found["MODULES"].items():
        assert (ROOT / "src" / module).is_file(), module
        assert tests
        assert [name for name in tests if not (ROOT / f"tests/{name}.py").is_file()] == []
    with (ROOT / ".ci" / "equivalent_mutants.csv").open(newline="") as stream:
        for row in csv.DictReader(stream):
            source = " ".join((ROOT / "src" / row["module"]).read_text("utf-8").split())
            assert row["was"] in source, row
            assert row["becomes"] != row["was"]
            assert len(row["reason"]) > 20


def test_every_package_has_tests_in_a_folder_of_its_name_and_some_that_are_fast():
    def is_slow(file):
        body = ast.parse(file.read_text("utf-8")).body
        lines = [ast.unparse(line) for line in body if isinstance(line, ast.Assign)]
        return any(line.startswith("pytestmark") and "slow" in line for line in lines)

    for package, tests in (("solution_paths", "library"), ("path_benchmark", "benchmark")):
        found = [file.parent.name for file in (ROOT / "src" / package).glob("*/__init__.py")]
        assert len(found) >= 6
        for name in found:
            files = sorted((ROOT / "tests" / tests / name).glob("test_*.py"))
            assert [file for file in files if not is_slow(file)], name
