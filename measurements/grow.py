"""Run the accuracy jobs of a suite one after the other, the shortest first.

The suite `paper` need not be run in one go: what is finished here counts for the workflow, and
`make reference` exports it. Timing jobs wait for a machine on which nothing else runs.

    nice -n 19 python measurements/grow.py quantile_svm weighted_svm robust_svm
"""

from __future__ import annotations

import argparse

from cost import ROOT, configuration, played

from path_benchmark.data import available
from path_benchmark.papers import get_paper
from path_benchmark.runs.needs import NEEDS, measured
from path_benchmark.runs.paper import Job
from path_benchmark.runs.progress import Progress
from path_benchmark.runs.supervision import JobFailed


def waiting(config: dict, suite: str, papers: list[str]) -> list[Job]:
    """Return the accuracy jobs whose data are at hand, the shortest first, the unmeasured last."""

    def at_hand(job: Job) -> bool:
        content = config["papers"][job.paper]["datasets"][job.dataset]
        return all(map(available, content.get("sources", [job.dataset])))

    known, others = played(suite, config, measured(NEEDS))
    jobs = [one.job for one in sorted(known, key=lambda one: one.minutes)] + others
    return [job for job in jobs if job.lane == "accuracy" and job.paper in papers and at_hand(job)]


def main() -> None:
    """Run what is left."""
    config = configuration()
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("papers", nargs="+", choices=sorted(config["papers"]))
    parser.add_argument("--suite", default="paper")
    given = parser.parse_args()
    for job in waiting(config, given.suite, given.papers):
        label = f"{job.paper} {job.experiment} {job.dataset} {job.first}-{job.last}"
        log = ROOT / "logs" / given.suite / f"{label.replace(' ', '/')}-{job.digest}.log"
        try:
            with Progress(log, label) as progress:
                get_paper(job.paper).run_job(config, job, progress)
        except JobFailed as error:  # another job may end well
            print(f"{label}: {error}", flush=True)
        else:
            print(f"{label}: done", flush=True)


if __name__ == "__main__":
    main()
