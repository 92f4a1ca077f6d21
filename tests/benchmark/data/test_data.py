"""Data sets: the list, the sources, and every kind of bad input. Nothing here needs a network."""

import copy
import hashlib
import http.server
import lzma
import runpy
import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import get_type_hints

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
import yaml

from helpers import ROOT
from helpers.data_sets import CSV, HTML, Bench, entry_of, form_of, one_sentence
from path_benchmark import data
from path_benchmark.data import downloads, generated, parsers, sources
from path_benchmark.data.registry import config_path, find

FETCH_SCRIPT = ROOT / "workflow" / "scripts" / "fetch.py"


@pytest.fixture(autouse=True)
def no_mirror(monkeypatch):
    monkeypatch.delenv(sources.MIRROR_VARIABLE, raising=False)
    monkeypatch.setattr(downloads, "RETRIES", 0)


@pytest.fixture
def bench(tmp_path):
    return Bench(tmp_path)


@pytest.fixture
def no_network(monkeypatch):
    def refuse(*_):
        raise AssertionError("the network was used")

    monkeypatch.setattr(downloads, "download_file", refuse)


class Handler(http.server.BaseHTTPRequestHandler):
    """Serves `server.pages`: path -> (status, content, announced length)."""

    def do_GET(self):
        self.server.asked.append(self.path)
        status, content, length = self.server.pages.get(self.path, (404, b"gone", 4))
        self.send_response(status)
        self.send_header("Content-Length", str(length))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        pass


@pytest.fixture
def server():
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as httpd:
        httpd.pages, httpd.asked = {}, []
        httpd.base = f"http://127.0.0.1:{httpd.server_port}"
        threading.Thread(target=httpd.serve_forever, args=(0.02,), daemon=True).start()
        yield httpd
        httpd.shutdown()


# ---------------------------------------------------------------- what works


def test_raw_file_is_read_and_described(bench, no_network):
    bench.put(CSV)
    toy = bench.load()
    np.testing.assert_array_equal(toy.X, [[1.5, 2], [3, 4], [5, 6], [7, 8.25]])
    np.testing.assert_array_equal(toy.y, [1, -1, -1, 1])
    assert (toy.name, toy.n, toy.d, toy.task) == ("toy", 4, 2, "classification")
    assert (toy.origin, toy.verified) == ("data/raw", "file hash")
    assert toy.meta["sha256"] == hashlib.sha256(CSV).hexdigest()
    assert toy.meta["positive"] == "yes"
    assert toy.X.dtype == toy.y.dtype == np.float64
    with pytest.raises(AttributeError):
        toy.name = "other"


def test_data_raw_comes_before_the_mirror_and_that_before_the_network(bench, server, monkeypatch):
    server.pages["/toy.csv"] = (200, CSV, len(CSV))
    bench.write(toy=entry_of(files=[form_of(urls=[f"{server.base}/toy.csv"])]))
    (bench.mirror / "toy.csv").write_bytes(CSV)
    monkeypatch.setenv(sources.MIRROR_VARIABLE, str(bench.mirror))
    assert bench.load().origin == "mirror"
    bench.put(CSV)
    assert bench.load().origin == "data/raw"
    (bench.raw / "toy.csv").unlink()
    monkeypatch.delenv(sources.MIRROR_VARIABLE)
    assert server.asked == []
    assert bench.load().origin == "download"
    assert server.asked == ["/toy.csv"]
    assert bench.leftovers() == ["toy.csv"]
    assert bench.load().origin == "data/raw"


def test_fetch_copies_from_the_mirror_whole(bench, no_network):
    (bench.mirror / "toy.csv").write_bytes(CSV)
    paths = data.fetch("toy", mirror=bench.mirror, config=bench.config)
    assert paths == [bench.raw / "toy.csv"]
    assert paths[0].read_bytes() == CSV
    assert bench.leftovers() == ["toy.csv"]
    assert data.fetch("toy", config=bench.config) == paths


def test_the_fetch_job_and_load_agree_on_the_folder_wherever_they_run(
    bench, no_network, tmp_path, monkeypatch
):
    (bench.mirror / "toy.csv").write_bytes(CSV)
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / "data" / "raw").mkdir(parents=True)
    monkeypatch.chdir(elsewhere)
    monkeypatch.setenv("SOLUTION_PATHS_DATASETS", str(bench.config))
    monkeypatch.setenv(sources.MIRROR_VARIABLE, str(bench.mirror))
    job = SimpleNamespace(
        wildcards=SimpleNamespace(dataset="toy"),
        params=SimpleNamespace(offline=True),
        log=["fetch.log"],
        output=["fetched.txt"],
    )
    runpy.run_path(str(FETCH_SCRIPT), {"snakemake": job})
    assert Path("fetched.txt").read_text() == f"{bench.raw / 'toy.csv'}\n"
    assert list((elsewhere / "data" / "raw").iterdir()) == []
    monkeypatch.delenv(sources.MIRROR_VARIABLE)
    assert data.load("toy", offline=True).origin == "data/raw"


def test_fetch_interrupted_while_copying_leaves_nothing(bench, monkeypatch):
    (bench.mirror / "toy.csv").write_bytes(CSV)

    def break_off(source, target):
        Path(target).write_bytes(CSV[:5])
        raise KeyboardInterrupt

    monkeypatch.setattr(sources.shutil, "copyfile", break_off)
    with pytest.raises(KeyboardInterrupt):
        data.fetch("toy", mirror=bench.mirror, config=bench.config)
    assert bench.leftovers() == []


