"""Solution paths of problems that a user states: what they offer, keep, and refuse."""

import io
import json
import pickle
import zipfile

import numpy as np
import pytest
import scipy.sparse as sp

from helpers import stated_models as models
from solution_paths import (
    ApproximatePath,
    PathError,
    PathWarning,
    SolutionPath,
    elastic_net_path,
    lasso_path,
    rlad_path,
    solution_path,
    svm_path,
    svr_path,
)
from solution_paths.homotopy import statement as homotopy_statement
from solution_paths.problem import L1Constraint, Losses, Problem, losses, penalties, pieces
from solution_paths.solution import Reading, Scale, deciding, evaluation, follow
from solution_paths.verify import Answer, judge

X, U, Y, K = models.X, models.U, models.Y, models.K


def tube(t):
    """Not in the package: too low by 1 or too high by .5 costs nothing, then 1 to 3."""
    return Problem(
        Losses(pieces(knots=[U - 1.0, U + 0.5], slopes=[-t, 0.0, 3.0 * t]), X, free=1.0), ridge=1.0
    )


# ---------------------------------------------------------------------- a loss of one's own
def test_a_new_loss_takes_five_lines():
    path = solution_path(tube, 0.0, np.inf, parameter="C")
    assert path.certify(at_breakpoints=True).ok
    assert path.range == (0.0, np.inf)
    assert len(path.breakpoints) > 10
    r = path.decision_function(X, 2.0) - U
    found = np.sum(2.0 * np.maximum(-1.0 - r, 0) + 6.0 * np.maximum(r - 0.5, 0))
    assert found + path.coef(2.0) @ path.coef(2.0) / 2 == pytest.approx(
        judge(tube(2.0), path_answer(path, 2.0)).primal, rel=1e-12
    )
    assert path.plot().get_xlabel() == "C"
    curve = path.error_curve(X, U, "absolute")
    for C in (0.1, 1.0, 30.0):
        assert curve(C) == pytest.approx(np.abs(path.predict(X, C) - U).mean(), rel=1e-10)


def path_answer(path, t):
    return Answer(path.coef(t), path.free(t), [path.dual(t)])


def assert_same_statements(one, other, ends):
    """Compare all numbers of two models, constants of functions included, along a path."""
    for t in ends[0] + np.array([0.0, 0.3, 0.55, 0.9, 1.0]) * (ends[1] - ends[0]):
        for (name, wanted), (same, found) in zip(one(t).numbers(), other(t).numbers(), strict=True):
            assert name == same
            size = np.abs(wanted[np.isfinite(wanted)]).max(initial=0.0)
            np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12 * size, err_msg=name)


# ---------------------------------------------------------------------- what a path says
@pytest.mark.slow
@pytest.mark.parametrize("name", models.EXAMPLES)
def test_every_example_is_certified_kept_and_read_again(name):
    model, t0, t1 = models.EXAMPLES[name]
    path = solution_path(model, t0, t1, check="raise")
    assert (np.diff(path.breakpoints) > 0).all()
    assert path.certify(30).ok
    file = io.BytesIO()
    path.save(file)
    file.seek(0)
    for again in (SolutionPath.load(file), pickle.loads(pickle.dumps(path))):
        assert again.certify(10).ok
        np.testing.assert_array_equal(again.breakpoints, path.breakpoints)
        t = path.breakpoints[-2:].mean()
        for ours, theirs in zip(path._at(t), again._at(t), strict=True):
            np.testing.assert_array_equal(ours, theirs)
        assert_same_statements(path.line.at, again.line.at, (t0, t))


def test_a_loaded_model_knows_constants_that_grow_with_a_square():
    def model(delta):  # whose linear parts begin at delta^2
        return Problem(Losses(losses.huber(U, delta), X, free=1.0), ridge=1.0)

    path = solution_path(model, 0.1, 2.0)
    file = io.BytesIO()
    path.save(file)
    file.seek(0)
    assert_same_statements(model, SolutionPath.load(file).line.at, (0.1, 2.0))
    constants = [model(delta).losses[0].pieces.value[0] for delta in (0.1, 1.05, 2.0)]
    assert abs(constants[0] - 2 * constants[1] + constants[2]) > 1.0


