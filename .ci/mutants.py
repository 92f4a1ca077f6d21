"""Put small faults into chosen modules, one at a time, and see which of them no test notices.

python .ci/mutants.py PYTHON [--sample N] [--seed S] [MODULE...]

PYTHON runs the tests; this script runs where cosmic-ray is installed (`make mutants` sees to both).
Of each module N faults are drawn by a seed and tried with that module's fast tests, in a copy of
the checkout (build/mutants), on one core. What is known is kept: a run that was interrupted goes
on, a larger N adds to it, and of changed tests those faults are tried again that survived. A module
that changed begins anew. Survivors are written to results/mutants.md; those that change nothing are
listed, with the reason, in .ci/equivalent_mutants.csv.
"""

import argparse
import ast
import csv
import hashlib
import os
import random
import re
import shutil
import subprocess
import sys
from pathlib import Path

from cosmic_ray.work_db import WorkDB, use_db
from cosmic_ray.work_item import TestOutcome, WorkerOutcome, WorkItem, WorkResult

ROOT = Path(__file__).resolve().parents[1]
WORK = ROOT / "build" / "mutants"
COPY = WORK / "checkout"
EQUIVALENT = ROOT / ".ci" / "equivalent_mutants.csv"
REPORT = ROOT / "results" / "mutants.md"
NOT_COPIED = (".git", ".venv", ".snakemake", "data", "results", "logs", "build", "docs")
TIMEOUT_S = 600.0

JUDGED = ("conditions", "certify", "reliable")
NETS = ("conditions", "elastic_net", "reliable")
CHOICES = ("promises", "estimators_input", "estimators_weights", "leaks")
# Module below src -> its fast tests, those that fail first in front.
MODULES = {
    "solution_paths/certify.py": JUDGED,
    "solution_paths/curves.py": ("promises", "path", "evaluation"),
    "solution_paths/estimators/base.py": CHOICES,
    "solution_paths/estimators/checking.py": CHOICES,
    "solution_paths/estimators/fitted.py": CHOICES,
    "solution_paths/estimators/lasso.py": CHOICES,
    "solution_paths/estimators/outlier.py": CHOICES,
    "solution_paths/estimators/robust.py": CHOICES,
    "solution_paths/estimators/tuning.py": CHOICES,
    "solution_paths/inverse.py": ("promises", "elastic_net"),
    "solution_paths/kernels.py": ("kernels", "centred_kernels", "conditions"),
    "solution_paths/objectives/base.py": JUDGED,
    "solution_paths/objectives/double_margin.py": JUDGED,
    "solution_paths/objectives/double_net.py": NETS,
    "solution_paths/objectives/elastic_net.py": NETS,
    "solution_paths/objectives/hinge.py": JUDGED,
    "solution_paths/objectives/l1_hinge.py": JUDGED,
    "solution_paths/objectives/lasso.py": JUDGED,
    "solution_paths/objectives/machine.py": (*JUDGED, "certify_exact"),
    "solution_paths/objectives/penalised.py": ("promises", *NETS),
    "solution_paths/objectives/robust.py": ("conditions", "promises", "outlier"),
    "solution_paths/objectives/tube.py": JUDGED,
    "solution_paths/outliers.py": ("promises", "outlier"),
    "solution_paths/path.py": ("promises", "certify", "path", "evaluation"),
    "solution_paths/surface.py": ("promises", "elastic_net"),
    "solution_paths/validation.py": ("promises", "input", "estimators_input"),
    "solution_paths/verify/balance.py": ("verify", "verify_exact"),
    "solution_paths/verify/features.py": ("verify", "verify_exact"),
    "solution_paths/verify/graph.py": ("verify", "verify_exact"),
    "solution_paths/verify/judge.py": ("verify", "verify_exact"),
    "solution_paths/verify/judgement.py": ("verify", "verify_exact"),
    "path_benchmark/data/generated.py": ("data",),
    "path_benchmark/data/protocols.py": ("data_protocols",),
    "path_benchmark/papers/distributionally_robust/tuning.py": (
        "runs",
        "leaks",
        "distributionally_robust_paper",
    ),
    "path_benchmark/papers/quantile_svm/experiments.py": ("runs", "leaks", "quantile_svm_paper"),
    "path_benchmark/papers/robust_svm/experiments.py": ("runs", "leaks"),
    "path_benchmark/papers/weighted_svm/data.py": ("leaks", "data_protocols"),
    "path_benchmark/papers/weighted_svm/experiments.py": ("runs", "leaks", "weighted_svm_paper"),
    "path_benchmark/runs/cells.py": ("runs", "benchmarking"),
    "path_benchmark/runs/exploring.py": ("runs", "leaks", "quantile_svm_paper"),
    "path_benchmark/runs/paper.py": ("runs", "benchmarking"),
    "path_benchmark/runs/rows.py": ("runs", "benchmarking"),
    "path_benchmark/runs/timing.py": ("runs", "benchmarking"),
}

