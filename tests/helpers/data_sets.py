"""A list of data sets of a test's own: one toy, and its files."""

import hashlib
from pathlib import Path

import yaml

from path_benchmark import data

CSV = b"1.5,2,yes\n3,4,no\n5,6,no\n7,8.25,yes\n"
HTML = b"\xef\xbb\xbf\n<!DOCTYPE html>\n<html><body>404 Not Found</body></html>\n"


def entry_of(**changes):
    entry = {
        "title": "A toy",
        "source": "files",
        "task": "classification",
        "n": 4,
        "d": 2,
        "labels": {"negative": 2, "positive": 2},
        "positive": "yes",
        "licence": "none",
        "homepage": "http://toy.example/about",
        "files": [
            {
                "name": "toy.csv",
                "sha256": hashlib.sha256(CSV).hexdigest(),
                "bytes": len(CSV),
                "parser": "csv",
                "options": {"target": 2, "positive": ["yes"], "negative": ["no"]},
            }
        ],
    }
    return entry | changes


def form_of(**changes):
    return entry_of()["files"][0] | changes


class Bench:
    """A private list of data sets, with its own raw and mirror folders."""

    def __init__(self, root: Path):
        self.config = root / "config" / "datasets.yaml"
        self.raw, self.mirror = root / "data" / "raw", root / "mirror"
        self.config.parent.mkdir()
        self.mirror.mkdir()
        self.write(toy=entry_of())

    def write(self, **entries):
        self.config.write_text(yaml.safe_dump({"datasets": entries}))
        data.registry.__globals__["_read"].cache_clear()

    def put(self, content, name="toy.csv"):
        self.raw.mkdir(parents=True, exist_ok=True)
        (self.raw / name).write_bytes(content)

    def load(self, name="toy", **options):
        return data.load(name, config=self.config, **options)

    def leftovers(self):
        return sorted(p.name for p in self.raw.iterdir()) if self.raw.exists() else []


def one_sentence(caught, *parts):
    """Return the message after checking that it's one line that names the data set and `parts`."""
    message = str(caught.value)
    assert "\n" not in message
    assert message.startswith("Data set toy")
    assert message.rstrip(").").count(". ") == 0
    for part in parts:
        assert str(part) in message
    return message
