"""The words of the code: names say what they hold, in the terms of the field."""

import ast
from collections import defaultdict

import pytest

from helpers import ROOT

SOURCES = ROOT / "src"
# Pronouns and participles, which leave open what a name holds: use the noun.
PRONOUNS = {"own", "mine", "found", "told", "said", "here", "there"}
# Names that were replaced by a term of the field.
RETIRED = {
    "hide": "eliminate",
    "show": "restore",
    "roam": "known_dual_speed",
    "glide": "move_along",
    "renew": "update_system",
    "push": "response",
    "push_before": "response_before",
    "goal_of": "tolerance_of",
    "risen": "diagonal_change",
    "is_hideable": "is_of_kind",
    "row_unit": "row_sensitivity",
    "let_go": "release_free_variables",
    "made_up_for": "bias_correction",
    "in_the_users": "in_user_parameter",
    "as_labelled": "consistent_with_labels",
    "going": "vanishing_loss",
    "loose": "undetermined",
    "telling": "progress_of",
    "near_targets": "centred_targets",
    "of_costs": "cost_range",
    "end_of": "inverse_end",
    "moved_weights": "updated_weights",
    "check_someone_stays": "check_remaining_weight",
    "without_weight": "weightless_class",
    "warn_of_cut": "warn_of_truncation",
    "EveryTau": "SeparateQuantiles",
    "_forget": "_drop_idle_knots",
    "_behind_the_start": "_start_by_limit",
    "_from_afar": "_follow_back_from_end",
    "Told": "MonotoneProgress",
    "Own": "CoordinateScales",
    "Share": "Contribution",
    "Statement": "ParametricKKT",
    "Brought": "JumpGraphs",
    "rest_of": "low_entry_of",
    "of_entered": "equation_of_entered",
    "forget_lines": "discard_lines",
    "has_few": "is_small",
    "look_closely": "examine_twofold",
    "chance": "ratio",
    "own_of": "coordinate_scales_of",
    "is_for_good": "is_frozen",
    "FORGOTTEN": "MISSING",
}
# One meaning each: a format's version is that of its kind of file.
REPEATED = {"FORMAT"}


def names(tree):
    """Yield the names that a module gives to anything, and the line of each."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            yield node.id, node.lineno
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr, node.lineno
        elif isinstance(node, ast.arg | ast.keyword) and node.arg:
            yield node.arg, node.lineno
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name, node.lineno


def numbers(tree):
    """Yield the constants of a module that are numbers: names, and values as they are written."""
    number = ast.Constant | ast.BinOp | ast.UnaryOp | ast.operator | ast.unaryop
    for node in tree.body:
        if not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None:
            continue
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            pairs = [(target, node.value)]
            if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                pairs = zip(target.elts, node.value.elts, strict=True)
            for name, value in pairs:
                parts = list(ast.walk(value))
                plain = all(isinstance(part, number) for part in parts)
                strings = any(isinstance(getattr(part, "value", 0.0), str) for part in parts)
                if isinstance(name, ast.Name) and plain and not strings:
                    yield name.id, ast.unparse(value)


def modules(package):
    """Yield the files of a package, parsed."""
    for file in sorted((SOURCES / package).rglob("*.py")):
        yield file.relative_to(SOURCES), ast.parse(file.read_text("utf-8"))


@pytest.mark.parametrize("package", ["solution_paths", "path_benchmark"])
def test_names_say_what_they_hold(package):
    unclear = [
        f"{file}:{line}: {name}"
        for file, tree in modules(package)
        for name, line in names(tree)
        if name in PRONOUNS
    ]
    assert not unclear, "name these by the noun that they hold: " + ", ".join(unclear)


def test_terms_of_the_field_stay():
    old = [
        f"{file}:{line}: {name}, which is called {RETIRED[name]}"
        for file, tree in modules("solution_paths")
        for name, line in names(tree)
        if name in RETIRED
    ]
    assert not old, ", ".join(old)


def test_a_constant_has_one_meaning():
    places = defaultdict(list)
    for file, tree in modules("solution_paths"):
        for name, value in numbers(tree):
            places[name].append(f"{file} ({value})")
    assert places["NOISE"] == ["solution_paths/homotopy/tolerances.py (2.0 ** (-76))"]
    several = {k: v for k, v in places.items() if len(v) > 1 and k not in REPEATED}
    assert not several, "name these by what each of them limits"


def test_the_names_of_a_module_are_found():
    source = """
LIMIT, COUNT = 2.0**-40, -1
TITLE, EMPTY = "text", []

class A:
    def b(self, c, *, d=None):
        self.e = [f(g=h) for h in c]
        with open(d) as i, (k := d):
            return lambda j: i[j]
"""
    tree = ast.parse(source)
    assert {name for name, _ in names(tree)} == {
        *("LIMIT", "COUNT", "TITLE", "EMPTY", "A", "b", "self"),
        *"cdeghijk",
    }
    assert list(numbers(tree)) == [("LIMIT", "2.0 ** (-40)"), ("COUNT", "-1")]
