"""The emulated segment as a process of its own on one end of a veth pair: for pysoem and for other
masters.

python -m io_bridge.emulator.serving.sim_segment --interface veth1 [--second-interface veth3]
    [--witness FILE.json] [--orders] [DEVICE ...]
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from io_bridge.emulator.catalogue.devices import make_device
from io_bridge.emulator.devices.slave_device import SlaveDevice
from io_bridge.emulator.drive.device import DriveDevice
from io_bridge.emulator.drive.multi_axis import DriveAxis, MultiAxisDrive
from io_bridge.emulator.segment import Segment
from io_bridge.emulator.serving.segment_orders import Orders
from io_bridge.emulator.serving.segment_server import serve
from io_bridge.host.line_watch import LineWatch
from io_bridge.slaves import words
from io_bridge.wire.owner import WireOwner, introduce
from io_bridge.wire.packet_socket import PacketSocket
from rig_configs.whole_file import write_whole
from rt_core.host.parent_death import end_with_parent

LOOK_CLOSELY_S = 0.001
OUTLIVE_S = 2.0
LOOK_UP_S = 0.05
"""Period at which signals are polled."""


class Witness:
    """A record of the drives' actions after their master fell silent, for readers who come later.

    Attributes
    ----------
    pushed : bool
        Some drive had a torque to give.
    zero_ns : int or None
        CLOCK_MONOTONIC at which the last of them had no torque any more.
    """

    def __init__(self, devices: Sequence[DriveDevice | MultiAxisDrive]) -> None:
        self.devices = devices
        self._motors = motors(devices)
        self.pushed = False
        self.zero_ns: int | None = None

    def look(self) -> None:
        """Note whether any drive has torque; as often as `LOOK_CLOSELY_S`."""
        if any(motor.wanted_torque_nm != 0.0 for motor in self._motors):
            self.pushed = True
            self.zero_ns = None
        elif self.zero_ns is None:
            self.zero_ns = time.monotonic_ns()

    def write(self, path: Path, obeyed: Sequence[tuple[str, int]] = ()) -> None:
        """Write it down with the orders that were obeyed, whole or not at all."""
        found = {
            "pushed": self.pushed,
            "zero_ns": self.zero_ns,
            "al_state": words.al_state(self.devices[0].al_status),
            "al_code": f"{self.devices[0].al_code:#06x}",
            "orders": obeyed,
        }
        write_whole(path, json.dumps(found).encode())


def motors(devices: Sequence[SlaveDevice]) -> list[DriveDevice | DriveAxis]:
    """Return the motors among devices: every drive, and every axis of those with several."""
    found: list[DriveDevice | DriveAxis] = []
    for device in devices:
        if isinstance(device, DriveDevice):
            found.append(device)
        elif isinstance(device, MultiAxisDrive):
            found += device.axes
    return found


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


@dataclass(frozen=True)
class Beside:
    """The others at a segment that answers: a witness, one who gives orders, one who hears of a link that is down."""

    witness: Witness | None = None
    orders: Orders | None = None
    say: Callable[[str], None] = lambda line: print(line, flush=True)


def serve_until(
    segment: Segment,
    ends: tuple[PacketSocket, PacketSocket | None],
    start_ns: int,
    end: Callable[[], bool],
    beside: Beside,
) -> int:
    """Answer frames at one end or both until `end()` is true, which is looked at some 20 times a second, or as often
    as a witness or one who takes orders looks. A link that is down is waited for.

    Returns
    -------
    int
        Frames answered.

    Raises
    ------
    OSError
        Every interface is gone.
    """
    first, second = ends
    watch = LineWatch([line.interface for line in ends if line is not None], beside.say)
    is_watched = beside.witness is not None or beside.orders is not None
    frames = 0
    while not end():
        frames += serve(
            segment, first, start_ns, LOOK_CLOSELY_S if is_watched else LOOK_UP_S, second
        )
        watch.look()
        if beside.orders is not None:
            beside.orders.obey(segment)
        if beside.witness is not None:
            beside.witness.look()
    return frames


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until SIGTERM, SIGINT or the parent's death."""
    parser = argparse.ArgumentParser(
        prog="io_bridge.emulator.serving.sim_segment", description=__doc__
    )
    parser.add_argument("--interface", required=True, help="where the master's frames arrive")
    parser.add_argument("--second-interface", help="the same at the other end of a ring")
    parser.add_argument("--orders", action="store_true", help="obey lines of standard input")
    parser.add_argument(
        "devices",
        nargs="*",
        default=["direct_drive"],
        help="as of `rigloop sim-segment`, in ring order",
    )
    parser.add_argument("--witness", type=Path, help="JSON of what the drives did, at the end")
    options = parser.parse_args(arguments)
    parent = os.getppid()
    stop = Stop()
    end_with_parent()
    try:
        devices = [make_device(name) for name in options.devices]
        drives = [d for d in devices if isinstance(d, DriveDevice | MultiAxisDrive)]
        if options.witness is not None and not drives:
            raise ValueError("--witness: there is no drive")
        segment = Segment(devices)
        introduce("a rig's emulated segment")
        owner = WireOwner(options.interface, options.second_interface)
        wire = PacketSocket(options.interface, 0x00, 0xFF)
        second = None
        if options.second_interface:
            second = PacketSocket(options.second_interface, 0x00, 0xFF)
    except (OSError, ValueError) as error:
        print(f"sim_segment: {error}", file=sys.stderr)
        return 2
    print(f"serving {len(devices)} slave(s) on {options.interface}", flush=True)
    witness = None if options.witness is None else Witness(drives)
    orders = Orders() if options.orders else None
    start_ns = time.monotonic_ns()
    try:
        frames = serve_until(
            segment,
            (wire, second),
            start_ns,
            lambda: bool(stop) or os.getppid() != parent,
            Beside(witness, orders),
        )
        # a real drive does not die with its master: it continues until its watchdog has taken the torque
        until = time.monotonic() + OUTLIVE_S
        if witness is not None:
            serve_until(
                segment,
                (wire, second),
                start_ns,
                lambda: witness.zero_ns is not None or time.monotonic() > until,
                Beside(witness),
            )
            witness.write(options.witness, orders.obeyed if orders else ())
    finally:
        wire.close()
        if second:
            second.close()
        owner.close()
    # whoever started this may be gone, and its pipe with it
    with contextlib.suppress(BrokenPipeError):
        print(f"answered {frames} frames", flush=True)
        for position, device in enumerate(drives):
            state = words.al_state(device.al_status)
            torques = ", ".join(f"{motor.wanted_torque_nm:.3f} Nm" for motor in motors([device]))
            print(f"drive {position}: {state}, {torques}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
