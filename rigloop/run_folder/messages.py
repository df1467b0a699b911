"""The messages between supervisor and cycle process: two small files in the run folder."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from io_bridge.slaves.sii import Identity
from rig_configs.bounded import MOST_KEPT_BYTES, read_bytes
from rig_configs.json_message import decode
from rig_configs.whole_file import write_whole
from rigloop.run_folder.clocks import ClockPair
from rigloop.run_folder.limited import Limited

if TYPE_CHECKING:
    from rig_configs.schema import Rig

SUPERVISOR_SIGNALS = (
    "supervisor/heartbeat",
    "supervisor/enable",
    "supervisor/arm",
    "supervisor/stop",
    "supervisor/reset",
    "supervisor/degraded",  # how many checks of the doctor are red
)


def segment_orders(bus: str) -> str:
    """Return the pipe of a bus in the folder of a run with faults on purpose: a line pulls a cable of its emulated
    segment."""
    return f"{bus}.orders"


def witness(rig: Rig, bus: str) -> str:
    """Return the file of a bus in such a folder, in which its emulated drives say what they did, also when their master
    has died."""
    n_buses = sum(block.kind == "bus" for block in rig.blocks.values())
    return "drive.json" if n_buses == 1 else f"{bus}.drive.json"


class Mode(StrEnum):
    """The answer of a run to red checks: refuse to start, or run and say so everywhere."""

    STRICT = "strict"
    DEGRADED = "degraded"


class Order(msgspec.Struct, forbid_unknown_fields=True):
    """Run this rig; `rig.toml` stands beside this file."""

    rig: str
    table: str  # path of the signal table that the cycle process makes
    bus: str | None = None  # overrides the rig file's backend
    mode: Mode = Mode.DEGRADED
    inject: tuple[str, ...] = ()  # faults on purpose, as on the command line
    stay_s: float = 0.0  # how long the run goes on after its guard has tripped
    # of a series of faults, in seconds: for how long each arming lasts at most. The n-th fault strikes in the n-th, and
    # after each the supervisor arms again. Empty: one arming, in which all strike
    series: tuple[float, ...] = ()
    reset_drives: bool = False  # a person asked for the reset of drives in their fault state
    argument: str = ""  # what a command line takes for the rig, where a sentence names a command
    limited: Limited | None = None  # the torque limit, as far as the files beside the rig tell
    signed: dict[str, Identity] = {}  # guard → the identity of its drive, as it was signed off


class Report(msgspec.Struct, forbid_unknown_fields=True):
    """The report of the cycle process when it has ended, or could not start."""

    pid: int = 0
    error: str | None = None
    kernels: dict[str, str] = {}  # block → kernel hash
    rights: list[dict[str, Any]] = []
    real_time: bool = False
    host: dict[str, Any] = {}
    bus_faults: list[dict[str, Any]] = []
    bus_events: list[dict[str, Any]] = []  # what happened beside the cycle: time_ns, source, words
    unattended: str = ""  # why slaves were not attended any more; empty: they were, to the end
    at_rest: bool = False  # the guard said that the output was zero before the loop ended
    stopped_by: str = ""
    hung: bool = False  # a task's thread did not end
    stall: str = ""  # what the watchdog said; empty: nothing stood still
    stalled_ns: int = (
        0  # from the deadline of the cycle that stood still to the watchdog's safe outputs
    )
    stalled_kept_ns: int = 0  # of that the machine had kept the watchdog itself from its looks
    drives_nm: dict[str, float] = {}  # the last commands to the emulated drives of this process
    spins: dict[
        str, dict[str, Any]
    ] = {}  # task → what was measured and chosen where spin_us = "auto"
    first_cycle_ns: int = 0  # CLOCK_MONOTONIC
    clocks: list[ClockPair] = []  # at the first cycle, and at the end
    to_op_s: float = 0.0  # from the first frame to OP
    bringup: dict[str, int] = {}  # what was lost before OP: frames, replies; no part of the verdict
    limited: Limited | None = None  # the torque limit that the guards have, by files and by drives


def write(folder: Path, name: str, message: msgspec.Struct) -> None:
    """Write a message whole or not at all."""
    write_whole(folder / name, msgspec.json.format(msgspec.json.encode(message)))


def read_order(folder: Path) -> Order:
    """Return the order of a run folder."""
    return decode(read_bytes(folder / "order.json"), type=Order)


def read_report(folder: Path) -> Report | None:
    """Return what the cycle process reported, None as long as there is nothing."""
    try:
        return decode(read_bytes(folder / "cycle.json", MOST_KEPT_BYTES), type=Report)
    except FileNotFoundError:
        return None
