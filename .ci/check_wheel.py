"""Check an installed wheel: `.ci/wheel` runs this in an empty folder, with the checkout's path."""

import re
import subprocess
import sys
from importlib.metadata import distributions, files, requires
from pathlib import Path

root = Path(sys.argv[1])
source = root / "src"


def names(paths) -> set[str]:
    """Return the package's files but what Python and numba keep beside them."""
    own = {path for path in paths if path.parts[0] == "solution_paths"}
    return {path.as_posix() for path in own if "__pycache__" not in path.parts}


shipped = names(files("solution_paths"))
expected = names(f.relative_to(source) for f in source.rglob("*") if f.is_file())
assert "solution_paths/py.typed" in shipped
assert shipped == expected, sorted(shipped ^ expected)


def normal(name) -> str:
    """Return a distribution's name as others may spell it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def needed(name, found) -> set[str]:
    """Return what a distribution needs, without its extras, and what that needs."""
    for line in requires(name) or ():
        other = normal(re.match(r"[\w.-]+", line)[0])
        if "extra ==" not in line and other in installed and other not in found:
            found = needed(other, found | {other})
    return found


installed = {normal(own.metadata["Name"]) for own in distributions()}
more = installed - needed("solution_paths", {"solution-paths"})
assert "examples" in sys.argv or more <= {"pip", "setuptools"}, more

import solution_paths  # noqa: E402 - after the checks of files

assert root not in Path(solution_paths.__file__).parents, solution_paths.__file__
print(f"wheel: {len(shipped)} files; installed beside it: {', '.join(sorted(installed))}")

BEFORE = """
import time
import numpy as np
from numba.core import event
import solution_paths
compiled = event.RecordingListener()
event.register("numba:compile", compiled)
"""
AFTER = """
names = {one.data["dispatcher"].__name__ for _, one in compiled.buffer}
assert not names, f"compiled, although the wheel holds it: {sorted(names)}"
"""
FIRST = """
rng = np.random.default_rng(0)
X = rng.normal(size=(100, 5))
begin = time.process_time()
path = solution_paths.svm_path(X, np.where(X[:, 0] > 0, 1, -1))
print(f"first path after the import: {time.process_time() - begin:.2f} s of CPU")
"""
WITHOUT_PLOTS = """
try:
    path.plot()
except ImportError as error:
    assert "pip install" in str(error), error
else:
    raise AssertionError("a figure without matplotlib")
"""


def run(code: str) -> str:
    """Run code that may say nothing and compile nothing; return its last line."""
    whole = BEFORE + code + AFTER
    done = subprocess.run([sys.executable, "-c", whole], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert not done.stderr, done.stderr
    return done.stdout.splitlines()[-1]


if "examples" in sys.argv:
    examples = re.findall(
        r"```python\n(.*?)```", (root / "README.md").read_text("utf-8"), re.DOTALL
    )
    assert examples
    said = [run(code) for code in examples]
    assert said[-1].startswith("certificate holds:"), said
    print(said[-1])
else:
    print(run(FIRST + WITHOUT_PLOTS))
