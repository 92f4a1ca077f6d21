"""What jobs ask for, what a partition gives, and the simulation behind docs/cost.md."""

import importlib.util
import json
import math
import os

import pytest

from helpers import ROOT
from path_benchmark.runs import needs
from path_benchmark.runs.needs import Need, NotGiven, Partition, check_slurm, need_of

JOB = ("paper", "p", "path", "spam")


@pytest.fixture
def listed(tmp_path):
    file = tmp_path / "needs.csv"
    file.write_text(
        "# when\nsuite,paper,experiment,dataset,peak_mb,minutes\npaper,p,path,spam,1000,12.5\n"
    )
    return file


def test_a_measured_job_asks_for_more_than_it_took_and_for_more_at_each_attempt(listed):
    first, second = need_of(listed, JOB), need_of(listed, JOB, attempt=2)
    assert first == Need(2000, 48)
    assert (second.mem_mb, second.minutes) == (2 * first.mem_mb, 2 * first.minutes)


def test_a_job_that_nobody_measured_has_the_defaults(listed, tmp_path):
    unknown = Need(needs.UNKNOWN_MB, needs.UNKNOWN_MINUTES)
    assert need_of(listed, (*JOB[:3], "other")) == unknown
    assert need_of(tmp_path / "none.csv", JOB) == unknown


def test_the_shipped_list_names_only_what_the_configuration_runs():
    from helpers.papers import repository_config

    papers = repository_config()["papers"]
    known = needs.measured(ROOT / "config" / "needs.csv")
    assert known
    for suite, paper, experiment, dataset in known:
        assert dataset in papers[paper]["suites"][suite][experiment]["datasets"]


def test_a_kind_that_nobody_measured_is_likely_to_take_what_its_like_did(listed):
    known = {**needs.measured(listed), ("paper", "p", "path", "b"): (2000.0, 0.5)}
    assert needs.likely(known, JOB) == (1000.0, 12.5)
    assert needs.likely(known, (*JOB[:3], "other")) == (1500.0, 6.5)
    assert needs.likely(known, ("paper", "p", "another", "spam")) is None


# ---------------------------------------------------------------- Slurm, by what its commands say


@pytest.fixture
def slurm(tmp_path, monkeypatch):
    """Return a function that puts commands on the PATH which say what Slurm's would say."""
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")

    def says(sinfo, config="AccountingStorageType = accounting_storage/none\nMinJobAge = 300 sec"):
        for name, text in (("sinfo", sinfo), ("scontrol", config)):
            (tmp_path / name).write_text(f"#!/bin/sh\ncat <<'END'\n{text}\nEND\n")
            (tmp_path / name).chmod(0o755)

    return says


SMALL = "short*|2:00:00|2|8000\nlong|infinite|64+|256000\nlong|1-12:30:00|32|64000+"


def test_partitions_are_read_with_all_their_nodes_and_limits(slurm):
    slurm(SMALL)
    assert needs.partition() == Partition("short", 120.0, ((2, 8000),))
    assert needs.partition("short") == needs.partition()
    long = needs.partition("long")
    assert long.nodes == ((32, 64000), (64, 256000))
    assert math.isinf(long.minutes)


@pytest.mark.parametrize(
    ("need", "given"),
    [
        (Need(8000, 120, 2), True),
        (Need(8001, 120, 2), False),
        (Need(8000, 121, 2), False),
        (Need(8000, 120, 3), False),
    ],
)
def test_a_job_must_fit_in_every_respect(slurm, need, given):
    slurm(SMALL)
    if given:
        check_slurm([("path spam", need, None)], "squeue")
        return
    with pytest.raises(NotGiven, match="the partition short gives a job 2 cores with 8000 MB, for"):
        check_slurm([("path spam", need, None)], "squeue")


def test_no_single_node_may_be_made_of_two(slurm):
    slurm("mixed*|infinite|64|8000\nmixed*|infinite|2|256000")
    with pytest.raises(NotGiven, match="2 cores with 256000 MB or 64 cores with 8000 MB"):
        check_slurm([("path spam", Need(200000, 10, 8), None)], "squeue")


def test_many_jobs_are_one_sentence(slurm):
    slurm(SMALL)
    jobs = [(f"path d{k}", Need(99000, 10), None) for k in range(7)]
    with pytest.raises(NotGiven, match=r"path d0.*path d2.* and 4 more jobs") as caught:
        check_slurm(jobs, "squeue")
    assert str(caught.value).count("path d") == 3


def test_a_partition_that_is_not_there_is_named_with_those_that_are(slurm):
    slurm(SMALL)
    with pytest.raises(NotGiven, match="no partition gpu: choose of long, short"):
        check_slurm([("path spam", Need(1, 1), "gpu")], "squeue")


