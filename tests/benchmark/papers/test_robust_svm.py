"""The robust SVM paper's timing experiments on small real runs."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from helpers import made_up
from helpers.papers import repository_config
from helpers.small_runs import assert_known, small_run
from path_benchmark.papers.robust_svm import experiments as robust
from path_benchmark.papers.robust_svm import outputs
from path_benchmark.papers.robust_svm.experiments import PAPER
from path_benchmark.reporting.study import hyper
from path_benchmark.runs.rows import Rows

pytestmark = pytest.mark.slow


def config():
    """Return the repository's configuration, its quick suite made smaller still."""
    whole = repository_config() | {"offline": True}
    paper = whole["papers"]["robust_svm"]
    small = {"splits": 1, "costs": [0.1, 1.0], "repeats": 2, "kernels": ["rbf"]}
    paper["suites"]["quick"] = {
        "errors": {
            "datasets": ["two_moons", "drlad_simulation"],
            "splits": 2,
            "costs": [1.0, 10.0],
            "kernels": ["rbf"],
            "points": 5,
        },
        "errors_rescaled": {
            "datasets": ["drlad_simulation"],
            "splits": 1,
            "costs": [1.0, 10.0],
            "kernels": ["rbf"],
            "points": 5,
        },
        "noise": {
            "datasets": ["drlad_simulation"],
            "splits": 2,
            "costs": [1.0, 10.0],
            "kernels": ["rbf"],
            "amplitudes": [2.0, 8.0],
        },
        "bias": {"datasets": ["two_moons"], "splits": 1, "costs": [1.0, 10.0], "kernels": ["rbf"]},
        "optima": {"datasets": ["noisy_labels"], "splits": 1, "problems": 2, "rows": 8},
        "explore": {"datasets": ["two_moons"], "splits": 1, "costs": [0.1, 1.0]},
        "cost": {"datasets": ["breast_cancer"], **small},
        "candidates": {"datasets": ["drlad_simulation"], "candidates": [2, 4], **small},
        "solution_space": {"datasets": ["two_moons"], "splits": 1},
        "toys": {"datasets": ["robust_svc_toy", "robust_svr_toy"], "splits": 1},
        "dual_path": {"datasets": ["two_moons"], "splits": 1},
    }
    whole["papers"] = {"robust_svm": paper}
    return whole


def small_study(folder):
    return small_run(PAPER, config(), folder)


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    return small_study(tmp_path_factory.mktemp("robust_svm"))


def test_every_number_is_known(study):
    assert_known(study, "robust_svm")


def test_no_end_of_a_path_is_better_than_the_best_of_all_partitions(study):
    found = study.only(experiment="optima", metric="excess")
    assert set(found["method"]) == {"op_theta", "op_s", "cccp"}
    assert found["value"].min() == pytest.approx(0.0, abs=1e-6)  # one of them is the best
    assert found["value"].max() < 1.0


def test_the_texts_noise_is_one_of_those_tried(study):
    tried = study.only(experiment="noise", metric="test_error")
    own = tried[(hyper(tried, "amplitude") == 2.0) & (hyper(tried, "share") == 0.05)]
    own = own[hyper(own, "rescaling") == "none"].set_index("split")["value"]
    text = study.only(
        experiment="errors", dataset="drlad_simulation", metric="test_error", method="standard"
    )
    assert own.to_dict() == text.set_index("split")["value"].to_dict()
    assert len(tried) == 2 * 2 * 2 * 3
    assert tried["value"].nunique() > 12


def test_rescaled_errors_have_the_standard_machine_of_that_noise(study):
    own = study.only(experiment="errors_rescaled", metric="test_error", method="standard")
    tried = study.only(experiment="noise", metric="test_error", split=0)
    tried = tried[(hyper(tried, "amplitude") == 8.0) & (hyper(tried, "share") == 0.05)]
    tried = tried[hyper(tried, "rescaling") == "symmetric"]
    assert own["value"].tolist() == tried["value"].tolist()


def test_cccp_is_timed_as_users_run_it_and_at_matched_accuracy(study):
    found = outputs.cost_ratios(study).set_index(["path", "tolerance"])
    assert set(found.index) == {(p, t) for p in ("OP-theta", "OP-s") for t in (1e-3, 1e-6)}
    assert (found["op"] > 0).all()
    for path in ("OP-theta", "OP-s"):
        loose, tight = found.loc[path, 1e-3], found.loc[path, 1e-6]
        assert loose["op"] == tight["op"]
        assert np.isnan(tight["excess"])
        assert -0.5 < loose["excess"] < 1.0
        assert loose["ratio"] == loose["op"] / loose["cccp"]


def test_paths_are_timed_with_their_check_whose_share_stands_beside(study):
    share = study.only(experiment="cost", metric="check_share")
    assert share.groupby("method").size().to_dict() == {"op_s": 2, "op_theta": 2}
    assert share["value"].between(-1.0, 1.0).all()
    assert outputs.cost_ratios(study)["check"].notna().all()


