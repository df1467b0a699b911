"""A service with a rig that runs, in folders of its own, and the client that is in control of it."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rigloop.protocol import requests as asked
from rigloop.protocol.answers import Phase
from rigloop.protocol.client import ServiceClient, ServiceError

START_TIMEOUT_S = 120.0

Tell = Callable[[str], None]
"""Gets a line on how far it is."""


@dataclass(frozen=True)
class Served:
    """A service whose rig runs, and a client that is in control."""

    rig: str
    process: subprocess.Popen[bytes]
    client: ServiceClient
    token: str
    began_in: Phase

    def status(self) -> Any:
        """Return the state of the rig."""
        return self.client.status()

    def change(self, number: int) -> int:
        """Change a live value, to and fro; return the number of the change."""
        values = {"assistance": 1.0 + 0.5 * (number % 2)}
        return int(self.client.ask(asked.Write, token=self.token, values=values).sequence)

    def stop(self) -> Path:
        """End the run; return its folder."""
        folder = Path(self.status().folder)
        self.client.ask(asked.Stop, token=self.token)
        self.wait_for(Phase.IDLE)
        return folder

    def wait_for(self, phase: Phase) -> None:
        """Wait until the rig has come so far.

        Raises
        ------
        TimeoutError
        """
        until = time.monotonic() + START_TIMEOUT_S
        while self.status().phase != phase:
            if time.monotonic() > until:
                raise TimeoutError(f"{self.rig}: not {phase} within {START_TIMEOUT_S:g} s")
            time.sleep(0.05)


@contextlib.contextmanager
def home() -> Iterator[Path]:
    """Give sockets, logs, keys and runs a folder."""
    with tempfile.TemporaryDirectory() as text:
        folder = Path(text)
        for kind in ("RUNTIME_DIR", "STATE_HOME", "CONFIG_HOME"):
            os.environ[f"XDG_{kind}"] = str(folder / kind)
            (folder / kind).mkdir()
        yield folder


@contextlib.contextmanager
def served(rig: str, folder: Path, tell: Tell) -> Iterator[Served]:
    """Start a service and arm its rig; end both."""
    tell(f"starting a service with {rig}")
    with contextlib.ExitStack() as stack:
        command = [sys.executable, "-P", "-m", "rigloop", "serve", rig, "--no-report"]
        process = subprocess.Popen(
            [*command, "--runs", str(folder / "runs")], stdout=subprocess.DEVNULL
        )
        stack.callback(_end, process)
        client = stack.enter_context(_connected(rig, process))
        status = client.status()
        found = Served(rig, process, client, client.ask(asked.Take).token, status.phase)
        if status.needs_reset:
            # the service before it was killed under torque
            client.ask(asked.Reset, token=found.token)
        client.ask(asked.Arm, token=found.token)
        found.wait_for(Phase.ARMED)
        yield found


def _end(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGCONT)
    process.terminate()
    process.wait()


def _connected(rig: str, process: subprocess.Popen[bytes]) -> ServiceClient:
    until = time.monotonic() + START_TIMEOUT_S
    while True:
        try:
            return ServiceClient(rig, "benchmark")
        except ServiceError:
            if process.poll() is not None or time.monotonic() > until:
                raise
            time.sleep(0.05)