# Faults that somebody might make; of the other operators hardly any is plausible.
PLAUSIBLE = re.compile(
    r"core/(ReplaceBinaryOperator_(Add_Sub|Sub_Add|Mul_Div|Div_Mul|Pow_Mul|FloorDiv_Div|Mod_FloorDiv"
    r"|BitOr_BitAnd|BitAnd_BitOr)|ReplaceComparisonOperator_(Eq_NotEq|NotEq_Eq|Lt_LtE|Lt_Gt|LtE_Lt"
    r"|LtE_GtE|Gt_GtE|Gt_Lt|GtE_Gt|GtE_LtE|Is_IsNot|IsNot_Is)|ReplaceUnaryOperator_Delete_\w+|AddNot"
    r"|ReplaceTrueWithFalse|ReplaceFalseWithTrue|ReplaceAndWithOr|ReplaceOrWithAnd|NumberReplacer"
    r"|ReplaceBreakWithContinue|ReplaceContinueWithBreak|ZeroIterationForLoop)$"
)
SKIPPED = WorkResult(worker_outcome=WorkerOutcome.SKIPPED)


def refresh() -> None:
    """Bring the copy up to date; compiled code comes along, and stays where nothing changed."""
    for name in (name for name in os.listdir(ROOT) if not name.startswith(NOT_COPIED)):
        source, target = ROOT / name, COPY / name
        if source.is_file():
            shutil.copy2(source, target)
            continue
        for file in (own for own in source.rglob("*") if own.is_file()):
            other = target / file.relative_to(source)
            if not other.exists() or other.stat().st_mtime_ns != file.stat().st_mtime_ns:
                other.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(file, other)


def digest(*files: Path) -> str:
    """Return a short digest of some files."""
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:12]


def unevaluated(source: str) -> list[tuple]:
    """Return from where to where type hints stand, which nothing evaluates."""
    found = []
    for node in ast.walk(ast.parse(source)):
        hints = [getattr(node, "annotation", None), getattr(node, "returns", None)]
        found += [
            ((own.lineno, own.col_offset), (own.end_lineno, own.end_col_offset))
            for own in hints
            if own is not None
        ]
    return found


def wanted(items: tuple[WorkItem, ...], source: str, sample: int, seed: int) -> set[str]:
    """Return the jobs that are tried: so many plausible ones, the first of a random order."""
    hints, own = unevaluated(source), []
    for item in items:
        (mutation,) = item.mutations
        hinted = any(begin <= mutation.start_pos < end for begin, end in hints)
        if PLAUSIBLE.match(mutation.operator_name) and not hinted:
            own.append((mutation.operator_name, mutation.occurrence, item.job_id))
    own.sort()  # jobs have random names
    random.Random(seed).shuffle(own)
    return {job for _, _, job in own[: sample or len(own)]}


def session_of(module: str, tests: list[Path], sample: int, seed: int) -> Path:
    """Return the session of a module as it is, in which what is to be tried has no result."""
    file, own = ROOT / "src" / module, module.replace("/", ".").removesuffix(".py")
    session = WORK / f"{own}-{digest(file)}.sqlite"
    known = session.with_suffix(".tests")
    if not session.exists():
        run_tool("init", module, session)
    with use_db(session, WorkDB.Mode.open) as db:
        jobs = wanted(db.work_items, file.read_text("utf-8"), sample, seed)
        found = dict(db.results)
        changed = known.exists() and known.read_text() != digest(*tests)
        again = {
            job
            for job, result in found.items()
            if job in jobs
            and (
                result.worker_outcome == WorkerOutcome.SKIPPED
                or (changed and result.test_outcome == TestOutcome.SURVIVED)
            )
        }
        everyone = {item.job_id for item in db.work_items}
        db.set_multiple_results(everyone - jobs - found.keys(), SKIPPED)
    if again:
        import sqlite3

        with sqlite3.connect(session) as connection:
            pairs = [(job,) for job in again]
            connection.executemany("DELETE FROM work_results WHERE job_id = ?", pairs)
    known.write_text(digest(*tests))
    return session


