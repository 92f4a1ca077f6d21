"""Cells, rows, resuming, timing, settings: what every paper's experiments share."""

import dataclasses
import json
import shutil

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
import yaml

from helpers.cells import CELL, CELLS, Levels, Recorder
from path_benchmark.data import registry
from path_benchmark.runs import cells
from path_benchmark.runs import cells as cell_files
from path_benchmark.runs.cells import DamagedCell, collect, file_of, run_cells
from path_benchmark.runs.config import DataSetSettings
from path_benchmark.runs.rows import CURVES, SCHEMA, Rows, read_results, table_of
from path_benchmark.runs.timing import Contest, Timing, stopwatch
from path_benchmark.runs.written import record, set_damaged_aside
from path_benchmark.settings import ConfigError, Positive, Settings, check
from solution_paths.files import replace_atomically

# ---------------------------------------------------------------- cells and rows


def test_a_cell_is_named_after_everything_that_its_result_depends_on():
    others = [
        dataclasses.replace(CELL, settings=Levels(factor=2.0)),
        dataclasses.replace(CELL, data=DataSetSettings(sources=("other",))),
        dataclasses.replace(CELL, suite="t"),
        dataclasses.replace(CELL, split=1),
    ]
    assert len({cell.id for cell in [CELL, *others]}) == 5
    assert CELL.id == dataclasses.replace(CELL, settings=Levels(factor=1), offline=True).id
    idle = DataSetSettings(title="T", splits=3, place="Table 1", instead_of="another")
    assert CELL.id == dataclasses.replace(CELL, data=idle).id


def test_a_setting_of_several_values_gets_a_cell_for_each():
    cells = dataclasses.replace(CELL, settings=Levels(levels=(3, 7))).split_by("levels")
    assert [cell.value for cell in cells] == [3, 7]
    assert [cell.label for cell in cells] == ["3", "7"]
    assert len({cell.id for cell in cells}) == 2
    # the same as where the suite asks for that value alone
    assert (
        cells[1].id
        == dataclasses.replace(CELL, settings=Levels(levels=(7,))).split_by("levels")[0].id
    )


def test_rows_fit_the_schema_and_keep_full_precision(tmp_path):
    rows = CELL.rows(method="path")
    rows.add("value", 1 / 3, hyper_parameters={"tau": np.float64(0.1), "ends": np.arange(2.0)})
    rows.add("nothing", None, status="failed", message="why")
    rows.add_curve("steps", [0.0, 1 / 3], [1.0, 2.0], weight=[5, 6], hyper_parameters={"k": 1})
    rows.add_curve("plain", [0.5], [0.25])
    file = file_of(CELL, tmp_path)
    cell_files.write_cell(file, CELL.identity, rows)
    back = read_results(cell_files.rows_of(file))
    assert back["value"][0] == 1 / 3
    assert np.isnan(back["value"][1])
    assert back["hyper"][0] == {"tau": 0.1, "ends": [0.0, 1.0]}
    assert pq.read_schema(cell_files.rows_of(file)).equals(SCHEMA)
    assert {"numpy", "solution_paths"} <= set(json.loads(back["versions"][0]))
    assert "cores" in back["machine"][0]
    curves = read_results(cell_files.curves_of(file))
    assert curves["x"].tolist() == [0.0, 1 / 3, 0.5]
    assert curves["weight"].tolist()[:2] == [5.0, 6.0]
    assert np.isnan(curves["weight"][2])
    assert curves["hyper"][0] == {"k": 1}


def test_every_column_says_what_it_holds():
    for schema in (SCHEMA, CURVES):
        assert all(field.metadata[b"description"] for field in schema)


def test_rows_refuse_a_column_that_is_not_declared_and_one_that_is_missing():
    with pytest.raises(KeyError, match="colour"):
        Rows().add("value", 1.0, colour="red")
    rows = Rows(suite="s")
    rows.add("value", 1.0)
    with pytest.raises(KeyError, match="'paper', which every row needs"):
        table_of(rows.rows, SCHEMA)


def test_half_a_file_never_takes_the_name(tmp_path):
    target = tmp_path / "cell.parquet"
    target.write_text("old")

    def write(part):
        part.write_text("half")
        raise RuntimeError("the disk is full")

    with pytest.raises(RuntimeError, match="full"):
        replace_atomically(target, write)
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def collected(files, folder):
    """Collect cells; return results and curves."""
    collect(files, folder / "all.parquet", folder / "lines.parquet")
    return read_results(folder / "all.parquet"), read_results(folder / "lines.parquet")


