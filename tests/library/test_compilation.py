"""Compiled functions: one process compiles, the others load; where files are kept; what is said."""

from __future__ import annotations

import ast
import os
import pickle
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numba
import numpy as np
import pytest
from numba.core import typing

import solution_paths
from solution_paths import __main__ as command_line
from solution_paths import compilation, linking
from solution_paths.__main__ import main, slowest
from solution_paths.compilation import (
    LOCK,
    TURN,
    cached_njit,
    compile_unless_taken,
    inner_njit,
    level,
)
from solution_paths.compile_log import COLUMNS, Log
from solution_paths.files import hold

pytestmark = pytest.mark.slow

SOURCE = Path(solution_paths.__file__).parent
CPU = numba.config.CPU_NAME or "native"
# A function that takes as long to compile as it is told to, and notes who compiled it.
TOY = """
import os, time
from numba.extending import overload
from solution_paths.compilation import cached_njit

def slowly(x):
    pass

@overload(slowly)
def _slowly(x):
    with open(os.environ["COMPILERS"], "a") as file:
        file.write(f"{os.getpid()} ")
    time.sleep(float(os.environ.get("SECONDS_TO_COMPILE", 0)))
    return lambda x: x + 1

@cached_njit(slow=True)
def successor(x):
    return slowly(x)

def call(x):
    return successor(x)

if __name__ == "__main__":
    import toy
    print(toy.successor(1))
"""


@inner_njit
def in_minutes(seconds):
    return seconds / 60.0


def minutes_of(seconds):
    return in_minutes(seconds)


def seconds_of(minutes):
    return 60.0 * minutes