def test_available_looks_but_does_not_download(bench, no_network):
    assert not data.available("toy", config=bench.config)
    assert data.available("iris")
    (bench.mirror / "toy.csv").write_bytes(CSV)
    assert data.available("toy", mirror=bench.mirror, config=bench.config)
    assert not data.available("a7a_surrogate", mirror=bench.mirror)


def test_another_form_of_the_file_serves_and_is_checked_by_its_content(bench):
    X, y = np.array([[1.5, 2], [3, 4.0000001], [5, 6], [7, 8.25]]), np.array([1.0, -1, -1, 1])
    content = {"sha256": sources.content_hash(X, y, 7), "digits": 7}
    text = b"+1 1:1.5 2:2\n-1 1:3 2:4\n-1 1:5 2:6\n+1 1:7 2:8.25\n"
    other = {"name": "toy.libsvm.xz", "sha256": None, "parser": "svmlight"}
    other["options"] = {"dense": True, "positive": [1], "negative": [-1]}
    bench.write(toy=entry_of(files=[form_of(), other], content=content))
    bench.put(lzma.compress(text), "toy.libsvm.xz")
    assert bench.load().verified == "content hash"
    bench.put(lzma.compress(text.replace(b"8.25", b"8.2500001")), "toy.libsvm.xz")  # 8 digits
    assert bench.load().verified == "content hash"
    bench.put(lzma.compress(text.replace(b"8.25", b"8.250001")), "toy.libsvm.xz")
    with pytest.raises(data.DataError) as caught:
        bench.load()
    one_sentence(caught, "other numbers", "to 7 digits", content["sha256"][:16])


def test_file_without_any_hash_is_never_silently_trusted(bench):
    bench.write(toy=entry_of(files=[form_of(sha256=None)]))
    bench.put(CSV)
    with pytest.warns(data.UnverifiedDataWarning, match="toy"):
        toy = bench.load()
    assert toy.verified == "shape only"
    assert toy.meta["sha256"] == hashlib.sha256(CSV).hexdigest()
    bench.put(CSV.replace(b"no", b"yes", 1))
    with pytest.raises(data.DataError) as caught:
        bench.load()
    one_sentence(caught, "label counts", {-1: 2, 1: 2}, {-1: 1, 1: 3})


# ---------------------------------------------------------------- bad input


def test_missing_file_without_an_address(bench, no_network):
    with pytest.raises(data.DataUnavailable) as caught:
        bench.load(mirror=bench.mirror)
    one_sentence(caught, "toy.csv", bench.raw, bench.mirror, "http://toy.example/about")
    assert bench.leftovers() == []


def test_a_set_of_ones_own_needs_neither_homepage_nor_address(bench, no_network):
    entry = entry_of()
    del entry["homepage"]
    bench.write(toy=entry)
    with pytest.raises(data.DataUnavailable) as caught:
        bench.load()
    assert "and its entry has no address; put the file there" in str(caught.value)
    bench.put(CSV)
    assert bench.load().y.tolist() == [1.0, -1.0, -1.0, 1.0]


def test_missing_file_offline_does_not_ask_the_network(bench, no_network):
    bench.write(toy=entry_of(files=[form_of(urls=["http://toy.example/toy.csv"])]))
    with pytest.raises(data.DataUnavailable) as caught:
        bench.load(offline=True)
    one_sentence(caught, "toy.csv", bench.raw, sources.MIRROR_VARIABLE)


def test_missing_file_and_no_network(bench, server):
    url = f"{server.base}/toy.csv"
    bench.write(toy=entry_of(files=[form_of(urls=[url])]))
    server.shutdown()
    server.server_close()
    with pytest.raises(data.DataUnavailable) as caught:
        bench.load()
    one_sentence(caught, url, "toy.csv")
    assert bench.leftovers() == []


def test_missing_file_on_the_server_is_retried_and_reported(bench, server, monkeypatch):
    monkeypatch.setattr(downloads, "RETRIES", 2)
    monkeypatch.setattr("time.sleep", lambda _: None)
    bench.write(toy=entry_of(files=[form_of(urls=[f"{server.base}/toy.csv"])]))
    with pytest.raises(data.DataUnavailable) as caught:
        bench.load()
    one_sentence(caught, "404")
    assert server.asked == ["/toy.csv"] * 3
    assert bench.leftovers() == []


def test_second_address_serves_when_the_first_is_gone(bench, server):
    server.pages["/b.csv"] = (200, CSV, len(CSV))
    urls = [f"{server.base}/a.csv", f"{server.base}/b.csv"]
    bench.write(toy=entry_of(files=[form_of(urls=urls)]))
    assert bench.load().origin == "download"
    assert server.asked == ["/a.csv", "/b.csv"]


def test_wrong_checksum(bench):
    changed = CSV.replace(b"1.5", b"1.6")
    bench.put(changed)
    with pytest.raises(data.DataError) as caught:
        bench.load()
    one_sentence(
        caught,
        "checksum",
        bench.raw / "toy.csv",
        hashlib.sha256(CSV).hexdigest(),
        hashlib.sha256(changed).hexdigest(),
    )


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (HTML, "HTML"),
        (CSV.replace(b"1.5", b"1.6"), "checksum"),
        (CSV[:20], "truncated"),
        (b"", "truncated"),
    ],
    ids=["html", "checksum", "truncated", "empty"],
)
def test_bad_download_is_refused_and_nothing_stays(bench, server, content, says):
    url = f"{server.base}/toy.csv"
    server.pages["/toy.csv"] = (200, content, len(content))
    bench.write(toy=entry_of(files=[form_of(urls=[url])]))
    for act in (data.load, data.fetch):
        with pytest.raises(data.DataError) as caught:
            act("toy", config=bench.config)
        one_sentence(caught, says, url, "nothing was kept")
        assert bench.leftovers() == []


