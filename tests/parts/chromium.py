"""Headless Chromium, driven through its own DevTools protocol; websockets is all that this needs."""

import base64
import contextlib
import itertools
import json
import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from websockets.sync.client import connect

START_S = 120.0
ANSWER_S = 60.0
LEAST_SHARED = 1 << 29  # bytes of shared memory
OPTIONS = (
    "--headless=new",
    "--remote-debugging-port=0",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-extensions",
    "--enable-unsafe-swiftshader",  # WebGL without a graphics card
    "--mute-audio",
    "--hide-scrollbars",
)


def found() -> str | None:
    """Return the path of Chromium; None: there is none."""
    names = ("chromium", "chromium-browser", "google-chrome")
    return next(filter(None, map(shutil.which, names)), None)


class Chromium:
    """A browser with one page; use as a context manager."""

    def __init__(self, width=1400, height=1000):
        self._folder = tempfile.TemporaryDirectory(prefix="chromium-", ignore_cleanup_errors=True)
        # the sandbox needs rights that root in a container has not
        sandbox = ["--no-sandbox"] if os.getuid() == 0 else []
        # a container may have too little shared memory; files in its place are written to a disk in every frame
        if shutil.disk_usage("/dev/shm").free < LEAST_SHARED:
            sandbox.append("--disable-dev-shm-usage")
        self._process = subprocess.Popen(
            [found(), *OPTIONS, *sandbox, f"--user-data-dir={self._folder.name}", f"--window-size={width},{height}",
             "about:blank"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        self._numbers = itertools.count(1)
        self.events: list[dict] = []
        self._stack = contextlib.ExitStack()
        self._socket = self._stack.enter_context(
            connect(self._endpoint(), max_size=1 << 26, ping_interval=None)
        )
        targets = self._ask("Target.getTargets")["targetInfos"]
        target = next(one["targetId"] for one in targets if one["type"] == "page")
        self._session = None
        self._session = self._ask("Target.attachToTarget", targetId=target, flatten=True)[
            "sessionId"
        ]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.ask(f"{domain}.enable")

    @property
    def pid(self):
        """The process of the browser."""
        return self._process.pid

    def _endpoint(self):
        port = Path(self._folder.name) / "DevToolsActivePort"
        until = time.monotonic() + START_S
        while time.monotonic() < until:
            with contextlib.suppress(OSError, ValueError):
                number, path = port.read_text().split()
                return f"ws://127.0.0.1:{number}{path}"
            assert self._process.poll() is None, "Chromium has ended"
            time.sleep(0.05)
        raise TimeoutError("Chromium does not answer")

    def ask(self, method, **given):
        """Call a method of the page; return its result."""
        return self._ask(method, self._session, **given)

    def _ask(self, method, session=None, **given):
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": given}
        self._socket.send(json.dumps(message | ({"sessionId": session} if session else {})))
        while True:
            got = json.loads(self._socket.recv(timeout=ANSWER_S))
            if got.get("id") == number:
                assert "error" not in got, (method, got["error"])
                return got["result"]
            self.events.append(got)

    def open(self, url):
        """Load a page."""
        self.ask("Page.navigate", url=url)
        self.until("document.readyState === 'complete'")

    def run(self, script):
        """Return the value of an expression in the page."""
        done = self.ask(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in done, (script, done["exceptionDetails"])
        return done["result"].get("value")

    def until(self, script, timeout_s=90.0):
        """Wait until an expression in the page is true; return its value."""
        until = time.monotonic() + timeout_s
        while time.monotonic() < until:
            # between two pages there is nothing to ask
            with contextlib.suppress(AssertionError):
                if value := self.run(script):
                    return value
            time.sleep(0.05)
        raise TimeoutError(
            f"{script}: not within {timeout_s:g} s; page: {self.text('body')[:2000]}"
        )

    def text(self, selector):
        """Return the text of an element."""
        return self.run(f"document.querySelector({json.dumps(selector)})?.innerText ?? ''")

    def click(self, selector):
        """Click an element that is enabled, once it is."""
        self.until(f"document.querySelector({json.dumps(selector)})?.matches(':enabled')")
        self.run(f"document.querySelector({json.dumps(selector)}).click()")

    def key(self, key, code=None):
        """Press and release a key."""
        for kind in ("keyDown", "keyUp"):
            self.ask("Input.dispatchKeyEvent", type=kind, key=key, code=code or key)

    def drag(self, from_x, to_x, y, to_y=None):
        """Drag with the mouse."""
        to_y = y if to_y is None else to_y
        for kind, x, now_y, buttons in (
            ("mouseMoved", from_x, y, 0), ("mousePressed", from_x, y, 1), ("mouseMoved", to_x, to_y, 1),
            ("mouseReleased", to_x, to_y, 0),
        ):  # fmt: skip
            self.ask(
                "Input.dispatchMouseEvent", type=kind, x=x, y=now_y, button="left", buttons=buttons,
                clickCount=1,
            )  # fmt: skip

    def look(self, width, height, scheme="light"):
        """Set the size of the window, and the colours that the person prefers."""
        self.ask(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
            mobile=False,
        )  # fmt: skip
        self.ask(
            "Emulation.setEmulatedMedia",
            features=[{"name": "prefers-color-scheme", "value": scheme}],
        )

    def screenshot(self, path, whole=False):
        """Write a picture of the page."""
        taken = self.ask("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        Path(path).write_bytes(base64.b64decode(taken["data"]))

    def problems(self):
        """Return exceptions, violations of the policy and failed loads so far."""
        kinds = ("Runtime.exceptionThrown", "Log.entryAdded")
        return [one for one in self.events if one.get("method") in kinds]

    def close(self):
        """End the browser."""
        self._stack.close()
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._folder.cleanup()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()
