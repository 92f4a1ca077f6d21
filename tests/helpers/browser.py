"""Chromium, headless, driven over a pipe by the DevTools protocol: nothing else is needed."""

import base64
import itertools
import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "chrome")


def program() -> str | None:
    """Return a Chromium on this machine, or None."""
    named = os.environ.get("SOLUTION_PATHS_CHROMIUM")
    return named or next(filter(None, map(shutil.which, PROGRAMS)), None)


class Browser:
    """One page in a fresh profile. Every network request, console line and exception is kept."""

    def __init__(self, timeout_s: float = 60.0) -> None:
        self.timeout_s, self.events, self._rest = timeout_s, [], b""
        self._ids = itertools.count(1)
        self._profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        (read, their_write), (their_read, write) = os.pipe(), os.pipe()
        self._read, self._write = read, write

        def pipes() -> None:
            # Chromium reads commands from descriptor 3 and answers on 4.
            a, b = os.dup(their_read), os.dup(their_write)
            os.dup2(a, 3), os.dup2(b, 4)
            os.set_inheritable(3, True), os.set_inheritable(4, True)

        flags = ["--headless=new", "--remote-debugging-pipe", "--disable-gpu", "--no-first-run"]
        flags += ["--no-sandbox"] if os.geteuid() == 0 else []  # it refuses root otherwise
        flags += ["--disable-background-networking", "--hide-scrollbars=false"]
        self._process = subprocess.Popen(
            [program(), *flags, f"--user-data-dir={self._profile.name}", "about:blank"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            close_fds=False,
            preexec_fn=pipes,
            start_new_session=True,
        )
        os.close(their_read), os.close(their_write)
        self._session = None
        targets = self.send("Target.getTargets")["targetInfos"]
        page = next(t["targetId"] for t in targets if t["type"] == "page")
        attached = self.send("Target.attachToTarget", targetId=page, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(f"{domain}.enable")

    def close(self) -> None:
        """End the browser that this object started, and remove its profile."""
        os.close(self._write)
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        os.close(self._read)
        self._profile.cleanup()

    # -- the protocol -----------------------------------------------------------------------------

    def send(self, method: str, **parameters) -> dict:
        """Send a command and return its result; events that come before it are kept."""
        number = next(self._ids)
        message = {"id": number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + self.timeout_s
        while True:
            answer = self._next(deadline)
            if answer.get("id") == number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def _next(self, deadline: float) -> dict:
        while b"\0" not in self._rest:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self._read], [], [], left)[0]:
                raise TimeoutError("Chromium gave no answer.")
            part = os.read(self._read, 1 << 20)
            if not part:
                raise RuntimeError("Chromium ended.")
            self._rest += part
        text, self._rest = self._rest.split(b"\0", 1)
        return json.loads(text)

    # -- what a reader does -----------------------------------------------------------------------

    def open(self, file: Path) -> None:
        """Open a file and wait until it is loaded."""
        self.events.clear()
        self.send("Page.navigate", url=file.resolve().as_uri())
        deadline = time.monotonic() + self.timeout_s
        while not any(e.get("method") == "Page.loadEventFired" for e in self.events):
            self.events.append(self._next(deadline))

    def run(self, expression: str):
        """Return the value of a JavaScript expression in the page; promises are awaited."""
        options = {"returnByValue": True, "awaitPromise": True}
        found = self.send("Runtime.evaluate", expression=expression, **options)
        if "exceptionDetails" in found:
            raise RuntimeError(json.dumps(found["exceptionDetails"])[:2000])
        return found["result"].get("value")

    def resize(self, width: int, height: int = 900) -> None:
        """Give the window another size; narrow ones are phones."""
        options = {"deviceScaleFactor": 1, "mobile": width < 500}
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, **options)
        frames = "new Promise(r => requestAnimationFrame(() => requestAnimationFrame(r)))"
        self.run(f"{frames}.then(() => true)")

    def emulate(self, media: str = "", **features: str) -> None:
        """Show the page as on another medium, or to a reader with other preferences."""
        wanted = [{"name": k.replace("_", "-"), "value": v} for k, v in features.items()]
        self.send("Emulation.setEmulatedMedia", media=media, features=wanted)

    def key(self, name: str, code: int) -> None:
        """Press a key."""
        for kind in ("keyDown", "keyUp"):
            options = {"key": name, "code": name, "windowsVirtualKeyCode": code}
            self.send("Input.dispatchKeyEvent", type=kind, **options)

    def screenshot(self, file: Path, whole: bool = False) -> None:
        """Write a picture of the window, or of the whole page."""
        options = {"captureBeyondViewport": whole, "format": "png"}
        if whole:
            size = self.send("Page.getLayoutMetrics")["cssContentSize"]
            options["clip"] = {**size, "scale": 1}
        picture = self.send("Page.captureScreenshot", **options)["data"]
        Path(file).write_bytes(base64.b64decode(picture))

    def pdf(self) -> bytes:
        """Return the page as it is printed."""
        options = {"preferCSSPageSize": True, "printBackground": True}
        return base64.b64decode(self.send("Page.printToPDF", **options)["data"])

    def requests(self) -> list[str]:
        """Return the addresses that the page asked for, but for files and data in itself."""
        sent = [e["params"] for e in self.events if e.get("method") == "Network.requestWillBeSent"]
        urls = [p["request"]["url"] for p in sent]
        return [url for url in urls if not url.startswith(("file:", "data:", "blob:"))]

    def complaints(self) -> list[str]:
        """Return exceptions, console errors and warnings, and what the browser logged."""
        found = []
        for event in self.events:
            method, told = event.get("method"), event.get("params", {})
            if method == "Runtime.exceptionThrown":
                found.append(json.dumps(told["exceptionDetails"]))
            elif method == "Runtime.consoleAPICalled" and told["type"] in ("error", "warning"):
                found.append(json.dumps(told["args"]))
            elif method == "Log.entryAdded" and told["entry"]["level"] in ("error", "warning"):
                found.append(told["entry"]["text"])
        return found