def test_download_that_breaks_off_leaves_nothing(bench, server):
    server.pages["/toy.csv"] = (200, CSV[:15], len(CSV))
    bench.write(toy=entry_of(files=[form_of(urls=[f"{server.base}/toy.csv"])]))
    with pytest.raises(data.DataUnavailable) as caught:
        bench.load()
    one_sentence(caught, f"{server.base}/toy.csv")
    assert bench.leftovers() == []


@pytest.mark.parametrize("verified", [True, False])
def test_html_page_in_place_of_data(bench, verified):
    sha256 = hashlib.sha256(CSV).hexdigest() if verified else None
    form = {k: v for k, v in form_of(sha256=sha256).items() if k != "bytes"}
    bench.write(toy=entry_of(files=[form]))
    bench.put(HTML)
    with pytest.raises(data.DataError) as caught:
        bench.load()
    one_sentence(caught, "HTML", "csv", bench.raw / "toy.csv")


def test_truncated_file_states_both_sizes(bench):
    bench.put(CSV[:-3])
    with pytest.raises(data.DataError) as caught:
        bench.load()
    one_sentence(caught, "truncated", f"{len(CSV)} bytes", f"{len(CSV) - 3} bytes")


def test_truncated_archive_without_known_size(bench):
    packed = lzma.compress(CSV * 50)
    bench.write(toy=entry_of(files=[{**form_of(sha256=None, name="toy.csv.xz"), "bytes": 10}]))
    bench.put(packed[: len(packed) // 2], "toy.csv.xz")
    with pytest.raises(data.DataError) as caught:
        bench.load()
    one_sentence(caught, "truncated", "csv", bench.raw / "toy.csv.xz")


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (CSV + b"9,9,no\n", ("wrong shape", "4 x 2", "5 x 2")),
        (b"1,1.5,2,yes\n2,3,4,no\n3,5,6,no\n4,7,8,yes\n", ("line 1 has 4 columns", "3 are")),
        (CSV.replace(b"no", b"no,"), ("line 2 has 4 columns", "3 are expected")),
        (CSV.replace(b"5,6", b"5;6"), ("line 3 has 2 columns",)),
        (CSV.replace(b"8.25", b"nan"), ("line 4, column 1", "'nan'", "finite number")),
        (CSV.replace(b"8.25", b"inf"), ("line 4, column 1", "'inf'", "finite number")),
        (CSV.replace(b"8.25", b"many"), ("line 4, column 1", "'many'", "finite number")),
        (CSV.replace(b"8.25", b""), ("line 4, column 1", "''", "finite number")),
        (CSV.replace(b"6,no", b"6,?"), ("line 3", "label '?'", "+1 (yes)", "-1 (no)")),
        (CSV.replace(b"6,no", b"6,"), ("line 3", "label ''")),
        (CSV.replace(b"6,no", b"6,NO"), ("line 3", "label 'NO'")),
        (CSV.replace(b"6,no", b"6,nan"), ("line 3", "label 'nan'")),
        (CSV.replace(b"6,no", b"6,perhaps"), ("line 3", "label 'perhaps'")),
        (CSV.replace(b"yes", b"no"), ("label counts", {-1: 4})),
        (b"\n\n", ("it is empty",)),
    ],
    ids=[
        *("rows", "columns", "trailing", "separator", "nan", "inf", "word", "field"),
        *("label ?", "no label", "misspelt", "label nan", "third class", "labels", "blank"),
    ],
)
def test_wrong_content_in_an_unverified_file(bench, content, says):
    form = {k: v for k, v in form_of(sha256=None).items() if k != "bytes"}
    bench.write(toy=entry_of(files=[form]))
    bench.put(content)
    with pytest.raises(data.DataError) as caught:
        bench.load()
    one_sentence(caught, *says)


def test_wrong_shape_though_the_checksum_fits(bench):
    bench.write(toy=entry_of(n=5, labels={"negative": 3, "positive": 2}))
    bench.put(CSV)
    with pytest.raises(data.DataError) as caught:
        bench.load()
    one_sentence(caught, "wrong shape", "5 x 2", "4 x 2")


def test_wrong_target_range(bench):
    content = b"1,2,0.5\n3,4,0.75\n5,6,2\n"
    options = {"target": 2}
    form = {"name": "toy.csv", "sha256": None, "parser": "csv", "options": options}
    target = {"name": "z", "min": 0.5, "max": 1.5}
    entry = entry_of(task="regression", n=3, files=[form], target=target)
    entry = {k: v for k, v in entry.items() if k not in ("labels", "positive")}
    bench.write(toy=entry)
    bench.put(content)
    with pytest.raises(data.DataError) as caught:
        bench.load()
    one_sentence(caught, "target range", "0.5 to 1.5", "0.5 to 2")


def test_unknown_name_lists_the_known_ones(bench):
    with pytest.raises(data.UnknownDataSet) as caught:
        bench.load("toys")
    assert str(caught.value) == "There is no data set called 'toys'; the known ones are toy."
    with pytest.raises(data.DataError, match=r"'gisete'.*\bgisette\b.*\bw5a\b"):
        data.load("gisete")


