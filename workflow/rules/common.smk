# All helper Python of the workflow that needs Snakemake's own names; the rest is in `../planning.py`. Rule files hold
# rules only.
import os
import shlex
import sys
from pathlib import Path
from snakemake.utils import update_config

# This repository's folder, whichever Snakefile includes it.
ROOT = Path(workflow.current_basedir.get_path_or_uri(secret_free=True)).resolve().parents[1]
if str(ROOT / "src") not in sys.path:  # the package that fits these rules, for jobs too
    sys.path.insert(0, str(ROOT / "src"))
    found = filter(None, [sys.path[0], os.getenv("PYTHONPATH")])
    os.environ.update(PYTHONPATH=os.pathsep.join(found))
if str(ROOT / "workflow") not in sys.path:
    sys.path.append(str(ROOT / "workflow"))
from path_benchmark import settings
from planning import Plan, in_one_sentence, stop


def read(path):
    """Read a YAML or JSON file."""
    with in_one_sentence():
        return settings.read_json(path) if path.suffix == ".json" else settings.read_yaml(path)


def read_papers():
    """Put every file of config/papers into the configuration; the command line overrides them."""
    switch = str(config.get("offline")).lower()  # --config offline=true arrives as text
    config["offline"] = {"true": True, "false": False}.get(switch, config.get("offline"))
    config["reference"] = config.get("reference") or ""  # --config reference= arrives as None
    files = sorted(Path(ROOT, "config", "papers").glob("*.yaml"))
    papers = {file.stem: read(file) for file in files}
    update_config(papers, config.get("papers", {}))
    config["papers"] = papers


def check_config():
    """Refuse a wrong configuration, or a folder that can't be had, in one sentence.

    Once for each command: the jobs that it starts read the same files.
    """
    from path_benchmark import papers
    from path_benchmark.data import mirror_folder

    with in_one_sentence():
        papers.check_config(config)
        mirror_folder()
        suites = [Path(config["results"], suite) for suite in config["suites"]]
        settings.check_folders(
            [*suites, Path("data", "raw"), Path("data", "fetched"), Path("logs")]
        )


def speak_plainly():
    """Show how far the whole run is; Snakemake's own words stay in its log file."""
    from path_benchmark.runs.terminal import NoChatter, RunProgress

    streams = [handler for handler in logger.handlers if handler.name == "DefaultStreamHandler"]
    for stream in streams:
        stream.addFilter(NoChatter())
    if streams:
        logger.addHandler(RunProgress())


def plan_without():
    """Tell all jobs which data are not here yet: what they fetch must not change the plan."""
    from path_benchmark.data import available, registry
    from path_benchmark.data.sources import ABSENT_VARIABLE

    own = [name for name, entry in registry().items() if entry.source == "files"]
    os.environ[ABSENT_VARIABLE] = ",".join(name for name in own if not available(name))


def begin():
    """Hold the run's lock, or refuse to run beside another."""
    global RUNNING
    RUNNING = PLAN.hold()
    if RUNNING is None:
        PLAN.busy()
    # other executors cancel what they submitted
    if getattr(workflow.executor_plugin, "name", "local") == "local":
        from path_benchmark.runs.terminal import end_on_interrupt

        end_on_interrupt()


def end():
    """Name the cells that failed; the run's exit status says so unless failures are accepted."""
    from path_benchmark.runs.cells import failures

    own = [job for job in workflow.dag.jobs if job.rule.name in ("run_accuracy", "run_timing")]
    if failed := failures(file for job in own for file in job.output if Path(file).exists()):
        sentences = "\n".join(failed)
        text = f"{len(failed)} cells failed; their tables lack them:\n{sentences}"
        if not workflow.execution_settings.keep_going:
            stop(text)
        logger.warning(text)


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
        stop(f"Nothing was submitted: {error}.")


def need(what):
    """What a job asks for, from what was measured: more at each attempt."""

    def amount(wildcards, attempt):
        from path_benchmark.runs.needs import NEEDS, need_of

        job = (wildcards.suite, wildcards.paper, wildcards.experiment, wildcards.dataset)
        return getattr(need_of(NEEDS, job, attempt), what)

    return amount


def fetched(wildcards):
    """The data files that a job waits for. Their times tell nothing: the job's name has their checksums."""
    return [ancient(file) for file in PLAN.fetched(wildcards)]


# What Snakemake reads is read before by what refuses a key that stands twice, of which it takes the last.
for file in {"config/config.yaml", *map(str, workflow.configfiles)}:
    read(Path(file))


configfile: "config/config.yaml"


read_papers()
if Path(sys.executable).exists():  # Snakemake puts it into shell commands as it is.
    sys.executable = shlex.quote(sys.executable)
PLAN = Plan(
    config,
    ROOT,
    main=workflow.is_main_process,
    dry=bool(workflow.output_settings.dryrun),
    tell=logger.warning,
)
if workflow.is_main_process:
    from path_benchmark.runs.terminal import end_unread

    end_unread()
    check_config()
    plan_without()
    PLAN.recover("--unlock" in sys.argv)
    if not (workflow.output_settings.dryrun or workflow.output_settings.quiet):
        speak_plainly()
RESULTS, SHOWN = PLAN.results, PLAN.folder("{suite}")


wildcard_constraints:
    suite="|".join(config["suites"]),
    paper="|".join(config["papers"]),
    lane="accuracy|timing",
    dataset="[a-z0-9_]+",
    experiment="[a-z0-9_]+",
    first=r"\d+",
    last=r"\d+",
    digest="[0-9a-f]{10}",
    part="results|outputs|page",
    target="[A-Za-z0-9_-]+",
