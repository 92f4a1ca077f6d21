"""What code makes a cell: the sources that its experiment reaches, and their hashes.

Of the module that defines the experiment that is its function with the definitions that it uses, of
all other modules of the two packages those that are imported on the way, each as a whole.
A package's own module counts where something is defined in it, not where it only hands on a name.
"""

from __future__ import annotations

import ast
import hashlib
import re
import symtable
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import solution_paths

CODE = ("library", "protocol", "solvers")  # the parts whose hashes cells and rows carry
ROOTS = {
    "solution_paths": Path(solution_paths.__file__).parent,
    "path_benchmark": Path(__file__).parents[1],
}
# Modules that no number depends on, though others that make numbers import them.
TOLD = {f"path_benchmark.runs.{name}" for name in ("code", "progress", "written")}
TOLD |= {"path_benchmark.data.downloads"}  # what comes is checked
IMPORT = re.compile(
    r"^[ \t]*(?:from[ \t]+([.\w]+)[ \t]+import[ \t]+(\([^)]*\)|[^\n]+)|import[ \t]+([^\n]+))", re.M
)
# What an import gives: the module, the name in it ("" for the module itself), the name here.
Given = tuple[str, str, str]


@cache
def code(paper: str, experiment: str) -> dict[str, str]:
    """Return hashes of the code that an experiment runs: library, protocol, outside solvers."""
    module = module_of(paper, experiment)
    own, given = _used(module, experiment)
    parts: dict[str, list[str]] = {part: [] for part in CODE}
    parts["protocol"] += own
    for name in sorted(_reached(given) - {module}):
        parts[_part(name)].append(f"{name} {_digest(name)}")
    return {part: _hash(*texts) for part, texts in parts.items()}


def module_of(paper: str, experiment: str) -> str:
    """Return the module that defines an experiment: ``experiments``, or one of that package."""
    whole = f"path_benchmark.papers.{paper}.experiments"
    modules = (whole, *sorted(_homes(whole)))
    return next((name for name in modules if experiment in _statements(name)), whole)


def _part(module: str) -> str:
    if module.startswith("solution_paths"):
        return "library"
    return "solvers" if module.startswith("path_benchmark.solvers") else "protocol"


def _hash(*texts: str) -> str:
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:12]


# ---------------------------------------------------------------- one module


def _file(module: str) -> Path | None:
    """Return where a module of the two packages is."""
    top, *rest = module.split(".")
    if top not in ROOTS:
        return None
    place = ROOTS[top].joinpath(*rest)
    files = (place.with_name(f"{place.name}.py"), place / "__init__.py")
    return next((file for file in files if file.is_file()), None)


@cache
def _text(module: str) -> str:
    file = _file(module)
    return file.read_text("utf-8") if file else ""


@cache
def _digest(module: str) -> str:
    return _hash(_text(module))


@cache
def _is_package(module: str) -> bool:
    file = _file(module)
    return file is not None and file.name == "__init__.py"


@cache
def _imports(module: str) -> tuple[Given, ...]:
    """Return what a module imports of the two packages, anywhere in it."""
    return tuple(_given(module, _text(module)))


def _given(module: str, text: str) -> Iterator[Given]:
    for source, names, plain in IMPORT.findall(text):
        if plain:
            for name in _names(plain):
                yield name[0], "", name[1]
        else:
            target = _absolute(module, source)
            for name, here in _names(names):
                yield target, name, here


def _names(text: str) -> Iterator[tuple[str, str]]:
    """Yield the names of an import, and what they are called here."""
    for part in re.sub(r"#[^\n]*|[()]", "", text).split(","):
        if words := part.split():
            yield words[0], words[-1]


def _absolute(module: str, source: str) -> str:
    """Return the name of a module that another one names, maybe by dots."""
    dots = len(source) - len(source.lstrip("."))
    if not dots:
        return source
    parts = module.split(".") if _is_package(module) else module.split(".")[:-1]
    parts = parts[: len(parts) - dots + 1]
    return ".".join([*parts, source[dots:]] if source[dots:] else parts)