def test_a_failure_is_a_row_with_its_reason_and_is_tried_again(tmp_path):
    first = Recorder(fails_on=1)
    files = run_cells(CELLS, first, tmp_path)
    assert first.ran == [0, 1, 2]
    results, curves = collected(files, tmp_path)
    assert results["status"].tolist() == ["ok", "failed", "ok"]
    assert results["message"][1] == "ValueError: split is bad"
    assert curves["split"].tolist() == [0, 0, 2, 2]
    again = Recorder()
    run_cells(CELLS, again, tmp_path)
    assert again.ran == [1]


def test_a_killed_run_loses_one_cell_at_most(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        run_cells(CELLS, Recorder(1, KeyboardInterrupt), tmp_path)
    written = {path.name for path in tmp_path.iterdir()}
    file = file_of(CELLS[0], tmp_path)
    assert written == {p.name for p in (file, cell_files.rows_of(file), cell_files.curves_of(file))}
    rest = Recorder()
    run_cells(CELLS, rest, tmp_path)
    assert rest.ran == [1, 2]


def cut_short(file):
    """Lose the second half of a file."""
    content = file.read_bytes()
    file.write_bytes(content[: len(content) // 2])


def flip_a_byte(file):
    """Change one byte of the data pages."""
    content = bytearray(file.read_bytes())
    content[len(content) // 4] ^= 0xFF
    file.write_bytes(bytes(content))


def another_cells(part):
    """Put another cell's part of the same kind under the name."""
    return lambda file: shutil.copyfile(part(file_of(CELLS[0], file.parent)), part(file))


rows_of, curves_of = cell_files.rows_of, cell_files.curves_of
DAMAGE = {
    "rows truncated": lambda file: cut_short(rows_of(file)),
    "rows altered": lambda file: flip_a_byte(rows_of(file)),
    "rows empty": lambda file: rows_of(file).write_bytes(b""),
    "rows missing": lambda file: rows_of(file).unlink(),
    "rows of another cell": another_cells(rows_of),
    "curves truncated": lambda file: cut_short(curves_of(file)),
    "curves missing": lambda file: curves_of(file).unlink(),
    "curves of another cell": another_cells(curves_of),
    "identity truncated": cut_short,
    "identity of another cell": another_cells(lambda file: file),
    "identity of another kind": lambda file: file.write_text("[1, 2]"),
}


@pytest.mark.slow
@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_cell_is_set_aside_named_and_computed_again(tmp_path, damage):
    files = run_cells(CELLS, Recorder(), tmp_path / "cells")
    whole, lines = collected(files, tmp_path)
    DAMAGE[damage](files[1])
    with pytest.raises(DamagedCell, match=files[1].stem):
        cell_files.check_cell(files[1])
    again, said = Recorder(), []
    run_cells(CELLS, again, tmp_path / "cells", lambda *a: said.append(a[0]))
    assert again.ran == [1]
    assert any(files[1].stem in text and "computed again" in text for text in said)
    assert list(files[1].parent.glob(f"{files[1].stem}*.damaged"))
    results, curves = collected(files, tmp_path)
    columns = ["split", "metric", "value", "status"]
    pd.testing.assert_frame_equal(results[columns], whole[columns])
    pd.testing.assert_frame_equal(curves[["split", "x", "y"]], lines[["split", "x", "y"]])


def test_a_damaged_cell_stops_collecting_and_is_set_aside(tmp_path):
    files = run_cells(CELLS, Recorder(), tmp_path / "cells")
    cut_short(rows_of(files[2]))
    with pytest.raises(DamagedCell, match="run the command again"):
        collect(files, tmp_path / "all.parquet", tmp_path / "lines.parquet")
    assert not (tmp_path / "all.parquet").exists()
    assert not files[2].exists()


def test_damaged_cells_are_noted_beside_their_jobs(tmp_path):
    files = run_cells(CELLS, Recorder(), tmp_path / "s" / "cells")
    jobs = tmp_path / "s" / "jobs" / "p" / "accuracy"
    jobs.mkdir(parents=True)
    cell_files.write_list(jobs / "0-0.txt", files[:1])
    cell_files.write_list(jobs / "1-2.txt", files[1:])
    assert cell_files.read_list(jobs / "1-2.txt") == files[1:]
    assert cell_files.note_damaged_jobs(tmp_path, ".noted") == {}
    files[1].unlink()
    for write, there in ((False, "1-2.txt"), (True, "1-2.noted")):
        ((job, (sentence,)),) = cell_files.note_damaged_jobs(tmp_path, ".noted", write).items()
        assert job == jobs / "1-2.txt"
        assert files[1].name in sentence
        assert {path.name for path in jobs.iterdir()} == {"0-0.txt", there}


def test_cells_that_failed_are_named_and_their_job_is_run_again(tmp_path):
    run_cells(CELLS, Recorder(fails_on=1), tmp_path / "s" / "cells")
    files = [file_of(cell, tmp_path / "s" / "cells") for cell in CELLS]
    listing = tmp_path / "s" / "jobs" / "p" / "0-2.txt"
    cell_files.write_list(listing, files)
    assert cell_files.failures([listing]) == [f"{files[1].stem}: ValueError: split is bad"]
    assert cell_files.note_damaged_jobs(tmp_path, ".noted") == {
        listing: [f"{files[1].stem} failed last time: it is tried again."]
    }
    cell_files.write_list(listing, run_cells(CELLS, Recorder(), tmp_path / "s" / "cells"))
    assert cell_files.failures([listing]) == []
    assert cell_files.note_damaged_jobs(tmp_path, ".noted") == {}


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text.split("\n", 1)[1],
        lambda text: text.rsplit("\n", 2)[0] + "\n",
        lambda text: text.replace("000", "001", 1),
        lambda text: "",
    ],
    ids=["first line lost", "last line lost", "other cell", "empty"],
)
def test_a_list_of_cells_that_lost_something_is_noted(tmp_path, damage):
    files = run_cells(CELLS, Recorder(), tmp_path / "s" / "cells")
    listing = tmp_path / "s" / "jobs" / "p" / "0-2.txt"
    cell_files.write_list(listing, files)
    assert cell_files.note_damaged_jobs(tmp_path, ".noted") == {}
    listing.write_text(damage(listing.read_text()))
    ((sentence,),) = cell_files.note_damaged_jobs(tmp_path, ".noted").values()
    assert str(listing) in sentence


@pytest.mark.parametrize("damaged", ["results.parquet", "curves.parquet", ".results.sha256.json"])
def test_what_was_made_of_cells_is_made_again_where_it_was_damaged(tmp_path, damaged):
    paper = tmp_path / "quick" / "paper"
    paper.mkdir(parents=True)
    files = [paper / "results.parquet", paper / "curves.parquet"]
    for file in files:
        file.write_text("rows")
    record(paper, "results", files)
    assert set_damaged_aside(tmp_path) == []
    (paper / damaged).write_text("{")
    (sentence,) = set_damaged_aside(tmp_path)
    assert f"{damaged} is not what was written" in sentence
    assert {file.name for file in paper.iterdir()} == {"results.parquet.damaged", "curves.parquet"}
    assert set_damaged_aside(tmp_path) == []


def test_progress_rises_to_one_and_carries_the_breakpoints(tmp_path):
    said = []
    run_cells(CELLS, Recorder(), tmp_path, lambda *a: said.append(a))
    done = [share for _, share, _ in said]
    assert done == sorted(done)
    assert done[-1] == 1.0
    assert ("split 0", 0.5 / 3, 7) in said


def test_nothing_to_collect_is_an_error(tmp_path):
    with pytest.raises(ValueError, match="no cells"):
        collect([], tmp_path / "all.parquet", tmp_path / "lines.parquet")


# ---------------------------------------------------------------- timing


def contest_of(seconds, repeats, budget_s):
    """Return the rows of a contest whose entrants take the given seconds."""
    rows = Rows()
    contest = Contest(rows, repeats, budget_s, lambda done: None)
    for name, (wall_s, group) in seconds.items():

        def call(wall_s=wall_s):
            return Timing(wall_s, wall_s, None)

        contest.enter(name, call, group=group)
    contest.run()
    return rows.rows


def turns_of(seconds, repeats, budget_s):
    """Return the order of turns of such a contest."""
    return [(row["method"], row["repeat"]) for row in contest_of(seconds, repeats, budget_s)]


def test_each_repeat_is_a_row_with_what_its_judge_says_and_others_beside_it():
    rows = Rows()
    contest = Contest(rows, 2, 10.0, lambda done: None)

    def columns(repeat, timing):
        return {"gap": timing.result, "method_version": f"judged {repeat}"}

    def beside(repeat, timing):
        return {"setup_time": 0.25} if repeat == 0 else {}

    contest.enter("a", lambda: Timing(0.5, 1.0, 1e-9), columns, beside)
    contest.run()
    shown = ("metric", "value", "method", "repeat", "cpu_s", "wall_s", "gap", "method_version")
    assert [tuple(row[name] for name in shown) for row in rows.rows] == [
        ("time", 0.5, "a", 0, 0.5, 1.0, 1e-9, "judged 0"),
        ("setup_time", 0.25, "a", 0, 0.5, 1.0, 1e-9, "judged 0"),
        ("time", 0.5, "a", 1, 0.5, 1.0, 1e-9, "judged 1"),
    ]


def test_methods_take_turns_and_slow_ones_run_less_often():
    order = turns_of({"fast": (0.1, "fast"), "slow": (9.0, "slow")}, 3, 10.0)
    assert order == [("fast", 0), ("slow", 0), ("fast", 1), ("fast", 2)]


def test_the_calls_of_a_method_share_its_budget():
    order = turns_of({"a": (1.0, "m"), "b": (1.0, "m"), "c": (1.0, "n")}, 5, 4.0)
    assert [name for name, _ in order].count("a") == 2
    assert [name for name, _ in order].count("c") == 4


def test_a_method_that_is_not_available_has_one_turn():
    (row,) = contest_of({"a": (float("nan"), "a")}, 5, 10.0)
    assert (row["repeat"], row["value"], row["cpu_s"], row["wall_s"]) == (0, None, None, None)


class Millisecond:
    """A stopwatch by which each call takes a millisecond, on a busy machine too."""

    calls = 0

    def __enter__(self):
        self.began = Millisecond.calls
        return self

    def __exit__(self, *_):
        self.wall_s = 0.001 * (Millisecond.calls - self.began)
        self.cpu_s = 0.5 * self.wall_s


def test_a_short_call_is_averaged_over_many(monkeypatch):
    monkeypatch.setattr("path_benchmark.runs.timing.Stopwatch", Millisecond)

    def call():
        Millisecond.calls += 1
        return Millisecond.calls

    timing = stopwatch(call, shortest_s=0.02)
    assert Millisecond.calls == timing.result == 21  # one to see how short it is, then 20
    assert timing.wall_s == pytest.approx(0.001)
    assert timing.cpu_s == pytest.approx(0.0005)
    assert stopwatch(call, shortest_s=0.0005).result == 22


# ---------------------------------------------------------------- settings


class Inner(Settings):
    """A model inside another."""

    tolerance: Positive


class Outer(Settings):
    """Settings with all that can go wrong."""

    repeats: int
    solvers: tuple[Inner, ...] = ()


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ({"repeats": 1, "repeat": 2}, "x.repeat is an unknown name; did you mean 'repeats'?"),
        ({"repeats": 1, "qq": 2}, "x.qq is an unknown name; known are repeats, solvers"),
        ({}, "x.repeats is missing; add it"),
        ({"repeats": "many"}, "x.repeats is 'many': it should be a valid integer"),
        (
            {"repeats": 1, "solvers": [{"tolerence": 1.0, "tolerance": 1.0}]},
            "x.solvers.0.tolerence is an unknown name; did you mean 'tolerance'?",
        ),
        (
            {"repeats": 1, "solvers": [{"tolerance": 0.0}]},
            "x.solvers.0.tolerance is 0.0: it should be greater than 0; correct it",
        ),
    ],
)
def test_a_mistake_in_settings_is_one_sentence(content, sentence):
    with pytest.raises(ConfigError) as error:
        check(Outer, content, "x")
    assert str(error.value).startswith(f"config: {sentence.rstrip('?')}")
    assert str(error.value).count(". ") == 0


