# All helper Python of the workflow. Rule files hold rules only.
import yaml
from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match
from pathlib import Path
from snakemake.exceptions import WorkflowError


def check_schema():
    """Refuse a configuration that does not fit its schema, in one sentence."""
    switch = str(config.get("offline")).lower()  # --config offline=true arrives as text
    config["offline"] = {"true": True, "false": False}.get(switch, config.get("offline"))
    name = "workflow/schemas/config.schema.yaml"
    schema = yaml.safe_load(Path(workflow.basedir, name).read_text())
    error = best_match(Draft202012Validator(schema).iter_errors(config))
    if error:
        where = ".".join(map(str, error.absolute_path)) or "top level"
        raise WorkflowError(f"config: {where}: {error.message[:300]}; correct it as {name} says.")


check_schema()

PUBLISHED = str(Path(workflow.basedir, "src", "solution_paths", "papers"))
RESULTS = config["results"]
DATASETS = yaml.safe_load(Path(workflow.basedir, "config", "datasets.yaml").read_text())["datasets"]


wildcard_constraints:
    suite="|".join(config["suites"]),
    dataset="[a-z0-9_]+",
    experiment="[a-z_]+",
    first=r"\d+",
    last=r"\d+",


def sources(paper, dataset):
    """Names in config/datasets.yaml of what a paper's data set is made of."""
    return config[paper]["datasets"][dataset].get("sources", [dataset])


def check_names():
    """Refuse what no schema can: names without settings, and data sets that nobody described."""
    known = {experiment for _, _, experiment, _ in all_experiments()}
    for name in filter(None, config["only"].split(",")):
        if name not in known:
            raise WorkflowError(f"config: only: no suite has an experiment called {name!r}.")
    for suite, paper, experiment, what in all_experiments():
        where = f"config: suites.{suite}.{paper}.{experiment}"
        if experiment not in config[paper]["experiments"]:
            raise WorkflowError(
                f"{where} has no settings; add them to config/{paper}.yaml under experiments."
            )
        for dataset in what["datasets"]:
            if dataset not in config[paper]["datasets"]:
                raise WorkflowError(
                    f"{where} names the data set {dataset!r}, which has no settings; "
                    f"add them to config/{paper}.yaml under datasets."
                )
            for source in sources(paper, dataset):
                if source not in DATASETS:
                    raise WorkflowError(
                        f"{where} needs the data set {source!r}, which is unknown; "
                        "add it to config/datasets.yaml or correct the name."
                    )


def all_experiments():
    """Every (suite, paper, experiment, what it runs on) that the configuration asks for."""
    only = [name for name in config["only"].split(",") if name]
    return [
        (suite, paper, experiment, what)
        for suite, papers in config["suites"].items()
        for paper, experiments in papers.items()
        for experiment, what in experiments.items()
        if not only or experiment in only
    ]


check_names()


def at_hand(paper, dataset):
    """Offline, only what can be loaded without a network counts."""
    if not config["offline"]:
        return True
    from solution_paths.data import available

    return all(available(source) for source in sources(paper, dataset))


def not_at_hand(suite):
    """The data sets that the suite asks for and has to do without."""
    wanted = {
        (paper, dataset)
        for its_suite, paper, experiment, what in all_experiments()
        if its_suite == suite
        for dataset in what["datasets"]
    }
    return sorted({dataset for paper, dataset in wanted if not at_hand(paper, dataset)})


def fetched(paper):
    """The data files that a job waits for; bundled and generated data need none."""
    return lambda wildcards: [
        f"data/fetched/{source}.txt"
        for source in sources(paper, wildcards.dataset)
        if DATASETS[source]["source"] in ("files", "derived")
    ]


def compile_marker():
    """The file that says that the loops are compiled; one older than the code is removed.

    Jobs wait for it as for an `ancient` file, so that a new compilation repeats none of them. With a
    marker that is there but out of date Snakemake would plan the compilation and nothing else.
    """
    marker = Path(RESULTS, "compiled.txt")
    code = Path(workflow.basedir, "src", "solution_paths", "engine").glob("*.py")
    if marker.exists() and marker.stat().st_mtime < max(file.stat().st_mtime for file in code):
        marker.unlink()
    return str(marker)


COMPILED = compile_marker()


def lane_experiments(paper, lane):
    """Regular expression of the experiments in a lane ('accuracy' or 'timing')."""
    settings = config[paper]["experiments"]
    return "|".join(name for name, what in settings.items() if what["lane"] == lane)


def job_settings(paper):
    """What a job's result depends on; a change makes Snakemake run the job again."""
    return lambda wildcards: {
        "common": {k: v for k, v in config[paper].items() if k not in ("datasets", "experiments")},
        "dataset": config[paper]["datasets"][wildcards.dataset],
        "experiment": config[paper]["experiments"][wildcards.experiment],
        "suite": {
            k: v
            for k, v in config["suites"][wildcards.suite][paper][wildcards.experiment].items()
            if k not in ("datasets", "splits", "splits_per_job")
        },
    }


def job_lists(suite, paper=None, lane=None):
    """The files that a suite's jobs write: one for each data set, experiment and chunk of splits."""
    return [
        f"{RESULTS}/{suite}/jobs/{name}/{experiment}/{dataset}/{first}-{last}.txt"
        for its_suite, name, experiment, what in all_experiments()
        if its_suite == suite and paper in (None, name)
        if lane in (None, config[name]["experiments"][experiment]["lane"])
        for dataset in what["datasets"]
        if at_hand(name, dataset)
        for first, last in chunks(what["splits"], what.get("splits_per_job", what["splits"]))
    ]


def chunks(splits, size):
    """First and last split of each job."""
    return [(first, min(first + size, splits) - 1) for first in range(0, splits, size)]


def paper_targets(suite, paper):
    """What one paper contributes to a suite."""
    folder = f"{RESULTS}/{suite}/{paper}"
    return [f"{folder}/{part}" for part in ("tables", "figures", "claims.csv", "notebook.ipynb")]


def papers_of(suite):
    """The papers of a suite that have a job: `only` and `offline` may leave one without any."""
    return [paper for paper in config["suites"][suite] if job_lists(suite, paper)]


def suite_targets(suite):
    """Everything that a suite's target rule asks for."""
    parts = [target for paper in papers_of(suite) for target in paper_targets(suite, paper)]
    return [f"{RESULTS}/{suite}/report.html", *parts]
