"""Put small faults into chosen modules, one at a time, and see which of them no test notices.

python .ci/mutants.py PYTHON [--sample N | --draw N] [--seed S] [MODULE...]

PYTHON runs the tests; this script runs where cosmic-ray is installed (`make mutants` sees to both).
N faults of each module (``--sample``), or N of all plausible ones together (``--draw``), are drawn
by a seed and tried with their module's fast tests, in a copy of the checkout (build/mutants), on
one core. What is known is kept: a run that was interrupted goes on, a larger N adds to it, and of
changed tests those faults are tried again that survived. A module that changed begins anew.
Survivors are written to results/mutants.md; those that change nothing are listed, with the reason,
in .ci/equivalent_mutants.csv.
"""

import argparse
import ast
import csv
import hashlib
import os
import random
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
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

JUDGED = (
    "library/verify/test_known_verdicts",
    "benchmark/objectives/test_judge",
    "library/verify/test_verdict",
    "library/verify/test_scales",
)
NETS = (
    "library/test_known_answers",
    "library/estimators/test_fitted",
    "library/models/test_elastic",
    "library/test_validation",
)
CHOICES = (
    "library/test_known_answers",
    "library/estimators/test_fitted",
    "library/estimators/test_checking",
    "library/estimators/test_tuning",
    "benchmark/papers/test_splits",
)
STATED = (
    "library/verify/test_known_verdicts",
    "library/test_known_answers",
    "library/problem/test_statement",
    "library/verify/test_judge",
    "library/solution/test_follow",
)
SOLVED = (
    "library/test_known_answers",
    "library/solution/test_follow",
    "benchmark/papers/test_survey",
    "library/solution/test_storage",
    "library/models/test_every_model",
)
MODEL = (
    "library/test_known_answers",
    "library/estimators/test_fitted",
    "library/solution/test_path",
    "library/kernels/test_centring",
    "library/test_validation",
)
SURVEYED = (
    "library/test_known_answers",
    "benchmark/papers/test_survey",
    "library/models/test_every_model",
)
SAID = ("benchmark/papers/test_made_up_studies", "benchmark/reporting/test_reporting")
VERIFIED = (
    "library/verify/test_known_verdicts",
    "library/verify/test_judge",
    "library/verify/test_judgement",
)
GLM = ("library/test_known_answers", "library/glm/test_regressions")
RIVALS = (
    "benchmark/solvers/test_programmes",
    "benchmark/solvers/test_baselines",
    "benchmark/papers/test_survey",
)
DISSERTATION = (
    "benchmark/papers/test_splits",
    "benchmark/papers/test_distributionally_robust",
)
PAPERS = "path_benchmark/papers"
# Module below src -> its fast tests, those that fail first in front. What decides an answer, a
# verdict or a published number; not compiled loops, nor what only draws, moves files or waits.
MODULES = {
    # verdicts
    "solution_paths/verify/verdict.py": JUDGED,
    "path_benchmark/objectives/judge.py": (
        "benchmark/objectives/test_judge",
        "library/verify/test_verdict",
        "library/models/test_outlier",
    ),
    "solution_paths/kernels/centred.py": (
        "library/verify/test_known_verdicts",
        "library/kernels/test_centred",
        "benchmark/objectives/test_judge",
    ),
    "solution_paths/kernels/centring.py": (
        "library/verify/test_known_verdicts",
        "benchmark/objectives/test_judge",
        "library/kernels/test_centring",
        "library/models/test_elastic",
    ),
    "path_benchmark/objectives/machine.py": (
        "benchmark/objectives/test_judge",
        "library/verify/test_verdict",
        "benchmark/solvers/test_baselines",
    ),
    "path_benchmark/objectives/robust.py": (
        "library/models/test_outlier",
        "benchmark/papers/test_robust_svm",
    ),
    "solution_paths/verify/balance.py": VERIFIED,
    "solution_paths/verify/features.py": VERIFIED,
    "solution_paths/verify/graph.py": VERIFIED,
    "solution_paths/verify/judge.py": VERIFIED,
    "solution_paths/verify/partitions.py": (
        "library/models/test_outlier",
        "library/verify/test_partitions",
    ),
    "solution_paths/verify/judgement.py": VERIFIED,
    "solution_paths/verify/curved.py": GLM,
    "solution_paths/verify/products.py": VERIFIED,
    "solution_paths/verify/scales.py": VERIFIED,
    "path_benchmark/reporting/check.py": SAID,
    "path_benchmark/reporting/claims.py": SAID,
    "path_benchmark/reporting/statistics.py": (
        "benchmark/reporting/test_statistics",
        *SAID,
    ),
    "path_benchmark/reporting/verdicts.py": SAID,
    # published numbers
    f"{PAPERS}/assertions.py": SAID,
    f"{PAPERS}/distributionally_robust/data.py": (
        "benchmark/papers/test_splits",
        "benchmark/papers/test_distributionally_robust",
    ),
    f"{PAPERS}/distributionally_robust/experiments/chapter_3.py": DISSERTATION,
    f"{PAPERS}/distributionally_robust/experiments/chapter_4.py": DISSERTATION,
    f"{PAPERS}/distributionally_robust/experiments/chapter_5.py": DISSERTATION,
    f"{PAPERS}/distributionally_robust/experiments/seconds.py": DISSERTATION,
    f"{PAPERS}/distributionally_robust/experiments/shared.py": DISSERTATION,
    f"{PAPERS}/distributionally_robust/outputs.py": (
        "benchmark/papers/test_made_up_studies",
        "benchmark/papers/test_distributionally_robust",
    ),
    f"{PAPERS}/distributionally_robust/tuning.py": DISSERTATION,
    f"{PAPERS}/distributionally_robust/worst_case.py": (
        "benchmark/papers/test_distributionally_robust",
    ),
    f"{PAPERS}/quantile_svm/data.py": (
        "benchmark/papers/test_splits",
        "benchmark/data/test_protocols",
        "benchmark/data/test_mirror",
        "benchmark/papers/test_quantile_svm",
    ),
    f"{PAPERS}/quantile_svm/experiments.py": (
        "benchmark/papers/test_quantile_svm",
        "benchmark/papers/test_splits",
    ),
    f"{PAPERS}/quantile_svm/outputs.py": (
        *SAID,
        "benchmark/papers/test_quantile_svm",
    ),
    f"{PAPERS}/robust_svm/data.py": (
        "benchmark/papers/test_splits",
        "benchmark/data/test_protocols",
        "benchmark/data/test_data",
        "benchmark/papers/test_robust_svm",
    ),
    f"{PAPERS}/robust_svm/experiments.py": (
        "benchmark/papers/test_robust_svm",
        "benchmark/papers/test_splits",
    ),
    f"{PAPERS}/robust_svm/outputs.py": (
        "benchmark/papers/test_made_up_studies",
        "benchmark/papers/test_robust_svm",
    ),
    f"{PAPERS}/survey/experiments.py": ("benchmark/papers/test_survey",),
    f"{PAPERS}/survey/models.py": ("benchmark/papers/test_survey",),
    f"{PAPERS}/survey/outputs.py": (
        "benchmark/papers/test_made_up_studies",
        "benchmark/papers/test_survey",
    ),
    f"{PAPERS}/survey/rivals.py": ("benchmark/papers/test_survey",),
    f"{PAPERS}/weighted_svm/data.py": (
        "benchmark/papers/test_splits",
        "benchmark/data/test_protocols",
        "benchmark/papers/test_weighted_svm",
    ),
    f"{PAPERS}/weighted_svm/experiments.py": (
        "benchmark/papers/test_weighted_svm",
        "benchmark/papers/test_splits",
    ),
    f"{PAPERS}/weighted_svm/outputs.py": (
        "benchmark/papers/test_made_up_studies",
        "benchmark/papers/test_weighted_svm",
    ),
    f"{PAPERS}/weighted_svm/ulsif.py": (
        "benchmark/data/test_known_data",
        "benchmark/papers/test_ulsif",
        "benchmark/papers/test_splits",
    ),
    "path_benchmark/data/dna.py": (
        "benchmark/data/test_data",
        "benchmark/data/test_protocols",
    ),
    "path_benchmark/data/generated.py": (
        "benchmark/data/test_known_data",
        "benchmark/data/test_data",
    ),
    "path_benchmark/data/parsers.py": ("benchmark/data/test_data",),
    "path_benchmark/data/protocols.py": (
        "benchmark/data/test_known_data",
        "benchmark/data/test_protocols",
        "benchmark/data/test_data",
    ),
    "path_benchmark/data/seeds.py": (
        "benchmark/data/test_known_data",
        "benchmark/data/test_data",
        "benchmark/data/test_protocols",
    ),
    "path_benchmark/data/sources.py": (
        "benchmark/data/test_data",
        "benchmark/data/test_downloads",
        "benchmark/data/test_mirror",
    ),
    "path_benchmark/reporting/formats.py": (
        "benchmark/reporting/test_formats",
        *SAID,
    ),
    "path_benchmark/reporting/outputs.py": SAID,
    "path_benchmark/reporting/overview.py": SAID,
    "path_benchmark/reporting/pivots.py": SAID,
    "path_benchmark/reporting/published.py": ("benchmark/reporting/test_published",),
    "path_benchmark/reporting/study.py": SAID,
    "path_benchmark/reporting/tables.py": SAID,
    "path_benchmark/runs/cells.py": ("benchmark/runs/test_cells",),
    "path_benchmark/runs/exploring.py": (
        "benchmark/runs/test_exploring",
        "benchmark/papers/test_quantile_svm",
        "benchmark/papers/test_robust_svm",
    ),
    "path_benchmark/runs/judging.py": (
        "benchmark/runs/test_judging",
        "benchmark/papers/test_quantile_svm",
        "benchmark/papers/test_weighted_svm",
    ),
    "path_benchmark/runs/paper.py": (
        "benchmark/runs/test_paper",
        "benchmark/runs/test_cells",
    ),
    "path_benchmark/runs/rows.py": (
        "benchmark/runs/test_rows",
        "benchmark/runs/test_cells",
        "benchmark/papers/test_robust_svm",
    ),
    "path_benchmark/runs/timing.py": (
        "benchmark/solvers/test_answer",
        "benchmark/runs/test_cells",
        "benchmark/papers/test_robust_svm",
    ),
    "path_benchmark/solvers/answer.py": (
        "benchmark/solvers/test_answer",
        "benchmark/solvers/test_baselines",
    ),
    "path_benchmark/solvers/cccp.py": (
        "benchmark/solvers/test_cccp",
        "benchmark/papers/test_robust_svm",
    ),
    "path_benchmark/solvers/clarabel_solver.py": RIVALS,
    "path_benchmark/solvers/cvxpy_solver.py": RIVALS,
    "path_benchmark/solvers/highs_solver.py": RIVALS,
    "path_benchmark/solvers/lbfgsb.py": ("benchmark/solvers/test_baselines",),
    "path_benchmark/solvers/liblinear.py": ("benchmark/solvers/test_baselines",),
    "path_benchmark/solvers/piqp_solver.py": RIVALS,
    "path_benchmark/solvers/programmes.py": RIVALS,
    "path_benchmark/solvers/sklearn_svc.py": ("benchmark/solvers/test_baselines",),
    "path_benchmark/solvers/quadratic.py": (
        "library/verify/test_known_verdicts",
        "library/verify/test_judge",
        "benchmark/papers/test_survey",
    ),
    # answers
    "solution_paths/solution/curves.py": (
        "library/solution/test_curves",
        "library/test_known_answers",
        "library/solution/test_path",
        "library/solution/test_evaluation",
        "library/estimators/test_fitted",
    ),
    "solution_paths/estimators/base.py": CHOICES,
    "solution_paths/estimators/checking.py": CHOICES,
    "solution_paths/estimators/classifiers.py": CHOICES,
    "solution_paths/estimators/compressed.py": ("library/estimators/test_base",),
    "solution_paths/estimators/fitted.py": CHOICES,
    "solution_paths/estimators/judging.py": CHOICES,
    "solution_paths/estimators/lasso.py": CHOICES,
    "solution_paths/estimators/outlier.py": CHOICES,
    "solution_paths/estimators/probabilities.py": (
        "library/estimators/test_base",
        "library/estimators/test_probabilities",
    ),
    "solution_paths/estimators/progress.py": ("library/estimators/test_arguments",),
    "solution_paths/estimators/quantiles.py": (
        *CHOICES,
        "library/solution/test_distribution",
    ),
    "solution_paths/estimators/ranking.py": ("library/estimators/test_several",),
    "solution_paths/estimators/relative.py": ("library/solution/test_metrics",),
    "solution_paths/estimators/robust.py": CHOICES,
    "solution_paths/estimators/sparse.py": (*CHOICES, "library/estimators/test_several"),
    "solution_paths/estimators/joint_classifiers.py": (
        *CHOICES,
        "library/estimators/test_survey",
        "library/estimators/test_several",
    ),
    "solution_paths/estimators/one_class.py": (*CHOICES, "library/estimators/test_survey"),
    "solution_paths/estimators/regression.py": (*CHOICES, "library/estimators/test_survey"),
    "solution_paths/estimators/tuning.py": CHOICES,
    "solution_paths/estimators/weighted.py": CHOICES,
    "solution_paths/glm/columns.py": (
        "library/test_known_answers",
        "library/glm/test_regressions",
    ),
    "solution_paths/glm/follow.py": GLM,
    "solution_paths/glm/losses.py": GLM,
    "solution_paths/glm/newton.py": GLM,
    "solution_paths/glm/penalised.py": GLM,
    "solution_paths/kernels/kernel.py": (
        "library/kernels/test_centring",
        "library/kernels/test_kernel",
        "library/kernels/test_centred",
        "benchmark/objectives/test_judge",
    ),
    "solution_paths/models/almost_quadratic.py": SURVEYED,
    "solution_paths/models/asymmetric_svm.py": SURVEYED,
    "solution_paths/models/dm_drsvm.py": NETS,
    "solution_paths/models/dm_drsvm_grid.py": NETS,
    "solution_paths/models/dm_ksvm.py": (
        "library/test_known_answers",
        "library/estimators/test_fitted",
        "library/models/test_elastic",
        "library/test_validation",
    ),
    "solution_paths/models/dr_regression.py": NETS,
    "solution_paths/models/drlad.py": NETS,
    "solution_paths/models/drlad_grid.py": NETS,
    "solution_paths/models/margins.py": NETS,
    "solution_paths/models/residuals.py": NETS,
    "solution_paths/models/drsvm.py": NETS,
    "solution_paths/models/elastic.py": NETS,
    "solution_paths/models/elastic_net.py": SURVEYED,
    "solution_paths/models/generalized_lasso.py": SURVEYED,
    "solution_paths/models/hhsvm.py": SURVEYED,
    "solution_paths/models/kernel_quantile.py": SURVEYED,
    "solution_paths/models/l1_constrained_svm.py": SURVEYED,
    "solution_paths/models/l1_svm.py": (
        *MODEL,
        "benchmark/papers/test_survey",
    ),
    "solution_paths/models/lasso.py": (
        *MODEL,
        "benchmark/papers/test_survey",
    ),
    "solution_paths/models/coefficients.py": ("library/models/test_coefficients",),
    "solution_paths/models/curved.py": GLM,
    "solution_paths/models/limits.py": (
        "library/models/test_weights",
        "library/estimators/test_fitted",
    ),
    "solution_paths/models/logistic.py": (
        "library/test_known_answers",
        "library/glm/test_regressions",
    ),
    "solution_paths/models/poisson.py": (
        "library/test_known_answers",
        "library/glm/test_regressions",
    ),
    "solution_paths/models/multicategory_svm.py": SURVEYED,
    "solution_paths/models/noncrossing_quantiles.py": (
        "library/solution/test_distribution",
        "library/models/test_weights",
    ),
    "solution_paths/models/nu_svm.py": SURVEYED,
    "solution_paths/models/one_class.py": SURVEYED,
    "solution_paths/models/outlier.py": (
        "library/test_known_answers",
        "library/estimators/test_fitted",
        "library/models/test_outlier",
    ),
    "solution_paths/models/outlier_svm.py": (
        "library/test_known_answers",
        "library/estimators/test_fitted",
        "library/models/test_outlier",
    ),
    "solution_paths/models/outlier_svr.py": (
        "library/test_known_answers",
        "library/estimators/test_fitted",
        "library/models/test_outlier",
    ),
    "solution_paths/models/pin_svm.py": SURVEYED,
    "solution_paths/models/pin_twin_svm.py": SURVEYED,
    "solution_paths/models/quantile_regression.py": (
        *SURVEYED,
        "library/models/test_quantile_regression",
    ),
    "solution_paths/models/quantile_svm.py": (
        *MODEL,
        "library/models/test_quantile_svm",
    ),
    "solution_paths/models/ranking_svm.py": SURVEYED,
    "solution_paths/models/rlad.py": SURVEYED,
    "solution_paths/models/roc.py": SURVEYED,
    "solution_paths/models/samples.py": SURVEYED,
    "solution_paths/models/svm.py": (
        *MODEL,
        "library/models/test_svm",
    ),
    "solution_paths/models/svor.py": SURVEYED,
    "solution_paths/models/svr.py": SURVEYED,
    "solution_paths/models/instances.py": (
        *MODEL,
        "library/models/test_weighted_svm",
    ),
    "solution_paths/models/update_instances.py": (
        *MODEL,
        "library/models/test_weighted_svm",
    ),
    "solution_paths/models/weights.py": (
        *MODEL,
        "library/models/test_weighted_svm",
        "library/test_validation",
    ),
    "solution_paths/models/weighted_svm.py": (
        *MODEL,
        "library/models/test_weighted_svm",
    ),
    "solution_paths/models/weighted_svr.py": (
        *MODEL,
        "library/models/test_weighted_svm",
    ),
    "solution_paths/problem/branches.py": (
        "library/models/test_outlier",
        "benchmark/objectives/test_judge",
    ),
    "solution_paths/problem/bundle.py": STATED,
    "solution_paths/problem/line.py": STATED,
    "solution_paths/problem/losses.py": STATED,
    "solution_paths/problem/maps.py": STATED,
    "solution_paths/problem/penalties.py": STATED,
    "solution_paths/problem/pieces.py": STATED,
    "solution_paths/problem/statement.py": STATED,
    "solution_paths/twofold.py": STATED,
    "solution_paths/solution/approximate.py": GLM,
    "solution_paths/solution/branched.py": (
        "library/models/test_outlier",
        "library/estimators/test_fitted",
    ),
    "solution_paths/solution/distribution.py": ("library/solution/test_distribution",),
    "solution_paths/solution/evaluation.py": SOLVED,
    "solution_paths/solution/follow.py": SOLVED,
    "solution_paths/solution/deciding.py": (
        "library/solution/test_deciding",
        "library/solution/test_evaluation",
        "library/solution/test_metrics",
    ),
    "solution_paths/solution/joint.py": (
        "library/solution/test_deciding",
        "library/estimators/test_base",
    ),
    "solution_paths/solution/labels.py": (
        "library/solution/test_metrics",
        "library/estimators/test_base",
    ),
    "solution_paths/solution/metrics.py": ("library/solution/test_metrics",),
    "solution_paths/solution/model.py": SOLVED,
    "solution_paths/solution/outliers.py": (
        "library/test_known_answers",
        "library/estimators/test_fitted",
        "library/models/test_outlier",
    ),
    "solution_paths/solution/path.py": SOLVED,
    "solution_paths/solution/recorded.py": SOLVED,
    "solution_paths/solution/points.py": SOLVED,
    "solution_paths/solution/ranks.py": ("library/solution/test_metrics",),
    "solution_paths/solution/reading.py": SOLVED,
    "solution_paths/solution/surface.py": (
        "library/test_known_answers",
        "library/estimators/test_fitted",
        "library/models/test_elastic",
    ),
    "solution_paths/validation.py": (
        "library/test_validation",
        "library/estimators/test_checking",
        "library/estimators/test_fitted",
    ),
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


def plausible(items: tuple[WorkItem, ...], source: str) -> list[str]:
    """Return the jobs of plausible faults, in an order that follows from the source alone."""
    hints, own = unevaluated(source), []
    for item in items:
        (mutation,) = item.mutations
        hinted = any(begin <= mutation.start_pos < end for begin, end in hints)
        if PLAUSIBLE.match(mutation.operator_name) and not hinted:
            own.append((mutation.operator_name, mutation.occurrence, item.job_id))
    return [job for _, _, job in sorted(own)]  # jobs have random names


def drawn(
    python: str, modules: list[str], sample: int, draw: int, seed: int
) -> dict[str, set[str]]:
    """Return the jobs of each module that are tried: the first ones of a random order."""
    found = {}
    for module in modules:
        session = session_of(module)
        configure(python, module, MODULES[module], session)
        if not session.exists():
            run_tool("init", module, session)
        with use_db(session, WorkDB.Mode.open) as db:
            found[module] = plausible(db.work_items, (ROOT / "src" / module).read_text("utf-8"))
    if draw:
        pairs = [(module, job) for module, jobs in found.items() for job in jobs]
        print(f"{draw} of {len(pairs)} faults in {len(modules)} modules", flush=True)
        chosen = random.Random(seed).sample(pairs, draw)
        return {m: jobs for m in modules if (jobs := {job for own, job in chosen if own == m})}
    for jobs in found.values():
        random.Random(seed).shuffle(jobs)
    return {module: set(jobs[: sample or len(jobs)]) for module, jobs in found.items()}


def session_of(module: str) -> Path:
    """Return the file of a module's session, its source as it is."""
    own = module.replace("/", ".").removesuffix(".py")
    return WORK / f"{own}-{digest(ROOT / 'src' / module)}.sqlite"


def prepare(session: Path, jobs: set[str], tests: list[Path]) -> None:
    """See to it that what is to be tried has no result, and what isn't has one."""
    known = session.with_suffix(".tests")
    with use_db(session, WorkDB.Mode.open) as db:
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


def run_in_copy(*command: object) -> int:
    """Run a command in the copy, at the lowest priority; return its exit status."""
    env = os.environ | {"PYTHONPATH": str(COPY / "src"), "OMP_NUM_THREADS": "1"}
    return subprocess.run(["nice", *map(str, command)], cwd=COPY, env=env).returncode


def check(python: str, tests: list[str]) -> None:
    """See to it that tests pass where there is no fault."""
    if tests and run_in_copy(*shlex.split(command_of(python, tests))):
        raise SystemExit(f"error: one of the tests {', '.join(tests)} fails: mend it first.")


def command_of(python: str, tests: Sequence[str]) -> str:
    """Return the command that runs tests."""
    files = " ".join(f"tests/{name}.py" for name in tests)
    slow = "not scikit_learns_checks"  # the suite runs these; a minute for each fault is too long
    return f"{python} -m pytest -x -q -p no:cacheprovider -k '{slow}' {files}"


def run_tool(what: str, module: str, session: Path) -> None:
    """Run cosmic-ray in the copy."""
    tool = [sys.executable, "-m", "cosmic_ray.cli", what, session.with_suffix(".toml"), session]
    if run_in_copy(*tool):
        raise SystemExit(f"error: cosmic-ray {what} failed for {module}; its message is above.")


def configure(python: str, module: str, tests: tuple[str, ...], session: Path) -> None:
    """Write what cosmic-ray asks for."""
    command = command_of(python, tests)
    session.with_suffix(".toml").write_text(
        f'[cosmic-ray]\nmodule-path = ["src/{module}"]\ntimeout = {TIMEOUT_S}\n'
        f'excluded-modules = []\ntest-command = "{command}"\n'
        '[cosmic-ray.distributor]\nname = "local"\n'
    )


def changed_lines(diff: str) -> tuple[str, str]:
    """Return what a fault takes away and what it puts there."""
    lines = [line for line in diff.splitlines() if line[:3] not in ("---", "+++")]
    return tuple(" ".join(x[1:].strip() for x in lines if x[:1] == sign) for sign in "-+")


def results_of(
    module: str, session: Path, jobs: set[str], equivalent: set[tuple]
) -> tuple[dict, list[str]]:
    """Return how many faults were tried, noticed, equivalent; and a line for each survivor."""
    counts, survivors = dict.fromkeys(("tried", "noticed", "equivalent"), 0), []
    with use_db(session, WorkDB.Mode.open) as db:
        for item, result in db.completed_work_items:
            if item.job_id not in jobs or result.worker_outcome != WorkerOutcome.NORMAL:
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
    parser.add_argument("--draw", type=int, default=0, help="faults of all modules together")
    parser.add_argument("--seed", type=int, default=0)
    told = parser.parse_intermixed_args()
    python = os.path.abspath(told.python)  # not resolved: it may be a link into an environment
    COPY.mkdir(parents=True, exist_ok=True)
    with EQUIVALENT.open(newline="") as stream:
        rows = csv.DictReader(stream)
        equivalent = {(row["module"], row["was"], row["becomes"]) for row in rows}
    refresh()
    table, survivors, passed = [], [], set()
    jobs_of = drawn(python, told.modules or list(MODULES), told.sample, told.draw, told.seed)
    for module, jobs in jobs_of.items():
        refresh()  # a fault is left behind where a run was ended
        tests = [ROOT / "tests" / f"{name}.py" for name in MODULES[module]]
        session = session_of(module)
        prepare(session, jobs, tests)
        with use_db(session, WorkDB.Mode.open) as db:
            pending = len(db.pending_work_items)
        if pending:
            print(f"{module}: {pending} faults to try", flush=True)
            check(python, [name for name in MODULES[module] if name not in passed])
            passed.update(MODULES[module])
            run_tool("exec", module, session)
        counts, left = results_of(module, session, jobs, equivalent)
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