@pytest.fixture
def toy(tmp_path):
    """Return what starts a process that calls the function, and what lists those that compiled."""
    (tmp_path / "toy.py").write_text(TOY)
    log = tmp_path / "compilers"
    path = os.pathsep.join([str(tmp_path), str(SOURCE.parent)])

    def start(seconds=0.0, code=None, **more):
        more |= {"COMPILERS": str(log), "SECONDS_TO_COMPILE": str(seconds), "PYTHONPATH": path}
        command = [sys.executable, "-c", code] if code else [sys.executable, tmp_path / "toy.py"]
        return subprocess.Popen(
            command,
            env={**os.environ, **more},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def compilers():
        return set(log.read_text().split()) if log.exists() else set()

    return start, compilers


def finish(process):
    """Return what a process that ended well has said."""
    out, said = process.communicate(timeout=120)
    assert process.returncode == 0, said
    assert out == "2\n"
    return said.splitlines()


def wait_for(condition):
    end = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_of_two_processes_one_compiles_and_the_other_loads(toy):
    start, compilers = toy
    both = [start(4.0), start(4.0)]
    said = sorted(line for process in both for line in finish(process))
    assert len(compilers()) == 1
    assert len(said) == 3, said
    assert "another process is compiling; waiting" in said[0]
    assert "compiling for this processor, once" in said[1]
    assert "python -m solution_paths" in said[1]
    assert said[2].endswith(".successor ...")
    assert finish(start()) == []  # a third one finds what it needs
    assert len(compilers()) == 1


def test_a_killed_compiler_leaves_the_turn_to_the_next(toy):
    start, compilers = toy
    first = start(600.0)
    wait_for(compilers)
    second = start()
    wait_for(lambda: "waiting" in second.stderr.readline())
    first.send_signal(signal.SIGKILL)
    first.communicate()
    said = finish(second)
    assert len(said) == 2
    assert "compiling for this processor" in said[0]
    assert len(compilers()) == 2


def test_workers_of_joblib_compile_once(toy):
    start, compilers = toy
    code = (
        "import joblib, toy\n"
        "found = joblib.Parallel(n_jobs=2)(joblib.delayed(toy.call)(k) for k in (1, 1, 1))\n"
        "print(*set(found))\n"
    )
    finish(start(3.0, code))
    assert len(compilers()) == 1


def test_importing_and_calling_what_is_kept_says_nothing(toy):
    start, compilers = toy
    finish(start())
    assert finish(start(0.0, "import toy; print(2)")) == []
    assert finish(start()) == []
    assert len(compilers()) == 1


def test_what_was_compiled_for_a_level_of_processors_serves_those_of_that_level(toy):
    start, compilers = toy
    best = {"NUMBA_CPU_NAME": level(), "NUMBA_CPU_FEATURES": ""}
    finish(start(**best))
    assert finish(start()) == []
    assert finish(start(**best)) == []
    assert len(compilers()) == 1


@pytest.mark.skipif(level() == "generic", reason="no better level here")
def test_a_level_that_is_not_the_best_one_here_does_not_serve(toy):
    start, compilers = toy
    generic = {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}
    finish(start(**generic))
    finish(start())
    assert len(compilers()) == 2
    assert finish(start(**generic)) == []
    assert len(compilers()) == 2


def test_levels_are_kept_alone(toy, tmp_path):
    start, compilers = toy
    finish(start())
    finish(start(NUMBA_CPU_NAME="generic", NUMBA_CPU_FEATURES=""))
    folder = tmp_path / "__pycache__"
    assert len(list(folder.glob("toy.successor*.nbc"))) == 2
    keep = (
        "import toy; from solution_paths.compilation import keep_levels_alone as f; f(); print(2)"
    )
    finish(start(code=keep))
    assert len(list(folder.glob("toy.successor*.nbc"))) == 1
    assert finish(start(NUMBA_CPU_NAME="generic", NUMBA_CPU_FEATURES="")) == []
    finish(start())
    assert len(compilers()) == 3


def test_an_unknown_level_is_refused_in_a_sentence(capsys):
    assert main(["--for", "x86-64-v9"]) == 2
    assert "x86-64-v9: no such level of processors; choose from" in capsys.readouterr().err


def test_a_source_that_changed_is_compiled_anew(toy, tmp_path):
    start, compilers = toy
    finish(start())
    (tmp_path / "toy.py").write_text(TOY.replace("x + 1", "2 * x"))
    finish(start())
    assert len(compilers()) == 2
    assert finish(start()) == []


def test_a_callee_that_changed_is_compiled_anew(toy, tmp_path):
    start, compilers = toy
    callee = tmp_path / "callee.py"
    callee.write_text(
        "from solution_paths.compilation import inner_njit\n"
        "@inner_njit\ndef more(x):\n    return x + 1\n"
    )
    called = TOY.replace("return slowly(x)", "return more(slowly(x)) - 1")
    (tmp_path / "toy.py").write_text("from callee import more\n" + called)
    for _ in range(2):
        finish(start())
    assert len(compilers()) == 1
    callee.write_text(callee.read_text().replace("x + 1", "x + 2 - 1"))
    finish(start())
    assert len(compilers()) == 2


def test_a_function_that_compiled_code_alone_calls_says_so():
    @inner_njit
    def inner(x):
        return x + 1

    with pytest.raises(TypeError, match="inner can be called by compiled functions alone"):
        inner(1)


def test_an_inner_function_is_compiled_for_types_and_not_for_literals():
    @inner_njit
    def element(values, k, last):
        return values[-1] if last else values[k]

    @cached_njit
    def elements(values, k):
        return element(values, 0, True), element(values, 1, False), element(values, k, k > 0)

    elements._cache.disable()
    assert elements(np.array([5.0, 6.0, 7.0]), 0) == (7.0, 6.0, 5.0)
    assert len(element.overloads) == 1


def test_numba_is_asked_once_for_the_type_of_a_result(monkeypatch):
    asked, resolve = [], typing.Context.resolve_function_type

    def noted(self, func, args, kws):
        asked.append((func, args))
        return resolve(self, func, args, kws)

    monkeypatch.setattr(typing.Context, "resolve_function_type", noted)
    linking._remembering.cache_clear()  # of what other tests have compiled

    @cached_njit
    def sums(x, k):
        return (x - x) + (x - x) * k, k - k

    sums._cache.disable()
    assert sums(1.5, 2) == (0.0, 0)
    assert len(asked) == 4  # of -, * and + for reals, of - for integers
    assert len(set(asked)) == 4


def test_what_was_loaded_is_not_linked(toy):
    start, _ = toy
    finish(start())
    code = "import numba, toy\nnumba.njit(lambda x: toy.successor(x))(1)\n"
    other = start(code=code)
    assert "library unfit for linking" in other.communicate(timeout=120)[1]
    assert other.returncode == 1


def test_what_is_kept_of_a_version_with_other_modules_is_compiled_anew(toy, tmp_path):
    start, compilers = toy
    finish(start())
    (kept,) = tmp_path.rglob("*.nbi")
    kept.write_bytes(pickle.dumps(numba.__version__) + b"cmodule_that_is_gone\nType\n.")
    finish(start())
    assert len(compilers()) == 2
    assert finish(start()) == []


def test_a_failing_compilation_gives_its_turn_back():
    @cached_njit
    def nonsense(x):
        return x.nothing_of_this_name

    with pytest.raises(numba.TypingError):
        nonsense(1)
    assert TURN.depth == 0
    assert TURN.lock is None


# -- where nothing can be written -------------------------------------------------------------


@pytest.fixture
def bound(tmp_path):
    """Return what runs code that may not write where modes forbid it, and a folder for it."""
    prefix = []
    if os.geteuid() == 0:  # to whom modes mean nothing until that right is given up
        prefix = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"]
        if shutil.which("setpriv") is None:
            pytest.skip("root can't give up its rights without setpriv")
    base = tmp_path / "site"
    (tmp_path / "tmp").mkdir()
    kept = {key: own for key, own in os.environ.items() if key in ("PATH", "LANG")}
    environment = kept | {
        "HOME": str(base / "missing"),
        "TMPDIR": str(tmp_path / "tmp"),
        "PYTHONPATH": str(base),
        "PYTHONDONTWRITEBYTECODE": "1",
        "COMPILERS": str(tmp_path / "compilers"),
    }

    def run(code):
        command = [*prefix, sys.executable, "-c", code]
        return subprocess.run(
            command, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=300
        )

    base.mkdir()
    shutil.copytree(SOURCE, base / SOURCE.name, ignore=shutil.ignore_patterns("__pycache__"))
    (base / "toy.py").write_text(TOY)
    yield base, run
    for folder in (base, *base.rglob("*/")):
        folder.chmod(0o755)


def close(base):
    """Let nobody write to an install, and make sure of that."""
    for folder in (base, *base.rglob("*/")):
        folder.chmod(0o555)


def test_a_read_only_install_without_a_home_uses_a_temporary_folder(bound):
    base, run = bound
    close(base)
    code = (
        "import numpy as np, solution_paths\n"
        "from solution_paths.verify.exact import column_sums\n"
        "print(column_sums(np.ones((2, 1)), np.zeros((2, 1)))[0].item())\n"
    )
    for first in (True, False):
        done = run(code)
        assert done.returncode == 0, done.stderr
        assert done.stdout == "2.0\n"
        (folder,) = (base.parent / "tmp").glob("solution_paths-*")
        said = done.stderr.splitlines()
        assert len(said) == first, said
        if first:
            assert f"compiled code is kept in {folder}" in said[0]
            assert folder.stat().st_mode & 0o777 == 0o700
            files = {file: file.stat().st_mtime_ns for file in folder.rglob("*.nbc")}
            assert files
    assert files == {file: file.stat().st_mtime_ns for file in folder.rglob("*.nbc")}


def test_a_temporary_folder_that_others_can_write_to_is_not_trusted(bound):
    base, run = bound
    close(base)
    planted = base.parent / "tmp" / f"solution_paths-{os.getuid()}"
    planted.mkdir()
    planted.chmod(0o777)
    done = run("import solution_paths")
    assert done.returncode == 0, done.stderr
    assert "compiled code is kept in" in done.stderr
    assert f"{planted}," not in done.stderr
    assert list(planted.iterdir()) == []


def test_what_the_owner_of_an_install_compiled_serves_who_can_not_write_there(bound):
    base, run = bound
    code = "import toy; print(toy.successor(1))"
    assert run(code).returncode == 0
    log = base.parent / "compilers"
    before = log.read_text()
    close(base)
    done = run(code)
    assert (done.returncode, done.stdout) == (0, "2\n"), done.stderr
    assert "compiling" not in done.stderr
    assert log.read_text() == before


# -- in advance -------------------------------------------------------------------------------


def in_advance(*arguments):
    environment = {**os.environ, "PYTHONPATH": str(SOURCE.parent)}
    command = [sys.executable, "-m", "solution_paths", *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=1200)


def test_every_function_can_be_compiled_in_advance():
    code = (
        "from solution_paths.__main__ import compile_all\n"
        "from solution_paths.compilation import FUNCTIONS\n"
        "compile_all()\n"
        "for own in FUNCTIONS:\n"  # what others have taken in is kept, too
        "    if not own.overloads and not own._cache._cache_file._load_index():\n"
        "        print(own.__name__)\n"
        "print(len(FUNCTIONS) > 20)\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(SOURCE.parent)}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=1200)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["True"]


def test_the_command_says_what_is_installed_and_where_compiled_code_lies():
    assert in_advance().returncode == 0
    done = in_advance("--version")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    said = dict(line.split(maxsplit=1) for line in done.stdout.splitlines())
    assert said["solution_paths"] == solution_paths.__version__
    assert said["numba"] == numba.__version__
    assert {"python", "numpy", "llvmlite", "scipy", "scikit-learn", "processor:"} <= set(said)
    folder = said["compiled"].removeprefix("code: ").partition(" (")[0]
    assert Path(folder).is_dir()
    assert list(Path(folder).rglob("*.nbc"))


def test_several_processes_find_what_is_there_and_say_so():
    assert in_advance().returncode == 0
    done = in_advance("--jobs", "2")
    assert done.returncode == 0, done.stderr
    assert "0 compiled, the rest was there" in done.stdout


def test_the_command_prints_the_log_of_what_it_compiled(monkeypatch, capsys):
    made = cached_njit(minutes_of)
    made._cache.disable()  # so that it is compiled, whatever is kept
    monkeypatch.setattr(command_line, "compile_all", lambda: made(120.0))
    assert main(["--log"]) == 0
    said = capsys.readouterr().out
    assert "entry" in said
    assert "optimised" in said
    assert re.search(r"^ *\d+ of \d+ +.*minutes_of +\d", said, re.MULTILINE)
    assert "\n1 compiled, the rest was there" in said


@pytest.mark.parametrize("wrong", ["--nonsense", "--jobs 0", "--jobs 2 --log"])
def test_wrong_arguments_of_the_command_are_refused(wrong, capsys):
    with pytest.raises(SystemExit) as refused:
        main(wrong.split())
    assert refused.value.code == 2
    assert "error: " in capsys.readouterr().err


def test_what_processes_compile_first_is_what_paths_call():
    """Else it would be compiled twice, for other types."""
    solution_paths.svm_path([[0.0], [1.0], [2.0], [3.0]], [1, -1, 1, -1])
    for made, called_with in slowest():
        assert called_with in made.overloads


def test_what_another_process_compiles_is_left_to_it(tmp_path, monkeypatch):
    made = cached_njit(seconds_of)
    monkeypatch.setattr(made._cache, "_cache_path", str(tmp_path))
    signature = (numba.types.float64,)
    lock = Path(made._cache.cache_path, LOCK.format(made._cache._impl.filename_base, CPU))
    lock.parent.mkdir(parents=True, exist_ok=True)
    held = hold(lock)
    compile_unless_taken(made, signature)
    assert not made.overloads
    held.release()
    compile_unless_taken(made, signature)
    assert list(made.overloads) == [signature]


def test_the_log_has_seconds_of_each_stage_of_each_function_and_bytes(monkeypatch):
    steps = []
    inner = inner_njit(in_minutes.py_func)  # one that no other test has compiled
    monkeypatch.setitem(globals(), "in_minutes", inner)
    made = cached_njit(minutes_of)
    made._cache.disable()  # so that it is compiled, whatever is kept
    log = Log(lambda name, seconds: steps.append(name))
    with log.listening():
        assert made(120.0) == 2.0
    (name,) = steps
    own = log.entries[name]
    assert name.endswith("minutes_of")
    assert own["functions"] == 2
    stages = sum(own[stage] for stage in COLUMNS)
    assert 0.5 * own["seconds"] < stages <= own["seconds"]
    assert min(own[stage] for stage in COLUMNS) > 0.0
    assert {"minutes_of", "in_minutes"} <= set(log.inner)
    assert name in log.tables()


KINDS_OF_MEMORY = """
import re, warnings
import numpy as np
import solution_paths as sp
from solution_paths.__main__ import compile_all
from solution_paths.compilation import FUNCTIONS

compile_all()
had = {made: set(made.overloads) for made in FUNCTIONS}
warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
X = rng.normal(size=(60, 4))
y = np.where(X[:, 0] + rng.normal(size=60) > 0, 1, -1)
for rows in (X, np.asfortranarray(X), np.broadcast_to(X, X.shape), X[::-1]):
    for kernel in ("linear", "rbf", "poly"):
        path = sp.svm_path(rows, y, kernel=kernel)
        path.certify()
        path.best(rows, y)
        path.predict(rows, path.breakpoints[:2])
    sp.svr_path(rows, X[:, 1], vary="epsilon", C=1.0).certify()
    sp.elastic_net_path(rows, X[:, 1]).certify()
    sp.nu_svm_path(rows, y).certify()
    sp.svor_path(rows, np.digitize(X[:, 1], [-0.5, 0.5])).certify()
for made in FUNCTIONS:
    more = set(made.overloads) - had[made]
    assert not more, (made.__name__, more)
    plain = [re.sub(r"'[ACF]', (True|False)", "", str(own)) for own in made.overloads]
    assert len(set(plain)) == len(plain), (made.__name__, made.signatures)
"""


def test_arrays_of_any_order_that_may_be_written_to_or_not_need_no_compilation_of_their_own():
    done = subprocess.run([sys.executable, "-c", KINDS_OF_MEMORY], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_compiled_code_depends_on_the_files_of_its_constants():
    """Else code that was compiled with another value would be used after a change."""
    names = {}
    for made in {*compilation.FUNCTIONS, *compilation.INNER}:
        names.setdefault(made.__module__, set()).update(made.py_func.__code__.co_names)
    numbers = 0
    for name, used in names.items():
        module = sys.modules[name]
        for node in ast.walk(ast.parse(Path(module.__file__).read_text("utf-8"))):
            if not isinstance(node, ast.ImportFrom) or not node.level:
                continue
            package = name.split(".")[: -node.level]
            source = ".".join([*package, *(node.module or "").split(".")]).rstrip(".")
            for alias in node.names:
                constant = alias.asname or alias.name
                if constant in used and isinstance(getattr(module, constant), int | float):
                    numbers += 1
                    known = sys.modules[source].__file__ in compilation.SOURCES
                    assert known, f"{name} reads {constant} of {source}"
    assert numbers > 20