def test_several_parameters_at_once_are_those_of_one_at_a_time():
    path = solution_path(lambda t: models.svr(X, U, t, 0.1), 0.0, np.inf)
    ts = [0.3, 5.0, 0.01, float(path.breakpoints[3]), 1e3]
    for name in ("coef", "free", "dual", "intercept"):
        own = getattr(path, name)
        np.testing.assert_array_equal(own(ts), np.stack([own(t) for t in ts], axis=-1))
    f = path.decision_function(X, ts)
    np.testing.assert_allclose(f, X @ path.coef(ts) + path.intercept(ts), rtol=0, atol=1e-13)


def test_a_kernel_path_takes_kernel_rows():
    path = solution_path(lambda t: models.svm(X, Y, t, K), 0.01, 3.0)
    f = path.decision_function(K[:7], 1.0)
    np.testing.assert_allclose(f, K[:7] @ path.dual(1.0) + path.intercept(1.0), atol=1e-12)
    np.testing.assert_allclose(path.expansion(1.0), path.dual(1.0), atol=1e-15)
    with pytest.raises(AttributeError, match="no coefficients"):
        path.coef(1.0)


def test_crossings_are_where_decisions_change_sign():
    path = solution_path(lambda t: models.svr(X, U, t, 0.1), 0.0, np.inf)
    rows = np.random.default_rng(5).normal(size=(40, 5))
    found = path.crossings(rows)
    assert sum(map(len, found)) > 5
    for row, own in zip(rows, found, strict=True):
        for t in own:
            before, at, after = path.decision_function([row], t * (1 + np.array([-1e-6, 0, 1e-6])))[
                0
            ]
            assert (before >= 0) != (after >= 0)
            assert abs(at) <= 1e-12
        ts = np.sort(np.random.default_rng(0).uniform(0, 2, 50))
        signs = path.decision_function([row], ts)[0] >= 0
        changes = np.searchsorted(own, ts[1:]) - np.searchsorted(own, ts[:-1])
        np.testing.assert_array_equal(signs[1:] != signs[:-1], changes % 2 == 1)


def test_rounding_is_no_crossing():
    # this row is on the tube's border, at f = 0, for an interval of costs
    path = solution_path(lambda t: models.svr(X, U, t, 0.1), 0.0, np.inf)
    row = X[35]
    assert np.abs(path.decision_function([row], [0.05, 0.1])).max() < 1e-12
    np.testing.assert_allclose(path.crossings([row])[0], [0.02607328, 0.11864176], atol=1e-8)


def test_the_best_parameter_is_better_than_a_grid():
    path = solution_path(lambda t: models.svr(X[:25], U[:25], t, 0.1), 0.0, np.inf, parameter="C")
    best = path.best(X[25:], U[25:], "squared")
    grid = np.geomspace(1e-3, 1e2, 400)
    errors = ((path.predict(X[25:], grid) - U[25:, None]) ** 2).mean(axis=0)
    assert best.value <= errors.min() * (1 + 1e-12)
    assert best.value == pytest.approx(
        ((path.predict(X[25:], best.parameter) - U[25:]) ** 2).mean(), rel=1e-9
    )


def labels(kind, **options):
    return Reading(5, np.ones((1, 1)), kind=kind, classes=np.array([-1.0, 1.0]), **options)


def test_wrong_labels_are_counted_exactly():
    path = solution_path(
        lambda t: models.svm(X[:25], Y[:25], t), 0.0, np.inf, reading=labels("sign")
    )
    weights = np.arange(1.0, 16.0)
    for sample_weight in (None, weights):
        curve = path.error_curve(X[25:], Y[25:], sample_weight=sample_weight)
        for t in np.random.default_rng(0).uniform(0, 3, 40):
            wrong = path.predict(X[25:], t) != Y[25:]
            assert curve(t) == pytest.approx(np.average(wrong, weights=sample_weight), abs=1e-12)
    with pytest.raises(ValueError, match="label 3"):
        path.error_curve(X, np.full(40, 3.0))
    f = path.decision_function(X[25:], 1.0)
    far = path.error_curve(X[25:], Y[25:], "absolute")(1.0)
    assert far == pytest.approx(np.abs(f - Y[25:]).mean(), rel=1e-12)