# ---------------------------------------------------------------- what is reached


def _reached(given: Iterable[Given]) -> set[str]:
    """Return all modules that some imports lead to, but for what is `TOLD`."""
    found: set[str] = set()
    left = [_home(target, name) for target, name, _ in given]
    while left:
        module = left.pop()
        if module not in found | TOLD and _file(module):
            found.add(module)
            left += _homes(module)
    return found


@cache
def _homes(module: str) -> frozenset[str]:
    return frozenset(_home(target, name) for target, name, _ in _imports(module))


@cache
def _home(module: str, name: str) -> str:
    """Return the module that a name is defined in, which a package may only hand on."""
    if not name:
        return module
    if _is_package(module):
        if _file(f"{module}.{name}"):
            return f"{module}.{name}"
        for target, original, here in _imports(module):
            if here == name and (target, original) != (module, name):
                return _home(target, original)
    return module


@cache
def _statements(module: str) -> dict[str, list[ast.stmt]]:
    """Return a module's statements by the names that they define."""
    places: dict[str, list[ast.stmt]] = {}
    for statement in ast.parse(_text(module)).body:
        for defined in _defined(statement):
            places.setdefault(defined, []).append(statement)
    return places


def _used(module: str, name: str) -> tuple[list[str], list[Given]]:
    """Return the definitions of a module that one of them uses, itself included, and its imports.

    Where it has no such definition nothing is left out.
    """
    places, lines = _statements(module), _text(module).splitlines()
    seen: set[str] = set()
    left = [name] if name in places else [*places]
    kept: list[ast.stmt] = []
    while left:
        wanted = left.pop()
        for statement in places.get(wanted, ()) if wanted not in seen else ():
            if not isinstance(statement, ast.Import | ast.ImportFrom) and statement not in kept:
                kept.append(statement)
                left += _read(module, statement)
        seen.add(wanted)
    kept.sort(key=lambda statement: statement.lineno)
    own = ["\n".join(lines[_first(statement) - 1 : statement.end_lineno]) for statement in kept]
    inner = [it for part in own for it in _given(module, part)]
    return own, [it for it in _imports(module) if it[2].split(".")[0] in seen] + inner


def _read(module: str, statement: ast.stmt) -> set[str]:
    """Return the names that a statement of a module reads from around it."""
    around, inner = [statement], set()
    if isinstance(statement, ast.FunctionDef):
        given = statement.args
        around = [*statement.decorator_list, *given.defaults, *filter(None, given.kw_defaults)]
        inner = _global_names(module)[statement.name]
    return inner | {n.id for part in around for n in ast.walk(part) if isinstance(n, ast.Name)}


@cache
def _global_names(module: str) -> dict[str, set[str]]:
    """Return what each function of a module reads from outside it, by the compiler's own scopes."""

    def of(table: symtable.SymbolTable) -> set[str]:
        own = {symbol.get_name() for symbol in table.get_symbols() if symbol.is_global()}
        return own.union(*map(of, table.get_children()))

    found: dict[str, set[str]] = {}
    for table in symtable.symtable(_text(module), module, "exec").get_children():
        found.setdefault(table.get_name(), set()).update(of(table))
    return found


def _defined(statement: ast.stmt) -> list[str]:
    """Return the names that a statement of a module defines."""
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return [statement.name]
    if isinstance(statement, ast.Import | ast.ImportFrom):
        return [alias.asname or alias.name.split(".")[0] for alias in statement.names]
    stored = (n for n in ast.walk(statement) if isinstance(n, ast.Name))
    return [n.id for n in stored if isinstance(n.ctx, ast.Store)]


def _first(statement: ast.stmt) -> int:
    """Return the first line of a statement, its decorators included."""
    decorators = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *(d.lineno for d in decorators)])
