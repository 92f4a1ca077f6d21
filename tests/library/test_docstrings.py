"""What docstrings say of defaults and limits is what functions and estimators do."""

import inspect
import re
from types import FunctionType

import numpy as np
import pytest
from numpydoc.docscrape import NumpyDocString
from sklearn.base import ClassifierMixin

import solution_paths
from helpers.data_makers import classes, numbers
from helpers.estimators import ESTIMATORS

pytestmark = pytest.mark.slow


# What users get and don't make: their attributes are documented, no parameters of theirs.
GIVEN = {"Best", "BestOnSurface", "Certificate", "Jump", "MeanCurve"}

GIVEN |= {"OutlierCertificate", "OutlierPath", "PathError", "PathWarning", "Surface"}

GIVEN |= {"ApproximatePath", "GapCertificate", "RocCurve", "SolutionPath"}

GIVEN |= {
    "ConditionalPath",
    "ConformalLabels",
    "ConformalPath",
    "Curve",
}  # dataclasses, whose fields say it themselves


def public():
    """Return name -> function or class that takes parameters: all of the public face."""
    found = {}
    for name in solution_paths.__all__:
        own = getattr(solution_paths, name)
        if inspect.isfunction(own) or (inspect.isclass(own) and name not in GIVEN):
            found[name] = own
        if inspect.isclass(own):
            methods = {m: getattr(f, "__func__", f) for m, f in vars(own).items() if m[0] != "_"}
            found |= {f"{name}.{m}": f for m, f in methods.items() if isinstance(f, FunctionType)}
    return found


PUBLIC = public()


def documented(own):
    """Return parameter -> (what its line says behind the colon, the text below)."""
    lines = NumpyDocString(inspect.getdoc(own) or "")["Parameters"]
    found, text = {}, ""
    for line in reversed(lines):  # a text belongs to the lines above that have none
        text = " ".join(line.desc) or text
        found |= {name.strip(): (line.type, text) for name in line.name.split(",")}
    return found


def defaults():
    """Return (owner, parameter) -> default of every public parameter that has one."""
    return {
        (owner, name): parameter.default
        for owner, own in PUBLIC.items()
        for name, parameter in inspect.signature(own).parameters.items()
        if parameter.default is not parameter.empty
    }


DEFAULTS = defaults()

WRITTEN = re.compile(r", default (.+)$")


def stated_by(owner, name, line, text):
    """Return the default that a docstring states; one that only names another, that one's."""
    if WRITTEN.search(line):
        return WRITTEN.search(line)[1]
    if re.match(r'\{?"', line) and not line.endswith("optional"):  # the first choice is the default
        return re.match(r'\{?("[^"]+")', line)[1]
    if line.endswith("optional"):
        return "None"
    for other in re.findall(r"[Ss]ee `([\w.]+)`", text):
        place = other if other in PUBLIC else f"{owner.partition('.')[0]}.{other}"
        if (place, name) in DEFAULTS and place != owner:
            return written(DEFAULTS[place, name])
    return "nothing"


def written(value):
    return f'"{value}"' if isinstance(value, str) else repr(value)


@pytest.mark.parametrize("owner", sorted({owner for owner, _ in DEFAULTS}))
def test_defaults_are_those_that_docstrings_state(owner):
    said = documented(PUBLIC[owner])
    own = {name: value for (of, name), value in DEFAULTS.items() if of == owner}
    if not said:  # a method that stands in for another one: it takes what that takes
        name, method = owner.split(".")
        others = [f"{base.__name__}.{method}" for base in getattr(solution_paths, name).__mro__[1:]]
        others += [f"{name}.{one}" for one in re.findall(r"see `(\w+)`", PUBLIC[owner].__doc__)]
        told = {n: DEFAULTS[o, n] for o in reversed(others) for n in own if (o, n) in DEFAULTS}
        of_class = {"values": None}  # the class says it, for all of its methods
        assert own == {n: told.get(n, of_class.get(n, "nothing")) for n in own}
        return
    stated = {name: stated_by(owner, name, *said[name]) for name in own}
    assert stated == {name: written(value) for name, value in own.items()}
    required = [name for name, (line, _) in said.items() if name not in own and line]
    assert not [name for name in required if re.search("optional|default", said[name][0])]


