"""A statement is what its functions say; what doesn't fit together is refused in a sentence."""

from dataclasses import FrozenInstanceError, fields

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import aslinearoperator

from helpers.stated_models import CLASSES, EXAMPLES, K, U, X, Y, multicategory_svm
from solution_paths.problem import (
    L1Constraint,
    Losses,
    Pieces,
    Problem,
    Product,
    Repeated,
    along,
    differences,
    losses,
    penalties,
    pieces,
)
from solution_paths.problem.branches import robust_hinges, value_at
from solution_paths.problem.bundle import Stack
from solution_paths.verify.graph import HI, OUTSIDE, Graph, Pair

y = np.array([1.0, -1.0, 1.0, 1.0])
u = np.array([0.3, -1.0, 2.5, 0.0])
costs = np.array([1.0, 0.5, 2.0, 3.0])
inf = np.inf


def positive(v):
    return np.maximum(v, 0.0)


def huberised(v, delta):
    return np.where(v <= 0, 0.0, np.where(v <= delta, v**2 / (2 * delta), v - delta / 2))


def huber(r, delta):
    return np.where(np.abs(r) <= delta, r**2, 2 * delta * np.abs(r) - delta**2)


def own(r):
    return np.interp(r, [-1, 0, 2], [0.5, 0, 0.4]) + positive(-1 - r) + 4.2 * positive(r - 2)


def outside(inside):
    return np.where(inside, 0.0, inf)


FUNCTIONS = {
    "hinge": (losses.hinge(y, costs), lambda f: costs * positive(1 - y * f)),
    "squared hinge": (losses.squared_hinge(y, costs), lambda f: costs * positive(1 - y * f) ** 2),
    "Huberised hinge": (
        losses.huberised_hinge(y, 2.0, costs),
        lambda f: costs * huberised(1 - y * f, 2.0),
    ),
    "pinball hinge": (
        losses.pinball_hinge(y, 0.3, costs),
        lambda f: costs * np.maximum(1 - y * f, -0.3 * (1 - y * f)),
    ),
    "double margin": (
        losses.double_margin(y, 3.0, costs),
        lambda f: costs * np.maximum(positive(1 - y * f), y * f - 2.0),
    ),
    "narrow double margin": (
        losses.double_margin(y, 1.5, costs),
        lambda f: costs * np.maximum(1 - y * f, y * f - 0.5),
    ),
    "absolute": (losses.absolute(u, costs), lambda f: costs * np.abs(u - f)),
    "pinball": (
        losses.pinball(u, 0.8, costs),
        lambda f: costs * np.maximum(0.8 * (u - f), -0.2 * (u - f)),
    ),
    "insensitive": (
        losses.epsilon_insensitive(u, 0.2, costs),
        lambda f: costs * positive(np.abs(u - f) - 0.2),
    ),
    "squared": (losses.squared(u, costs), lambda f: costs / 2 * (u - f) ** 2),
    "Huber": (losses.huber(u, 0.7, costs), lambda f: costs * huber(u - f, 0.7)),
    "own": (
        losses.piecewise_linear(u, [-1, 0, 2], [-1, -0.5, 0.2, 4.2], costs),
        lambda f: costs * own(u - f),
    ),
    "shortfall": (losses.shortfall(u, costs), lambda f: costs * positive(u - f)),
    "excess": (losses.excess(u, costs), lambda f: costs * positive(f - u)),
    "l1": (penalties.l1(4, costs), lambda w: costs * np.abs(w)),
    "elastic net": (
        penalties.elastic_net(4, 0.5, costs),
        lambda w: 0.5 * np.abs(w) + costs / 2 * w**2,
    ),
    "asymmetric l1": (
        penalties.asymmetric_l1(4, 2.0, costs),
        lambda w: np.where(w < 0, 2.0 * np.abs(w), costs * w),
    ),
    "unpenalised": (penalties.unpenalised(4), lambda w: 0.0 * w),
    "at least": (penalties.at_least(4, 0.5), lambda w: outside(w >= 0.5)),
    "at most": (penalties.at_most(4, 0.5), lambda w: outside(w <= 0.5)),
    "between": (penalties.between(4, -0.5, 0.5), lambda w: outside(np.abs(w) <= 0.5)),
    "equal": (penalties.equal_to(4, 0.5), lambda w: outside(w == 0.5)),
}
GRID = np.unique(np.r_[np.linspace(-4, 4, 41), 0.5, -0.5, 1.0, -1.0])