def run_tool(what: str, module: str, session: Path) -> None:
    """Run cosmic-ray in the copy, at the lowest priority."""
    env = os.environ | {"PYTHONPATH": str(COPY / "src"), "OMP_NUM_THREADS": "1"}
    tool = [sys.executable, "-m", "cosmic_ray.cli", what, session.with_suffix(".toml")]
    tool += [] if what == "baseline" else [session]
    done = subprocess.run(["nice", *map(str, tool)], cwd=COPY, env=env)
    if done.returncode:
        raise SystemExit(f"error: cosmic-ray {what} failed for {module}: its tests must pass.")


def configure(python: str, module: str, tests: tuple[str, ...], session: Path) -> None:
    """Write what cosmic-ray asks for."""
    files = " ".join(f"tests/test_{name}.py" for name in tests)
    slow = "not scikit_learns_checks"  # the suite runs these; a minute for each fault is too long
    command = f"{python} -m pytest -x -q -p no:cacheprovider -k '{slow}' {files}"
    session.with_suffix(".toml").write_text(
        f'[cosmic-ray]\nmodule-path = ["src/{module}"]\ntimeout = {TIMEOUT_S}\n'
        f'excluded-modules = []\ntest-command = "{command}"\n'
        '[cosmic-ray.distributor]\nname = "local"\n'
    )


def changed_lines(diff: str) -> tuple[str, str]:
    """Return what a fault takes away and what it puts there."""
    lines = [line for line in diff.splitlines() if line[:3] not in ("---", "+++")]
    return tuple(" ".join(x[1:].strip() for x in lines if x[:1] == sign) for sign in "-+")


def results_of(module: str, session: Path, equivalent: set[tuple]) -> tuple[dict, list[str]]:
    """Return how many faults were tried, noticed, equivalent; and a line for each survivor."""
    counts, survivors = dict.fromkeys(("tried", "noticed", "equivalent"), 0), []
    with use_db(session, WorkDB.Mode.open) as db:
        for item, result in db.completed_work_items:
            if result.worker_outcome != WorkerOutcome.NORMAL:
                continue
            counts["tried"] += 1
            was, becomes = changed_lines(result.diff)
            if result.test_outcome != TestOutcome.SURVIVED:
                counts["noticed"] += 1
            elif (module, was, becomes) in equivalent:
                counts["equivalent"] += 1
            else:
                line = item.mutations[0].start_pos[0]
                survivors.append(f"- {module}:{line} `{was}` -> `{becomes}`")
    return counts, sorted(survivors)


def main() -> None:
    """Try faults in the modules named, or in all; write the report."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("python")
    parser.add_argument("modules", nargs="*", help="below src; all that are listed by default")
    parser.add_argument("--sample", type=int, default=20, help="faults of each module; 0: all")
    parser.add_argument("--seed", type=int, default=0)
    told = parser.parse_intermixed_args()
    python = os.path.abspath(told.python)  # not resolved: it may be a link into an environment
    COPY.mkdir(parents=True, exist_ok=True)
    with EQUIVALENT.open(newline="") as stream:
        rows = csv.DictReader(stream)
        equivalent = {(row["module"], row["was"], row["becomes"]) for row in rows}
    table, survivors = [], []
    for module in told.modules or MODULES:
        refresh()  # a fault is left behind where a run was ended
        tests = [ROOT / "tests" / f"test_{name}.py" for name in MODULES[module]]
        own = module.replace("/", ".").removesuffix(".py")
        session = WORK / f"{own}-{digest(ROOT / 'src' / module)}.sqlite"
        configure(python, module, MODULES[module], session)
        session = session_of(module, tests, told.sample, told.seed)
        with use_db(session, WorkDB.Mode.open) as db:
            pending = len(db.pending_work_items)
        if pending:
            print(f"{module}: {pending} faults to try", flush=True)
            run_tool("baseline", module, session)
            run_tool("exec", module, session)
        counts, left = results_of(module, session, equivalent)
        print(f"{module}: {counts}", flush=True)
        table.append((module, *counts.values(), len(left)))
        survivors += left
        write(table, survivors)
    print(f"The report is in {REPORT.relative_to(ROOT)}.")


def write(table: list[tuple], survivors: list[str]) -> None:
    """Write the report."""
    total = ("all", *(sum(column) for column in list(zip(*table, strict=True))[1:]))
    lines = ["| module | tried | noticed | equivalent | survived |", "|---|--:|--:|--:|--:|"]
    lines += [f"| {' | '.join(map(str, row))} |" for row in (*table, total)]
    REPORT.parent.mkdir(exist_ok=True)
    REPORT.write_text("\n".join([*lines, "", *survivors, ""]), "utf-8")


if __name__ == "__main__":
    main()
