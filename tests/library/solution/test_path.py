"""What a path offers beside its solutions: crossings, best, steps, files, pictures."""

import os

import numpy as np
import pytest
import scipy.sparse as sp

from helpers.data_makers import classes
from helpers.small_paths import CLASSIFIERS, KINDS, a_path, new_rows, rows
from solution_paths import (
    SolutionPath,
    dm_ksvm_path,
    drsvm_path,
    l1_svm_path,
    outlier_svm_path,
    quantile_svm_path,
    svm_path,
)
from solution_paths.solution.evaluation import positive_length


def ends(path):
    return float(path.breakpoints[0]), float(path.breakpoints[-1])


# -- crossings --------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_decisions_vanish_at_crossings_and_nowhere_else(kind):
    path = a_path(kind)
    X_new, _ = new_rows(path)
    low, high = ends(path)
    crossings = path.crossings(X_new)
    assert len(crossings) == len(X_new)
    assert sum(map(len, crossings)) > 5
    grid = np.union1d(np.linspace(low, high, 1500), path.breakpoints)
    f = np.stack([path.decision_function(X_new, t) for t in grid], axis=1)
    scale = np.abs(f).max()
    for row, own in enumerate(crossings):
        assert (np.diff(own) > 0).all()
        assert ((own >= low) & (own <= high)).all()
        for t in own:
            assert abs(path.decision_function(X_new[row : row + 1], t)[0]) <= 1e-12 * scale
        # between crossings the sign stays what it is on the fine grid
        flips = np.searchsorted(own, grid, side="left") % 2 == 1
        clear = np.abs(f[row]) > 1e-12 * scale
        expected = (f[row, 0] >= 0) ^ flips
        assert (expected == (f[row] >= 0))[clear].all()


def test_crossings_ascend_where_the_inverse_of_the_parameter_is_walked():
    r = np.random.default_rng(0)
    X, X_new = r.normal(size=(40, 3)), r.normal(size=(60, 3))
    y = np.where(X @ [1.0, -0.7, 0.3] + 0.6 * r.normal(size=40) > 0.2, 1, -1)
    for path in (dm_ksvm_path(X, y, 2.5), drsvm_path(X, y, vary="lam2", lam1=0.02)):
        assert path.scale.inverse
        several = [found for found in path.crossings(X_new) if len(found) > 1]
        assert several
        for found in several:
            assert (np.diff(found) > 0.0).all()


def test_each_crossing_changes_the_sign():
    path = a_path("quantile")
    X_new, _ = new_rows(path, 200)
    for row, own in enumerate(path.crossings(X_new)):
        if len(own) == 0:
            continue
        room = 0.5 * np.diff(np.concatenate([[0.0], own, [1.0]])).min()
        step = min(1e-6, room)
        for t in own:
            left, right = (
                path.decision_function(X_new[row : row + 1], t + s)[0] for s in (-step, step)
            )
            assert left * right < 0


def test_rows_that_keep_their_sign_have_no_crossings():
    path = a_path("weighted")
    X_new, _ = new_rows(path, 300)
    f = np.stack([path.decision_function(X_new, t) for t in path.breakpoints], axis=1)
    still = (f > 0).all(axis=1) | (f < 0).all(axis=1)
    assert 0 < still.sum() < 300
    for own, never in zip(path.crossings(X_new), still, strict=True):
        assert (len(own) == 0) or not never
        assert (len(own) > 0) or never


# -- validation errors ------------------------------------------------------------------------


def brute_errors(path, X_new, y_new, points):
    return np.array([np.mean(path.predict(X_new, t) != y_new) for t in points])