def test_every_repeat_of_every_number_of_candidates_is_a_row(study):
    own = study.only(experiment="candidates", metric="time")
    counts = own.groupby(["method", hyper(own, "candidates")]).size().to_dict()
    expected = {("op_s", 0): 2, ("op_theta", 0): 2}
    expected |= {(f"cccp_{h}", k): 2 for h in ("s", "theta") for k in (2, 4)}
    assert counts == expected


def test_the_local_path_jumps_across_borders_and_nowhere_else(study):
    own = study.curves[study.curves["experiment"] == "solution_space"]
    path, sides, jumps = (own[own["curve"] == c] for c in ("weights", "sides", "jumps"))
    theta, w = path["weight"].to_numpy(), path[["x", "y"]].to_numpy()
    margins = w @ sides[["x", "y"]].to_numpy().T  # y f(x), the threshold being 0
    outside = margins < -1e-9
    inside = margins > 1e-9
    jumped = np.isin(theta[1:], jumps["x"]) & (np.diff(theta) == 0.0)
    assert jumped.sum() == len(jumps) == 3
    # a sample that is clearly inside on one side of a step and outside on the other has crossed
    crossed = (outside[:-1] & inside[1:]) | (inside[:-1] & outside[1:])
    assert not crossed[~jumped].any()
    at_border = (np.abs(margins[:-1]) < 1e-9) | (np.abs(margins[1:]) < 1e-9)
    assert at_border[jumped].any(axis=1).all()
    (ax,) = outputs.figure_4(study).axes
    solid = [line for line in ax.lines if line.get_color() == outputs.fig.BLUE]
    assert sum(len(line.get_xdata()) for line in solid) == len(path)
    names = {text.get_text(): tuple(text.xy) for text in ax.texts}
    assert names == {"θ = 1": tuple(w[theta.argmax()]), "θ = 0": tuple(w[theta.argmin()])}


def test_the_toys_show_the_data_their_outliers_and_both_machines(study):
    figure = outputs.figure_1(study)
    assert len(figure.axes) == 2
    for ax, dataset in zip(figure.axes, study.ran("toys"), strict=True):
        drawn = {line.get_label(): line.get_xydata() for line in ax.get_lines()}
        assert {"standard", "robust"} < set(drawn)
        points = study.curve("points", dataset=dataset)[["x", "y"]].to_numpy()
        shown = [xy for name, xy in drawn.items() if name in ("+1", "-1", "sample")]
        assert sorted(map(tuple, np.vstack(shown))) == sorted(map(tuple, points))
        (rings,) = (line for line in ax.get_lines() if line.get_markerfacecolor() == "none")
        np.testing.assert_array_equal(rings.get_xydata(), points[-2:])
    for metric, ends in (("w0", "standard"), ("w1", "robust")):
        own = study.only(experiment="toys", metric=metric, method=ends)
        assert len(own) == 1
    w = [
        study.only(experiment="toys", metric=f"w{k}", method="robust")["value"].item()
        for k in (0, 1)
    ]
    line = next(line for line in figure.axes[0].get_lines() if line.get_label() == "robust")
    np.testing.assert_allclose(line.get_xydata() @ w, 0.0, atol=1e-9)


def test_the_five_duals_that_move_most_are_drawn_and_broken_where_they_jump(study):
    own = study.curves[study.curves["experiment"] == "dual_path"]
    names = [name for name in own["curve"].unique() if name.startswith("dual")]
    assert len(names) == 5
    jumps = own[own["curve"] == "jumps"]["x"].to_numpy()
    assert len(jumps)
    (ax,) = outputs.figure_5(study).axes
    lines = {line.get_label(): line.get_xydata() for line in ax.get_lines()}
    for name in names:
        whole = lines[f"sample {name.split()[1]}"]
        broken = np.flatnonzero(np.isnan(whole[:, 0]))
        np.testing.assert_array_equal(np.unique(whole[broken - 1, 0]), np.unique(jumps))
        np.testing.assert_array_equal(whole[broken - 1, 0], whole[broken + 1, 0])


def test_what_was_not_run_is_not_drawn(study):
    nothing = study.restricted([])
    drawn = outputs.figure_1(nothing), outputs.figure_5(nothing), outputs.figure_6(nothing)
    assert drawn == (None, None, None)


def chosen(tried):
    """Return metric -> value of what the robust paper's rule chooses."""
    rows = Rows()
    tried = [(C, *map(np.array, parts)) for C, *parts in tried]
    robust._add_choice(rows, "op_theta", tried, "")
    return {row["metric"]: row["value"] for row in rows.rows}


