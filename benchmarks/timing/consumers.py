"""A loop whose recorder drains, is stopped, is killed, or meets a full disk; and what became of every cycle."""

from __future__ import annotations

import contextlib
import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from rt_core.signals.table import RingReader, SignalTable
from timing.rounds import Lateness
from timing.sleepers import run_loop, task

VARIANTS = ("draining", "stopped", "killed", "disk full")
SLOTS = 256  # a ring of a quarter of a second: what is not drained is soon dropped
DISK = "128k"
START_S = 20.0


def missing_small_disk() -> str:
    """Return why no small disk can be made here, empty if it can."""
    done = subprocess.run(_in_small_disk(Path("/dev/shm"), ["true"]), capture_output=True)
    return "" if done.returncode == 0 else "no disk of one's own: user namespaces are off"


def run(variant: str, seconds: float, core: int, folder: Path) -> Lateness:
    """Run a 1 ms task with a recorder.

    Facts besides those of `run_loop`: `produced`, `consumed` and `dropped`, by the ring's own counters once what was
    left in it has been taken; `recorded`, by the recorder's own word, where it lived to say it.
    """
    disk = folder / "record"
    disk.mkdir(exist_ok=True)
    command = [
        sys.executable,
        "-P",
        "-m",
        "io_bridge.recording.recorder",
        str(folder / "table"),
        str(disk),
    ]
    if variant == "disk full":
        command = _in_small_disk(disk, command)
    recorder: list[subprocess.Popen[str]] = []
    facts: dict[str, int | None] = {"recorded": None}

    def start(table: SignalTable) -> None:
        recorder.append(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))
        until = time.monotonic() + START_S
        while not _counters(table)["consumed"]:
            if time.monotonic() > until:
                raise RuntimeError(f"the recorder took nothing within {START_S:g} s")
            time.sleep(0.02)
        if variant == "stopped":
            recorder[0].send_signal(signal.SIGSTOP)
        elif variant == "killed":
            recorder[0].kill()

    def settle(table: SignalTable) -> None:
        if variant in ("draining", "disk full"):
            recorder[0].terminate()
            said, _ = recorder[0].communicate(timeout=START_S)
            told = json.loads(said)["t1000"]
            facts["recorded"] = told["rows"] + told["unwritten"]
            facts["unwritten"] = told["unwritten"]
        _end(recorder)
        with contextlib.closing(RingReader(table, "t1000")) as reader:
            while len(reader.drain()):
                pass
        facts.update(_counters(table))

    try:
        late = run_loop([task(1000, core, ring_slots=SLOTS)], seconds, folder, start, settle)[0]
    finally:
        _end(recorder)
        for file in disk.iterdir():
            file.unlink()
    late.facts.update(facts)
    return late


def is_exact(facts: dict[str, Any]) -> bool:
    """Check that every cycle was taken or counted as dropped, and that the recorder says the same."""
    return facts["cycles"] == facts["produced"] == facts["consumed"] + facts["dropped"] and facts[
        "recorded"
    ] in (None, facts["consumed"])


def _counters(table: SignalTable) -> dict[str, int]:
    with contextlib.closing(RingReader(table, "t1000")) as reader:
        return reader.counters()


def _end(processes: list[subprocess.Popen[str]]) -> None:
    for process in processes:
        if process.poll() is None:
            process.kill()
            process.communicate()


def _in_small_disk(place: Path, command: list[str]) -> list[str]:
    # a mount of its own, seen by nobody else and gone with the process
    mount = f'mount -t tmpfs -o size={DISK} tmpfs "$0" && exec "$@"'
    unshare = ["unshare", "--mount", "--user", "--map-root-user"]
    return [*unshare, "sh", "-c", mount, str(place), *command]
