"""The `rigloop` command as a user starts it: real processes, real files, real signals."""

import json
import os
import re
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from rig_configs.load import find_rig
from rt_core.safety import State
from rt_core.table import SignalTable

COMMAND = (sys.executable, "-m", "rigloop")
COMMAND_TIMEOUT_S = 120
START_TIMEOUT_S = 60  # a kernel may have to be compiled first

# a busy machine without real-time rights is late by much; none of that is what these tests are about
TOLERANT = {
    r"\ncore = \d": "",
    r"\nspin_us = \d+": "",
    r"max_gap_ms = .*": "max_gap_ms = 2000.0",
    r"max_request_age_ms = .*": "max_request_age_ms = 2000.0",
    r"bucket_limit = .*": "bucket_limit = 1000000\nheartbeat_timeout_ms = 2000.0",
    r'backend = "simulated"': 'backend = "simulated"\nexchange_budget_us = 100000',
    r"peak_torque_nm = .*": r"\g<0>\nwatchdog_ms = 1000.0",
    r"\n\[show\]": "\n[verdict]\nmax_overrun_percent = 100.0\nmax_lost_frames = 1000\n\n[show]",
}


def edited(text: str, changes: dict[str, str]) -> str:
    """Return the text with every pattern replaced; each must be there."""
    for pattern, replacement in changes.items():
        text, count = re.subn(pattern, replacement, text)
        assert count, f"the rig has no {pattern!r}"
    return text


@pytest.fixture(scope="session")
def make_rig(tmp_path_factory):
    """Write a steering rig that tolerates a busy machine, with changes (pattern → replacement)."""
    shipped = find_rig("steering_wheel").read_text()

    def make(changes=None, name="steering"):
        folder = tmp_path_factory.mktemp("rig")
        path = folder / f"{name}.toml"
        path.write_text(edited(edited(shipped, TOLERANT), changes or {}))
        return path

    return make


@pytest.fixture(scope="session")
def rigloop():
    """Run the command to its end."""

    def run(*arguments, cwd=None, env=None):
        return subprocess.run(
            [*COMMAND, *map(str, arguments)],
            capture_output=True,
            text=True,
            timeout=COMMAND_TIMEOUT_S,
            cwd=cwd,
            env=os.environ | (env or {}),
        )

    return run


@dataclass(frozen=True)
class Ended:
    """A command that has ended: exit code, the object on stdout, the run folder."""

    code: int
    outcome: dict
    folder: Path
    stderr: str


@pytest.fixture(scope="session")
def run_to_end(rigloop):
    """`rigloop run RIG --json` to its end."""

    def run(rig, runs, *options):
        done = rigloop("run", rig, "--runs", runs, "--json", *options)
        assert done.stdout, done.stderr
        outcome = json.loads(done.stdout)
        return Ended(done.returncode, outcome, Path(outcome.get("folder", runs)), done.stderr)

    return run


@pytest.fixture(scope="session")
def good_run(make_rig, run_to_end, tmp_path_factory):
    """One second of a good live run, shared by the tests that only look at it."""
    return run_to_end(make_rig(), tmp_path_factory.mktemp("runs"), "--for", "1")


def wait_for(condition, timeout_s, what):
    """Poll until the condition gives something true; return that."""
    until = time.monotonic() + timeout_s
    while time.monotonic() < until:
        found = condition()
        if found:
            return found
        time.sleep(0.01)
    raise AssertionError(f"{what}: not within {timeout_s} s")


@dataclass
class Live:
    """A supervisor that was started, and what it started."""

    process: subprocess.Popen
    runs: Path

    @property
    def folder(self) -> Path:
        return next(self.runs.iterdir())

    @property
    def table(self) -> Path:
        return Path(json.loads((self.folder / "order.json").read_text())["table"])

    def pid(self, module: str) -> int:
        """Process of the run whose command line has the module."""
        (pid,) = [pid for pid, line in self.processes().items() if f"\0{module}\0" in line]
        return pid

    def processes(self) -> dict[int, str]:
        """Processes with the run's folder in their command line, zombies left out."""
        found = {}
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                try:
                    line = (entry / "cmdline").read_bytes().decode(errors="replace")
                except OSError:
                    continue
                if str(self.runs) in line:
                    found[int(entry.name)] = line
        return found

    def wait_until_it_pushes(self) -> None:
        """Wait until the guard runs and the torque is well away from zero."""

        def pushes():
            assert self.process.poll() is None, self.process.communicate()[1]
            with SignalTable.attach(self.table) as table:
                return (
                    table.value("guard/state") == State.RUNNING
                    and abs(table.value("guard/torque_nm")) > 0.2
                )

        wait_for(lambda: any(self.runs.glob("*/order.json")), START_TIMEOUT_S, "run folder")
        wait_for(self.table.exists, START_TIMEOUT_S, "signal table")
        wait_for(pushes, START_TIMEOUT_S, "torque")

    def end(self, timeout_s: float) -> dict:
        """Wait for the supervisor; return what it printed."""
        stdout, stderr = self.process.communicate(timeout=timeout_s)
        assert stdout, stderr
        return json.loads(stdout)

    def wait_until_gone(self, timeout_s: float) -> None:
        """Wait until no process of the run is left."""
        self.process.poll()
        wait_for(lambda: not self.processes(), timeout_s, "end of every process of the run")


@pytest.fixture
def start_live(make_rig, tmp_path):
    """Start `rigloop run` and return at once; nothing outlives the test."""
    started = []

    def start(rig=None, *options):
        runs = tmp_path / "live runs"
        runs.mkdir()
        command = [*COMMAND, "run", rig or make_rig(), "--runs", runs, "--json", *options]
        process = subprocess.Popen(
            [str(part) for part in command],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        started.append(Live(process, runs))
        return started[-1]

    yield start
    for live in started:
        live.process.kill()
        live.process.communicate()
        for pid in live.processes():
            os.kill(pid, 9)


@pytest.fixture(scope="session", name="wait_for")
def wait_for_fixture():
    """Poll a condition."""
    return wait_for