def one_by_one(stated):
    """Return n functions as one in n solutions."""
    parts = vars(stated).values()
    rows = [stated._derived(*(own[[k]] for own in parts)) for k in range(len(stated))]
    return Stack.of(rows)


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("mirrored", [False, True])
def test_pieces_are_the_functions_that_their_names_say(name, mirrored):
    stated, function = FUNCTIONS[name]
    if mirrored:
        stated = stated.mirrored()
    graph = Graph(one_by_one(stated))
    for at in GRID:
        inside = graph.clipped(Pair.of(np.full((1, 4), at)))
        far = inside[OUTSIDE, 0]
        wanted = function(np.full(4, -at if mirrored else at))
        np.testing.assert_array_equal(far > 0, np.isinf(wanted))
        found = np.where(far > 0, inf, graph.values(inside)[0])
        np.testing.assert_allclose(found, wanted, rtol=1e-13, atol=1e-13)


@pytest.mark.slow
@pytest.mark.parametrize("name", FUNCTIONS)
def test_areas_are_gaps_of_the_conjugate(name):
    """f(z) + f*(u) - u z, the conjugate by brute force on a fine grid."""
    stated, function = FUNCTIONS[name]
    graph = Graph(one_by_one(stated))
    fine = np.linspace(-60, 60, 24001)
    values = np.array([function(np.full(4, x)) for x in fine])
    for z in (-1.3, 0.5, 2.0):
        point = graph.clipped(Pair.of(np.full((1, 4), z)))
        point[OUTSIDE] = 0.0
        for slope in (-2.9, -0.4, 0.0, 0.1, 1.7):
            given = graph.subgradient(Pair.of(np.full((1, 4), slope)))
            given[OUTSIDE] = 0.0
            area = graph.contribution(point, given, given, [np.ones(4)] * 2).gap
            level = given[HI, 0]
            conjugate = (level * fine[:, None] - values).max(axis=0)
            here = graph.values(point)[0] - level * point[HI, 0]
            ends = np.abs(level * fine[(level * fine[:, None] - values).argmax(axis=0)])
            reached = ends < 59 * np.abs(level) + 1e-9  # else the grid ends before the conjugate
            np.testing.assert_allclose(
                area[reached], (here + conjugate)[reached], atol=2e-4 + 0.01 * np.abs(level).max()
            )
            assert (area >= 0).all()


def test_a_ridge_is_added_to_pieces():
    one = Graph(Stack.of([pieces([0.5, 1.0], [-1.0, 0.0, 2.0], n=3)]))
    other = Graph(Stack.of([pieces([0.5, 1.0], [-1.0, 0.0, 2.0], n=3).plus_ridge(3.0)]))
    for at in (-2.0, 0.7, 4.0):
        z = np.zeros((4, 3, 1))
        z[HI] = at
        np.testing.assert_allclose(other.values(z)[0], one.values(z)[0] + 3 * 1.5 * at**2)


