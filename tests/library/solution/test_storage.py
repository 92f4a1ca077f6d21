"""A path is its own: no aliases, and it survives files, pickles and other processes."""

import copy
import io
import json
import multiprocessing
import pickle
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from helpers import DATA
from solution_paths import (
    OutlierPath,
    PathError,
    SolutionPath,
    drlad_path,
    drsvm_path,
    lasso_path,
    logistic_path,
    noncrossing_quantiles_path,
    outlier_svr_path,
    poisson_path,
    quantile_svm_path,
    svm_path,
    update_instances,
    weighted_svm_path,
    weighted_svr_path,
)
from solution_paths.homotopy import run

pytestmark = pytest.mark.slow

N = 24
RNG = np.random.default_rng(5)
X = RNG.normal(size=(N, 3))
SIDE = X[:, 0] + 0.8 * RNG.normal(size=N) > 0
Y = np.where(SIDE, 1.0, -1.0)
TARGET = X[:, 0] - X[:, 1] + 0.3 * RNG.normal(size=N)
BEFORE, AFTER = np.linspace(0.5, 2.0, N), np.linspace(2.0, 0.5, N)

PATHS = {
    "quantile": lambda X, y, v: quantile_svm_path(X, y, 0.05),
    "rbf": lambda X, y, v: quantile_svm_path(X, y, 0.05, kernel="rbf", gamma="scale"),
    "svm": lambda X, y, v: svm_path(X, y),
    "weighted": lambda X, y, v: weighted_svm_path(X, y, *v),
    "svr": lambda X, y, v: weighted_svr_path(X, y, *v, 0.1),
    "lasso": lambda X, y, v: lasso_path(X, y, fit_intercept=False),
    "drlad": lambda X, y, v: drlad_path(X, y, lam2=0.1),
    "drsvm": lambda X, y, v: drsvm_path(X, y, lam2=0.1),
}
REGRESSION = ("svr", "drlad", "lasso")


def make(kind, rows=X, labels=None, weights=(BEFORE, AFTER)):
    y = TARGET if kind in REGRESSION else Y if labels is None else labels
    return PATHS[kind](rows, y, weights)


def middle(path):
    return float(path.breakpoints[[0, -1]].mean())


def state(path):
    t = middle(path)
    # the last digits of a certificate are those of the model, or of its numbers in a file
    status = path.certify(3).status
    return path.dual(t), path.intercept(t), path.decision_function(X[:5], t), status


def assert_same(path, before):
    for ours, theirs in zip(state(path), before, strict=True):
        np.testing.assert_array_equal(ours, theirs)


# -- no aliases -------------------------------------------------------------------------------


@pytest.mark.parametrize("hold", [np.array, sp.csr_array, np.asfortranarray, pd.DataFrame])
@pytest.mark.parametrize("kind", PATHS)
def test_what_happens_to_the_callers_arrays_is_no_matter(kind, hold):
    rows, y, weights = hold(X), np.array(TARGET if kind in REGRESSION else Y), [BEFORE, AFTER]
    weights = [w.copy() for w in weights]
    path = PATHS[kind](rows, y, weights)
    before = state(path)
    if sp.issparse(rows):
        rows.data *= 3.0
        rows.indices[:] = 0
        rows.indptr[:] = 0
        rows.data = np.zeros(3)
    else:
        rows -= rows.mean(axis=0)
    y *= -1.0
    for own in weights:
        own += 5.0
    assert_same(path, before)


def test_a_gram_matrix_is_copied_unless_nobody_can_write_to_it():
    K = X @ X.T
    path = svm_path(K, Y, kernel="precomputed")
    K *= 2.0
    assert path.certify(3).ok
    K.flags.writeable = False
    path = svm_path(K, Y, kernel="precomputed")
    assert path.line.start.kernel is K
    assert path.certify(3).ok


def test_a_read_only_view_of_what_can_be_written_is_copied():
    rows = X.copy()
    view = rows[:]
    view.flags.writeable = False
    path = svm_path(view, Y)
    before = state(path)
    rows *= 2.0
    assert_same(path, before)


def test_a_pathss_own_data_can_not_be_changed_by_accident():
    with pytest.raises(ValueError, match="read-only"):
        make("svm").rows[0, 0] = 3.0


# -- files ------------------------------------------------------------------------------------

