"""What code makes a cell: an experiment's own definitions, and the modules that it reaches."""

import pytest

from path_benchmark.papers import get_paper, names
from path_benchmark.runs import code as own

EXPERIMENTS = """
from solution_paths import one_path, other_path
from ...data import load

LIMIT = 3


def helper():
    return load(LIMIT)


def unused(path):
    return other_path(path)


@experiment
def first(cell):
    from ...solvers import best

    other_path = best  # its own name
    return helper(), one_path


@experiment
def second(cell):
    return other_path
"""
FILES = {
    "solution_paths/__init__.py": "from .models import one_path\nfrom .other import other_path\n",
    "solution_paths/models/__init__.py": "from .one import path as one_path\n",
    "solution_paths/models/one.py": "from ..loop import (\n    walk,  # (the loop)\n)\n",
    "solution_paths/loop.py": "def walk(): ...\n",
    "solution_paths/other.py": "def other_path(): ...\n",
    "path_benchmark/data/__init__.py": "from .sources import load\nfrom .parsers import parse\n",
    "path_benchmark/data/sources.py": "import solution_paths.loop\n",
    "path_benchmark/data/parsers.py": "",
    "path_benchmark/solvers/__init__.py": "from . import best\n",
    "path_benchmark/solvers/best.py": "",
    "path_benchmark/papers/p/experiments.py": EXPERIMENTS,
}
CACHED = (
    "code",
    "_text",
    "_digest",
    "_is_package",
    "_imports",
    "_defining_modules",
    "_defining_module",
)
CACHED += ("_statements", "_global_names")


@pytest.fixture
def hashes(tmp_path, monkeypatch):
    """Return a function that changes files of two small packages and tells an experiment's code."""
    monkeypatch.setattr(own, "ROOTS", {top: tmp_path / top for top in own.ROOTS})

    def told(experiment, **changed):
        for name, text in FILES.items():
            file = tmp_path / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(changed.get(file.stem, text))
        for name in CACHED:
            getattr(own, name).cache_clear()
        return own.code("p", experiment)

    yield told
    for name in CACHED:
        getattr(own, name).cache_clear()


def test_only_what_an_experiment_reaches_changes_its_code(hashes):
    before = {name: hashes(name) for name in ("first", "second")}
    assert before["first"] != before["second"]
    touching = {  # file -> part of the code, for each experiment
        "one": ("library", None),
        "loop": ("library", None),
        "other": (None, "library"),
        "sources": ("protocol", None),
        "parsers": (None, None),
        "best": ("solvers", None),
    }
    for stem, parts in touching.items():
        file = next(name for name in FILES if name.endswith(f"/{stem}.py"))
        for experiment, part in zip(before, parts, strict=True):
            after = hashes(experiment, **{stem: FILES[file] + "\nCHANGED = 1\n"})
            assert [k for k in after if after[k] != before[experiment][k]] == [part] * bool(part)


def test_of_a_papers_module_the_definitions_in_use_count(hashes):
    before = {name: hashes(name) for name in ("first", "second")}

    def changed(old, new):
        text = EXPERIMENTS.replace(old, new)
        assert text != EXPERIMENTS
        return {name for name, known in before.items() if hashes(name, experiments=text) != known}

    assert changed("LIMIT = 3", "LIMIT = 4") == {"first"}  # by way of the helper
    assert changed("return other_path(path)", "return None") == set()  # nobody uses it
    assert changed("    return other_path\n", "    return None\n") == {"second"}
    assert changed("def first(cell)", "def first(cell, more=1)") == {"first"}
    assert changed("\n@experiment\ndef second", "\n@experiment(version=1)\ndef second") == {
        "second"
    }


def test_an_experiment_of_the_repository_reaches_its_model_and_no_other():
    def modules(paper, experiment):
        used = own._used_definitions(own.module_of(paper, experiment), experiment)[1]
        return own._reached_modules(used)

    path = modules("quantile_svm", "path")
    assert {"solution_paths.models.quantile_svm", "solution_paths.homotopy.loop"} <= path
    assert {"path_benchmark.data.protocols", "path_benchmark.data.sources"} <= path
    assert not any(".estimators" in name or "outlier_svm" in name for name in path)
    assert "solution_paths.models.outlier" in modules("robust_svm", "errors")
    assert "solution_paths.models.outlier_svm" in modules("robust_svm", "solution_space")
    assert "path_benchmark.solvers.cccp" in modules("robust_svm", "errors")
    assert "path_benchmark.solvers.cccp" not in path
    kernels = modules("distributionally_robust", "kernels")  # a chapter has a module of its own
    assert "solution_paths.models.dm_ksvm" in kernels
    assert not any(name.endswith(("chapter_3", "chapter_4")) for name in kernels)
    assert own.module_of("distributionally_robust", "kernels").endswith("experiments.chapter_5")


def test_every_experiment_has_code_of_its_own():
    for paper in names():
        protocols = [own.code(paper, name)["protocol"] for name in get_paper(paper).experiments]
        assert len(set(protocols)) == len(protocols), paper