# -- along a parameter ------------------------------------------------------------------------


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_example_moves_affinely_by_the_rates(name):
    model, t0, t1 = EXAMPLES[name]
    line = along(model, t0, t1)
    t = t0 + 0.7 * (t1 - t0)
    moved = {k: v for k, v in line.rates.items() if not k.endswith("value") and v.any()}
    assert moved
    start, there = dict(line.start.numbers()), dict(line.at(t).numbers())
    for key, rate in moved.items():
        np.testing.assert_allclose(start[key] + (t - t0) * rate, there[key], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", EXAMPLES)
def test_problems_evaluated_together_are_those_that_the_model_states(name):
    model, t0, t1 = EXAMPLES[name]
    line, t = along(model, t0, t1), t0 + np.linspace(0.0, 1.0, 7) * (t1 - t0)
    together = line.together(t)
    for k, s in enumerate(t.tolist()):
        for key, own in line.at(s).numbers():
            found = np.broadcast_to(together.numbers[key], (*own.shape, len(t)))[..., k]
            size = np.abs(own[np.isfinite(own)]).max(initial=0.0)
            np.testing.assert_allclose(found, own, rtol=0.0, atol=1e-14 * size)


def kinked(value, t):
    """A model that is affine at both ends, and where `along` looks between, but not near 0.7."""
    off = np.interp(t, [0.6, 0.7, 0.8], [0.0, 0.1, 0.0])
    loss = pieces([Y + (not value) * off], [-1.0, 1.0], value=t * value * (1.0 + off))
    return Problem(Losses(loss, X, free=1.0), ridge=1.0, linear=[0.1 * t])


@pytest.mark.parametrize("value", [False, True])
def test_problems_are_stated_where_a_model_moves_otherwise(value):
    """What is evaluated is compared with the model at the third and the last of these six."""
    line, t = along(lambda t: kinked(value, t), 0.0, 1.0), np.array([0.0, 0.1, 0.7, 0.75, 0.9, 1.0])
    name = "losses[0].value" if value else "losses[0].knots"
    stated = np.stack([dict(line.at(s).numbers())[name] for s in t], axis=-1)
    np.testing.assert_array_equal(line.together(t).numbers[name], stated)
    np.testing.assert_array_equal(line.together(t, anew=True).numbers[name], stated)


def test_two_problems_of_many_are_stated_by_the_model():
    asked = []

    def model(t):
        asked.append(t)
        return kinked(False, 0.5 * t)

    line, t = along(model, 0.0, 1.0), np.linspace(0.0, 1.0, 100)
    del asked[:]
    line.together(t)
    assert asked == [t[33], t[99]]
    del asked[:]
    line.together(t, anew=True)
    assert asked == t.tolist()


@pytest.mark.parametrize(
    ("model", "name"),
    [
        (lambda t: Problem(Losses(losses.hinge(Y, t**2), X), ridge=1.0), r"losses\[0\].slopes"),
        (
            lambda t: Problem(Losses(losses.hinge(Y, 1 / t), X), ridge=1.0),
            r"losses\[0\].slopes does not move affinely .* inverse 1/t",
        ),
        (lambda t: Problem(Losses(losses.absolute(U * t**3), X), ridge=1.0), "knots does not"),
        (lambda t: Problem(Losses(losses.hinge(Y), X), ridge=t), "ridge changes"),
        (lambda t: Problem(Losses(losses.hinge(Y), t * X), ridge=1.0), r"losses\[0\].X changes"),
        (lambda t: Problem(Losses(losses.squared(U, t), X), ridge=1.0), "curvature moves"),
        (
            lambda t: Problem(Losses(losses.hinge(Y), X, t), ridge=1.0, linear=[0.0]),
            r"losses\[0\].free changes",
        ),
        (
            lambda t: Problem(Losses(losses.hinge(Y), X), ridge=1.0, constraint=np.exp(t)),
            "constraint.radius does not",
        ),
        (
            lambda t: Problem(Losses(losses.hinge(Y), X, 1.0), ridge=1.0, linear=[t**2]),
            "linear does not",
        ),
        (
            lambda t: Problem(Losses(losses.hinge(Y), X), penalties.l1(5, 1.0 + t * t)),
            "penalty.slopes does not",
        ),
        (
            lambda t: Problem(Losses(losses.double_margin(Y, 1 + t), X), ridge=1.0),
            "has shape",
        ),
        (lambda t: None, "returns a NoneType"),
    ],
)
def test_what_does_not_move_affinely_is_named(model, name):
    with pytest.raises(ValueError, match=name):
        along(model, 0.5, 2.0)


def test_a_path_has_two_ends():
    with pytest.raises(ValueError, match="both 1"):
        along(EXAMPLES["lasso"][0], 1.0, 1.0)


# -- what is refused --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: pieces([0.0], [1.0, -1.0], n=3), "slopes of row 0 fall"),
        (lambda: pieces([np.zeros(3)], [[0, 0, 2], 1.0]), "slopes of row 2 fall"),
        (lambda: pieces([0.0, 1.0], [0.0, 0.0, 0.5], [0, 1, 0], n=1), "fall at a knot"),
        (lambda: pieces([1.0, 0.0], [-1, 0, 1], n=2), "not in ascending order"),
        (lambda: pieces([0.0], [0, 1], [0.0, -1.0], n=2), "curvature of row 0 is negative"),
        (lambda: pieces([np.array([0, np.nan])], [0, 1]), "knots contains NaN .* row 1"),
        (lambda: pieces([0.0], [0, inf], n=1), "slopes contains NaN or infinity"),
        (lambda: pieces([0.0], [0, 1], n=1, low=0.5), "outside of its domain"),
        (lambda: pieces([0.0], [0, 1], n=1, high=np.nan), "low or high of row 0 is NaN"),
        (lambda: pieces([0.0], [0, 1]), "numbers alone"),
        (lambda: pieces([np.zeros(2)], [np.zeros(3), 1]), r"lengths \[2, 3\]"),
        (lambda: pieces([0.0], [0, 1, 2], n=2), "slopes has shape"),
        (lambda: pieces([], [0.0], n=2), "at least one knot"),
        (lambda: losses.hinge([0.0, 1.0]), "labels -1 and"),
        (lambda: losses.absolute(3.0), "number for each sample"),
        (lambda: losses.hinge(Y, -1.0), "slopes of row 0 fall"),
        (lambda: Losses(losses.hinge(Y), X[:5]), "5 rows beside 40"),
        (lambda: Losses(losses.hinge(Y), X, np.ones(3)), "3 rows beside 40"),
        (lambda: Losses(losses.hinge(Y), np.where(X > 1, np.nan, X)), "NaN or infinity"),
        (lambda: Problem([]), "one group of Losses or more"),
        (
            lambda: Problem([Losses(losses.hinge(Y), X), Losses(losses.hinge(Y), X[:, :2])]),
            r"\[5, 2\] columns",
        ),
        (
            lambda: Problem([Losses(losses.hinge(Y), X, 1.0), Losses(losses.hinge(Y), X, X)]),
            r"\[1, 5\] free variables",
        ),
        (lambda: Problem(Losses(losses.hinge(Y), X), linear=[1.0]), "0 finite numbers"),
        (lambda: Problem(Losses(losses.hinge(Y), X), penalties.l1(3, 1.0)), "columns"),
        (lambda: Problem(Losses(losses.hinge(Y), X), ridge=-1.0), "ridge must be"),
        (lambda: Problem(Losses(losses.hinge(Y)), kernel=K), "ridge must be > 0"),
        (lambda: Problem(Losses(losses.hinge(Y)), kernel=K + X[:, [0]], ridge=1.0), "symmetric"),
        (lambda: Problem(Losses(losses.hinge(Y)), kernel=K[:, :9], ridge=1.0), "square"),
        (
            lambda: Problem(Losses(losses.hinge(Y[:9])), kernel=K, ridge=1.0),
            "shape .*, but 9 losses of 40",
        ),
        (
            lambda: Problem(Losses(losses.hinge(Y)), penalties.l1(40, 1.0), kernel=K, ridge=1.0),
            "without a kernel",
        ),
        (
            lambda: Problem(Losses(losses.hinge(Y), X), penalties.l1(5, 1.0), constraint=1.0),
            "beside a ridge alone",
        ),
        (lambda: Problem(Losses(losses.hinge(Y), X), constraint=-1.0), "radius must be"),
        (
            lambda: Problem(Losses(losses.hinge(Y), X), constraint=L1Constraint(1.0, [1.0])),
            "free of the constraint must hold 0",
        ),
        (lambda: Product(X, X), "inner sizes"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_sentence(make, message):
    with pytest.raises(ValueError, match=message) as error:
        make()
    text = str(error.value)
    assert text.endswith(".")
    assert "\n" not in text


def test_slopes_that_rounding_puts_out_of_order_are_taken():
    width = 0.1 + 0.2
    own = pieces([0.0, width], [-width, -width, -1e-17], [0.0, 1.0, 0.0], n=2)
    assert (own.left <= own.right).all()


def test_a_statement_is_not_changed_through_the_arrays_it_was_made_of():
    """Pieces hold arrays of their own, since entries are stacked."""
    target = U.copy()
    stated = losses.absolute(target)
    target[:] = 0.0
    assert np.array_equal(stated.knots[:, 0], U)
    group = Losses(stated, X, free=1.0)
    for own in (stated, group, L1Constraint(1.0), Problem(group)):
        with pytest.raises(FrozenInstanceError):
            setattr(own, fields(own)[0].name, None)


# -- maps -------------------------------------------------------------------------------------


def test_products_and_repetitions_are_the_matrices_they_stand_for():
    r = np.random.default_rng(0)
    D = differences([(0, 3), (5, 1)], 40)
    pairs = [
        (Product(D, X), D.toarray() @ X),
        (Repeated(X, 3), np.kron(np.eye(3), X)),
        (Product(sp.csr_array(r.normal(size=(7, 80))), Repeated(X, 2)), None),
    ]
    for own, dense in pairs:
        dense = own @ np.eye(own.shape[1]) if dense is None else dense
        assert own.shape == dense.shape
        for columns in ((), (4,)):
            w, a = r.normal(size=(own.shape[1], *columns)), r.normal(size=(own.shape[0], *columns))
            np.testing.assert_allclose(own @ w, dense @ w, rtol=1e-12, atol=1e-12)
            np.testing.assert_allclose(own.T @ a, dense.T @ a, rtol=1e-12, atol=1e-12)


def test_operators_may_stand_for_matrices():
    stated = Problem(Losses(losses.hinge(Y), aslinearoperator(X), 1.0), ridge=1.0)
    assert stated.features == 5


def test_multicategory_maps_keep_the_rows_once():
    X_map = multicategory_svm(X, CLASSES, 1.0).losses[0].X
    assert X_map.factors[1].X is X


def test_pieces_check_their_arrays():
    with pytest.raises(ValueError, match="value has shape"):
        Pieces(*[np.zeros((2, k)) for k in (1, 2, 2)], np.zeros(3), np.zeros(2), np.zeros(2))


def test_a_kernel_that_may_change_is_checked_at_each_parameter():
    K, y = np.eye(3), np.array([1.0, -1.0, 1.0])
    loss = losses.absolute(y, 1.0)
    frozen = K.copy()
    frozen.flags.writeable = False
    for own in (K, frozen):
        assert Problem(Losses(loss), ridge=1.0, kernel=own).kernel is own
    K[0, 1] = 0.5
    with pytest.raises(ValueError, match=r"^kernel isn't symmetric"):
        Problem(Losses(loss), ridge=1.0, kernel=K)
    other = K.copy()
    other.flags.writeable = False
    with pytest.raises(ValueError, match=r"^kernel isn't symmetric"):
        Problem(Losses(loss), ridge=1.0, kernel=other)


def test_rows_that_may_change_are_checked_at_each_parameter():
    rows, loss = np.ones((3, 2)), losses.absolute(np.array([1.0, -1.0, 1.0]), 1.0)
    frozen = rows.copy()
    frozen.flags.writeable = False
    for own in (rows, frozen):
        assert Losses(loss, own, free=own).X is own
    rows[0, 1] = np.nan
    with pytest.raises(ValueError, match=r"^X contains NaN"):
        Losses(loss, rows)
    with pytest.raises(ValueError, match=r"^free contains NaN"):
        Losses(loss, frozen, free=rows)
    with pytest.raises(ValueError, match=r"^free contains NaN"):
        Losses(loss, frozen, free=np.nan)


@pytest.mark.parametrize(("theta", "s"), [(0.3, 0.0), (0.0, -0.7)])
def test_the_value_of_a_branch_is_the_loss_there(theta, s):
    rng = np.random.default_rng(0)
    y, z = rng.choice([-1.0, 1.0], 40), 3.0 * rng.normal(size=40)
    m, found = y * z, np.full(40, np.nan)
    for f in robust_hinges(y, 2.0, theta, s):
        inside = (f.low <= z) & (z <= f.high)
        found[inside] = value_at(f, z)[inside]
    expected = 2.0 * np.where(m >= s, np.maximum(0.0, 1.0 - m), 1.0 - theta * m - s)
    np.testing.assert_allclose(found, expected, rtol=1e-14, atol=1e-14)