def test_the_table_of_defaults_is_of_the_whole_public_face():
    owners = {owner for owner, _ in DEFAULTS}
    functions = {name for name in solution_paths.__all__ if name.endswith(("_path", "_grid"))}
    assert functions | set(ESTIMATORS) <= owners
    assert {
        "SolutionPath.certify",
        "Surface.certify",
        "LeaveOneOut.error",
        "Curve.best",
    } <= owners
    # what ``of_class`` above rests on
    assert "by default at ``values``" in inspect.getdoc(solution_paths.Surface.coefs)


def test_a_default_that_its_docstring_does_not_state_is_seen():
    def other(x: int = 1, kind: str = "b", *, none: None = None, way: str = "min"):
        """Do nothing.

        Parameters
        ----------
        x : int, default 2
        kind : {"a", "b"}
        none : int
        way
            See `PathSVC`.
        """

    said = documented(other)
    found = {name: stated_by("other", name, *said[name]) for name in said}
    assert found == {"x": "2", "kind": '"a"', "none": "nothing", "way": "nothing"}


@pytest.mark.parametrize("name", ESTIMATORS)
def test_estimators_keep_every_parameter_as_it_was_given(name):
    own = getattr(solution_paths, name)
    marks = {parameter: object() for parameter in inspect.signature(own).parameters}
    assert own(**marks).get_params(deep=False) == marks


def limits():
    """Return (estimator, parameter) -> values that are fine and values that aren't, as stated."""
    found = {}
    for name in ESTIMATORS:
        for parameter, (line, text) in documented(PUBLIC[name]).items():
            if not line.startswith("float"):
                continue
            if "in [0, 1]" in text:
                found[name, parameter] = [0.0, 1.0], [-1e-9, 1.0 + 1e-9]
            elif "In (0, 1]" in text:
                found[name, parameter] = [1e-3, 1.0], [0.0, 1.0 + 1e-9]
            elif "In [0, 2 min(n+, n-) / n]" in text:
                found[name, parameter] = [0.0], [-1e-9, 1.0 + 1e-9]
            elif re.search(r"(^|, )>= 0[,;.]", text):
                found[name, parameter] = [0.0], [-1e-9]
            elif re.search(r"(^|, )> 0[,;.:]", text):
                found[name, parameter] = [1e-3], [0.0, -1e-9]
    return found


LIMITS = limits()


@pytest.mark.parametrize(("name", "parameter"), LIMITS)
@pytest.mark.filterwarnings("ignore::solution_paths.PathWarning")
def test_limits_are_those_that_docstrings_state(name, parameter):
    own = PUBLIC[name]
    X, y = classes(20) if issubclass(own, ClassifierMixin) else numbers(20)
    y = (y == "b") * 1 if own is solution_paths.PathSVOR else y
    fine, wrong = LIMITS[name, parameter]
    for value in fine:
        model = own(**{parameter: value}).fit(X, y)
        assert np.isfinite(np.asarray(model.predict(X) == y, dtype=float)).all()
    for value in (*wrong, np.nan):
        with pytest.raises(ValueError, match=parameter):
            own(**{parameter: value}).fit(X, y)


def test_a_limit_is_stated_of_what_every_estimator_is_about():
    stated = {name for name, _ in LIMITS}
    assert stated == set(ESTIMATORS)
    assert len(LIMITS) > 15


def entry(place, name, owner):
    """Return (type, text) of a parameter where a text sends its reader; None where it isn't."""
    head, _, method = place.partition(".")
    if head not in solution_paths.__all__:  # a method of the same class
        head, method = owner.partition(".")[0], place
    own = getattr(solution_paths, head)
    return documented(getattr(own, method, None) if method else own).get(name)


def refers(text):
    return text.startswith(("See `", "see `"))


@pytest.mark.parametrize("owner", sorted(PUBLIC))
def test_an_argument_is_explained_where_it_stands_or_by_one_reference(owner):
    chains = {}
    for name, (_, text) in documented(PUBLIC[owner]).items():
        if refers(text):
            places = re.findall(r"`([\w.]+)`", text)
            found = [entry(place, name, owner) for place in places]
            if not any(one and not refers(one[1]) for one in found):
                chains[name] = places
    assert not chains
