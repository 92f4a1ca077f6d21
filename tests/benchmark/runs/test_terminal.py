"""What a run says on the terminal."""

import logging

from path_benchmark.runs.progress import Progress
from path_benchmark.runs.terminal import NoChatter, RunProgress


def record(level=logging.INFO, msg="", **extra):
    made = logging.LogRecord("snakemake", level, "", 0, msg, (), None)
    made.__dict__.update(extra)
    return made


def test_each_finished_job_tells_how_far_the_whole_run_is():
    told, now = [], [0.0]
    progress = RunProgress(told.append, lambda: now[0])
    wildcards = {"suite": "quick", "experiment": "path", "dataset": "spam", "first": "0"}
    for k in range(4):
        job = {"jobid": k, "rule_name": "run_accuracy", "wildcards": wildcards}
        progress.handle(record(event="job_info", **job))
        now[0] += 30.0
        progress.handle(record(event="job_finished", job_id=k))
        progress.handle(record(event="progress", done=k + 1, total=10))
    assert told[0] == "[ 1 of 10 jobs, 0:30 gone] accuracy path spam 0 (0:30)"
    assert told[3] == "[ 4 of 10 jobs, 2:00 gone, about 3:00 left] accuracy path spam 0 (0:30)"


def test_the_last_line_has_nothing_left_and_long_runs_have_hours():
    told, now = [], [0.0]
    progress = RunProgress(told.append, lambda: now[0])
    now[0] = 3723.0
    progress.handle(record(event="progress", done=10, total=10))
    assert told == ["[10 of 10 jobs, 1:02:03 gone]"]


def test_chatter_is_kept_off_the_terminal_and_nothing_else():
    keep = NoChatter().filter
    assert not keep(record(msg="Select jobs to execute..."))
    assert not keep(record(event="job_info"))
    assert keep(record(msg="Nothing to be done (all requested files are present)."))
    assert keep(record(logging.WARNING, "host: something is wrong"))
    assert keep(record(logging.ERROR, event="job_error"))


def test_a_short_job_is_silent_and_its_log_has_everything(tmp_path, capsys):
    with Progress(tmp_path / "log", "path spam") as progress:
        progress("split 0", 0.5, 12)
    assert capsys.readouterr().err == ""
    assert "50 % split 0, 12 events" in (tmp_path / "log").read_text()
    with Progress(tmp_path / "log", "path spam", long_s=0.0) as progress:
        progress("split 0", 0.5, 12)
    assert "[path spam]  50 % split 0, 12 events" in capsys.readouterr().err


def test_a_job_that_fails_says_so_however_short(tmp_path, capsys):
    try:
        with Progress(tmp_path / "log", "path spam"):
            raise ValueError("it broke")
    except ValueError:
        pass
    assert "failed: ValueError: it broke" in capsys.readouterr().err
