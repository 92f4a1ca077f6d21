# All helper Python of the workflow. Rule files hold rules only.
import base64
import json
import shutil
import yaml
from pathlib import Path
from snakemake.exceptions import WorkflowError
from snakemake.utils import update_config

DAMAGED = ".damaged"  # ends the note beside a job's list that says which of its cells were damaged
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read_yaml(*parts):
    """Read a YAML file of the checkout."""
    return yaml.load(Path(workflow.basedir, *parts).read_text("utf-8"), LOADER)


def read_papers():
    """Put every file of config/papers into the configuration; the command line overrides them."""
    switch = str(config.get("offline")).lower()  # --config offline=true arrives as text
    config["offline"] = {"true": True, "false": False}.get(switch, config.get("offline"))
    files = sorted(Path(workflow.basedir, "config", "papers").glob("*.yaml"))
    papers = {file.stem: read_yaml("config", "papers", file.name) for file in files}
    update_config(papers, config.get("papers", {}))
    config["papers"] = papers


def check_config():
    """Refuse a wrong configuration, or a mirror folder that isn't there, in one sentence.

    Also note the jobs whose cells are damaged, and say how many other code made.

    Once for each command: the jobs that it starts read the same files.
    """
    from path_benchmark import papers
    from path_benchmark.runs.cells import lists_of, made_by_other_code, note_damaged_jobs
    from path_benchmark.data import DataError, mirror_folder
    from path_benchmark.settings import ConfigError

    try:
        papers.check_config(config)
        mirror_folder()
    except (ConfigError, DataError) as error:
        raise WorkflowError(str(error))
    real = not workflow.output_settings.dryrun
    for sentence in note_damaged_jobs(config["results"], DAMAGED, write=real):
        logger.warning(sentence)
    if other := made_by_other_code(lists_of(config["results"])):
        logger.warning(other)


def speak_plainly():
    """Show how far the whole run is; Snakemake's own words stay in its log file."""
    from path_benchmark.runs.terminal import NoChatter, RunProgress

    streams = [handler for handler in logger.handlers if handler.name == "DefaultStreamHandler"]
    for stream in streams:
        stream.addFilter(NoChatter())
    if streams:
        logger.addHandler(RunProgress())


def recover():
    """Take up what a killed run left, without a question.

    Each run holds a lock that the system lifts however it ends. Where no other run holds it,
    Snakemake's own locks are of a dead one. What a run left half done is computed again: cells
    that are finished are kept.
    """
    from path_benchmark.runs.written import set_damaged_aside
    from solution_paths.files import join

    state = Path(".snakemake")
    if workflow.output_settings.dryrun:
        return
    if not join(state / "alive.lock"):
        logger.warning("Another run is at work here: wait until it has ended, or stop it.")
        return
    locks = list((state / "locks").glob("*.lock"))
    if locks:
        logger.warning("The last run here was killed; what it finished is kept.")
    for lock in locks:
        lock.unlink()
    for sentence in set_damaged_aside(config["results"]):
        logger.warning(sentence)
    for marker in filter(Path.is_file, (state / "incomplete").rglob("*")):
        forget(marker, state / "incomplete")


def forget(marker, folder):
    """Remove what a killed job left under the name of its output, which a marker's own name tells."""
    coded = "".join(part.removeprefix("@") for part in marker.relative_to(folder).parts)
    output = Path(base64.urlsafe_b64decode(coded).decode())
    if within(output) and output.is_dir():
        shutil.rmtree(output)
    elif within(output):
        output.unlink(missing_ok=True)
    marker.unlink()


def within(output):
    """Tell whether a file is one of those that rules write: below the results, or a list of data."""
    places = (Path(config["results"]), Path("data", "fetched"))
    return any(output.resolve().is_relative_to(place.resolve()) for place in places)


def check_cluster():
    """Say before anything is submitted what the cluster can't give."""
    if getattr(workflow.executor_plugin, "name", "") != "slurm":
        return
    from path_benchmark.runs.needs import Need, NotGiven, check_slurm

    def asked(job):
        wanted = job.resources
        need = Need(wanted.get("mem_mb", 0), wanted.get("runtime", 0), job.threads)
        return f"{job.rule.name} {' '.join(job.wildcards)}".strip(), need

    jobs = [job for job in workflow.dag.needrun_jobs() if not job.is_local]
    named = ((*asked(job), job.resources.get("slurm_partition")) for job in jobs)
    try:
        check_slurm(named, workflow.executor_settings.status_command)
    except NotGiven as error:
        raise WorkflowError(f"Nothing was submitted: {error}.")


def need(what):
    """What a job asks for, from what was measured: more at each attempt."""

    def amount(wildcards, attempt):
        from path_benchmark.runs.needs import need_of

        job = (wildcards.suite, wildcards.paper, wildcards.experiment, wildcards.dataset)
        return getattr(need_of(Path(workflow.basedir, "config", "needs.csv"), job, attempt), what)

    return amount


read_papers()
if workflow.is_main_process:
    recover()
    check_config()
    if not (workflow.output_settings.dryrun or workflow.output_settings.quiet):
        speak_plainly()
RESULTS = config["results"]


