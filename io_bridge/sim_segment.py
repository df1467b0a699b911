"""The emulated segment as a process of its own on one end of a veth pair: for pysoem and for other
masters.

python -m io_bridge.sim_segment --interface veth1 [--plant FILE.json ...]
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import json
import os
import signal
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import fields
from pathlib import Path

from io_bridge import words
from io_bridge.drive_config import DrivePlant
from io_bridge.drive_device import DriveDevice
from io_bridge.packet_socket import PacketSocket
from io_bridge.segment import Segment
from io_bridge.segment_server import serve

PR_SET_PDEATHSIG = 1
LOOK_UP_S = 0.05
"""How often signals are looked at."""


def load_plant(path: Path) -> DrivePlant:
    """Read a plant from a JSON object with the fields of `DrivePlant`.

    Raises
    ------
    ValueError
        Not JSON, unknown fields, or values out of range; the message names the file.
    """
    try:
        values = json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise ValueError(f"{path}: {error}") from error
    known = {field.name for field in fields(DrivePlant)}
    if not isinstance(values, dict) or set(values) - known:
        unknown = (
            ", ".join(sorted(set(values) - known)) if isinstance(values, dict) else "no object"
        )
        raise ValueError(f"{path}: {unknown}; known are {', '.join(sorted(known))}")
    try:
        return DrivePlant(**values)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{path}: {error}") from error


def end_with_parent() -> None:
    """Have the kernel send SIGTERM when the parent process dies."""
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)


class Stop:
    """Becomes true at SIGTERM or SIGINT, from its making on."""

    def __init__(self) -> None:
        self._asked = False
        signal.signal(signal.SIGTERM, self._ask)
        signal.signal(signal.SIGINT, self._ask)

    def _ask(self, *_: object) -> None:
        self._asked = True

    def __bool__(self) -> bool:
        return self._asked


def serve_until(segment: Segment, wire: PacketSocket, end: Callable[[], bool]) -> int:
    """Answer frames until `end()` is true, which is looked at some 20 times a second.

    Returns
    -------
    int
        Frames answered.
    """
    start_ns = time.monotonic_ns()
    frames = 0
    try:
        while not end():
            frames += serve(segment, wire, start_ns, LOOK_UP_S)
    finally:
        wire.close()
    return frames


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until SIGTERM, SIGINT or the parent's death."""
    parser = argparse.ArgumentParser(prog="io_bridge.sim_segment", description=__doc__)
    parser.add_argument("--interface", required=True, help="where the master's frames arrive")
    parser.add_argument(
        "--plant", action="append", type=Path, default=[], help="JSON of one drive; repeatable"
    )
    options = parser.parse_args(arguments)
    parent = os.getppid()
    stop = Stop()
    end_with_parent()
    try:
        plants = [load_plant(path) for path in options.plant] or [DrivePlant()]
        devices = [DriveDevice(plant) for plant in plants]
        segment = Segment(devices)
        wire = PacketSocket(options.interface, 0x00, 0xFF)
    except (OSError, ValueError) as error:
        print(f"sim_segment: {error}", file=sys.stderr)
        return 2
    print(f"serving {len(plants)} drive(s) on {options.interface}", flush=True)
    frames = serve_until(segment, wire, lambda: bool(stop) or os.getppid() != parent)
    # whoever started this may be gone, and its pipe with it
    with contextlib.suppress(BrokenPipeError):
        print(f"answered {frames} frames", flush=True)
        for position, device in enumerate(devices):
            state = words.al_state(device.al_status)
            print(f"drive {position}: {state}, {device.wanted_torque_nm:.3f} Nm", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