@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_error_steps_against_brute_force(kind):
    path = a_path(kind)
    X_new, y_new = new_rows(path)
    curve = path.error_curve(X_new, y_new, "zero_one")
    edges, error = curve.edges, curve.left
    assert edges[0] == ends(path)[0]
    assert edges[-1] == path.range[1]
    assert len(error) == len(edges) - 1
    wide = np.diff(edges) > 1e-9 * (edges[-1] - edges[0])
    for part in (0.05, 0.5, 0.95):
        points = edges[:-1] + part * np.diff(edges)
        brute = brute_errors(path, X_new, y_new, points[wide])
        np.testing.assert_allclose(error[wide], brute, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_best_error_against_brute_force(kind):
    path = a_path(kind)
    X_new, y_new = new_rows(path)
    low, high = ends(path)
    best = path.best(X_new, y_new)
    near = np.concatenate(path.crossings(X_new))
    width = 1e-7 * (high - low)
    points = np.concatenate([np.linspace(low, high, 2000), near - width, near + width])
    points = points[(points >= low) & (points <= high)]
    assert best.value <= brute_errors(path, X_new, y_new, points).min() + 1e-12
    assert brute_errors(path, X_new, y_new, [best.parameter])[0] == pytest.approx(best.value)
    assert (best.intervals[:, 0] < best.intervals[:, 1]).all()
    inside = [0.5 * (a + b) for a, b in best.intervals if b - a > 1e-9]
    np.testing.assert_allclose(brute_errors(path, X_new, y_new, inside), best.value)


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["absolute", "squared"])
@pytest.mark.parametrize("kind", ["svr", "svm"])
def test_best_regression_error_against_brute_force(metric, kind):
    path = a_path(kind)
    X_new, _ = new_rows(path)
    y_new = X_new[:, 0] + 0.3 * np.random.default_rng(3).normal(size=len(X_new))
    low, high = ends(path)

    def error(t):
        residual = path.decision_function(X_new, t) - y_new
        return np.mean(np.abs(residual)) if metric == "absolute" else np.mean(residual**2)

    best = path.best(X_new, y_new, metric)
    points = np.union1d(np.linspace(low, high, 4000), path.breakpoints)
    brute = np.array([error(t) for t in points])
    assert best.value <= brute.min() * (1 + 1e-12)
    assert error(best.parameter) == pytest.approx(best.value, rel=1e-10)
    # and it isn't below what a fine search around the best grid point can find
    k = int(np.argmin(brute))
    fine = np.linspace(points[max(k - 1, 0)], points[min(k + 1, len(points) - 1)], 2001)
    assert min(error(t) for t in fine) <= best.value * (1 + 1e-4)


def test_error_steps_with_labels_of_another_kind():
    X, y = rows(50)
    path = quantile_svm_path(X, np.where(y > 0, "b", "a"), 0.05)
    X_new, y_new = rows(40, seed=9)
    plain = quantile_svm_path(X, y, 0.05)
    labels = np.where(y_new > 0, "b", "a")
    ours, theirs = path.error_curve(X_new, labels), plain.error_curve(X_new, y_new)
    np.testing.assert_array_equal(ours.edges, theirs.edges)
    np.testing.assert_array_equal(ours.left, theirs.left)
    assert path.best(X_new, labels).value == plain.best(X_new, y_new).value


def test_validation_errors_name_what_is_wrong():
    path, svr = a_path("quantile"), a_path("svr")
    X_new, y_new = rows(10)
    with pytest.raises(ValueError, match=r"y_val has shape \(9,\), but X_val has 10 rows"):
        path.best(X_new, y_new[:9])
    with pytest.raises(ValueError, match="metric must be one of zero_one, absolute, squared"):
        path.best(X_new, y_new, "auc")
    with pytest.raises(ValueError, match="is not for this path"):
        svr.best(X_new, y_new, "zero_one")


# -- files ------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_saving_and_loading_keeps_every_bit(kind, tmp_path):
    path = a_path(kind)
    file = tmp_path / "path.npz"
    path.save(file)
    again = SolutionPath.load(file)
    assert again.parameter == path.parameter
    assert again.diagnostics == path.diagnostics
    np.testing.assert_array_equal(again.breakpoints, path.breakpoints)
    assert again.range == path.range
    X_new, _ = new_rows(path)
    low, high = ends(path)
    for t in np.concatenate([path.breakpoints[::5], np.linspace(low, high, 23)]):
        assert again.dual(t).tobytes() == path.dual(t).tobytes()
        assert again.intercept(t) == path.intercept(t)
        np.testing.assert_array_equal(
            again.decision_function(X_new, t), path.decision_function(X_new, t)
        )
    certificate = path.certify(n_random=5)
    found = again.certify(n_random=5)
    assert found.status == certificate.status == "holds"
    assert found.gap == pytest.approx(certificate.gap, abs=1e-15)
    assert [p.name for p in tmp_path.iterdir()] == ["path.npz"]


def test_the_ray_after_the_last_breakpoint_survives_a_file(tmp_path):
    path = a_path("svm")
    path.save(tmp_path / "p.npz")
    again = SolutionPath.load(tmp_path / "p.npz")
    assert path.range[1] == np.inf
    np.testing.assert_array_equal(again.dual(1e5), path.dual(1e5))