def test_mirror_that_does_not_exist(bench, monkeypatch):
    monkeypatch.setenv(sources.MIRROR_VARIABLE, str(bench.mirror / "nowhere"))
    with pytest.raises(data.DataError, match="nowhere does not exist"):
        bench.load()


# ---------------------------------------------------------------- the list


def broken(change):
    entry = copy.deepcopy(entry_of())
    change(entry)
    return entry


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda e: e.update(colour="red"), "datasets.toy.colour is an unknown name; "),
        (lambda e: e.update(license="x"), "toy.license is an unknown name; did you mean 'licence'"),
        (lambda e: e.update(papers=["svm"]), "datasets.toy.papers is an unknown name; "),
        (lambda e: e.update(name="toy"), "toy.name is an unknown name"),
        (
            lambda e: e["files"][0].update(sha265="x"),
            "datasets.toy.files.0.sha265 is an unknown name; did you mean 'sha256'",
        ),
        (
            lambda e: e["files"][0]["options"].update(positve=["x"]),
            "datasets.toy.files.0.options.positve is an unknown name; did you mean 'positive'",
        ),
        (  # of another parser's options: the nearest one is still one of its own
            lambda e: e["files"][0]["options"].update(dense=True),
            "options.dense is an unknown name; known are categories, drop, header, index, marker",
        ),
        (
            lambda e: e["labels"].update(neutral=1),
            "toy.labels.neutral is an unknown name; known are negative, positive",
        ),
        (lambda e: e["files"][0].update(sha256="abc"), "files.0.sha256 is 'abc': "),
        (lambda e: e["files"][0].update(urls=["ftp:/toy"]), "files.0.urls.0 is 'ftp:/toy': "),
        (lambda e: e["files"][0].update(name="../toy.csv"), "files.0.name is '../toy.csv': "),
        (
            lambda e: e["files"][0].update(parser="excel"),
            "files.0.parser is 'excel': it should be 'csv', 'svmlight', 'mat', ",
        ),
        (lambda e: e["files"][0].pop("parser"), "files.0.parser is missing; add it"),
        (lambda e: e["files"][0].pop("sha256"), "files.0.sha256 is missing; add it"),
        (lambda e: e["files"][0]["options"].pop("target"), "options.target is missing; add it"),
        (lambda e: e["files"][0]["options"].update(positive=[]), "options.positive is ["),
        (lambda e: e["files"][0]["options"].update(drop=[True]), "options.drop.0 is True: "),
        (lambda e: e.update(n=0), "datasets.toy.n is 0: "),
        (lambda e: e.update(n="4"), "datasets.toy.n is '4': "),
        (lambda e: e.update(n=True), "datasets.toy.n is True: "),
        (lambda e: e.update(d=2.0), "datasets.toy.d is 2.0: "),
        (lambda e: e.update(task="ranking"), "datasets.toy.task is 'ranking': "),
        (lambda e: e.update(source="web"), "datasets.toy.source is 'web': "),
        (lambda e: e.update(transform="sqrt"), "datasets.toy.transform is 'sqrt': "),
        (lambda e: e.update(homepage="toy.example"), "datasets.toy.homepage is 'toy.example': "),
        (lambda e: e.update(parameters={"n": "many"}), "datasets.toy.parameters.n is 'many': "),
        (lambda e: e.update(target={"name": "z", "min": 0}), "toy.target.max is missing; add it"),
        (lambda e: e.update(files=[]), "datasets.toy.files is []: "),
        (lambda e: e.pop("licence"), "datasets.toy.licence is missing; add it"),
        (lambda e: e.pop("positive"), "toy: a classification needs 'positive'"),
        (lambda e: e["files"][0]["options"].pop("positive"), "the options of toy.csv need 'posit"),
        (lambda e: e.pop("files"), "toy: a set whose source is 'files' needs 'files'"),
        (lambda e: e.update(homepage="none"), "'none': it should be an address that begins with"),
        (
            lambda e: e["files"][0]["options"].update(positive=[True]),
            "options.positive.0 is True: YAML takes yes, no, on, off, true and false without",
        ),
        (
            lambda e: e["files"][0]["options"].update(target=False),
            "a word of the file put it in quotes ('no'), else name another; correct it",
        ),
        (lambda e: e.update(builder="iris"), "a set whose source is 'files' has no 'builder'"),
        (lambda e: e.update(parents=["toy"]), "a set whose source is 'files' has no 'parents'"),
        (lambda e: made(e, "derived", builder="a"), "source is 'derived' needs 'parents'"),
        (lambda e: made(e, "generated", builder="a"), "source is 'generated' needs 'parameters'"),
        (lambda e: made(e, "bundled"), "source is 'bundled' needs 'builder'"),
        (
            lambda e: e.update(source="bundled", builder="iris"),
            "a set whose source is 'bundled' has no 'files'",
        ),
    ],
)
def test_a_mistake_in_the_list_is_told_in_one_sentence(bench, change, says):
    bench.write(toy=broken(change))
    with pytest.raises(data.DataError) as caught:
        bench.load()
    message = str(caught.value)
    assert message.startswith(f"{bench.config}: ")
    assert says in message
    assert "\n" not in message
    assert message.endswith(".")


def made(entry, source, **said):
    """Turn a set of files into one that has another source."""
    del entry["files"]
    entry.update(source=source, **said)


