"""A headless Chromium that tests drive by its DevTools protocol."""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
import time
import urllib.request
from pathlib import Path
from typing import Any

from websockets.sync.client import connect

PROGRAM = shutil.which("chromium") or shutil.which("google-chrome")
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--remote-debugging-port=0",
    "--mute-audio",
    "--hide-scrollbars",
]
PATIENCE = 60.0  # [s] on a busy machine


class Chromium:
    """One page of a browser of its own, in a new folder for its profile."""

    def __init__(
        self, folder: Path, width: int = 1280, height: int = 720, dark: bool = False, microphone: Path | None = None
    ) -> None:
        """Start it; what its `microphone` hears is a WAV file, again and again."""
        media = ["--use-fake-ui-for-media-stream", "--use-fake-device-for-media-stream"] if microphone else []
        media += [f"--use-file-for-fake-audio-capture={microphone}"] if microphone else []
        view = [f"--user-data-dir={folder}", f"--window-size={width},{height}", "about:blank"]
        self._process = subprocess.Popen(
            [str(PROGRAM), *FLAGS, *media, *view],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self.wait(lambda: (folder / "DevToolsActivePort").exists() and (folder / "DevToolsActivePort").read_text())
        port = (folder / "DevToolsActivePort").read_text().split()[0]
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/json/list") as answer:
            page = next(one for one in json.load(answer) if one["type"] == "page")
        self._socket = connect(page["webSocketDebuggerUrl"], max_size=None, proxy=None).__enter__()
        self._count = 0
        self.resize(width, height)
        self.theme(dark)

    def call(self, method: str, **parameters: object) -> dict[str, Any]:
        """Call a method of the protocol and return its result."""
        self._count += 1
        self._socket.send(json.dumps({"id": self._count, "method": method, "params": parameters}))
        while True:
            answer = json.loads(self._socket.recv(PATIENCE))
            if answer.get("id") == self._count:
                return answer.get("result", answer)

    def resize(self, width: int, height: int, mobile: bool = False) -> None:
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=mobile)

    def theme(self, dark: bool) -> None:
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])

    def open(self, address: str) -> None:
        self.call("Page.navigate", url=address)

    def run(self, code: str) -> Any:
        """Return the value of an expression in the page."""
        found = self.call("Runtime.evaluate", expression=code, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def text(self, selector: str) -> str:
        return str(self.run(f"document.querySelector({selector!r})?.innerText ?? ''"))

    def picture(self, path: Path) -> None:
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))

    @staticmethod
    def wait(condition: Any, patience: float = PATIENCE) -> Any:
        """Wait until the condition holds, and return its value."""
        deadline = time.monotonic() + patience
        while not (value := condition()):
            assert time.monotonic() < deadline, "it did not come true in time"
            time.sleep(0.05)
        return value

    def close(self) -> None:
        self._socket.close()
        self._process.terminate()
        self._process.wait(10)
