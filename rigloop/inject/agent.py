"""The process that does to a run what a machine or a user might: signals, a disk that is full, a cable that is pulled.

    python -m rigloop.inject.agent FOLDER < one JSON object

It is a process of its own, because it has to outlive what it stops. What it did, and when, is in `injected.json`.
It ends after its last act, or with the cycle process.
"""

from __future__ import annotations

import json
import os
import resource
import select
import signal
import sys
import time
from pathlib import Path
from typing import Any

from rigloop.run_folder.messages import segment_orders

LOG = "injected.json"
FILL_DISK = "FILL_DISK"
UNPLUG = "UNPLUG"
ROWS_LEFT = 8192  # bytes that still fit once the disk is to be full
LONGEST_STOP_S = 20.0


def main(arguments: list[str]) -> int:
    """Do what standard input asks for, each at its time."""
    folder = Path(arguments[0])
    # it ends by itself, and what it has stopped is to go on
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    text = sys.stdin.read()
    if not text:
        return 0
    asked = json.loads(text)
    try:
        cycle = os.pidfd_open(asked["cycle"])
    except ProcessLookupError:
        return 0
    for act in sorted(asked["acts"], key=lambda act: act["at_ns"]):
        pause_s = (act["at_ns"] - time.monotonic_ns()) * 1e-9
        if _gone(cycle, max(0.0, pause_s)):
            break
        _do(act, folder, cycle)
    os.close(cycle)
    return 0


def _gone(pidfd: int, timeout_s: float) -> bool:
    return bool(select.select([pidfd], [], [], timeout_s)[0])


def _do(act: dict[str, Any], folder: Path, cycle: int) -> None:
    if act["do"] == UNPLUG:
        _pull(act, folder, cycle)
        return
    pid, do = act["pid"], act["do"]
    try:
        at_ns = time.monotonic_ns()
        if do == FILL_DISK:
            largest = max(path.stat().st_size for path in folder.glob("*.npy"))
            _, hard = resource.prlimit(pid, resource.RLIMIT_FSIZE)
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (largest + ROWS_LEFT, hard))
        else:
            os.kill(pid, signal.Signals[do])
    except ProcessLookupError:
        return
    _note(act, folder, at_ns)
    if do == "SIGSTOP":
        _gone(cycle, act["back_s"] or LONGEST_STOP_S)
        try:
            os.kill(pid, signal.SIGCONT)
        except ProcessLookupError:
            return


def _pull(act: dict[str, Any], folder: Path, cycle: int) -> None:
    at_ns = time.monotonic_ns()
    if _order(folder, act["bus"], f"unplug {act['cable']}"):
        _note(act, folder, at_ns)
        if not _gone(cycle, act["back_s"]):
            _order(folder, act["bus"], f"plug {act['cable']}")


def _order(folder: Path, bus: str, text: str) -> bool:
    """Write one order to the emulated segment of a bus; False when it is no longer there."""
    try:
        pipe = os.open(folder / segment_orders(bus), os.O_WRONLY | os.O_NONBLOCK)
    except OSError:
        return False
    with open(pipe, "w") as orders:
        orders.write(text + "\n")
    return True


def _note(act: dict[str, Any], folder: Path, at_ns: int) -> None:
    with (folder / LOG).open("a") as log:
        log.write(json.dumps({"number": act["number"], "at_ns": at_ns}) + "\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