wildcard_constraints:
    suite="|".join(config["suites"]),
    paper="|".join(config["papers"]),
    lane="accuracy|timing",
    dataset="[a-z0-9_]+",
    experiment="[a-z0-9_]+",
    first=r"\d+",
    last=r"\d+",
    digest="[0-9a-f]{10}",
    part="results|outputs",


def jobs(suite, paper=None, lane=None):
    """The jobs of a suite: one for each data set, experiment and chunk of splits."""
    from path_benchmark.papers import get_paper

    papers = config["papers"] if paper is None else [paper]
    found = [job for name in papers for job in get_paper(name).jobs(config, suite)]
    return [job for job in found if lane in (None, job.lane) and at_hand(job.paper, job.dataset)]


def job_lists(suite, paper=None, lane=None):
    """The files that a suite's jobs write last. A function, so that only who needs it asks."""
    return lambda wildcards: [job.file(RESULTS) for job in jobs(suite, paper, lane)]


def sources(paper, dataset):
    """Names in config/datasets.yaml of what a paper's data set is made of."""
    return config["papers"][paper]["datasets"][dataset].get("sources", [dataset])


def at_hand(paper, dataset):
    """Offline, only what can be loaded without a network counts."""
    if not config["offline"]:
        return True
    from path_benchmark.data import available

    return all(available(source) for source in sources(paper, dataset))


def not_at_hand(suite):
    """The data sets that the suite asks for and has to do without."""
    from path_benchmark.papers import get_paper

    wanted = {(p, j.dataset) for p in config["papers"] for j in get_paper(p).jobs(config, suite)}
    return sorted({dataset for paper, dataset in wanted if not at_hand(paper, dataset)})


def fetched(wildcards):
    """The data files that a job waits for; bundled and generated data need none."""
    known = read_yaml("config", "datasets.yaml")["datasets"]
    return [
        f"data/fetched/{source}.txt"
        for source in sources(wildcards.paper, wildcards.dataset)
        if known[source]["source"] in ("files", "derived")
    ]


def damage(lane):
    """The note that some of a job's cells were damaged: newer than the job, it runs the job again."""

    def note(wildcards):
        job = "{suite}/jobs/{paper}/{lane}/{experiment}/{dataset}/{first}-{last}-{digest}"
        file = Path(RESULTS, job.format(lane=lane, **wildcards) + DAMAGED)
        return [str(file)] if file.exists() else []

    return note


def depends(part):
    """The file that stands for all that a paper's results, or its outputs, depend on."""
    return lambda wildcards: depends_file(part, wildcards.suite, wildcards.paper)


def depends_file(part, suite, paper):
    from path_benchmark.runs.depends import digest_of

    job_files = job_lists(suite, paper)(None)
    digest = digest_of(part, job_files, config["papers"][paper], paper)
    return f"{RESULTS}/{suite}/{paper}/.depends/{part}-{digest}"


def paper_targets(suite, paper):
    """What one paper contributes to a suite; nothing where `only` and `offline` leave it no job."""
    folder, parts = f"{RESULTS}/{suite}/{paper}", (
        "results.parquet",  # asked for by name: Snakemake does without a missing step between
        "curves.parquet",
        "outputs.json",
        "tables",
        "figures",
        "claims.csv",
        "notebook.ipynb",
    )

    def targets(wildcards):
        lists = job_lists(suite, paper)(wildcards)
        if not lists:
            return []
        stand = [depends_file(part, suite, paper) for part in ("results", "outputs")]
        return [*lists, *stand, *(f"{folder}/{part}" for part in parts)]

    return targets


def papers_of(suite):
    """The papers of a suite that have a job."""
    return [paper for paper in config["papers"] if jobs(suite, paper)]


def suite_targets(suite):
    """Everything that a suite's target rule asks for."""
    return lambda wildcards: [
        f"{RESULTS}/{suite}/report.html",
        *(
            target
            for paper in papers_of(suite)
            for target in paper_targets(suite, paper)(wildcards)
        ),
    ]


def notebook_of(wildcards):
    """The notebook that teaches a paper's model; the general one where it has none."""
    own = Path(workflow.basedir, "notebooks", f"{wildcards.paper}.ipynb")
    return f"notebooks/{own.name if own.is_file() else 'results.ipynb'}"


def title_of(wildcards):
    """A paper's title, the category of its outputs in Snakemake's own report."""
    return config["papers"][wildcards.paper]["title"]


def label_of(wildcards):
    """What Snakemake's own report calls a table or figure: its heading, not its file."""
    folder = Path(RESULTS, wildcards.suite, wildcards.paper)
    made = json.loads((folder / "outputs.json").read_text("utf-8"))
    headings = {t["name"]: t["heading"] for t in made["tables"]}
    headings |= {f["name"]: f["heading"] for f in [*made["figures"], *made["explorers"]]}
    return {"suite": wildcards.suite, "what": headings[wildcards.name]}


def command(suite):
    """What makes a suite as it is configured now."""
    chosen = [f"{key}={config[key]}" for key in ("only", "offline") if config[key]]
    return f"snakemake --cores 8 {suite}" + "".join(
        [" --config ", *" ".join(chosen)] * bool(chosen)
    )
