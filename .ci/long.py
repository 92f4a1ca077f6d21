"""Run what is too long for every change, and record when, on which code and how it ended.

python .ci/long.py NAME COMMAND...     runs it, adds a line to docs/long_runs.csv
python .ci/long.py                     says when each was run last
"""

import csv
import subprocess
import sys
import time
from datetime import date
from pathlib import Path

ROOT = Path(__file__).parents[1]
RECORD = ROOT / "docs" / "long_runs.csv"
COLUMNS = ("name", "date", "commit", "minutes", "ended")


def commit() -> str:
    """Return the commit, with a plus where files differ from it."""
    said = subprocess.run(
        ["git", "describe", "--always", "--dirty=+"], cwd=ROOT, capture_output=True, text=True
    )
    return said.stdout.strip() or "unknown"


def run(name: str, command: list[str]) -> int:
    """Run a command and record it; return its exit status."""
    began = time.monotonic()
    status = subprocess.run(command, cwd=ROOT).returncode
    minutes = (time.monotonic() - began) / 60.0
    ended = "passed" if status == 0 else f"failed with status {status}"
    with RECORD.open("a", newline="") as stream:
        row = (name, date.today(), commit(), f"{minutes:.0f}", ended)
        csv.writer(stream, lineterminator="\n").writerow(row)
    return status


def last() -> None:
    """Print the last run of each name."""
    with RECORD.open(newline="") as stream:
        rows = {row["name"]: row for row in csv.DictReader(stream)}
    for name, row in sorted(rows.items()):
        age = (date.today() - date.fromisoformat(row["date"])).days
        print(f"{name}: {row['ended']} on {row['date']} ({age} days ago, commit {row['commit']})")


if __name__ == "__main__":
    if len(sys.argv) > 2:
        sys.exit(run(sys.argv[1], sys.argv[2:]))
    last()
