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
assert more <= {"pip", "setuptools"}, more

import solution_paths  # noqa: E402 - after the checks of files

assert root not in Path(solution_paths.__file__).parents, solution_paths.__file__
print(f"wheel: {len(shipped)} files; installed beside it: {', '.join(sorted(installed))}")

examples = re.findall(r"```python\n(.*?)```", (root / "README.md").read_text("utf-8"), re.DOTALL)
assert examples
for code in examples:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
assert done.stdout.splitlines()[-1].startswith("certificate holds:"), done.stdout
print(done.stdout.splitlines()[-1])