def test_an_unknown_key_is_told_with_the_names_of_its_own_parser(bench):
    other = {"name": "toy.libsvm", "sha256": None, "parser": "svmlight"}
    other["options"] = {"denze": True, "positive": [1]}
    bench.write(toy=entry_of(files=[form_of(), other]))
    with pytest.raises(data.DataError, match=r"files\.1\.options\.denze .* did you mean 'dense'"):
        bench.load()


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ({"datasets": {"toy": entry_of()}, "datsets": {}}, "datsets .* did you mean 'datasets'"),
        ({}, "datasets is missing"),
        ({"datasets": {}}, "datasets"),
        ({"datasets": {"To-y": entry_of()}}, "datasets.To-y is 'To-y'"),
        (["toy"], "the top level is"),
        (None, "the top level is None"),
    ],
    ids=["unknown key", "no key", "empty", "name", "list", "nothing"],
)
def test_a_mistake_at_the_top_of_the_list(bench, content, says):
    bench.config.write_text(yaml.safe_dump(content))
    with pytest.raises(data.DataError, match=says) as caught:
        data.registry(bench.config)
    assert "\n" not in str(caught.value)


def test_list_that_is_not_yaml(bench):
    bench.config.write_text("datasets: [")
    with pytest.raises(data.DataError, match="not valid YAML"):
        data.registry(bench.config)


def test_list_is_found_through_the_environment_and_must_exist(bench, monkeypatch):
    monkeypatch.setenv("SOLUTION_PATHS_DATASETS", str(bench.config))
    assert list(data.registry()) == ["toy"]
    monkeypatch.setenv("SOLUTION_PATHS_DATASETS", str(bench.config) + "x")
    with pytest.raises(data.DataError, match="no list of data sets"):
        data.registry()


def test_installed_package_without_a_checkout_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(config_path.__globals__["Path"], "cwd", lambda: tmp_path)
    monkeypatch.setitem(
        config_path.__globals__, "__file__", str(tmp_path / "a" / "b" / "c" / "d" / "x.py")
    )
    monkeypatch.delenv("SOLUTION_PATHS_DATASETS", raising=False)
    with pytest.raises(data.DataError, match="run inside a checkout"):
        config_path()


def test_derived_data_need_listed_parents(bench):
    derived = entry_of(source="derived", builder="a7a_surrogate", parents=["a6a", "a8a"])
    derived["parameters"] = {"n": 3, "seed": 0}
    bench.write(toy={k: v for k, v in derived.items() if k != "files"})
    with pytest.raises(data.DataError, match="a6a, which is not listed"):
        data.registry(bench.config)


def test_the_list_covers_the_papers_and_says_what_vouches_for_each_file():
    entries = data.registry()
    assert entries.keys() >= {
        *("diabetes", "spam_u00", "spam_u01", "spam_u02", "celegans_acceptor"),
        *("gisette", "a7a", "a7a_surrogate", "mg", "mg_scale", "cadata", "wdbc"),
        *("iris", "scadi", "two_moons", "drlad_simulation", "triazines", "fourclass"),
        *("nasdaq", "bci", "housing", "musk"),
    }
    for entry in entries.values():
        for form in entry.files:
            assert form.sha256 or form.urls or entry.content is not None, entry.name
        if entry.source != "generated" and entry.content is None:
            assert all(form.sha256 is None for form in entry.files), entry.name
    names = [form.name for entry in entries.values() for form in entry.files]
    assert len(names) == len(set(names))
    with pytest.raises(TypeError):
        entries["toy"] = None


# ---------------------------------------------------------------- bundled, generated, derived

NO_FILES = sorted(n for n, e in data.registry().items() if e.source in ("bundled", "generated"))


@pytest.mark.parametrize("name", NO_FILES)
def test_data_without_files_load_and_repeat(name, no_network):
    entry, first, again = find(name), data.load(name), data.load(name)
    assert first.X.shape == (entry.n, entry.d)
    assert np.isfinite(first.X).all()
    assert np.isfinite(first.y).all()
    np.testing.assert_array_equal(first.X, again.X)
    np.testing.assert_array_equal(first.y, again.y)
    assert first.origin == entry.source
    if entry.task == "classification":
        assert set(np.unique(first.y)) == {-1.0, 1.0}


def test_generated_data_take_parameters_and_refuse_others():
    assert data.load("gaussian_classes", n=37, d=3).X.shape == (37, 3)
    share = data.load("gaussian_classes", n=200, positive_share=0.055).y
    assert (share > 0).sum() == 11
    assert not np.array_equal(data.load("two_moons", seed=1).X, data.load("two_moons").X)
    with pytest.raises(ValueError, match="noise"):
        data.load("two_moons", noisy=1)
    with pytest.raises(ValueError, match="no parameters"):
        data.load("iris", n=10)


@pytest.mark.slow
def test_drlad_simulation_has_the_stated_covariance_and_noise():
    sigma = generated.block_covariance(0.7)
    assert sigma.shape == (30, 30)
    assert sigma[0, 2] == sigma[3, 4] == sigma[8, 6] == 0.7
    assert sigma[0, 3] == sigma[9, 10] == 0.0
    beta = generated.drlad_coefficients()
    np.testing.assert_array_equal(beta, [1, 1, 1, 0.5, 0.5, 0.5, 1, 1, 1] + [0] * 21)
    big = data.load("drlad_simulation", n=200_000, rho=0.7, snr=4.0)
    np.testing.assert_allclose(np.cov(big.X.T), sigma, atol=0.02)
    residual = big.y - big.X @ beta
    assert residual.var() == pytest.approx(beta @ sigma @ beta / 4.0, rel=0.02)
    singular = data.load("drlad_simulation", rho=1.0)
    np.testing.assert_allclose(singular.X[:, 0], singular.X[:, 1], atol=1e-6)