names = np.where(SIDE, "yes", "no")
LABELS = {
    "object": names.astype(object),
    "list": names.tolist(),
    "fixed strings": names,
    "bytes": names.astype("S"),
    "pandas strings": pd.Series(names, dtype="string"),
    "pandas str": pd.Series(names),
    "categories": pd.Series(names, dtype="category"),
    "Categorical": pd.Categorical(names),
    "nullable integers": pd.Series(SIDE.astype(int), dtype="Int64"),
    "nullable booleans": pd.Series(SIDE, dtype="boolean"),
    "booleans": SIDE,
    "boolean objects": SIDE.astype(object),
    "integer objects": SIDE.astype(int).astype(object),
    "small integers": SIDE.astype(np.int8),
    "floats": Y.astype(np.float32),
}


@pytest.mark.parametrize("kind", ["quantile", "weighted", "drsvm"])
@pytest.mark.parametrize("labels", LABELS)
def test_labels_of_every_kind_survive_files_and_pickles(kind, labels, tmp_path):
    y = LABELS[labels]
    path = make(kind, labels=y)
    path.save(tmp_path / "p.npz")
    t = middle(path)
    for again in (type(path).load(tmp_path / "p.npz"), pickle.loads(pickle.dumps(path))):
        predicted = again.predict(X, t)
        np.testing.assert_array_equal(predicted, path.predict(X, t))
        assert set(predicted.tolist()) <= set(np.asarray(y).tolist())
        assert again.best(X, y).value == path.best(X, y).value == make(kind).best(X, Y).value


@pytest.mark.parametrize("kind", PATHS)
def test_buffers_files_and_pickles_hold_the_same(kind, tmp_path):
    path = make(kind)
    before = state(path)
    buffer = io.BytesIO()
    path.save(buffer)
    buffer.seek(0)
    assert_same(type(path).load(buffer), before)
    with open(tmp_path / "open", "wb") as handle:
        path.save(handle)
    path.save(str(tmp_path / "deep" / "named"))
    for file in ("open", "deep/named"):
        assert_same(type(path).load(tmp_path / file), before)
    assert_same(pickle.loads(pickle.dumps(path)), before)
    assert_same(copy.deepcopy(path), before)
    assert_same(path, before)


def test_every_option_of_numpys_types_survives_a_file(tmp_path):
    options = {"gamma": np.float32(0.5), "degree": np.int64(2), "coef0": np.float32(1.0)}
    path = weighted_svr_path(
        sp.csr_array(X),
        TARGET.astype(np.float32),
        np.int64(1),
        np.float32(2),
        np.float32(0.1),
        kernel="poly",
        diagonal=np.float32(0.1),
        **options,
    )
    path.save(tmp_path / "p")
    assert_same(SolutionPath.load(tmp_path / "p"), state(path))


def test_feature_names_survive_and_guard_predictions(tmp_path):
    frame = pd.DataFrame(X, columns=["a", "b", 3])
    path = make("svm", frame)
    path.save(tmp_path / "p")
    for own in (path, SolutionPath.load(tmp_path / "p"), pickle.loads(pickle.dumps(path))):
        assert own.feature_names == ["a", "b", 3]
        expected = own.decision_function(X, 0.1)
        np.testing.assert_array_equal(own.decision_function(frame, 0.1), expected)
        with pytest.raises(ValueError, match="X_new has the columns of X in another order"):
            own.predict(frame[["b", "a", 3]], 0.1)
        again = frame[["b", "a", 3]][own.feature_names]
        np.testing.assert_array_equal(own.decision_function(again, 0.1), expected)
    assert make("svm").feature_names is None


@pytest.mark.parametrize("place", ["", ".", "folder"])
def test_a_folder_is_named_and_nothing_is_left(place, tmp_path, monkeypatch):
    (tmp_path / "folder").mkdir()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=r"is a folder; name a file in it\.$"):
        make("svm").save(place)
    assert [p.name for p in tmp_path.rglob("*")] == ["folder"]


def test_what_bytes_can_not_be_written_to_is_named(tmp_path):
    (tmp_path / "old").write_bytes(b"old")
    with open(tmp_path / "old", "rb") as reading, open(tmp_path / "text", "w") as text:
        for file in (5, None, ["p"], io.StringIO(), text, reading):
            with pytest.raises(TypeError, match=r"^file must be the name of a file, or one open"):
                make("svm").save(file)
    assert (tmp_path / "text").read_bytes() == b""


def test_a_file_with_broken_indices_is_no_path(tmp_path):
    path = make("svm", sp.csr_array(X))
    path.save(tmp_path / "p.npz")
    with np.load(tmp_path / "p.npz") as archive:
        content = {name: archive[name] for name in archive.files}
    content["problem/losses[0].X/indptr"][1] = 10**6
    np.savez(tmp_path / "p.npz", **content)
    with pytest.raises(ValueError, match="is not a path written by SolutionPath"):
        SolutionPath.load(tmp_path / "p")


