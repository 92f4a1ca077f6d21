"""The environment: one lock, the same pins for pip and conda, and helpful `make`."""

import importlib.metadata
import os
import re
import subprocess
import tomllib

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from helpers import ROOT

LOCKS = ["requirements.lock", "requirements-compiled.lock"]


def requirements(name):
    """Return the requirements of a lock file, hashes left out."""
    text = (ROOT / name).read_text().replace("\\\n", " ")
    return [Requirement(line.split(" --hash")[0]) for line in text.splitlines() if line.strip()]


def declared(*extras):
    """Return the names that pyproject.toml asks for."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    optional = project["optional-dependencies"]
    lines = project["dependencies"] + [line for extra in extras for line in optional[extra]]
    return [Requirement(line) for line in lines]


@pytest.mark.parametrize("name", LOCKS)
def test_every_line_of_a_lock_is_a_pin_with_hashes_and_no_host(name):
    text = (ROOT / name).read_text()
    assert "://" not in text
    assert "index" not in re.sub(r"[\w-]*index[\w-]*==", "", text)
    entries = [e for e in text.replace("\\\n", " ").splitlines() if e.strip()]
    assert entries
    assert [e for e in entries if not re.match(r"[\w.-]+==[\w.+-]+ .*--hash=sha256:", e)] == []


def test_the_locks_satisfy_what_the_project_declares():
    for name, extras in zip(
        LOCKS, [("workflow", "baselines", "dev", "docs"), ("compiled",)], strict=True
    ):
        pinned = {r.name: str(r.specifier).removeprefix("==") for r in requirements(name)}
        wanted = declared(*extras) if name == LOCKS[0] else declared(*extras)[len(declared()) :]
        assert wanted
        for requirement in wanted:
            assert requirement.name in pinned, f"{requirement.name} is not in {name}"
            assert requirement.specifier.contains(pinned[requirement.name]), requirement


def test_this_environment_is_the_locked_one():
    wrong = {}
    for requirement in requirements(LOCKS[0]):
        if requirement.marker is None or requirement.marker.evaluate():
            name = canonicalize_name(requirement.name)
            found = importlib.metadata.version(name)
            if not requirement.specifier.contains(found, prereleases=True):
                wrong[name] = f"{found} instead of {requirement.specifier}"
    assert wrong == {}, "run `make env`"


def test_conda_users_get_the_same_pins():
    environment = yaml.safe_load((ROOT / "environment.yml").read_text())
    pip = [part for part in environment["dependencies"] if isinstance(part, dict)]
    assert pip == [{"pip": ["-r requirements.lock"]}]
    others = [part for part in environment["dependencies"] if isinstance(part, str)]
    assert {part.split()[0] for part in others} == {"python", "pip", "make", "cxx-compiler"}


def make(*arguments):
    """Run make at the root as from a shell of its own, whichever make and VENV run these tests."""
    outside = {k: v for k, v in os.environ.items() if not k.startswith("MAKE") and k != "VENV"}
    command = ["make", *arguments]
    return subprocess.run(command, cwd=ROOT, env=outside, capture_output=True, text=True)


def test_make_lists_its_targets():
    listed = make().stdout
    for target in ("quick", "test", "tables", "lint", "benchmark"):
        assert f"make {target} " in listed


def test_make_without_a_new_enough_python_says_so(tmp_path):
    run = make("PYTHON=", f"VENV={tmp_path / 'venv'}", "quick")
    assert run.returncode != 0
    assert "error: no Python 3.11 or newer was found" in run.stderr
    assert not (tmp_path / "venv").exists()


def test_every_key_of_the_configuration_is_explained():
    said = set(re.findall(r"^\| `(\w+)` \|", (ROOT / "config/README.md").read_text(), re.MULTILINE))
    assert said == set(yaml.safe_load((ROOT / "config/config.yaml").read_text()))


def test_the_container_builds_what_make_and_the_lock_know():
    lines = (ROOT / "Dockerfile").read_text()
    version = re.search(r"^FROM python:(\d+\.\d+)", lines, re.MULTILINE)[1]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert Requirement(f"python{project['requires-python']}").specifier.contains(version)
    (target,) = re.findall(r"^RUN make (\S+)$", lines, re.MULTILINE)
    done = make("-n", target)
    assert done.returncode == 0, done.stderr
    assert "make" in re.search(r"install .*?([^&]+)&&", lines, re.DOTALL)[1].split()
    left_out = (ROOT / ".dockerignore").read_text().split()
    assert not {"src", "requirements.lock", ".git"} & set(left_out)


def test_the_catalog_entry_is_what_the_catalog_reads():
    usage = yaml.safe_load((ROOT / ".snakemake-workflow-catalog.yml").read_text())["usage"]
    assert set(usage) == {"mandatory-flags", "software-stack-deployment", "report"}
    assert set(usage["mandatory-flags"]) == {"desc", "flags"}
    assert usage["report"] is True
    # no registry has the image that the rules name: nobody could deploy it by itself
    stack = {"conda": False, "apptainer": False, "apptainer+conda": False}
    assert usage["software-stack-deployment"] == stack