@pytest.mark.parametrize("snr", [1.0, 4.0])
def test_noisy_labels_share_rows_with_their_clean_version(snr):
    noisy, clean = (data.load("noisy_labels", n=4000, snr=snr, clean=c) for c in (False, True))
    np.testing.assert_array_equal(noisy.X, clean.X)
    share = (noisy.y != clean.y).mean()
    # how often the sign of z is not that of z + e: a quarter where both vary alike
    assert share == pytest.approx(np.arctan(1.0 / np.sqrt(snr)) / np.pi, abs=0.02)


def test_a7a_surrogate_is_a6a_and_other_rows_of_a8a():
    rng = np.random.default_rng(0)
    X = sp.csr_matrix((rng.random((60, 6)) < 0.5).astype(float))
    y = rng.choice([-1.0, 1.0], 60)
    inner = np.sort(rng.choice(60, 25, replace=False))

    def wrap(rows):
        return sources.DataSet("x", X[rows], y[rows], "classification", "", "", {})

    X7, y7 = generated.a7a_surrogate(wrap(inner), wrap(np.arange(60)), n=40, seed=1)
    assert X7.shape == (40, 6)
    rows = iter(zip(map(bytes, X7.toarray()), y7, strict=True))
    for key in zip(map(bytes, X[inner].toarray()), y[inner], strict=True):
        assert key in rows  # consumes: so a6a is, in order, a subsequence of the surrogate


# ---------------------------------------------------------------- content and parsers


def test_content_hash_sees_every_change_and_not_the_representation():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(800, 5)) * [1, 1e8, 1e-6, 1, 1], rng.normal(size=800)
    X[:, 4] = 0.0
    X[7, 4] = 1.0
    reference = sources.content_hash(X, y)
    sparse = sp.csr_array(X)
    sparse.data[sparse.indptr[7] : sparse.indptr[8]] = X[7][X[7] != 0]
    assert sources.content_hash(sparse, y) == reference
    assert sources.content_hash(sp.csc_matrix(X), y) == reference
    assert sources.content_hash(np.where(X == 0, -0.0, X), y) == reference
    for _ in range(50):
        row, column = rng.integers(800), rng.integers(5)
        changed = X.copy()
        changed[row, column] = np.nextafter(X[row, column], np.inf)
        assert sources.content_hash(changed, y) != reference
        other = (row + rng.integers(1, 800)) % 800
        order = np.arange(800)
        order[[row, other]] = other, row
        assert sources.content_hash(X[order], y[order]) != reference
        assert sources.content_hash(X, y[order]) != reference
    assert sources.content_hash(X[:, [1, 0, 2, 3, 4]], y) != reference
    assert sources.content_hash(X, -y) != reference
    rounded = np.array([[float(f"{v:.6g}") for v in row] for row in X])
    assert sources.content_hash(rounded, y, 6) == sources.content_hash(X, y, 6) != reference


def parse(name, content, tmp_path, suffix="", **options):
    """Let a parser read the content, with the options that its model declares."""
    path = tmp_path / f"file{suffix}"
    path.write_bytes(content)
    task = options.pop("task", "regression")
    entry = type("E", (), {"task": task, "d": options.pop("d", 2)})
    parser = parsers.PARSERS[name]
    declared = get_type_hints(parser)["options"]
    return parser(path, entry, declared.model_validate(options))


def test_csv_options(tmp_path):
    text = b"row\ta\tb\tkind\tz\n1\t1\t ?\tx\t5\n2\t2\t3\ty\t6\n3\t4\t5\tx\t7.1\n"
    raw = parse(
        "csv",
        text,
        tmp_path,
        separator="tab",
        header=True,
        index=True,
        target="z",
        missing="drop",
        categories={"kind": ["x", "y"]},
        d=3,
    )
    assert raw.meta["dropped"] == 1
    np.testing.assert_array_equal(raw.X, [[2, 3, 2], [4, 5, 1]])
    np.testing.assert_array_equal(raw.y, [6, 7.1])
    assert raw.meta["features"] == ["a", "b", "kind"]
    with pytest.raises(parsers.Misread, match=r"line 2, column 0, holds 'q' and not one of x"):
        parse("csv", b"x,1\nq,2\n", tmp_path, target=1, categories={"0": ["x"]}, d=1)


def test_rows_are_left_out_only_where_the_entry_says_so(tmp_path):
    text = b"1,a\n2,b\n3,c\n?,a\n5,?\n"
    options = {"target": 1, "positive": ["a"], "negative": ["b"], "d": 1}
    kept = parse("csv", text, tmp_path, task="classification", missing="drop", **options)
    np.testing.assert_array_equal(kept.X, [[1], [2]])
    np.testing.assert_array_equal(kept.y, [1, -1])
    assert kept.meta["dropped"] == 3
    with pytest.raises(parsers.Misread, match=r"line 4, column 0, holds '\?'"):
        parse("csv", text, tmp_path, task="classification", **options)
    rest = options | {"negative": None, "rest": True}
    one = parse("csv", text, tmp_path, task="classification", missing="drop", **rest)
    np.testing.assert_array_equal(one.y, [1, -1, -1])  # the row without a label is no "rest"


