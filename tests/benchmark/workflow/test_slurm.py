"""The Slurm profile as it is shipped, on a real Slurm: two nodes of two cores on this host.

``make slurm`` runs it: it installs Debian's packages and writes /etc/slurm, so nothing else does.
One run of the suite quick goes through it while a job is cancelled and a node goes down.
"""

import getpass
import os
import re
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import pandas as pd
import pytest

from helpers import DATA, ROOT
from helpers.workflow import environment, finished, snakemake

SCRIPT = DATA / "slurm_cluster.sh"
PROFILE = ("--workflow-profile", "workflow/profiles/slurm")
ASKED = "SOLUTION_PATHS_SLURM"
# "short": a few jobs on each node, for CI.
PART = ("--config", "only=path,boundary,validation") if os.environ.get(ASKED) == "short" else ()
# What no second run finds again.
TIMES = ["cpu_s", "wall_s"]
MEASURED = ["path_seconds", "peak_memory_mb"]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not os.environ.get(ASKED), reason="`make slurm` runs these tests"),
]


def slurm(*command):
    """Run one of Slurm's commands; return what it printed."""
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@pytest.fixture(scope="module")
def cluster():
    if getpass.getuser() != "root" or not shutil.which("apt-get"):
        pytest.skip("Slurm can be brought up here by root on Debian only")
    up = subprocess.run(["bash", SCRIPT, "up", "2", "2"], capture_output=True, text=True)
    if up.returncode:
        pytest.skip(f"Slurm could not be installed or started: {up.stderr.strip()[-300:]}")
    try:  # some containers let daemons start, and no job
        subprocess.run(["srun", "-N2", "true"], capture_output=True, timeout=120, check=True)
    except subprocess.SubprocessError as error:
        subprocess.run(["bash", SCRIPT, "down"])
        pytest.skip(f"Slurm was started here, but runs no job: {error}")
    yield
    subprocess.run(["bash", SCRIPT, "down"], check=True)


def nodes_used(since):
    """Return the node of each Slurm job that completed since then."""
    base = Path(os.environ.get("SLURM_BASE", Path(os.environ.get("TMPDIR", "/tmp"), "slurm-dev")))
    lines = (base / "log" / "jobcomp.txt").read_text().splitlines()[since:]
    return [re.search(r"NodeList=(\S+)", line)[1] for line in lines if "State=COMPLETED" in line]


def running():
    """Return (id, node) of each job that runs."""
    lines = slurm("squeue", "-h", "-t", "R", "-o", "%i %N").splitlines()
    return [tuple(line.split()) for line in lines]


def every_job():
    """Return the id of each job that Slurm knows."""
    return set(slurm("squeue", "-h", "--states=all", "-o", "%i").split())


class Troublemaker(threading.Thread):
    """Cancels a job that runs, then takes the node of a later one down for a while."""

    def __init__(self, cells):
        super().__init__(daemon=True)
        self.cells, self.cancelled, self.downed, self.over = cells, None, None, False

    def wait_for(self, what):
        while not self.over:
            if found := what():
                return found
            time.sleep(0.2)
        return None

    def run(self):
        self.wait_for(lambda: len(running()) > 1)
        time.sleep(1.0)  # half-way: its Python is starting
        if jobs := running():
            self.cancelled = jobs[0][0]
            slurm("scancel", self.cancelled)
        if not self.wait_for(lambda: len(list(self.cells.glob("*/*.json"))) > 1):
            return
        busy = self.wait_for(lambda: [node for _, node in running()])
        if busy:
            self.downed = busy[-1]
            slurm("scontrol", "update", f"nodename={self.downed}", "state=down", "reason=test")
            time.sleep(20.0)
            again = ["scontrol", "update", f"nodename={self.downed}", "state=resume"]
            subprocess.run(again, capture_output=True)  # it may have come back by itself


def accuracy_rows(folder):
    """Return what accuracy jobs found, times and time-capped rows aside; in one order."""
    from path_benchmark.papers import get_paper

    frames = []
    for file in sorted((folder / "results" / "quick").glob("*/results.parquet")):
        experiments = get_paper(file.parent.name).experiments
        rows = pd.read_parquet(file).drop(columns=TIMES)
        lane = rows["experiment"].map(lambda name, known=experiments: known[name].lane)
        frames.append(rows[(lane == "accuracy") & ~rows["metric"].isin(MEASURED)])
    return pd.concat(frames, ignore_index=True)


def local_run(checkout, tmp_path):
    """Return a folder where the suite ran without a cluster: this one, if the code is the same."""
    from path_benchmark.runs.rows import versions

    here = {
        file.parent.name: set(pd.read_parquet(file)["versions"])
        for file in (ROOT / "results" / "quick").glob("*/results.parquet")
    }
    if here and all(made == {versions(paper)} for paper, made in here.items()):
        return ROOT
    leave = shutil.ignore_patterns("results", ".snakemake", "logs")
    own = Path(shutil.copytree(checkout, tmp_path / "own", ignore=leave))
    finished(snakemake(own, "quick", *PART))
    return own


def test_the_quick_suite_goes_through_both_nodes_in_spite_of_faults(cluster, checkout, tmp_path):
    command = [sys.executable, "-m", "snakemake", "quick", *PROFILE, *PART]
    log = Path(os.environ.get("SLURM_BASE", "/tmp/slurm-dev"), "log", "jobcomp.txt")
    before = len(log.read_text().splitlines()) if log.exists() else 0
    trouble = Troublemaker(checkout / "results" / "quick" / "cells")
    trouble.start()
    run = subprocess.run(
        command, cwd=checkout, env=environment(checkout), capture_output=True, text=True
    )
    trouble.over = True
    trouble.join(60.0)
    said = finished(run)
    assert set(nodes_used(before)) == {"n1", "n2"}
    assert trouble.cancelled
    assert f"SLURM-job '{trouble.cancelled}' failed, SLURM status is: 'CANCELLED'" in said
    assert trouble.downed
    assert (checkout / "results" / "quick" / "report.html").is_file()

    # whole: every row of an accuracy job is that of a run on this machine without a cluster
    theirs, ours = accuracy_rows(checkout), accuracy_rows(local_run(checkout, tmp_path))
    if PART:
        ours = ours[ours["experiment"].isin(set(theirs["experiment"]))].reset_index(drop=True)
    assert len(ours) > 20
    pd.testing.assert_frame_equal(theirs, ours, check_exact=True)
    assert "Nothing to be done" in finished(snakemake(checkout, "quick", *PART))


def test_what_the_partition_cannot_give_is_said_before_anything_is_submitted(cluster, checkout):
    before = every_job()
    asked = ("--set-resources", "run_accuracy:mem_mb=64000", "run_timing:runtime=600")
    run = snakemake(checkout, "quick", *PROFILE, *asked)
    assert run.returncode != 0
    message = run.stdout + run.stderr
    assert "Nothing was submitted: the partition short gives a job 2 cores with 8000 MB" in message
    assert "64000 MB" in message
    assert "slurm_partition=NAME" in message
    assert every_job() <= before  # Slurm forgets old ones meanwhile