def test_cells_of_other_code_are_counted_and_made_again_where_that_is_asked(tmp_path, monkeypatch):
    folder, calls = tmp_path / "cells", []

    def run(cell, rows, report):
        calls.append(cell.id)
        rows.add("m", 1.0, method="test")

    files = run_cells([CELL], run, folder)
    listing = tmp_path / "quick" / "jobs" / "p" / "accuracy" / "e" / "d" / "0-0-0123456789.txt"
    cell_files.write_list(listing, files)
    assert cell_files.lists_of(tmp_path) == [listing]
    assert cell_files.made_by_other_code(files) == ""
    other = {**cell_files.code("cells", CELL.experiment), "library": "another"}
    monkeypatch.setattr(cell_files, "code", lambda paper, experiment: other)
    said = cell_files.made_by_other_code(files)
    assert said.startswith("1 of 1 cells were made by other code (library): cells e 1; ")
    run_cells([CELL], run, folder)
    assert len(calls) == 1
    assert cell_files.made_by_other_code([*files, folder / "not there.json"])[:8] == "1 of 2 c"
    assert cell_files.made_by_other_code(files, recompute="changed") == ""
    run_cells([CELL], run, folder, recompute="changed")
    assert len(calls) == 2
    assert cell_files.made_by_other_code(files) == ""


