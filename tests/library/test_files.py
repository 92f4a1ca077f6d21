"""Files that processes share."""

import pytest

from solution_paths import (
    files,
)

pytestmark = pytest.mark.slow


def test_nobody_else_holds_a_locked_file_not_even_to_read(tmp_path):
    """Any other opening of a file, be it in this process, stands for another process."""
    fcntl = pytest.importorskip("fcntl")
    file = tmp_path / "folder" / "lock"
    with files.locked(file), file.open("a") as other:
        for kind in (fcntl.LOCK_EX, fcntl.LOCK_SH):
            with pytest.raises(BlockingIOError):
                fcntl.flock(other, kind | fcntl.LOCK_NB)
    with file.open("a") as other:
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
    assert file.exists()