@pytest.mark.parametrize("bad", [None, [], 5, "x", {}, [["a"]], {"like": "nothing"}])
def test_a_file_that_tells_something_else_is_no_path(bad):
    line, signs = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1]
    for path in (svm_path(line, signs), logistic_path(line, signs, lam_min=0.1)):
        file = io.BytesIO()
        path.save(file)
        with np.load(io.BytesIO(file.getvalue())) as archive:
            content = {name: archive[name] for name in archive.files}
        meta = json.loads(str(content["meta"]))
        for part in {"problem", "reading", "ends"} & set(meta):
            if part == "reading" and bad is None and type(path) is SolutionPath:
                continue  # a problem whose reading isn't known
            damaged = io.BytesIO()
            np.savez(damaged, **content | {"meta": np.array(json.dumps(meta | {part: bad}))})
            with pytest.raises(ValueError, match="is not a path written by"):
                type(path).load(io.BytesIO(damaged.getvalue()))


# -- files of the format ----------------------------------------------------------------------

ROWS = np.array([[-2.0, 1.0], [-1.0, 0.0], [0.0, 2.0], [1.0, -1.0], [2.0, 0.5], [3.0, 1.5]])
VALUES = np.array([-1.0, 0.5, 0.0, 1.0, 2.5, 9.0])
SIGNS = np.array([0, 0, 1, 0, 1, 1])
FAR = 100.0 + ROWS @ ROWS.T
# The paths in tests/data/saved, which were written at commit f47a0d84.
SAVED = {
    "names": lambda: svm_path(
        pd.DataFrame(ROWS, columns=["a", "b"]), np.where(SIGNS > 0, "yes", "no")
    ),
    "flat_kernel": lambda: svm_path(ROWS, SIGNS, kernel="rbf", gamma=1e-3),
    "far_kernel": lambda: svm_path(FAR, SIGNS, kernel="precomputed"),
    "penalty": lambda: lasso_path(sp.csr_array(ROWS), VALUES),
    "constraint": lambda: drlad_path(ROWS, VALUES, lam2=0.1),
    "levels": lambda: noncrossing_quantiles_path(ROWS, VALUES, [0.2, 0.8]),
    "jumps": lambda: outlier_svr_path(ROWS, VALUES, 1.0, s=2.0),
    "counts": lambda: poisson_path(ROWS, SIGNS, lam_min=0.05, eps=1e-2),
}


@pytest.mark.parametrize("name", SAVED)
def test_files_that_were_written_are_read_and_a_copy_holds_the_same(name):
    path, copied = SAVED[name](), io.BytesIO()
    stored = type(path).load(DATA / "saved" / name)
    stored.save(copied)
    again = type(path).load(io.BytesIO(copied.getvalue()))
    t = np.append(path.breakpoints, 0.7 * path.breakpoints[1:] + 0.3 * path.breakpoints[:-1])
    rows = FAR[:3] if name == "far_kernel" else ROWS[:3] + 0.1
    for loaded, error in ((stored, 1e-9), (again, 0.0)):
        known = path if error else stored
        assert (type(loaded), loaded.parameter) == (type(path), path.parameter)
        assert (loaded.range, loaded.feature_names) == (path.range, path.feature_names)
        np.testing.assert_allclose(loaded.breakpoints, known.breakpoints, error, error)
        for read in ("dual", "free"):
            values = getattr(loaded, read)(t)
            np.testing.assert_allclose(values, getattr(known, read)(t), error, error)
        decisions = loaded.decision_function(rows, t)
        np.testing.assert_allclose(decisions, known.decision_function(rows, t), error, error)
        predicted, expected = (one.predict(rows, t[-1]) for one in (loaded, known))
        if predicted.dtype.kind == "f":
            np.testing.assert_allclose(predicted, expected, error, error)
        else:
            np.testing.assert_array_equal(predicted, expected)
        assert loaded.certify(at_breakpoints=True).ok


def test_matrices_that_groups_share_are_kept_once_and_shared_again():
    path, file = SAVED["levels"](), io.BytesIO()
    path.save(file)
    rows = path.line.start.losses[0].X.X
    with np.load(io.BytesIO(file.getvalue())) as archive:
        assert sum(np.array_equal(archive[name], rows) for name in archive.files) == 1
    t = float(path.breakpoints[1])
    for again in (SolutionPath.load(io.BytesIO(file.getvalue())), copy.deepcopy(path)):
        np.testing.assert_array_equal(again.expansion(t), path.expansion(t))