def test_a_parameter_that_is_an_inverse():
    # mean pinball + lam/2 |w|^2, divided by lam
    path = solution_path(
        lambda t: models.machine(losses.pinball(U, 0.3, t / 40), X),
        0.0,
        np.inf,
        parameter="lam",
        scale=Scale(inverse=True, divided=True),
    )
    assert path.range == (0.0, np.inf)
    assert (np.diff(path.breakpoints) > 0).all()
    assert path.certify().ok
    lam = 0.05
    found = judge(models.kernel_quantile(X, U, 0.3, lam), path_answer(path, lam))
    assert found.status == "holds"
    np.testing.assert_array_equal(path.dual([lam, 1.0])[:, 0], path.dual(lam))
    for knot in path.breakpoints:  # a breakpoint is the point itself, whatever its inverse is
        assert path._statement_parameters(knot)[0] in path.points.t
    curve = path.error_curve(X, U, "absolute")
    for own in (0.02, 0.3, 4.0):
        assert curve(own) == pytest.approx(np.abs(path.predict(X, own) - U).mean(), rel=1e-9)
    for where, row in zip(path.crossings(X), X, strict=True):
        assert (
            np.abs(path.decision_function([row], where)).max(initial=0.0) <= 1e-12
            if len(where)
            else True
        )


def test_a_path_that_jumps_is_optimal_on_both_sides():
    path = solution_path(lambda t: models.l1_svm(X, Y, t), 0.0, np.inf, parameter="lam")
    certificate = path.certify(at_breakpoints=True)
    assert certificate.ok
    assert certificate.n_points > 2 * len(path.breakpoints)
    assert not path.coef(1e6).any()


def test_a_sign_that_changes_at_infinity_alone_is_no_crossing():
    """Without an intercept f = 0, which counts as positive, in the limit of an infinite lam."""
    path = solution_path(
        lambda t: Problem(Losses(losses.hinge(Y, t), X), ridge=1.0),
        0.0,
        np.inf,
        parameter="lam",
        scale=Scale(inverse=True),
        reading=Reading(X.shape[1], np.zeros((1, 0)), kind="sign"),
    )
    rows = np.random.default_rng(9).normal(size=(60, X.shape[1]))
    lam = np.geomspace(1e-4, 1e4, 4000) * path.breakpoints[-1]
    signs = path.decision_function(rows, lam) >= 0
    found = path.crossings(rows)
    assert np.isfinite(np.concatenate(found)).all()
    assert [(own > lam[0]).sum() for own in found] == np.diff(signs).sum(axis=1).tolist()
    assert 0 < (~signs).all(axis=1).sum() < 60


def test_a_walk_downwards_reads_upwards():
    there = solution_path(lambda t: models.svr(X, U, 1.0, t), 1.03, 0.02)
    back = solution_path(lambda t: models.svr(X, U, 1.0, t), 0.02, 1.03)
    np.testing.assert_allclose(there.breakpoints, back.breakpoints, rtol=1e-9)
    np.testing.assert_allclose(there.coef([0.1, 0.5]), back.coef([0.1, 0.5]), rtol=1e-9)


@pytest.mark.parametrize(
    "model",
    [
        lambda t: models.svr(X, U, 1.0, t),
        lambda t: tube(1.0 + t),
        lambda t: models.kernel_quantile(X, U, 0.3 + t / 10, 0.1, K),
        lambda t: models.l1_svm(X, Y, t),
    ],
)
def test_parts_of_recorded_points_are_those_of_the_whole(model):
    path = solution_path(model, 0.02, 1.0)
    points, count = path.points, len(path.points)
    which = np.random.default_rng(0).permutation(count)
    whole = points.at(np.arange(count))
    np.testing.assert_array_equal(points.at(which), whole[which])
    held = path.statement.held
    np.testing.assert_array_equal(points.at(which, held), whole[which][:, held])
    w, v, _ = path.statement.answer(whole)
    for own, other in zip(path.variables_at(np.arange(count)), (w, v), strict=True):
        np.testing.assert_array_equal(own, other)


def test_decisions_that_are_nothing_but_rounding_are_zero():
    path = solution_path(lambda t: models.svr(X, U, 1.0, t), 0.02, 1.0)
    w, v = path.variables_at(np.arange(len(path.points)))
    middle = len(w) // 2
    rows = np.vstack([X[:5], X[:5]])
    # move along w until a decision vanishes at one recorded point but for rounding
    rows[:5] -= np.outer(X[:5] @ w[middle] + v[middle], w[middle] / (w[middle] @ w[middle]))
    (f,) = evaluation.blocks(path, rows)
    plain = path.reading.decisions(rows, w, v)
    tiny = np.abs(plain) <= deciding.ROUNDED * path.reading.sizes(rows, w, v)
    assert tiny[:5, 0, middle].any()
    np.testing.assert_allclose(f, np.where(tiny, 0.0, plain), rtol=0, atol=1e-12)
    assert (f[tiny] == 0.0).all()