def test_ties_go_to_the_smaller_cost_then_to_the_least_robust_parameter():
    theta = [1.0, 0.5, 0.0]
    found = chosen(
        [
            (0.1, theta, [0.3, 0.2, 0.2], [0.31, 0.21, 0.22]),
            (1.0, theta, [0.2, 0.2, 0.3], [0.01, 0.02, 0.03]),
        ]
    )
    assert (found["chosen_C"], found["chosen_parameter"]) == (0.1, 0.5)
    assert (found["validation_error"], found["test_error"]) == (0.2, 0.21)
    assert found["regret"] == pytest.approx(0.2)  # beside the least test error of all candidates
    # of classification's s, which is negative, the least robust is farthest from 0
    assert chosen([(1.0, [-2.0, -1.0, 0.0], [0.1] * 3, [0.5, 0.6, 0.7])])["test_error"] == 0.5
    better = chosen([(0.1, theta, [0.3] * 3, [0.1] * 3), (1.0, theta, [0.4, 0.29, 0.3], [0.6] * 3)])
    assert (better["chosen_C"], better["chosen_parameter"]) == (1.0, 0.5)
    # the standard machine has no parameter
    assert "chosen_parameter" not in chosen([(1.0, [np.inf], [0.1], [0.2])])


def test_numbers_of_unsolved_convex_problems_say_so(tmp_path, monkeypatch):
    """Paths have certificates."""
    whole = config()
    suite = whole["papers"]["robust_svm"]["suites"]["quick"]
    kept = {
        "errors": suite["errors"] | {"datasets": ["two_moons"], "splits": 1},
        "noise": suite["noise"] | {"splits": 1, "amplitudes": [2.0]},
        "cost": suite["cost"] | {"repeats": 1, "costs": [10.0]},
        "optima": suite["optima"] | {"problems": 1},
    }
    whole["papers"]["robust_svm"]["suites"]["quick"] = kept
    solve = robust.cccp.KernelSolver.solve

    def unsolved(self, y, low, high, a, tolerance):
        *answer, count = solve(self, y, low, high, a, tolerance)
        return *answer, -max(count, 1)

    monkeypatch.setattr(robust.cccp.KernelSolver, "solve", unsolved)
    monkeypatch.setattr(robust, "conditional_optima", lambda K, y, C: np.ones(1))
    rows = small_run(PAPER, whole, tmp_path).results
    theirs = rows["method"].isin(["standard", "cccp_theta", "cccp_s", "cccp"])
    assert set(rows[theirs]["status"]) == {"inaccurate"}
    assert set(rows[theirs]["experiment"]) == {"errors", "noise", "cost", "optima"}
    assert set(rows[theirs]["message"]) == {"a convex problem was not solved"}
    assert "inaccurate" not in set(rows[rows["method"].str.startswith("op_")]["status"])


def test_a_local_solutions_ratio_is_ours_to_theirs():
    """Less than zero where the path's solution is the better one."""
    objective = SimpleNamespace(energy=lambda values, a, t: float(a.sum()))
    path = SimpleNamespace(range=(0.0, 1.0))
    moving = SimpleNamespace(at=lambda t: objective)
    problem = SimpleNamespace(predicted=lambda a, part: a, objective=lambda C, homotopy: moving)
    duals = np.array([[4.0, 2.0, 1.0]])
    theirs = robust.CandidateSolutions(1.0, [1.0, 0.5, 2.0], duals, np.nan)
    rows = Rows()
    hyper, ours = {"C": 1.0, "homotopy": "theta"}, np.array([[3.0, 2.5, 1.0]])
    robust._add_local_solutions(rows, problem, path, theirs, ours, hyper)
    assert [row["value"] for row in rows.rows] == [3.0 / 4.0 - 1.0, 2.5 / 2.0 - 1.0]


@pytest.mark.parametrize(
    ("metric", "value", "kernel", "falls", "keeps_off"),
    [
        ("no_fall", 0.0, "rbf", True, True),
        ("no_fall", 1.0, "rbf", None, True),  # rounding can't tell
        ("rises", 1.0, "rbf", False, True),
        ("at_threshold", 1.0, "rbf", None, None),
        # rows depend on each other: samples stay there between jumps
        ("at_threshold", 1.0, "linear", None, False),
    ],
)
def test_theorems_on_jumps_are_decided_by_what_rounding_tells(
    metric, value, kernel, falls, keeps_off
):
    made = made_up.study_of(made_up.robust_svm())
    results = made.results.assign(kernel=kernel)
    results.loc[results["metric"] == metric, "value"] = value
    (case,) = outputs.jumps(replace(made, results=results))
    assert (case.values["falls"], case.values["keeps_off"]) == (falls, keeps_off)


def test_data_whose_runs_failed_have_no_panel():
    made, failed = made_up.robust_svm(), {"status": "not available", "message": "no file"}
    made.add("candidates", "mg", "data", "failed", np.nan, **failed)
    figure = outputs.figure_6(made_up.study_of(made))
    assert {ax.get_title().partition(",")[0] for ax in figure.axes} == {"SVMGuide1"}
