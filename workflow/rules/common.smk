# All helper Python of the workflow. Rule files hold rules only.
import json
import os
import shlex
import sys
import tempfile
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from snakemake.utils import update_config

# This repository's folder, whichever Snakefile includes it.
ROOT = Path(workflow.current_basedir.get_path_or_uri(secret_free=True)).resolve().parents[1]
if str(ROOT / "src") not in sys.path:  # the package that fits these rules, for jobs too
    sys.path.insert(0, str(ROOT / "src"))
    found = filter(None, [sys.path[0], os.getenv("PYTHONPATH")])
    os.environ.update(PYTHONPATH=os.pathsep.join(found))
from path_benchmark import settings

DAMAGED = ".damaged"  # ends the note in the place of a job's list that says which of its cells were damaged


def stop(sentence):
    """End the command with a sentence, which Snakemake would follow with its own stack."""
    print(f"error: {sentence}", file=sys.stderr, flush=True)
    sys.exit(1)


@contextmanager
def in_one_sentence():
    """End the command with the sentence of an error that a user can mend."""
    from path_benchmark.data import DataError

    try:
        yield
    except (settings.ConfigError, DataError) as error:
        stop(error)
    except OSError as error:
        stop(f"{error.filename} can't be used ({error.strerror}); mend that and run again.")


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


def hold():
    """Take the lock that a run holds as long as it lives; None where another one has it."""
    from solution_paths.files import hold

    with in_one_sentence():
        return hold(Path(config["results"], ".running.lock"))


BUSY = "Another run is at work in {}: wait until it has ended, or stop it."


def recover():
    """Find what was damaged and which cells failed, so that it is made again; return their jobs.

    A dry run, and a command beside another run, only look.
    """
    from path_benchmark.runs.cells import note_damaged_jobs
    from path_benchmark.runs.written import set_damaged_aside

    dry = workflow.output_settings.dryrun
    held = None if dry else hold()
    if "--unlock" in sys.argv and held is None:
        stop(BUSY.format(config["results"]))
    found = note_damaged_jobs(config["results"], DAMAGED, write=held is not None)
    said = [sentence for sentences in found.values() for sentence in sentences]
    if held is not None:
        said += set_damaged_aside(config["results"])
        held.release()  # whoever only looks at results lets others run; see `begin`
    for sentence in said:
        logger.warning(sentence)
    return {str(job) for job in found} if dry else set()


def plan_without():
    """Tell all jobs which data are not here yet: what they fetch must not change the plan."""
    from path_benchmark.data import available, registry
    from path_benchmark.data.sources import ABSENT_VARIABLE

    own = [name for name, entry in registry().items() if entry.source == "files"]
    os.environ[ABSENT_VARIABLE] = ",".join(name for name in own if not available(name))


def begin():
    """Hold the run's lock, or refuse to run beside another."""
    global RUNNING
    RUNNING = hold()
    if RUNNING is None:
        stop(BUSY.format(config["results"]))
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


# What Snakemake reads is read before by what refuses a key that stands twice, of which it takes the last.
for file in {"config/config.yaml", *map(str, workflow.configfiles)}:
    read(Path(file))


configfile: "config/config.yaml"


read_papers()
if Path(sys.executable).exists():  # Snakemake puts it into shell commands as it is.
    sys.executable = shlex.quote(sys.executable)
ASIDE = tempfile.TemporaryDirectory()  # for the files of a dry run, until it ends
AGAIN = set()  # lists of jobs that a dry run says are to be run again
GIVEN = set()  # lists of jobs that a dry run says are to be taken from the reference results
if workflow.is_main_process:
    from path_benchmark.runs.terminal import end_unread

    end_unread()
    check_config()
    plan_without()
    AGAIN = recover()
    if not (workflow.output_settings.dryrun or workflow.output_settings.quiet):
        speak_plainly()
RESULTS = config["results"]
# Where tables, figures and pages go. Those of a part of a suite go beside it; cells and jobs are the suite's own.
BESIDE = f"-only-{config['only'].replace(',', '-')}" if config["only"] else ""
SHOWN = f"{RESULTS}/{{suite}}{BESIDE}"


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


@cache
def take_reference(suite):
    """Take over what a suite lacks and the reference results hold.

    A dry run only counts, and plans as if that were done.
    """
    from path_benchmark.papers import get_paper
    from path_benchmark.runs.reference import offered

    if not (config["reference"] and workflow.is_main_process):
        return
    folder, dry = Path(config["reference"], suite), workflow.output_settings.dryrun
    held = None if dry else hold()
    with in_one_sentence():
        for name in config["papers"]:
            offer = offered(get_paper(name), config, suite, folder)
            if held is not None:
                offer.take(RESULTS)
            elif dry:
                GIVEN.update(job.file(RESULTS) for job in offer.jobs)
            for sentence in offer.summary("would be" if held is None else "were"):
                logger.warning(sentence)
    if held is not None:
        held.release()