def test_a_cluster_that_forgets_is_told_before_anybody_waits(slurm):
    job = [("path spam", Need(1, 1), None)]
    slurm(SMALL, "AccountingStorageType = accounting_storage/none\nMinJobAge = 60 sec")
    with pytest.raises(NotGiven, match="forgets a finished job after 60 seconds"):
        check_slurm(job, "squeue")
    with pytest.raises(NotGiven, match="no accounting database for sacct to ask"):
        check_slurm(job, "sacct")
    slurm(SMALL, "AccountingStorageType = accounting_storage/slurmdbd\nMinJobAge = 60 sec")
    check_slurm(job, "squeue")
    check_slurm(job, "sacct")


def test_without_slurm_one_sentence_says_so(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NotGiven, match=r"sinfo does not answer .* is this a login node"):
        check_slurm([("path spam", Need(1, 1), None)], "squeue")


# ---------------------------------------------------------------- docs/cost.md


@pytest.fixture(scope="module")
def cost():
    spec = importlib.util.spec_from_file_location("cost", ROOT / "measurements" / "cost.py")
    module = importlib.util.module_from_spec(spec)
    import sys

    sys.modules["cost"] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def ran(tmp_path):
    """Return a suite of which three jobs left what they took."""
    for lane, experiment, dataset, chunk, seconds in (
        ("accuracy", "path", "a", "0-0", 60),
        ("accuracy", "path", "a", "1-1", 120),
        ("timing", "race", "b", "0-0", 240),
    ):
        file = (
            tmp_path / "paper" / "jobs" / "p" / lane / experiment / dataset / f"{chunk}.cost.json"
        )
        file.parent.mkdir(parents=True, exist_ok=True)
        took = {"wall_s": 2.0 * seconds, "cpu_s": seconds, "peak_mb": 10.0 * seconds, "cells": 1}
        file.write_text(json.dumps(took))
    return tmp_path / "paper"


def test_needs_are_the_most_of_each_kind_and_keep_what_was_known(cost, ran, listed):
    calls = {("paper", "p", name, "a"): (math.nan, 7.0) for name in ("path", "calls")}
    listed.write_text(cost.renewed(cost.took(ran), listed, calls))
    needs.measured.cache_clear()
    found = dict(needs.measured(listed))
    mb, minutes = found.pop(("paper", "p", "calls", "a"))  # where no job left its cost, calls do
    assert math.isnan(mb)
    assert minutes == 7.0
    assert need_of(listed, ("paper", "p", "calls", "a")) == Need(needs.UNKNOWN_MB, 31)
    assert found == {
        ("paper", "p", "path", "a"): (1200.0, 2.0),
        ("paper", "p", "path", "spam"): (1000.0, 12.5),
        ("paper", "p", "race", "b"): (2400.0, 4.0),
    }
    assert listed.read_text().startswith("# Measured by `python measurements/cost.py")
    fewer = {("paper", "p", "calls", "a"): (math.nan, 0.5)}  # what is known already stays
    assert "paper,p,calls,a,,7.00" in cost.renewed(cost.took(ran), listed, fewer)


def job(cost, lane, minutes):
    return cost.Played(cost.Job("paper", "p", lane, "e", "d", 0, 0), minutes, 1.0, True)


def test_a_suite_is_played_on_machines(cost):
    jobs = [
        job(cost, *it) for it in (("accuracy", 1), ("accuracy", 2), ("timing", 4), ("timing", 1))
    ]
    assert cost.simulate(jobs, 1, 0.0)["whole"] == pytest.approx(8.0)
    assert cost.simulate(jobs, 8, 0.0) == pytest.approx({"accuracy": 2, "timing": 5, "whole": 7})
    assert cost.simulate(jobs, 8, 30.0, nodes=2)["timing"] == pytest.approx(4.5)


@pytest.mark.slow
def test_every_job_of_the_paper_suite_is_played_or_named_as_left_out(cost):
    from path_benchmark.papers import get_paper

    config = cost.configuration()
    jobs, left_out = cost.played("paper", config, needs.measured(cost.NEEDS))
    every = {job for name in config["papers"] for job in get_paper(name).jobs(config, "paper")}
    assert {one.job for one in jobs} | set(left_out) == every
    assert len(jobs) + len(left_out) == len(every)
    papers = {one.job.paper for one in jobs}  # a paper that nobody has run yet is left out
    assert len(jobs) > sum(job.paper in papers for job in every) / 2
    left = {(job.paper, job.experiment) for job in left_out}
    assert not {(one.job.paper, one.job.experiment) for one in jobs} & left
    assert "| one of 64 cores |" in cost.table(jobs, cost.OVERHEAD_S)
    none, all_left_out = cost.played("paper", config, {})
    assert none == []
    assert set(all_left_out) == every
