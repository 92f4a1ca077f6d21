"""Downloads with a limited number of retries, from servers that may stall."""

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
# Longest wait for the next byte, in seconds; least mean speed after that time, in bytes a second;
# largest size of a file whose size is unknown, in bytes.
TIMEOUT_S = 60
SLOWEST = 1000
LARGEST = 2**32


@dataclass(frozen=True)
class BoundedDownload:
    """A downloader for pooch that fails if a server stalls, is too slow or sends too much."""

    largest: int

    def __call__(self, url: str, output: str, pooch: Any, check_only: bool = False) -> None:
        """Write the content of an address into a file."""
        # Uncompressed, so that the number of bytes is the size of the file.
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
                    self._check_speed(received, time.monotonic() - began)
                    file.write(part)
        except HTTPError as error:  # of the connection, below requests
            message = str(error).rstrip(".")
            raise requests.ConnectionError(f"{message} after {received} bytes") from error

    def _check_speed(self, received: int, elapsed: float) -> None:
        if received > self.largest:
            raise requests.ConnectionError(f"it sends more than {self.largest} bytes")
        if elapsed > TIMEOUT_S and received < SLOWEST * elapsed:
            raise requests.ConnectionError(
                f"only {received} bytes came in {elapsed:.0f} seconds, expected {SLOWEST} a second"
            )


def download_file(url: str, folder: Path, form: FileForm) -> Path:
    """Fetch one address into `folder`, with a limited number of retries."""
    name = form.name
    fetcher = pooch.create(
        path=folder, base_url="", registry={name: None}, urls={name: url}, retry_if_failed=RETRIES
    )
    ask = BoundedDownload(2 * form.bytes if form.bytes else LARGEST)
    if url.startswith("ftp:"):
        ask = pooch.FTPDownloader(timeout=TIMEOUT_S)
    return Path(fetcher.fetch(name, downloader=ask))
