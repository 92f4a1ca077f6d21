"""Compile the library's functions while it is built, and pack them into the wheel.

``SOLUTION_PATHS_COMPILE`` names what for, as ``python -m solution_paths --for`` takes it: by
default the best level that this processor has. With ``none`` each is compiled when it is first
called.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py

WANTED = os.environ.get("SOLUTION_PATHS_COMPILE", "best")


class CompiledBuild(build_py):
    """Copy the sources, then trace a small path of every kind from the copy for each level."""

    def run(self) -> None:
        """Build, and leave compiled code beside the copied sources."""
        super().run()
        if WANTED == "none" or self.editable_mode:
            return
        for file in Path("src").rglob("*.nb[ic]"):  # of sources that are the same; else not read
            copy = Path(self.build_lib, file.relative_to("src"))
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(file, copy)
        command = [sys.executable, "-m", "solution_paths", "--for", WANTED]
        found = [os.path.abspath(self.build_lib), os.environ.get("PYTHONPATH")]  # pip's, if it is
        own = {"PYTHONPATH": os.pathsep.join(filter(None, found)), "NUMBA_CACHE_DIR": ""}
        subprocess.run(command, check=True, env=os.environ | own)


class CompiledDistribution(Distribution):
    """A distribution for one Python and one kind of machine, if compiled code is in it."""

    def has_ext_modules(self) -> bool:
        """Tell whether the wheel's name must say for which machine it is."""
        return WANTED != "none"


setup(cmdclass={"build_py": CompiledBuild}, distclass=CompiledDistribution)