@cache
def jobs(suite, paper=None, lane=None):
    """The jobs of a suite: one for each data set, experiment and chunk of splits."""
    from path_benchmark.papers import get_paper

    take_reference(suite)

    def asked(job):
        again = job.file(RESULTS) in AGAIN
        return replace(job, digest="0" * len(job.digest)) if again else job

    papers = config["papers"] if paper is None else [paper]
    with in_one_sentence():
        found = [job for name in papers for job in get_paper(name).jobs(config, suite)]
    return [asked(job) for job in found if lane in (None, job.lane) and can_run(job)]


def job_lists(suite, paper=None, lane=None):
    """The files that a suite's jobs write last. A function, so that only who needs it asks."""

    def lists(wildcards):
        files = [job.file(RESULTS) for job in jobs(suite, paper, lane)]
        return [file for file in files if file not in GIVEN]

    return lists


def sources(paper, dataset):
    """Names in config/datasets.yaml of what a paper's data set is made of."""
    return config["papers"][paper]["datasets"][dataset].get("sources", [dataset])


def at_hand(paper, dataset):
    """Offline, only what can be loaded without a network counts."""
    if not config["offline"]:
        return True
    from path_benchmark.data import available

    return all(available(source) for source in sources(paper, dataset))


def can_run(job):
    """A job whose cells are there, taken over from the reference results, needs no data."""
    file = job.file(RESULTS)
    return at_hand(job.paper, job.dataset) or file in GIVEN or Path(file).exists()


def not_at_hand(suite, *papers):
    """The data sets that the suite, or its part of some papers, asks for and has to do without."""
    from path_benchmark.papers import get_paper

    asked = papers or config["papers"]
    wanted = [job for paper in asked for job in get_paper(paper).jobs(config, suite)]
    return sorted({job.dataset for job in wanted if not can_run(job)})


def fetched(wildcards):
    """The data files that a job waits for; bundled and generated data need none.

    Their times tell nothing: the job's name has their checksums.
    """
    from path_benchmark.data import registry

    return [
        ancient(f"data/fetched/{source}.txt")
        for source in sources(wildcards.paper, wildcards.dataset)
        if registry()[source].source in ("files", "derived")
    ]


def shown(suite):
    """The folder of what people look at: a suite's, or one beside it with `only` some experiments."""
    return f"{RESULTS}/{suite}{BESIDE}"


def depends(part):
    """The file that stands for all that a paper's results, or its outputs, depend on."""
    return lambda wildcards: depends_file(part, wildcards.suite, wildcards.paper)


def depends_file(part, suite, paper):
    from path_benchmark.runs.depends import digest_of

    job_files, notebook = [job.file(RESULTS) for job in jobs(suite, paper)], Path(
        notebook_of(paper)
    )
    scripts = {"results": ["collect"], "outputs": ["report_paper", "run_notebook"]}[part]
    made_with = [*map(script_file, scripts), *[notebook] * (part == "outputs")]
    digest = digest_of(part, job_files, config["papers"][paper], paper, made_with)
    return standing(f"{shown(suite)}/{paper}/.depends/{part}-{digest}")


def script_file(name):
    """A script of the workflow. Its content counts, not its time, as the profiles say."""
    return Path(ROOT, "workflow", "scripts", f"{name}.py")


@cache
def standing(file):
    """See to it that a file is there that stands for what something depends on; return it.

    It is newer then than what was made before. Snakemake would do without it, as without any missing step between, where
    one file is asked for and what it remembers is gone. A dry run has its own.
    """
    place = Path(file)
    if workflow.is_main_process and not place.exists():
        if workflow.output_settings.dryrun:
            place = Path(ASIDE.name, place)
        with in_one_sentence():
            place.parent.mkdir(parents=True, exist_ok=True)
            place.touch()
    return str(place)


def as_planned(name, find):
    """What the command found when it planned, for its jobs too, which plan by themselves."""
    if workflow.is_main_process or name not in os.environ:
        os.environ[name] = find()
    return os.environ[name]


def page_depends(wildcards):
    """The file that stands for what a suite's page says beside its papers' outputs."""
    from path_benchmark.runs.cells import short_digest
    from path_benchmark.runs.written import digest

    name = f"SOLUTION_PATHS_PAGE_{wildcards.suite}"
    text = as_planned(name, lambda: json.dumps(about_page(wildcards), sort_keys=True))
    own = digest(script_file("report_suite"))
    return standing(f"{shown(wildcards.suite)}/.depends/page-{short_digest(text + own)}")


