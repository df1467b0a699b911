"""The `rigloop` command as a user starts it: real processes, real files, real signals."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from busy_machine import TOLERANT_STEERING, edited
from command_here import rigloop_here as command_here
from script_paths import where_parts_are

from io_bridge.host import namespace
from rig_configs.load import find_rig
from rt_core.safety.trips import State
from rt_core.signals.table import SignalTable

COMMAND = (sys.executable, "-m", "rigloop")
COMMAND_TIMEOUT_S = 120
START_TIMEOUT_S = 60  # a kernel may have to be compiled first


@pytest.fixture(scope="module")
def scenario(request, tmp_path_factory):
    """Run a function of the test module's file SCENARIOS in a network namespace with its PAIRS; return its JSON."""
    script = request.module.SCENARIOS
    pairs = getattr(request.module, "PAIRS", (namespace.PAIR,))

    def run(name):
        folder = str(tmp_path_factory.mktemp(name))
        done = subprocess.run(
            namespace.wrap([sys.executable, str(script), name, folder], *pairs),
            capture_output=True,
            text=True,
            timeout=120,
            env=where_parts_are(script),
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout.splitlines()[-1])

    return run


@pytest.fixture(scope="session")
def make_rig(tmp_path_factory):
    """Write a rig that ships so that it tolerates a busy machine, with changes (see `edited`)."""

    def make(changes=None, name="steering", shipped="steering_wheel", drive="wheel"):
        folder = tmp_path_factory.mktemp("rig")
        path = folder / f"{name}.toml"
        tolerant = {
            key.replace("drives.wheel", f"drives.{drive}"): v
            for key, v in TOLERANT_STEERING.items()
        }
        path.write_text(edited(find_rig(shipped).read_text(), tolerant | (changes or {})))
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


@pytest.fixture(scope="session")
def rigloop_here():
    """Run a command that reads or refuses in the process of the test; each is a process of its own in some test."""
    return command_here


@dataclass(frozen=True)
class Ended:
    """A command that has ended: exit code, the object on stdout, the run folder."""

    code: int
    outcome: dict
    folder: Path
    stderr: str


@pytest.fixture(scope="session")
def run_to_end(rigloop):
    """`rigloop run RIG --json` to its end; a page that no test reads is not made: ask for it by `--report`."""

    def run(rig, runs, *options):
        done = rigloop("run", rig, "--runs", runs, "--json", "--no-report", *options)
        assert done.stdout, done.stderr
        outcome = json.loads(done.stdout)
        return Ended(done.returncode, outcome, Path(outcome.get("folder", runs)), done.stderr)

    return run


@pytest.fixture(scope="session")
def good_run(make_rig, run_to_end, tmp_path_factory):
    """One second of a good live run, shared by the tests that only look at it."""
    return run_to_end(make_rig(), tmp_path_factory.mktemp("runs"), "--for", "1", "--report")


def wait_for(condition, timeout_s, what):
    """Poll until the condition gives something true; return that."""
    until = time.monotonic() + timeout_s
    while time.monotonic() < until:
        found = condition()
        if found:
            return found
        time.sleep(0.01)
    raise AssertionError(f"{what}: not within {timeout_s} s")


def running() -> dict[int, tuple[int, int, str]]:
    """Processes that are not zombies: pid → parent, start time, command line."""
    found = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
                line = (entry / "cmdline").read_bytes().decode(errors="replace")
            except OSError:
                continue
            if fields[0] != "Z":
                found[int(entry.name)] = (int(fields[1]), int(fields[19]), line.replace("\0", " "))
    return found


@dataclass
class Live:
    """A supervisor that was started, and what it started."""

    process: subprocess.Popen
    runs: Path
    known: dict[int, tuple[int, str]] = field(default_factory=dict)

    @property
    def folder(self) -> Path:
        return next(self.runs.iterdir())

    @property
    def table(self) -> Path:
        return Path(json.loads((self.folder / "order.json").read_text())["table"])

    def pid(self, module: str) -> int:
        """Process of the run that was started as `-m module`."""
        (pid,) = [pid for pid, (_, line) in self.known.items() if f"-m {module}" in line]
        return pid

    def look(self) -> None:
        """Note the supervisor and all that descends from it; pids are told apart by start time."""
        now = running()
        for pid, (parent, began, line) in sorted(now.items()):
            if pid == self.process.pid or parent in self.known:
                self.known[pid] = (began, line)

    def left(self) -> list[int]:
        """Processes of the run that are still there, or whose command line has its folder."""
        now = running()
        return [
            pid
            for pid, (_, began, line) in now.items()
            if (pid in self.known and self.known[pid][0] == began) or str(self.runs) in line
        ]

    def wait_until_it_pushes(self) -> None:
        """Wait until the guard runs and the torque is well away from zero."""

        def pushes():
            if self.process.poll() is not None:
                said = "".join(text or "" for text in self.process.communicate())
                pytest.fail(f"the run ended with {self.process.returncode}: {said[-2000:]}")
            if not any(self.runs.glob("*/order.json")) or not self.table.exists():
                return False
            with SignalTable.attach(self.table) as table:
                return (
                    table.value("guard/state") == State.RUNNING
                    and abs(table.value("guard/torque_nm")) > 0.2
                )

        wait_for(pushes, START_TIMEOUT_S, "torque")
        self.look()

    def end(self, timeout_s: float) -> dict:
        """Wait for the supervisor; return what it printed."""
        stdout, stderr = self.process.communicate(timeout=timeout_s)
        assert stdout, stderr
        return json.loads(stdout)

    def wait_until_gone(self, timeout_s: float) -> None:
        """Wait until no process of the run is left."""
        self.process.poll()
        wait_for(lambda: not self.left(), timeout_s, "end of every process of the run")


@pytest.fixture
def start_live(make_rig, tmp_path):
    """Start `rigloop run` and return at once; nothing outlives the test. With a page only if asked by `--report`."""
    started = []

    def start(rig=None, *options):
        runs = tmp_path / "live runs"
        runs.mkdir()
        rig = rig or make_rig()
        command = [*COMMAND, "run", rig, "--runs", runs, "--json", "--no-report", *options]
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
        for pid in live.left():
            os.kill(pid, signal.SIGKILL)


@pytest.fixture(scope="session", name="wait_for")
def wait_for_fixture():
    """Poll a condition."""
    return wait_for
