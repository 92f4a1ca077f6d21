"""How a file is downloaded: with retries that end, from a server that may stall."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pooch
import requests
from urllib3.exceptions import HTTPError

from .registry import FileForm

RETRIES = 3
# Seconds in which some byte must come; bytes a second that must come on average after as long;
# bytes after which a file of unknown size is no data set.
TIMEOUT_S = 60
SLOWEST = 1000
LARGEST = 2**32


@dataclass(frozen=True)
class Impatient:
    """Pooch's part that asks a server; it gives up where one stalls, drips or never ends."""

    largest: int

    def __call__(self, url: str, output: str, pooch: Any, check_only: bool = False) -> None:
        """Write what an address sends into a file."""
        # Bytes as they are: a compressed answer's length would say nothing about the file's.
        plain = {"Accept-Encoding": "identity"}
        began, received = time.monotonic(), 0
        try:
            with (
                requests.get(url, timeout=TIMEOUT_S, stream=True, headers=plain) as answer,
                open(output, "wb") as file,
            ):
                answer.raise_for_status()
                while part := answer.raw.read1(2**16):
                    received += len(part)
                    self._judge(received, time.monotonic() - began)
                    file.write(part)
        except HTTPError as error:  # of the connection, below requests
            said = str(error).rstrip(".")
            raise requests.ConnectionError(f"{said} after {received} bytes") from error

    def _judge(self, received: int, gone: float) -> None:
        if received > self.largest:
            raise requests.ConnectionError(f"it sends more than {self.largest} bytes")
        if gone > TIMEOUT_S and received < SLOWEST * gone:
            raise requests.ConnectionError(
                f"only {received} bytes came in {gone:.0f} seconds, expected {SLOWEST} a second"
            )


def download_file(url: str, folder: Path, form: FileForm) -> Path:
    """Fetch one address into `folder`, with retries that end."""
    name = form.name
    fetcher = pooch.create(
        path=folder, base_url="", registry={name: None}, urls={name: url}, retry_if_failed=RETRIES
    )
    ask = Impatient(2 * form.bytes if form.bytes else LARGEST)
    if url.startswith("ftp:"):
        ask = pooch.FTPDownloader(timeout=TIMEOUT_S)
    return Path(fetcher.fetch(name, downloader=ask))
