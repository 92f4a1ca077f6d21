"""The code that makes a cell: hashes of the sources that its experiment depends on.

In the module that defines the experiment these are its function and the definitions that it uses.
All other modules of the two packages that it imports, directly or not, count as a whole.
A package's ``__init__`` counts if a name is defined in it, not if it only re-exports a name.
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

CODE = ("library", "protocol", "solvers")  # the parts whose hashes cells and rows record
ROOTS = {
    "solution_paths": Path(solution_paths.__file__).parent,
    "path_benchmark": Path(__file__).parents[1],
}
# Imported modules that no number depends on.
IRRELEVANT = {f"path_benchmark.runs.{name}" for name in ("code", "progress", "written")}
IRRELEVANT |= {"path_benchmark.data.downloads"}  # downloaded files are checked
IMPORT = re.compile(
    r"^[ \t]*(?:from[ \t]+([.\w]+)[ \t]+import[ \t]+(\([^)]*\)|[^\n]+)|import[ \t]+([^\n]+))", re.M
)
# An imported name: the module, the name in it ("" for the module itself), the name given to it.
Imported = tuple[str, str, str]


@cache
def code(paper: str, experiment: str) -> dict[str, str]:
    """Return the hashes of the code that an experiment runs: library, protocol, solvers."""
    module = module_of(paper, experiment)
    definitions, imports = _used_definitions(module, experiment)
    parts: dict[str, list[str]] = {part: [] for part in CODE}
    parts["protocol"] += definitions
    for name in sorted(_reached_modules(imports) - {module}):
        parts[_part(name)].append(f"{name} {_digest(name)}")
    return {part: _hash(*texts) for part, texts in parts.items()}


def module_of(paper: str, experiment: str) -> str:
    """Return the module that defines an experiment: ``experiments``, or one of that package."""
    whole = f"path_benchmark.papers.{paper}.experiments"
    modules = (whole, *sorted(_defining_modules(whole)))
    return next((name for name in modules if experiment in _statements(name)), whole)


def _part(module: str) -> str:
    if module.startswith("solution_paths"):
        return "library"
    return "solvers" if module.startswith("path_benchmark.solvers") else "protocol"


def _hash(*texts: str) -> str:
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:12]


# ---------------------------------------------------------------- one module


def _file(module: str) -> Path | None:
    """Return the file of a module of the two packages, None for other modules."""
    top, *rest = module.split(".")
    if top not in ROOTS:
        return None
    path = ROOTS[top].joinpath(*rest)
    files = (path.with_name(f"{path.name}.py"), path / "__init__.py")
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
def _imports(module: str) -> tuple[Imported, ...]:
    """Return all imports of a module, wherever they stand in it."""
    return tuple(_imports_in(module, _text(module)))


def _imports_in(module: str, text: str) -> Iterator[Imported]:
    for source, names, plain in IMPORT.findall(text):
        if plain:
            for name in _names(plain):
                yield name[0], "", name[1]
        else:
            target = _absolute(module, source)
            for name, alias in _names(names):
                yield target, name, alias


def _names(text: str) -> Iterator[tuple[str, str]]:
    """Yield the names of an import statement, each with its alias."""
    for part in re.sub(r"#[^\n]*|[()]", "", text).split(","):
        if words := part.split():
            yield words[0], words[-1]


def _absolute(module: str, source: str) -> str:
    """Return the absolute name of a module that another one imports, perhaps relatively."""
    dots = len(source) - len(source.lstrip("."))
    if not dots:
        return source
    parts = module.split(".") if _is_package(module) else module.split(".")[:-1]
    parts = parts[: len(parts) - dots + 1]
    return ".".join([*parts, source[dots:]] if source[dots:] else parts)


# ---------------------------------------------------------------- what is reached


def _reached_modules(imports: Iterable[Imported]) -> set[str]:
    """Return all modules that imports lead to, directly or not, except those in `IRRELEVANT`."""
    modules: set[str] = set()
    pending = [_defining_module(target, name) for target, name, _ in imports]
    while pending:
        module = pending.pop()
        if module not in modules | IRRELEVANT and _file(module):
            modules.add(module)
            pending += _defining_modules(module)
    return modules


@cache
def _defining_modules(module: str) -> frozenset[str]:
    return frozenset(_defining_module(target, name) for target, name, _ in _imports(module))


@cache
def _defining_module(module: str, name: str) -> str:
    """Return the module that defines a name, which a package may only re-export."""
    if not name:
        return module
    if _is_package(module):
        if _file(f"{module}.{name}"):
            return f"{module}.{name}"
        for target, original, alias in _imports(module):
            if alias == name and (target, original) != (module, name):
                return _defining_module(target, original)
    return module


@cache
def _statements(module: str) -> dict[str, list[ast.stmt]]:
    """Return the top-level statements of a module by the names that they define."""
    statements: dict[str, list[ast.stmt]] = {}
    for statement in ast.parse(_text(module)).body:
        for defined in _defined(statement):
            statements.setdefault(defined, []).append(statement)
    return statements


def _used_definitions(module: str, name: str) -> tuple[list[str], list[Imported]]:
    """Return a definition of a module with all that it uses there, and the imports that they use.

    If the module has no such definition, nothing is left out.
    """
    statements, lines = _statements(module), _text(module).splitlines()
    seen: set[str] = set()
    pending = [name] if name in statements else [*statements]
    used_statements: list[ast.stmt] = []
    while pending:
        required = pending.pop()
        for statement in statements.get(required, ()) if required not in seen else ():
            if (
                not isinstance(statement, ast.Import | ast.ImportFrom)
                and statement not in used_statements
            ):
                used_statements.append(statement)
                pending += _names_read(module, statement)
        seen.add(required)
    used_statements.sort(key=lambda statement: statement.lineno)
    definitions = [
        "\n".join(lines[_first(statement) - 1 : statement.end_lineno])
        for statement in used_statements
    ]
    local_imports = [
        imported for definition in definitions for imported in _imports_in(module, definition)
    ]
    return definitions, [
        imported for imported in _imports(module) if imported[2].split(".")[0] in seen
    ] + local_imports


def _names_read(module: str, statement: ast.stmt) -> set[str]:
    """Return the names of the module's scope that a statement reads."""
    outer, inner = [statement], set()
    if isinstance(statement, ast.FunctionDef):
        arguments = statement.args
        outer = [
            *statement.decorator_list,
            *arguments.defaults,
            *filter(None, arguments.kw_defaults),
        ]
        inner = _global_names(module)[statement.name]
    return inner | {n.id for part in outer for n in ast.walk(part) if isinstance(n, ast.Name)}


@cache
def _global_names(module: str) -> dict[str, set[str]]:
    """Return the global names that each function of a module reads, by Python's symbol table."""

    def names_in(table: symtable.SymbolTable) -> set[str]:
        names = {symbol.get_name() for symbol in table.get_symbols() if symbol.is_global()}
        return names.union(*map(names_in, table.get_children()))

    result: dict[str, set[str]] = {}
    for table in symtable.symtable(_text(module), module, "exec").get_children():
        result.setdefault(table.get_name(), set()).update(names_in(table))
    return result


def _defined(statement: ast.stmt) -> list[str]:
    """Return the names that a top-level statement defines."""
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