def about_page(wildcards):
    """What a suite's page says beside its papers' outputs."""
    suite = wildcards.suite
    return {
        "about": config["suites"][suite],
        "papers": papers_of(suite),
        "missing": not_at_hand(suite),
        "command": command(suite),
        "code": other_code(suite),
    }


def cell_files(suite, paper=None):
    """The files of a suite's cells, there or not."""
    return [file for job in jobs(suite, paper) for file in job.cell_files(RESULTS)]


@cache
def other_code(suite, paper=None):
    """Say how many of a suite's cells were made by other code than there is now."""
    from path_benchmark.runs.cells import made_by_other_code

    return made_by_other_code(cell_files(suite, paper), config.get("recompute", ""))


@cache
def tell_time_left(suite, paper=None):
    """Tell in a dry run how long the jobs take that are left, by what was measured of their like."""
    from path_benchmark.runs.needs import NEEDS, likely, measured

    if not (workflow.is_main_process and workflow.output_settings.dryrun):
        return
    left = [job for job in jobs(suite, paper) if not Path(job.file(RESULTS)).exists()]
    left = [job for job in left if job.file(RESULTS) not in GIVEN]
    known = measured(NEEDS)
    costs = [likely(known, (suite, job.paper, job.experiment, job.dataset)) for job in left]
    if found := [minutes for _, minutes in filter(None, costs)]:
        unknown = f"; {len(left) - len(found)} whose like nobody has measured come on top"
        logger.warning(
            f"{len(found)} of {len(left)} jobs of cells that are left take about {sum(found):.0f} CPU minutes"
            + unknown * (len(left) > len(found))
            + "."
        )


@cache
def tell_other_code(suite, paper=None):
    """Tell it on the terminal, once for each command."""
    if workflow.is_main_process and (said := other_code(suite, paper)):
        logger.warning(said)


def paper_targets(suite, paper):
    """What one paper contributes to a suite; nothing where `only` and `offline` leave it no job."""
    folder, parts = f"{shown(suite)}/{paper}", (
        "results.parquet",  # asked for by name: Snakemake does without a missing step between
        "curves.parquet",
        "outputs.json",
        "tables",
        "figures",
        "claims.csv",
        "notebook.ipynb",
    )

    def targets(wildcards):
        if not jobs(suite, paper):
            return []
        lists = job_lists(suite, paper)(wildcards)
        stand = [depends_file(part, suite, paper) for part in ("results", "outputs")]
        return [*lists, *stand, *(f"{folder}/{part}" for part in parts)]

    return targets


def papers_of(suite):
    """The papers of a suite that have a job."""
    return [paper for paper in config["papers"] if jobs(suite, paper)]


def suite_targets(suite, *papers):
    """Everything that a suite's target rule asks for, or one paper's."""

    def targets(wildcards):
        tell_other_code(suite, *papers)
        tell_time_left(suite, *papers)
        page = [] if papers else [f"{shown(suite)}/report.html"]
        made = [paper_targets(suite, paper)(wildcards) for paper in papers or papers_of(suite)]
        if not any(made):
            stop(nothing_to_run(suite, *papers))
        return [*page, *(target for targets in made for target in targets)]

    return targets


def nothing_to_run(suite, *papers):
    """Say why a target has no job."""
    what = ", ".join(papers) or f"the suite {suite}"
    if missing := config["offline"] and not_at_hand(suite, *papers):
        return (
            f"None of the data sets of {what} is at hand ({', '.join(missing)}): put their files into data/raw or the "
            "folder that SOLUTION_PATHS_MIRROR names, or run without --config offline=true."
        )
    return f"{what} runs none of the experiments {config['only']}: name others in --config only=."


def notebook_of(paper):
    """The notebook that teaches a paper's model; the general one where it has none."""
    own = Path(ROOT, "notebooks", f"{paper}.ipynb")
    return os.path.relpath(own if own.is_file() else own.with_name("results.ipynb"))


def title_of(wildcards):
    """A paper's title, the category of its outputs in Snakemake's own report."""
    return config["papers"][wildcards.paper]["title"]


def label_of(wildcards):
    """What Snakemake's own report calls a table or figure: its heading, not its file."""
    folder = Path(shown(wildcards.suite), wildcards.paper)
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


def no_target(wildcards):
    """Refuse a target that isn't there, and name the nearest."""
    known = [*config["suites"], *config["papers"], "timing"]
    stop(f"{settings.unknown_key(wildcards.target, known)}.")