def test_a_data_set_is_known_by_what_decides_its_numbers(tmp_path):
    from path_benchmark.data import identity

    config, raw = tmp_path / "config" / "datasets.yaml", tmp_path / "data" / "raw"
    raw.mkdir(parents=True)
    config.parent.mkdir()
    options = {"target": 1, "positive": ["a"], "negative": ["b"]}
    form = {"name": "toy.csv", "sha256": None, "parser": "csv", "options": options}
    form["urls"] = ["https://toy.example/toy.csv"]
    entry = {"title": "A toy", "source": "files", "task": "classification", "n": 2, "d": 1}
    entry |= {"positive": "a", "licence": "none", "homepage": "https://toy.example"}
    entry["files"] = [form]

    def known(**changes):
        config.write_text(yaml.safe_dump({"datasets": {"toy": entry | changes}}))
        registry.__globals__["_read"].cache_clear()
        return json.dumps(identity("toy", config=config), sort_keys=True)

    (raw / "toy.csv").write_text("1,a\n2,b\n")
    first = known()
    for idle in ({"title": "Another"}, {"licence": "x"}, {"homepage": "https://b.example"}):
        assert known(**idle) == first
    assert known(notes="n", files=[form | {"urls": ["https://other.example/toy.csv"]}]) == first
    found = {first, known(task="regression"), known(d=2)}
    found.add(known(files=[form | {"options": options | {"negative": ["c"]}}]))
    (raw / "toy.csv").write_text("1,a\n3,b\n")
    found.add(known())
    assert len(found) == 5


