"""The downloader against a server on this machine that misbehaves in every way that servers do."""

import fcntl
import http.server
import os
import threading
import time

import pytest

from helpers.data_sets import CSV, HTML, Bench, entry_of, form_of, one_sentence
from path_benchmark import data
from path_benchmark.data import downloads, sources

pytestmark = pytest.mark.slow

SIZE = len(CSV)
AWAY = threading.Event()  # never set: waiting for it is what a slow server does


class Rude(http.server.BaseHTTPRequestHandler):
    """Does what the last part of the address says, `server.bad` times, and then serves the file."""

    def do_GET(self):
        self.server.asked.append(self.path)
        act = getattr(self, self.path.strip("/").split(".")[0])
        if len(self.server.asked) > self.server.bad:
            act = self.well
        act()

    def log_message(self, *_):
        pass

    def _begin(self, status=200, length=SIZE, **headers):
        self.send_response(status)
        if length is not None:
            self.send_header("Content-Length", str(length))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()

    def well(self):
        self._begin()
        self.wfile.write(CSV)

    def silent(self):
        AWAY.wait(3.0)

    def stalls(self):
        self._begin()
        self.wfile.write(CSV[:10])
        AWAY.wait(3.0)

    def drips(self):
        self._begin()
        for k in range(len(CSV)):
            self.wfile.write(CSV[k : k + 1])
            AWAY.wait(0.1)

    def endless(self):
        self._begin(length=None)
        for _ in range(2000):
            self.wfile.write(CSV * 100)

    def truncates(self):
        self._begin()
        self.wfile.write(CSV[:15])

    def announces_less(self):
        self._begin(length=len(CSV) - 5)
        self.wfile.write(CSV)

    def fails(self):
        self._begin(500, 4)
        self.wfile.write(b"oops")

    def page(self):
        self._begin(length=len(HTML), Content_Type="text/html")
        self.wfile.write(HTML)

    def moved(self):
        self._begin(301, 0, Location="/well.csv")

    def circles(self):
        self._begin(302, 0, Location=self.path)

    def to_a_file(self):
        self._begin(302, 0, Location=f"file://{self.server.secret}")

    def compresses(self):
        self._begin(length=len(CSV), Content_Encoding="gzip")
        self.wfile.write(bytes(reversed(CSV)))

    def resets(self):
        self.connection.close()


@pytest.fixture
def server(tmp_path, monkeypatch):
    monkeypatch.delenv(sources.MIRROR_VARIABLE, raising=False)
    monkeypatch.setattr(downloads, "TIMEOUT_S", 0.4)
    monkeypatch.setattr(downloads, "RETRIES", 1)
    monkeypatch.setattr("pooch.core.time.sleep", lambda _: None)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Rude) as httpd:
        httpd.asked, httpd.bad, httpd.block_on_close = [], 10**9, False
        httpd.secret = tmp_path / "secret.csv"
        httpd.secret.write_bytes(CSV)
        threading.Thread(target=httpd.serve_forever, args=(0.02,), daemon=True).start()
        yield httpd
        httpd.shutdown()


@pytest.fixture
def bench(tmp_path):
    return Bench(tmp_path)


def fetch(bench, server, how):
    """Fetch the toy from an address that does as it is called."""
    url = f"http://127.0.0.1:{server.server_port}/{how}.csv"
    bench.write(toy=entry_of(files=[form_of(urls=[url])]))
    return data.fetch("toy", config=bench.config)


@pytest.mark.parametrize(
    ("how", "says", "tries"),
    [
        ("silent", "timed out", 2),
        ("stalls", "timed out", 2),
        ("drips", "bytes came in", 2),
        ("endless", "it sends more than", 2),
        ("truncates", "after 15 bytes", 2),
        ("fails", "500", 2),
        ("circles", "redirects", None),
        ("to_a_file", "No connection adapters", 2),
        ("resets", "failed:", 2),
    ],
)
def test_a_server_that_fails_is_asked_again_and_then_named(bench, server, how, says, tries):
    began = time.monotonic()
    with pytest.raises(data.DataUnavailable) as caught:
        fetch(bench, server, how)
    one_sentence(caught, says, f"/{how}.csv")
    assert time.monotonic() - began < 20.0
    assert bench.leftovers() == []
    assert tries is None or len(server.asked) == tries


@pytest.mark.parametrize(
    ("how", "says"),
    [("page", "HTML page"), ("announces_less", "truncated"), ("compresses", "checksum")],
)
def test_a_file_that_is_not_the_expected_one_is_refused(bench, server, how, says):
    with pytest.raises(data.DataError) as caught:
        fetch(bench, server, how)
    one_sentence(caught, says, "nothing was kept")
    assert bench.leftovers() == []


@pytest.mark.parametrize("how", ["silent", "stalls", "truncates", "fails", "resets"])
def test_a_server_that_fails_once_is_forgiven(bench, server, how):
    server.bad = 1
    assert [path.name for path in fetch(bench, server, how)] == ["toy.csv"]
    assert (bench.raw / "toy.csv").read_bytes() == CSV
    assert len(server.asked) == 2


def test_a_moved_file_is_followed(bench, server):
    assert [path.name for path in fetch(bench, server, "moved")] == ["toy.csv"]
    assert server.asked == ["/moved.csv", "/well.csv"]


def test_a_file_of_unknown_size_has_a_bound(bench, server, monkeypatch):
    monkeypatch.setattr(downloads, "LARGEST", 10_000)
    url = f"http://127.0.0.1:{server.server_port}/endless.csv"
    bench.write(toy=entry_of(files=[form_of(urls=[url], bytes=None)]))
    with pytest.raises(data.DataUnavailable) as caught:
        data.fetch("toy", config=bench.config)
    one_sentence(caught, "it sends more than 10000 bytes")


def test_what_a_killed_download_left_is_cleared_unless_another_is_under_way(bench, server):
    left = bench.raw / f"{sources.INCOMING}killed"
    left.mkdir(parents=True)
    (left / "toy.csv").write_bytes(CSV[:10])
    other = os.open(bench.raw, os.O_RDONLY)  # another process's download, as far as locks can tell
    fcntl.flock(other, fcntl.LOCK_SH)
    fetch(bench, server, "well")
    assert left.exists()
    os.close(other)
    data.fetch("toy", config=bench.config)  # nothing to download any more
    assert bench.leftovers() == ["toy.csv"]


@pytest.mark.parametrize("umask", [0o022, 0o077, 0o002])
def test_a_fetched_file_has_the_permissions_that_the_umask_leaves(bench, server, umask):
    before = os.umask(umask)
    try:
        (path,) = fetch(bench, server, "well")
    finally:
        os.umask(before)
    assert path.stat().st_mode & 0o777 == 0o666 & ~umask