# -- pickles and processes --------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["weighted", "svr"])
def test_a_pickled_path_can_not_be_continued_but_the_path_itself_can(kind):
    path = make(kind)
    for again in (pickle.loads(pickle.dumps(path)), copy.deepcopy(path), copy.copy(path)):
        assert_same(again, state(path))
        with pytest.raises(ValueError, match=r"can't be continued .* unpickled or copied"):
            again.continue_to(1.0)
    onward = path.continue_to(1.0)
    assert_same(pickle.loads(pickle.dumps(onward)), state(onward))


def test_what_the_judge_computed_is_not_pickled():
    path = make("rbf")
    before = len(pickle.dumps(path))
    path.certify(1)
    assert len(pickle.dumps(path)) == before


def fails(with_path):
    raise PathError("It stops here; scale columns.", make("svm") if with_path else None)


def test_path_errors_pickle():
    for part in (make("svm"), None):
        error = pickle.loads(pickle.dumps(PathError("It stops here.", part)))
        assert str(error) == "It stops here."
        assert (error.path is None) == (part is None)
        if part is not None:
            assert_same(error.path, state(part))


def test_paths_and_errors_come_back_from_other_processes():
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        for part in (True, False):
            with pytest.raises(PathError, match="It stops here") as caught:
                pool.submit(fails, part).result(timeout=300)
            assert (caught.value.path is not None) == part
        assert_same(pool.submit(make, "weighted").result(timeout=300), state(make("weighted")))


# -- walks that break off ---------------------------------------------------------------------


def test_a_callback_that_raises_does_not_leave_a_broken_walk_behind(monkeypatch):
    """A walk that was interrupted stands somewhere on its way: nothing may go on from there."""
    stop = []

    def callback(done, events):
        if stop:
            raise ValueError("enough")

    path = weighted_svm_path(X, Y, BEFORE, AFTER, callback=callback)
    stop.append(True)
    monkeypatch.setattr(run, "STEPS_PER_CALLBACK", 1)
    with pytest.raises(ValueError, match="enough"):
        path.continue_to(BEFORE)
    with pytest.raises(ValueError, match="can't be continued"):
        path.continue_to(BEFORE)


def test_bad_updates_cost_nothing():
    weights = np.where(np.arange(N) < 20, 1.0, 0.0)
    path = weighted_svm_path(X, Y, weights, weights)
    for wrong in ({"enter": [0.5]}, {"enter": [21], "weight": -1.0}, {"leave": np.arange(20)}):
        with pytest.raises(ValueError, match=r"enter|weight"):
            update_instances(path, **wrong)
    assert update_instances(path, enter=[21], leave=[3]).certify(3).ok


def test_a_name_gets_the_suffix_that_numpy_gives(tmp_path):
    path = svm_path([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1])
    for name in ("plain", "with.dot", "named.npz"):
        path.save(tmp_path / name)
        path.save(str(tmp_path / name))
        assert SolutionPath.load(tmp_path / name).breakpoints.tolist() == path.breakpoints.tolist()
    assert sorted(f.name for f in tmp_path.iterdir()) == ["named.npz", "plain.npz", "with.dot.npz"]
    (tmp_path / "other").write_bytes(b"something else")
    with pytest.raises(ValueError, match="is not a path written by"):
        SolutionPath.load(tmp_path / "other")
    with pytest.raises(FileNotFoundError):
        SolutionPath.load(tmp_path / "nothing")


def test_files_of_earlier_versions_are_refused(tmp_path):
    """Files that name no kind: no attempt to read their arrays."""
    meta = {"format": 8, "parameter": "C", "objective": {"family": "Hinge"}, "legs": []}
    np.savez(tmp_path / "path.npz", meta=np.array(json.dumps(meta)))
    with pytest.raises(ValueError, match=r"path\.npz was written by an earlier version; compute"):
        SolutionPath.load(tmp_path / "path.npz")


def test_an_outlier_path_is_loaded_as_what_it_is(tmp_path):
    path = outlier_svr_path(X, TARGET, 1.0)
    path.save(tmp_path / "path.npz")
    for kind in (SolutionPath, OutlierPath):
        loaded = kind.load(tmp_path / "path.npz")
        assert type(loaded) is OutlierPath
        assert loaded.certify(at_breakpoints=True) == path.certify(at_breakpoints=True)