def test_a_loaded_path_cannot_be_continued(tmp_path):
    a_path("weighted").save(tmp_path / "p.npz")
    with pytest.raises(ValueError, match="can't be continued"):
        SolutionPath.load(tmp_path / "p.npz").continue_to(np.ones(50))


@pytest.mark.parametrize(
    "content", [b"", b"not a path", b"PK\x03\x04 torn", bytes(range(256)) * 9], ids=len
)
def test_a_file_that_is_no_path_is_named(content, tmp_path):
    file = tmp_path / "garbage.npz"
    file.write_bytes(content)
    with pytest.raises(ValueError, match=r"garbage.npz is not a path written by SolutionPath.save"):
        SolutionPath.load(file)


def test_a_truncated_file_is_named(tmp_path):
    file = tmp_path / "p.npz"
    a_path("quantile").save(file)
    whole = file.read_bytes()
    for part in (0.1, 0.5, 0.99):
        file.write_bytes(whole[: int(part * len(whole))])
        with pytest.raises(ValueError, match=r"is not a path written by SolutionPath\.save"):
            SolutionPath.load(file)


def test_a_damaged_file_is_named(tmp_path):
    file = tmp_path / "p.npz"
    a_path("quantile").save(file)
    whole = bytearray(file.read_bytes())
    third = len(whole) // 3
    whole[third : third + 400] = bytes(400)
    file.write_bytes(whole)
    with pytest.raises(ValueError, match=r"is not a path written by SolutionPath\.save"):
        SolutionPath.load(file)


def test_an_archive_of_something_else_is_named(tmp_path):
    np.savez(tmp_path / "other.npz", a=np.ones(3))
    with pytest.raises(ValueError, match=r"other.npz is not a path"):
        SolutionPath.load(tmp_path / "other.npz")
    np.save(tmp_path / "array.npy", np.ones(3))
    with pytest.raises(ValueError, match=r"array.npy is not a path"):
        SolutionPath.load(tmp_path / "array.npy")


def test_a_missing_file_stays_a_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        SolutionPath.load(tmp_path / "nowhere.npz")


def test_a_save_that_breaks_off_leaves_the_old_file(tmp_path, monkeypatch):
    file = tmp_path / "p.npz"
    path = a_path("quantile")
    path.save(file)
    before = file.read_bytes()

    def full(handle, **content):
        handle.write(b"half")
        raise OSError("no space left")

    monkeypatch.setattr(np, "savez_compressed", full)
    with pytest.raises(OSError, match="no space left"):
        path.save(file)
    assert file.read_bytes() == before
    monkeypatch.undo()
    path.save(os.fspath(file))
    assert SolutionPath.load(file).certify(n_random=1).ok


# -- the rest ---------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_breakpoints_ascend_and_duals_are_linear_between(kind):
    path = a_path(kind)
    nodes = path.breakpoints
    assert (np.diff(nodes) > 0).all()
    assert (path.points.t[1:] >= path.points.t[:-1]).all()
    for left, right in zip(nodes[:-1:9], nodes[1::9], strict=False):
        third = left + (right - left) / 3
        expected = path.dual(left) + (path.dual(right) - path.dual(left)) / 3
        scale = np.abs(expected).max()
        np.testing.assert_allclose(path.dual(third), expected, atol=1e-9 * scale)


@pytest.mark.parametrize("kind", ["quantile", "weighted", "svr"])
def test_plot(kind):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    path = a_path(kind)
    ax = path.plot()
    assert ax.get_xlabel() == path.parameter
    linear = kind != "weighted"
    assert ax.get_ylabel() == ("coefficient" if linear else "dual variable")
    assert len(ax.lines) == (3 if linear else 50)
    x, curve = ax.lines[1].get_data()
    k = len(x) // 2
    expected = path.coef(x[k])[1] if linear else path.dual(x[k])[1]
    assert curve[k] == pytest.approx(expected, abs=1e-12)
    assert len(path.plot("dual", max_lines=4).lines) == 4
    plt.close("all")


def test_repr_says_what_it_is():
    text = repr(a_path("quantile"))
    assert "SolutionPath in tau from 0 to 1" in text


def test_only_weighted_paths_continue():
    with pytest.raises(ValueError, match="is not a path in instance weights"):
        a_path("quantile").continue_to(np.ones(50))