@pytest.mark.parametrize(
    ("name", "content", "options", "says"),
    [
        ("csv", b"1,2,3\n", {"target": 99}, "no column 99; the file has columns 0 to 2"),
        ("csv", b"a,b,z\n1,2,3\n", {"target": "y", "header": True}, "no column 'y'.*a, b, z"),
        ("csv", b"1,2,3\n", {"target": 2, "drop": [7], "d": 1}, "no column 7"),
        ("arff", b"@relation r\n@attribute p real\n@data\n1\n", {"target": "z"}, "column 'z'.*p"),
        ("series", b"Day,z\n2001-01-01,1\n", {"date": "Date", "target": "z"}, "'Date'.*Day, z"),
    ],
)
def test_a_wrong_entry_is_blamed_and_not_the_file(tmp_path, name, content, options, says):
    with pytest.raises(parsers.WrongEntry, match=says):
        parse(name, content, tmp_path, **options)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"1 0:1 1:2\n", "line 1 has column 0; columns rise from 1 to 2"),
        (b"1 1:1\n-1 3:2\n", "line 2 has column 3; columns rise from 1 to 2"),
        (b"1 1:1\n-1 2:1 1:2\n", "line 2 has column 1 after column 2"),
        (b"1 1:1\n-1 2\n", "line 2 holds '2'"),
        (b"1 1:1\n# remark\nyes 2:1\n", "line 3 holds 'yes'"),
        (b"1 1:nan\n", "line 1 holds '1:nan'"),
        (b"1 1:1e999\n", "line 1 holds '1:1e999'"),
        (b"1_0 1:1\n", "line 1 holds '1_0'"),
        (b"1 1:1_000\n", "line 1 holds '1:1_000'"),
        (b"1 1_0:1\n", "line 1 holds '1_0:1'"),
        ("1 1:\u0663\n".encode(), "line 1 holds '1:\u0663'"),  # an Arabic three
        (b"1 1:1:2\n", "line 1 holds '1:1:2'"),
    ],
)
def test_a_wrong_line_of_libsvms_format_is_named(tmp_path, content, says):
    with pytest.raises(parsers.Misread, match=says):
        parse("svmlight", content, tmp_path)


@pytest.mark.parametrize("text", ["1_000", "\u0661", "0x10", "1,5", "1e", "inf", "nan", "", "1 2"])
def test_numbers_are_those_of_the_formats_and_not_pythons(text):
    assert np.isnan(parsers.number(text))
    found = parsers.numbers(["1.5", text])
    np.testing.assert_array_equal(found, [1.5, np.nan])


@pytest.mark.parametrize("text", ["1", "-1.", "+.5", "2e3", "-1.25E-3", "007"])
def test_decimal_numbers_are_read_as_python_does(text):
    assert parsers.number(text) == parsers.numbers([text])[0] == float(text)


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ("1,2\n3\n", "line 5 has 1 values where 2 are expected"),
        ("1,2,3\n", "line 4 has 3 values where 2 are expected"),
        ("% a remark\n1,1_0\n", "line 5 holds '1_0'"),
        ("1,?\n", r"line 4 holds '\?'"),
        ("1,inf\n", "line 4 holds 'inf'"),
    ],
)
def test_a_wrong_row_of_an_arff_file_is_named(tmp_path, rows, says):
    head = "@attribute p real\n@attribute z real\n@DATA\n"
    with pytest.raises(parsers.Misread, match=says):
        parse("arff", (head + rows).encode(), tmp_path, target="z")


def test_columns_from_zero_are_said_and_not_guessed(tmp_path):
    text = b"1 0:5 1:6\n-1 1:7\n"  # in the second row 0 never occurs
    raw = parse("svmlight", text, tmp_path, first=0, dense=True)
    np.testing.assert_array_equal(raw.X, [[5, 6], [0, 7]])
    raw = parse("svmlight", b"1 1:6\n-1 1:7\n", tmp_path, first=0, dense=True)
    np.testing.assert_array_equal(raw.X, [[0, 6], [0, 7]])


def test_labels_are_compared_as_numbers_where_they_are(tmp_path):
    options = {"positive": [1], "negative": [-1], "task": "classification"}
    raw = parse("svmlight", b"+1.0 1:1\n-1 1:2\n", tmp_path, **options)
    np.testing.assert_array_equal(raw.y, [1, -1])
    with pytest.raises(parsers.Misread, match=r"line 3 has the label 2.*\+1 \(1\).*-1 \(-1\)"):
        parse("svmlight", b"+1 1:1\n\n2 1:2\n", tmp_path, **options)


@pytest.mark.parametrize(
    "start", [b"version https://git-lfs.github.com/spec/v1\noid", b'{"error": 1}']
)
def test_what_is_no_data_is_called_by_its_name(bench, start):
    form = {k: v for k, v in form_of(sha256=None).items() if k != "bytes"}
    bench.write(toy=entry_of(files=[form]))
    bench.put(start)
    with pytest.raises(data.DataError) as caught:
        bench.load()
    one_sentence(caught, "LFS pointer" if start.startswith(b"version") else "JSON")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"target": 2, "positive": ["yes"]}, "'negative'"),
        ({"target": 2, "positive": ["yes"], "negative": ["no"], "rest": True}, "'negative'"),
        ({"target": 2, "positive": ["yes"], "negative": ["yes"]}, "'yes' as positive and"),
        ({"target": 2, "negative": ["no"]}, "'positive'"),
    ],
)
def test_both_classes_are_named(bench, options, says):
    bench.write(toy=entry_of(files=[form_of(options=options)]))
    with pytest.raises(data.DataError, match=says):
        bench.load()


