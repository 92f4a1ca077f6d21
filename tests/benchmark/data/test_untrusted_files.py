"""Nothing that a downloaded or given file holds is executed; no text of it becomes markup."""

import ast
import os
import pickle
import re

import numpy as np
import pandas as pd
import pytest
import scipy.io
import yaml
from markdown_it import MarkdownIt

from helpers import ROOT
from helpers.cells import CELLS, Recorder
from helpers.data_sets import Bench, entry_of, form_of
from path_benchmark import data, settings
from path_benchmark.reporting import tables
from path_benchmark.runs import cells as cell_files
from path_benchmark.runs.cells import DamagedCell, check_cell, file_of, run_cells
from solution_paths import SolutionPath, svm_path

pytestmark = pytest.mark.slow


class Trap:
    """Makes a file when it is unpickled."""

    def __init__(self, mark):
        self.mark = mark

    def __reduce__(self):
        return os.mkdir, (str(self.mark),)


@pytest.fixture
def mark(tmp_path):
    """Return the folder that a trap would make; first make sure that it would."""
    first = tmp_path / "works"
    pickle.loads(pickle.dumps(Trap(first)))
    assert first.is_dir()
    return tmp_path / "sprung"


@pytest.mark.parametrize("parser", ["csv", "svmlight", "mat", "arff", "fasta", "series"])
def test_a_pickle_in_place_of_data_is_refused_unread(tmp_path, mark, parser):
    bench = Bench(tmp_path)
    forms = {"csv": {"target": 2, "positive": ["yes"]}}
    options = forms.get(parser)
    if options is None:
        entries = data.registry().values()
        known = [form for e in entries for form in e.files if form.parser == parser]
        options = known[0].options.model_dump(exclude_unset=True, exclude_none=True)
        options = {k: list(v) if isinstance(v, tuple) else v for k, v in options.items()}
        if "positive" not in options and "positive" in known[0].options.model_dump():
            options["positive"] = [1]
    bench.write(toy=entry_of(files=[form_of(sha256=None, parser=parser, options=options)]))
    bench.put(pickle.dumps(Trap(mark)) + b"\n" * 200)
    with pytest.raises(data.DataError):
        bench.load()
    assert not mark.exists()


def test_objects_in_a_matlab_file_are_not_built(tmp_path, mark):
    bench = Bench(tmp_path)
    scipy.io.savemat(tmp_path / "toy.mat", {"x": np.array([pickle.dumps(Trap(mark))])})
    options = {"features": "x", "target": "y", "positive": [1]}
    bench.write(toy=entry_of(files=[form_of(sha256=None, parser="mat", options=options)]))
    bench.put((tmp_path / "toy.mat").read_bytes())
    with pytest.raises(data.DataError):
        bench.load()
    assert not mark.exists()


@pytest.mark.parametrize(
    "tag",
    ["!!python/object/apply:os.mkdir", "!!python/object/new:os.mkdir", "!!python/name:os.mkdir"],
)
def test_yaml_holds_plain_values_only(tmp_path, mark, tag):
    config = tmp_path / "datasets.yaml"
    config.write_text(f"datasets: {tag} [{mark}]\n")
    with pytest.raises(data.DataError, match="is not valid YAML"):
        data.registry(config)
    assert not mark.exists()


def test_a_saved_path_with_objects_inside_is_refused(tmp_path, mark):
    file = tmp_path / "path.npz"
    svm_path(np.arange(6.0)[:, None], [0, 0, 0, 1, 1, 1]).save(file)
    with np.load(file) as content:
        arrays = dict(content)
    name = sorted(arrays)[0]
    trap = np.empty(1, dtype=object)
    trap[0] = Trap(mark)
    np.savez(file, **(arrays | {name: trap}), allow_pickle=True)
    with pytest.raises(ValueError, match=r"path\.npz"):
        SolutionPath.load(file)
    assert not mark.exists()


@pytest.mark.parametrize("part", [lambda file: file, cell_files.rows_of])
def test_a_pickle_in_place_of_a_cell_is_refused_unread(tmp_path, mark, part):
    file = file_of(CELLS[0], tmp_path)
    run_cells(CELLS[:1], Recorder(), tmp_path)
    part(file).write_bytes(pickle.dumps(Trap(mark)))
    with pytest.raises(DamagedCell):
        check_cell(file)
    assert not mark.exists()


def imported(tree):
    """Return every name that a module's code imports or calls."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Call):
            yield ast.unparse(node.func)


BANNED = re.compile(
    r"^(pickle|cPickle|dill|shelve|marshal|joblib|tarfile|cloudpickle)(\.|$)"
    r"|^(eval|exec|compile|__import__)$|\.(extractall|read_pickle|unsafe_load|full_load|unpack_archive)$"
    r"|^subprocess\..*shell"
)


def test_no_code_reads_pickles_unpacks_archives_or_evaluates_text():
    files = [*(ROOT / "src").rglob("*.py"), *(ROOT / "workflow").rglob("*.py")]
    assert len(files) > 50
    found = {
        (str(file.relative_to(ROOT)), name)
        for file in files
        for name in imported(ast.parse(file.read_text("utf-8")))
        if BANNED.search(name)
    }
    assert found == set()
    text = "".join(file.read_text("utf-8") for file in files)
    assert "allow_pickle=True" not in text
    assert len(re.findall(r"yaml\.(?:full_|unsafe_)?load", text)) == text.count(", _Loader)") == 1
    assert issubclass(
        settings._Loader, yaml.SafeLoader | getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    )


HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "[click](javascript:alert(1))",
    "![x](http://127.0.0.1/x.png)",
    "`code` *bold* __under__ ~~gone~~",
    "a | b\n\n# heading\n\n<!-- -->",
    "&lt;b&gt; \\<b>",
    "<http://127.0.0.1>",
    '" onmouseover="alert(1)',
]


@pytest.mark.parametrize("text", HOSTILE)
def test_text_is_text_in_markdown_and_html(tmp_path, text):
    frame = pd.DataFrame({"data set": [text, "plain"], text: ["x", text]})
    shown = tables.show(frame, "table_odd", text, notes=[text])
    tables.write_table(frame, shown, tmp_path)
    markdown = (tmp_path / "table_odd.md").read_text("utf-8")
    page = (tmp_path / "table_odd.html").read_text("utf-8")

    parsed = MarkdownIt("commonmark", {"html": True}).enable("table").parse(markdown)
    inline = [child for token in parsed for child in (token.children or [])]
    kinds = {token.type for token in [*parsed, *inline]}
    assert not kinds & {"html_block", "html_inline", "link_open", "image", "code_inline", "em_open"}
    assert "table_open" in kinds
    assert [token.type for token in parsed].count("tr_open") == 3
    assert not {"heading_open", "fence", "code_block"} & kinds
    seen = "".join(child.content for child in inline if child.type == "text")
    assert " ".join(text.split()) in " ".join(seen.split())

    for tag in ("<script", "<img", "<b>", "<!--"):
        assert tag not in page.lower()
    assert 'onmouseover="alert' not in page