# ---------------------------------------------------------------------- certificates
@pytest.mark.parametrize("seed", [0, 2, 4, 6, 9, 12])
def test_small_weights_stay_where_duals_grow_large(seed):
    # a weight of a column of thousands was taken for what rounding leaves of costs of 1e12
    rng, n = np.random.default_rng(seed), 14
    wide = np.column_stack(
        [rng.integers(18, 90, n), rng.normal(4e4, 1e4, n).round(-2), rng.random(n)]
    )
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    y[:2] = 1.0, -1.0

    def model(t):
        loss = Losses(losses.hinge(y, t / n), wide, free=1.0)
        return Problem(loss, penalties.l1(3, 0.05 * t), ridge=1.0)

    path = solution_path(model, 0.0, 1e12, check="ignore")
    assert path.certify(at_breakpoints=True).ok


def test_a_wrong_path_fails_its_certificate_and_warns():
    path = solution_path(tube, 0.0, 5.0)
    unknowns = path.points.arrays()["unknowns"]
    for change in (1e-3, np.nan):
        wrong = unknowns.copy()
        wrong[len(wrong) // 2, 3] += change
        file = io.BytesIO()
        path.save(file)
        file.seek(0)
        other = resaved(file, {"points/unknowns": wrong})
        assert other.certify(at_breakpoints=True).status == "fails"


def test_a_model_that_is_not_what_was_walked_is_noticed(monkeypatch):
    calls = []

    def model(t):  # three are asked for rates, all others judged
        calls.append(t)
        return tube(t if len(calls) <= 3 else t + 0.1)

    with pytest.warns(PathWarning, match="is wrong: at C = "):
        solution_path(model, 0.1, 5.0, parameter="C")
    calls.clear()
    with pytest.raises(PathError, match="off by"):
        solution_path(model, 0.1, 5.0, check="raise")
    calls.clear()
    solution_path(model, 0.1, 5.0, check="ignore")


# ---------------------------------------------------------------------- files
def resaved(file, changes, meta=None):
    """Return a path read from a saved one with other content."""
    with np.load(file) as archive:
        content = {k: archive[k] for k in archive.files} | changes
    if meta is not None:
        content["meta"] = np.array(json.dumps(json.loads(str(content["meta"])) | meta))
    out = io.BytesIO()
    np.savez(out, **content)
    out.seek(0)
    return SolutionPath.load(out)


def test_a_file_that_is_not_a_path_ends_in_a_sentence(tmp_path):
    path = solution_path(tube, 0.1, 5.0)
    path.save(tmp_path / "path")
    file = tmp_path / "path.npz"
    assert SolutionPath.load(file).certify(10).ok
    with pytest.raises(ValueError, match="format 99, this version reads 2"):
        resaved(file, {}, {"format": 99})
    with pytest.raises(ValueError, match=r"is not a path written by SolutionPath\.save"):
        resaved(file, {"points/unknowns": np.zeros((3, 3))})
    with pytest.raises(ValueError, match=r"was written by SolutionPath\.save"):
        ApproximatePath.load(file)
    whole = file.read_bytes()
    broken = bytearray(whole)
    with zipfile.ZipFile(file) as archive:
        entry = archive.getinfo("points/unknowns.npy")
    broken[entry.header_offset + 200] ^= 255
    for content in (whole[:-100], b"nothing", bytes(broken)):
        file.write_bytes(content)
        with pytest.raises(ValueError, match=r"is not a path written by SolutionPath\.save"):
            SolutionPath.load(file)
    with pytest.raises(FileNotFoundError):
        SolutionPath.load(tmp_path / "none.npz")


def test_a_saved_path_knows_a_constraint_that_free_variables_widen():
    def model(t):
        loss = Losses(losses.absolute(U), X, free=np.c_[np.ones(40), np.zeros(40)])
        return Problem(
            [loss, Losses(penalties.between(1, 0.0, t), 0, [[0.0, 1.0]])],
            constraint=L1Constraint(0.0, [0.0, 1.0]),
            linear=[0.0, 0.0],
        )

    path = solution_path(model, 0.1, 2.0)
    file = io.BytesIO()
    path.save(file)
    file.seek(0)
    assert SolutionPath.load(file).certify(10).status == path.certify(10).status == "holds"


# ---------------------------------------------------------------------- what is refused
@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda: solution_path(lambda t: tube(t**2), 0.0, 1.0), "does not move affinely"),
        (lambda: solution_path(lambda t: t, 0.0, 1.0), "let it return a Problem"),
        (lambda: solution_path(tube, 1.0, 1.0), "two ends of a path"),
        (lambda: solution_path(tube, np.nan, 1.0), "t0 must be a finite number"),
        (lambda: solution_path(tube, 0.0, -np.inf), "negative"),
        (lambda: solution_path(tube, 0.0, 1.0, check="no"), "check must be one of"),
        (lambda: solution_path(tube, 0.0, 1.0).coef(2.0), r"outside this path, .* \[0, 1\]"),
        (lambda: solution_path(tube, 0.0, 1.0).coef("a"), "t must be one number"),
        (lambda: solution_path(tube, 0.0, 1.0).coef([[1.0]]), "t must be one number"),
        (lambda: solution_path(tube, 0.0, 1.0).coef([]), "t must be one number"),
        (lambda: solution_path(tube, 0.0, 1.0).dual(0.5, 1), "group must be a whole number"),
        (lambda: solution_path(tube, 0.0, 1.0).predict(X[:, :2], 0.5), "has 2 columns"),
        (lambda: solution_path(tube, 0.0, 1.0).best(X, U, "zero_one"), "not for this path"),
        (lambda: solution_path(tube, 0.0, 1.0).certify(-1), "n_random must be"),
    ],
)
def test_what_is_wrong_is_said(change, said):
    with pytest.raises(ValueError, match=said):
        change()