def test_svmlight_is_one_based_and_may_be_reordered(tmp_path):
    raw = parse("svmlight", b"5 1:1 3:3\n6 2:2\n", tmp_path, d=4)
    assert sp.issparse(raw.X)
    np.testing.assert_array_equal(raw.X.toarray(), [[1, 0, 3, 0], [0, 2, 0, 0]])
    raw = parse("svmlight", b"5 1:1 3:3\n6 2:2\n", tmp_path, d=3, dense=True, order=[3, 2, 1])
    np.testing.assert_array_equal(raw.X, [[3, 0, 1], [0, 2, 0]])


def test_mat_and_arff(tmp_path):
    scipy.io.savemat(tmp_path / "m.mat", {"A": np.eye(2, dtype=np.uint8), "b": [[1], [2]]})
    content = (tmp_path / "m.mat").read_bytes()
    raw = parse(
        "mat",
        content,
        tmp_path,
        ".mat",
        x="A",
        y="b",
        positive=[2],
        negative=[1],
        task="classification",
    )
    np.testing.assert_array_equal(raw.y, [-1, 1])
    assert raw.X.dtype == np.float64
    text = b"@relation r\n@attribute z real\n@attribute p real\n@data\n1.5,2\n2.5,3\n"
    raw = parse("arff", text, tmp_path, target="z")
    np.testing.assert_array_equal(raw.X, [[2], [3]])
    np.testing.assert_array_equal(raw.y, [1.5, 2.5])


def test_fasta_windows_start_before_the_anchor(tmp_path):
    classes = {"positive": [1], "negative": [-1], "task": "classification"}
    text = b"> chr=1, label=-1\nACGTA\n> chr=1, label=1\nTTGCA\n"
    raw = parse("fasta", text, tmp_path, anchor=2, before=1, after=1, **classes)
    assert raw.window == (1, 4)
    np.testing.assert_array_equal(raw.X, [[0, 1, 2, 3, 0], [3, 3, 2, 1, 0]])
    np.testing.assert_array_equal(raw.y, [-1, 1])
    with pytest.raises(ValueError, match="length"):
        parse("fasta", text[:-2], tmp_path, anchor=2, before=1, after=1, **classes)
    # from the first base to the last one, and one more on either side
    assert parse("fasta", text, tmp_path, anchor=2, before=2, after=2, **classes).window == (0, 5)
    for before, after in ((3, 2), (2, 3)):
        with pytest.raises(ValueError, match="outside sequences of length 5"):
            parse("fasta", text, tmp_path, anchor=2, before=before, after=after, **classes)


def test_series_must_rise(tmp_path):
    text = b"Date,Close\n2001-01-02,5\n2001-01-03,6\n"
    raw = parse("series", text, tmp_path, date="Date", target="Close", d=1)
    assert raw.meta["dates"].tolist()[0].isoformat() == "2001-01-02"
    for other in (b"-01", b"-02"):  # a day before, and the same day again
        with pytest.raises(ValueError, match="line 3: the dates do not rise"):
            parse("series", text.replace(b"-03", other), tmp_path, date="Date", target="Close", d=1)


@pytest.mark.slow
def test_seeds_are_the_same_in_another_process():
    code = (
        "from path_benchmark.data.seeds import seed_sequence as s;"
        "print(s('quantile_svm', 'diabetes', 3).generate_state(4).tolist())"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
        ).stdout
        for seed in ("1", "2")
    }
    here = data.seed_sequence("quantile_svm", "diabetes", 3).generate_state(4).tolist()
    assert outputs == {f"{here}\n"}


def test_seeds_differ_by_every_part_of_the_key():
    keys = [
        ("a", "b", 0),
        ("a", "b", 1),
        ("a", "c", 0),
        ("d", "b", 0),
        ("ab", "", 0),
        ("", "ab", 0),
    ]
    states = {tuple(data.seed_sequence(*key).generate_state(4)) for key in keys}
    assert len(states) == len(keys)
    for split in (-1, 0.5, True):
        with pytest.raises(ValueError, match="split"):
            data.seed_sequence("a", "b", split)


def test_downloads_at_the_same_time_do_not_disturb_each_other(bench, server):
    server.pages["/toy.csv"] = (200, CSV, len(CSV))
    bench.write(toy=entry_of(files=[form_of(urls=[f"{server.base}/toy.csv"])]))
    failures = []

    def work():
        try:
            data.fetch("toy", config=bench.config)
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert bench.leftovers() == ["toy.csv"]


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        (
            {"parameters": {"n": 9, "noise": 0.1, "sead": 0}},
            "sead is an unknown name; did you mean",
        ),
        ({"parameters": {"n": 9, "seed": 0}}, "two_moons needs the parameter 'noise'"),
        ({"builder": "two_moon"}, "two_moon is an unknown name; did you mean 'two_moons'"),
    ],
)
def test_a_generated_set_names_what_its_builder_takes(bench, changes, says):
    entry = {"title": "Moons", "source": "generated", "task": "classification", "n": 9, "d": 2}
    entry |= {"licence": "none", "positive": "inner", "builder": "two_moons"}
    entry["parameters"] = {"n": 9, "noise": 0.1, "seed": 0}
    bench.write(moons=entry)
    assert "moons" in data.registry(bench.config)
    bench.write(moons=entry | changes)
    with pytest.raises(data.DataError, match=says):
        data.registry(bench.config)
