"""A page in headless Chromium, driven over the pipe of its debugging protocol: no driver, no port, no network."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
ON_3_AND_4 = """
import fcntl, os, sys
read, write = (fcntl.fcntl(int(number), fcntl.F_DUPFD, 10) for number in sys.argv[1:3])
os.dup2(read, 3)
os.dup2(write, 4)
os.execv(sys.argv[3], sys.argv[3:])
"""
"""The protocol takes commands on descriptor 3 and answers on 4."""
KEY_CODES = {"ArrowDown": 40, "ArrowUp": 38, "Home": 36, "End": 35}


class Browser:
    """One tab. `opened` are the addresses that it asked for, `dialogs` the texts of alerts."""

    def __init__(self, write: int, read: int) -> None:
        self._write, self._read = write, read
        self._buffer = b""
        self._number = 0
        self._session: str | None = None
        self.opened: list[str] = []
        self.dialogs: list[str] = []
        target = self._ask("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Runtime"):
            self._ask(f"{domain}.enable")

    def _ask(self, method: str, **parameters: Any) -> Any:
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer
                return answer["result"]

    def _next(self) -> Any:
        while b"\0" not in self._buffer:
            more = os.read(self._read, 1 << 16)
            assert more, "the browser has ended"
            self._buffer += more
        text, _, self._buffer = self._buffer.partition(b"\0")
        message = json.loads(text)
        if message.get("method") == "Network.requestWillBeSent":
            self.opened.append(message["params"]["request"]["url"])
        if message.get("method") == "Page.javascriptDialogOpening":
            self.dialogs.append(message["params"]["message"])
        return message

    def open(self, path: Path) -> None:
        """Show the file, and wait until it is there."""
        self._ask("Page.navigate", url=path.resolve().as_uri())
        while self._next().get("method") != "Page.loadEventFired":
            pass

    def value(self, expression: str) -> Any:
        """What a JavaScript expression comes to, as JSON."""
        answer = self._ask("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def prefer(self, scheme: str) -> None:
        """What the reader's system is set to: "light" or "dark"."""
        feature = {"name": "prefers-color-scheme", "value": scheme}
        self._ask("Emulation.setEmulatedMedia", features=[feature])

    def picture(self, width: int, height: int) -> bytes:
        """What a window of this many pixels shows, as WebP."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self._ask("Emulation.setDeviceMetricsOverride", **size)
        return b64decode(self._ask("Page.captureScreenshot", format="webp", quality=85)["data"])

    def press(self, *keys: str) -> None:
        """Press keys, by their names in JavaScript."""
        for key in keys:
            code = KEY_CODES.get(key, ord(key.upper()[0]))
            text = {"text": key} if len(key) == 1 else {}
            for what in ("keyDown", "keyUp"):
                self._ask("Input.dispatchKeyEvent", type=what, key=key, windowsVirtualKeyCode=code, **text)


@contextmanager
def browser(folder: Path) -> Iterator[Browser]:
    """Chromium with a profile in the folder."""
    assert CHROMIUM is not None
    theirs_in, ours_out = os.pipe()
    ours_in, theirs_out = os.pipe()
    arguments = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"]
    arguments += [f"--user-data-dir={folder}", "--remote-debugging-pipe", "--window-size=1280,900"]
    process = subprocess.Popen(
        [sys.executable, "-c", ON_3_AND_4, str(theirs_in), str(theirs_out), *arguments],
        pass_fds=(theirs_in, theirs_out),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(theirs_in)
    os.close(theirs_out)
    try:
        yield Browser(ours_out, ours_in)
    finally:
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(10)
        process.kill()
        process.wait()
        os.close(ours_out)
        os.close(ours_in)