def test_a_path_without_an_optimum_says_where():
    with pytest.raises(PathError, match=r"no optimum beyond 0\.6"):
        solution_path(lambda t: models.nu_svm(X, Y, t), 0.3, np.inf)


@pytest.mark.parametrize("name", ["elastic net", "SVR", "LAD, l1", "LAD, constraint"])
def test_large_sparse_rows_are_walked_in_csr(name, monkeypatch):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(60, 25)) * (rng.random((60, 25)) < 0.2)
    u = rows[:, 0] - rows[:, 1] + 0.3 * rng.normal(size=60)
    trace = {
        "elastic net": lambda rows: elastic_net_path(rows, u, lam2=0.3),
        "SVR": lambda rows: svr_path(rows, u),
        "LAD, l1": lambda rows: rlad_path(rows, u),
        "LAD, constraint": lambda rows: rlad_path(rows, u, vary="s"),
    }[name]
    dense = trace(rows)
    monkeypatch.setattr(homotopy_statement, "DENSE_ENTRIES", 0)
    own = trace(sp.csr_array(rows))
    assert sp.issparse(own.statement.R)
    assert not sp.issparse(trace(rows).statement.R)
    t = np.quantile(dense.breakpoints, [0.1, 0.5, 0.8])
    np.testing.assert_allclose(own.coef(t), dense.coef(t), rtol=0, atol=1e-12)
    assert own.certify(at_breakpoints=True).ok


def test_duals_at_zero_of_an_inverse_are_their_limits():
    path = svr_path(X, U, vary="lam")
    least = path.breakpoints[0]
    np.testing.assert_allclose(path.dual(0.0), path.dual(1e-9 * least), rtol=1e-6, atol=1e-9)


def test_an_error_hands_over_the_part_before_it():
    # beyond t = 2 the losses fall for ever, and with them the objective along the bias
    def model(t):
        loss = pieces(knots=[U], slopes=[-1.0 - t, 2.0 - t])
        return Problem(Losses(loss, X, free=1.0), ridge=1.0)

    with pytest.raises(PathError, match="no optimum beyond 2") as told:
        solution_path(model, 0.0, 3.0)
    for error in (told.value, pickle.loads(pickle.dumps(told.value))):
        assert error.path.range == (0.0, pytest.approx(2.0))
        assert error.path.certify(at_breakpoints=True).ok
    assert "error.path is the certified part, t from 0 to 2." in str(told.value)


@pytest.mark.parametrize("end", [1.0, np.inf])
def test_a_callback_is_told_of_progress_and_may_end_it(end):
    told = []
    path = solution_path(tube, 0.0, end, callback=lambda *now: told.append(now))
    done, events = np.transpose(told)
    assert (np.diff(done) >= 0).all()
    assert (np.diff(events) >= 0).all()
    assert told[-1] == (1.0, path.diagnostics["events"])
    assert events[-1] >= len(path.breakpoints) - 2

    def stop(done, events):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        solution_path(tube, 0.0, end, callback=stop)

    with pytest.raises(TypeError, match="callback must be callable"):
        solution_path(tube, 0.0, end, callback=3)