def test_results_that_cannot_be_read_are_one_sentence(tmp_path, capsys):
    from path_benchmark.papers.assertions import main

    paper = tmp_path / "quick" / "quantile_svm"
    paper.mkdir(parents=True)
    rows = CELL.rows(method="path")
    rows.add("value", 1.0)
    whole = table_of(rows.rows, SCHEMA)

    def complaint(*says):
        assert main([str(tmp_path / "quick")]) == 1
        (sentence,) = capsys.readouterr().err.splitlines()
        for text in says:
            assert text in sentence

    pq.write_table(whole, paper / "results.parquet")
    complaint("curves.parquet is missing; run the suite again")
    pq.write_table(CURVES.empty_table(), paper / "curves.parquet")
    pq.write_table(whole.drop_columns(["rounding"]), paper / "results.parquet")
    complaint("results.parquet has no column 'rounding', it was made by an older version")
    cut_short(paper / "curves.parquet")
    pq.write_table(whole, paper / "results.parquet")
    complaint("curves.parquet is not a whole Parquet file; run the suite again")
    assert main([str(paper / "results.parquet")]) == 1
    assert "is a file: name the folder" in capsys.readouterr().err


class Shared(Settings):
    factor: Positive = 1.0


@pytest.mark.parametrize("part", ["common", "settings"])
def test_a_changed_setting_is_another_cell_also_where_all_experiments_share_it(part):
    base = cells.Cell("s", "p", "e", "d", 0, Shared(), cells.DataSetSettings(), Shared())
    other = dataclasses.replace(base, **{part: Shared(factor=2.0)})
    assert other.id != base.id
    assert dataclasses.replace(base, **{part: Shared(factor=1.0)}).id == base.id


STATUSES = ("failed", "not available", "certificate failed", "certificate undecided")


@pytest.mark.parametrize("status", ["ok", "not applicable", "censored", *STATUSES])
def test_a_cell_with_a_failure_of_any_kind_is_run_again(status, tmp_path):
    """One such row among others is enough; what could never be otherwise is finished."""
    cell = cells.Cell("s", "p", "e", "d", 0, Settings(), cells.DataSetSettings(), Settings())
    rows = cell.rows(method="path")
    rows.add("value", 1.0)
    rows.add("value", None, status=status)
    file = cells.file_of(cell, tmp_path)
    assert not cells.finished(file)
    cells.write_cell(file, cell.identity, rows)
    assert cells.finished(file) == (status not in STATUSES)