@pytest.mark.slow
def test_weights_at_many_parameters_are_those_at_each():
    """Near tau = 0 sums of duals cancel: weights of many solutions are summed as those of one."""
    r = np.random.default_rng(4)
    X = sp.random_array((30, 600), density=0.1, rng=r, format="csr")
    path = quantile_svm_path(X, np.arange(30) % 2, 1e-6)
    assert path.statement.face == "dual"
    t = np.concatenate([np.geomspace(1e-9, 1.0, 150), path.breakpoints])
    found = path.coef(t)
    for k in range(len(t)):
        np.testing.assert_array_equal(found[:, k], path.coef(t[k]))


def test_the_dual_at_a_penalty_of_zero_is_the_limit():
    """In the unit of the path's own objective: shares of 1 / n, not of 1."""
    X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1]
    for path in (
        dm_ksvm_path(X, y, kappa=4.0, lam_min=0.0),
        drsvm_path(X, y, vary="lam2", lam1=0.0),
    ):
        assert path.range[0] == 0.0
        limit = path.dual(1e-9)
        assert np.abs(limit).max() > 0.01
        np.testing.assert_allclose(path.dual(0.0), limit, atol=1e-8)


@pytest.mark.parametrize("flipped", [False, True])
def test_the_positive_length_in_a_penalty_is_what_a_fine_grid_counts(flipped):
    X, y = classes(40)
    path, new = dm_ksvm_path(X, (y == "b") != flipped, 3.0), classes(60, seed=5)[0]
    length, crossings = positive_length(path, new), path.crossings(new)
    first, top = path.breakpoints[0], 3.0
    assert max(own.max(initial=0.0) for own in crossings) < top
    grid = np.linspace(first, top, 6001)
    positive = path.decision_function(new, grid) >= 0
    above = positive[:, -1]
    assert above.all() if flipped else not above.any()  # the larger class, where w vanishes
    assert (np.isinf(length) == above).all()
    counted = positive.mean(axis=1) * (top - first)
    np.testing.assert_allclose(length[~above], counted[~above], atol=0.002 * top)
    assert np.ptp(counted) > 0.1


def test_coefficients_that_are_not_in_use_are_zeros_without_a_sign():
    X, y = classes(40)
    path = l1_svm_path(X, y)
    w = path.coef(np.linspace(0.3, 0.95, 20) * path.breakpoints[-1])
    assert 5 < (w == 0.0).sum() < w.size
    assert not np.signbit(w[w == 0.0]).any()


def test_by_default_a_certificate_samples_inner_breakpoints():
    X, y = classes(30)
    path = svm_path(X, y, C_max=5.0)
    nodes, ends_of = len(path.points), 2
    assert nodes > 20
    all_of_them = path.certify(n_random=nodes)
    assert all_of_them.ok
    assert all_of_them.n_points == path.certify(nodes, at_breakpoints=True).n_points >= nodes
    ends = path.certify(nodes, at_breakpoints=False).n_points
    assert all_of_them.n_points - ends == nodes - ends_of > 20
    some = path.certify(n_random=6).n_points
    assert path.certify(6, at_breakpoints=False).n_points < some <= ends_of + 6 + 6


def test_a_certificates_points_follow_from_its_seed():
    path = svm_path(*classes(30))
    points = {seed: path._some(10, seed, None)[1].tolist() for seed in (0, 1)}
    assert points[0] != points[1]
    assert path._some(10, 0, None)[1].tolist() == points[0]
    for own in (path, outlier_svm_path(*classes(30), 10.0)):
        assert own.certify(10, seed=0) == own.certify(10)


# -- several parameters -----------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_several_parameters_give_what_each_gives(kind):
    path = a_path(kind)
    several = np.linspace(*ends(path), 4).tolist()
    one_each = [path.objective_value(t) for t in several]
    assert path.objective_value(several).tolist() == pytest.approx(one_each, rel=1e-12, abs=1e-300)
    assert path.objective_value(np.array(several[:1])).shape == (1,)
    assert path.intercept(several).tolist() == [path.intercept(t) for t in several]
    with pytest.raises(ValueError, match="must be one number here"):
        path.stated_at(several)


def test_outliers_at_several_parameters():
    X, y = classes()
    path = outlier_svm_path(X, y, C=1.0)
    found = path.outliers([0.0, 0.5])
    assert found.shape == (len(y), 2)
    assert (found == np.column_stack([path.outliers(0.0), path.outliers(0.5)])).all()
    with pytest.raises(ValueError, match="theta must be one number here"):
        path.at_threshold([0.0, 0.5])
    with pytest.raises(TypeError, match="The value of theta is missing"):
        path.at_threshold()
