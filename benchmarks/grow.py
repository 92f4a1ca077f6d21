"""Run the accuracy jobs of a suite one after the other, the shortest first.

The suite `paper` need not be run in one go: what is finished here counts for the workflow, and
`make reference` exports it. Timing jobs wait for a machine on which nothing else runs.

    nice -n 19 python benchmarks/grow.py quantile_svm weighted_svm robust_svm
"""

from __future__ import annotations

import argparse

from cost import NEEDS, ROOT, configuration

from path_benchmark.data import available
from path_benchmark.papers import get_paper
from path_benchmark.runs.needs import need_of
from path_benchmark.runs.paper import Job
from path_benchmark.runs.progress import Progress
from path_benchmark.runs.supervision import JobFailed


def waiting(config: dict, suite: str, name: str) -> list[Job]:
    """Return a paper's accuracy jobs whose data are at hand, the shortest first."""

    def at_hand(job: Job) -> bool:
        sources = config["papers"][name]["datasets"][job.dataset].get("sources", [job.dataset])
        return all(map(available, sources))

    def minutes(job: Job) -> float:
        return need_of(NEEDS, (suite, name, job.experiment, job.dataset)).minutes

    jobs = [job for job in get_paper(name).jobs(config, suite) if job.lane == "accuracy"]
    return sorted(filter(at_hand, jobs), key=minutes)


def main() -> None:
    """Run what is left."""
    config = configuration()
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("papers", nargs="+", choices=sorted(config["papers"]))
    parser.add_argument("--suite", default="paper")
    given = parser.parse_args()
    for name in given.papers:
        for job in waiting(config, given.suite, name):
            label = f"{job.experiment} {job.dataset} {job.first}-{job.last}"
            log = f"logs/{given.suite}/{name}/{label.replace(' ', '/')}-{job.digest}.log"
            try:
                with Progress(ROOT / log, label) as progress:
                    get_paper(name).run_job(config, job, progress)
            except JobFailed as error:  # another job may end well
                print(f"{name} {label}: {error}", flush=True)
            else:
                print(f"{name} {label}: done", flush=True)


if __name__ == "__main__":
    main()
