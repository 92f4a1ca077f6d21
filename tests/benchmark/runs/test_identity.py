"""Whatever is changed, a finished cell is kept only if a clean run would repeat it."""

import copy
import json
import random

import pytest

from helpers.data_sets import CSV, Bench, entry_of, form_of
from helpers.papers import repository_config
from path_benchmark import data
from path_benchmark.data import registry
from path_benchmark.data.sources import content_hash
from path_benchmark.papers import check_config, get_paper
from path_benchmark.settings import ConfigError

# Keys that decide no number, in an entry and in a paper's file.
IDLE_ENTRY = {"title", "licence", "homepage", "notes", "urls"}
IDLE_PAPER = {"title", "citation", "place", "instead_of", "id", "splits_per_job"}
PAPERS = ("quantile_svm", "weighted_svm", "robust_svm", "distributionally_robust", "survey")


def leaves(content, keys=()):
    """List the places of all values, as keys that lead there."""
    steps = content.items() if isinstance(content, dict) else enumerate(content)
    for key, value in steps:
        if isinstance(value, dict | list) and value:
            yield from leaves(value, (*keys, key))
        else:
            yield (*keys, key)


def changed(content, keys, rng):
    """Return a copy in which the value at a place is another one of its kind."""
    content = json.loads(json.dumps(content))  # so that no two places share a value
    *way, last = keys
    place = content
    for key in way:
        place = place[key]
    value = place[last]
    if isinstance(value, bool):
        place[last] = not value
    elif isinstance(value, int | float):
        place[last] = value + rng.choice([1, 2]) if value >= 1 else value * 0.75
    else:
        place[last] = f"{value}x" if isinstance(value, str) else 3
    return content


def outcome(bench):
    """Return what a clean run would compute with, and by what its cells would be known."""
    registry.__globals__["_read"].cache_clear()
    try:
        found = data.load("toy", config=bench.config)
        known = json.dumps(data.identity("toy", config=bench.config), sort_keys=True)
    except (data.DataError, ValueError):
        return None
    return (found.task, content_hash(found.X, found.y)), known


pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::path_benchmark.data.UnverifiedDataWarning"),
]


@pytest.fixture
def bench(tmp_path, monkeypatch):
    monkeypatch.delenv("SOLUTION_PATHS_MIRROR", raising=False)
    return Bench(tmp_path)


def test_every_key_of_an_entry_and_every_byte_of_its_file(bench):
    rng, counts = random.Random(0), {"other numbers": 0, "the same": 0, "refused": 0}
    entry = entry_of()
    entry["files"][0] |= {"sha256": None, "bytes": None}
    entry.pop("labels", None)
    entry.pop("content", None)
    bench.raw.mkdir(parents=True, exist_ok=True)

    def judge(idle):
        now = outcome(bench)
        if now is None:
            counts["refused"] += 1
        elif now[0] != first[0]:
            counts["other numbers"] += 1
            assert now[1] != first[1]
        else:
            counts["the same"] += 1
            assert now[1] == first[1] or not idle

    bench.write(toy=entry)
    (bench.raw / "toy.csv").write_bytes(CSV)
    first = outcome(bench)
    for keys in leaves(entry):
        bench.write(toy=changed(entry, keys, rng))
        judge(idle=bool(IDLE_ENTRY & set(keys)))
    bench.write(toy=entry)
    for place in range(len(CSV)):
        content = bytearray(CSV)
        content[place] = rng.choice(b"0123456789")
        (bench.raw / "toy.csv").write_bytes(bytes(content))
        judge(idle=False)
    assert min(counts.values()) > 3, counts


def test_files_of_the_same_numbers_to_the_last_bit_are_one_data_set(bench):
    bench.put(CSV)
    found = bench.load()
    quoted = CSV.replace(b"yes", b"+1").replace(b"no", b"-1")
    options = {"target": 2, "positive": ["+1"], "negative": ["-1"]}
    other = form_of(sha256=None, bytes=None, options=options)

    def known(form, content, **numbers):
        entry = entry_of(files=[form], content={"sha256": content_hash(*numbers["of"])} | numbers)
        entry["content"].pop("of")
        bench.write(toy=entry)
        bench.put(content)
        return outcome(bench)

    exact = {"of": (found.X, found.y)}
    assert known(other, quoted, **exact) == known(form_of(), CSV, **exact) is not None
    rounded = {"of": (found.X, found.y, 6), "digits": 6}
    one, two = known(other, quoted, **rounded), known(form_of(), CSV, **rounded)
    assert one[0] == two[0]
    assert one[1] != two[1]
    assert known(form_of(), CSV, of=(found.X + 1.0, found.y)) is None  # refused, whatever it says


@pytest.mark.parametrize("name", PAPERS)
def test_every_key_of_a_papers_file(name):
    """What a job's cells are made with decides its name; what isn't theirs doesn't."""
    rng, config = random.Random(name), repository_config()
    paper, own = get_paper(name), config["papers"][name]

    def planned(config):
        jobs = [job for suite in config["suites"] for job in paper.jobs(config, suite)]
        return {(j.suite, j.experiment, j.dataset, j.first, j.last): j.digest for j in jobs}

    before, redone = planned(config), 0
    places = list(leaves(own))
    for keys in rng.sample(places, min(60, len(places))):
        other = copy.deepcopy(config)
        other["papers"][name] = changed(own, keys, rng)
        try:
            check_config(other)
        except (ConfigError, data.DataError):
            continue
        after = planned(other)
        found = {job for job in after if before.get(job) != after[job]}
        redone += len(found)
        if IDLE_PAPER & set(keys) and "splits_per_job" not in keys:
            assert found == set(), keys
        elif keys[0] == "settings":
            assert found == after.keys(), keys
        elif keys[0] == "datasets" and keys[-1] != "splits":
            assert found == {job for job in after if job[2] == keys[1]}, keys
        elif keys[0] in ("experiments", "suites"):
            theirs = keys[1] if keys[0] == "experiments" else keys[2]
            assert found <= {job for job in after if job[1] == theirs}, keys
    assert redone > 0