def test_decisions_that_are_not_known_are_asked_for():
    model, t0, t1 = models.EXAMPLES["ordinal SVM"]
    path = solution_path(model, t0, t1)
    assert path.free(1.0).shape == (2,)
    with pytest.raises(AttributeError, match="give solution_path a reading"):
        path.decision_function(X, 1.0)


def test_no_recorded_points_have_no_decisions():
    path = svr_path([[0.0], [1.0], [2.0]], [0.0, 1.0, 1.5])
    w, v = path.variables_at(np.empty(0, dtype=np.int64))
    assert path.reading.decisions(np.ones((4, 1)), w, v).shape == (4, 1, 0)


def test_a_path_without_an_event_whose_farther_walk_is_lost_is_an_error(monkeypatch):
    """Nothing happens up to 2^40, and what comes then isn't known: it isn't said to be constant."""
    walked, ends = follow._walk_from_start, []

    def lost(line, *arguments, **options):
        ends.append(line.t1)
        if len(ends) > 1:
            raise PathError("lost", None)
        return walked(line, *arguments, **options)

    monkeypatch.setattr(follow, "_walk_from_start", lost)

    def model(cost):
        return Problem(Losses(losses.hinge([1.0, -1.0], cost), np.zeros((2, 1))), ridge=1.0)

    with pytest.raises(PathError, match="lost"):
        solution_path(model, 0.0, np.inf)
    assert ends == [2.0**40, 2.0**80]


@pytest.mark.filterwarnings("ignore:The columns of X differ in scale")
def test_no_breakpoint_is_too_far():
    """Two pairs on two axes: each reaches its margin at C = 1 / (2 x^2), and w_j = 2 C x before."""
    X = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1e-9], [0.0, -1e-9]])
    path = svm_path(X, [1, -1, 1, -1], C_max=np.inf)
    np.testing.assert_allclose(path.breakpoints[:3], [0.0, 0.5, 5e17], rtol=1e-14)
    np.testing.assert_allclose(path.breakpoints[3:], 5e17, rtol=1e-14)  # rounding parts a tie
    np.testing.assert_allclose(path.coef([1e12, 1e18]), [[1.0, 1.0], [2e3, 1e9]], rtol=1e-14)
    assert path.certify().ok


def test_a_far_breakpoint_of_nearly_equal_columns_is_found():
    """w moves on slowly beyond C = 1e3, where only the columns' difference gains anything."""
    rng = np.random.default_rng(23)
    Z = rng.normal(size=(23, 3))
    X = np.column_stack([Z, Z[:, 0] * (1 + 1e-9 * rng.normal(size=23))])
    y = np.where(X @ rng.normal(size=4) + 2 * rng.normal(size=23) > 0, 1, -1)
    path = svm_path(X, y, C_max=np.inf)
    assert path.breakpoints[-1] > 1e15
    assert path.certify(at=[1e3, 1e6]).ok
    far = path.certify(at=[1e9, 1e12, 1e15])  # a unit of the last place of a dual is 1e-7 there
    assert far.status != "fails"
    assert far.gap < 1e-9


def test_rounding_of_data_makes_no_far_breakpoint():
    """Duals balance rows of tenths up to their rounding, which would move w by 1e-17 C."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, size=(8, 2)) / 10
    path = svr_path(X - X.mean(axis=0), rng.integers(0, 9, size=8) / 10, epsilon=0.1)
    assert path.breakpoints[-1] == pytest.approx(5.0, rel=1e-12)
    assert path.range == (0.0, np.inf)
    assert path.certify().ok


@pytest.mark.parametrize("unit", [1e-12, 1.0, 1e12])
def test_a_lasso_begins_at_its_first_breakpoint_in_any_unit(unit):
    """With orthogonal columns lam = |x_j.y|, and w_j = 0 from there on."""
    path = lasso_path(unit * np.eye(3), np.array([3.0, 2.0, -5.0]), fit_intercept=False)
    np.testing.assert_allclose(path.breakpoints, unit * np.array([0.0, 2.0, 3.0, 5.0]), rtol=1e-15)
    assert not path.coef(1e30 * unit).any()
