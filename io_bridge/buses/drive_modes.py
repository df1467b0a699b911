"""A drive is enabled only while it shows the mode of the rig: waited for in OP, before there is any torque."""

from __future__ import annotations

from collections.abc import Callable

from io_bridge.exchange.exchange import Exchange
from io_bridge.slaves import words
from io_bridge.slaves.cia402 import drive_state
from io_bridge.slaves.drive_config import AXIS_STEP, MODE_CODES, DriveConfig
from io_bridge.slaves.errors import BringUpError

SHOWN_IN_S = 1.0
"""The time that a drive has in OP until it shows its mode."""
DISPLAY = 0x6061
MODES = {
    0: "no mode",
    1: "profile position",
    2: "velocity",
    3: "profile velocity",
    4: "profile torque",
    6: "homing",
    7: "interpolated position",
    8: "cyclic synchronous position",
    9: "cyclic synchronous velocity",
    10: "cyclic synchronous torque",
}
FAULTY = ("fault reaction active", "fault")


def await_modes(
    exchange: Exchange, pass_time: Callable[[], None], has_time: Callable[[], bool]
) -> None:
    """Let time pass until each drive shows the mode of the rig, but those in fault, which are named as such.

    Raises
    ------
    BringUpError
        No time is left; each drive is named with the mode that it shows, and what would do.
    """
    while True:
        wrong = [
            _sentence(drive, shown)
            for i, drive in enumerate(exchange.drives)
            if (shown := exchange.wrong_mode(i)) is not None and not _is_in_fault(exchange, i)
        ]
        if not wrong:
            return
        if not has_time():
            raise BringUpError("; ".join(wrong))
        pass_time()


def _is_in_fault(exchange: Exchange, i: int) -> bool:
    return words.DRIVE_STATES[drive_state(exchange.drive_status(i)[2])] in FAULTY


def _sentence(drive: DriveConfig, shown: int) -> str:
    index = DISPLAY + AXIS_STEP * drive.axis
    meaning = MODES.get(shown, "a mode of its maker's")
    others = ", ".join(
        f'"{entry[0]:#06x}:{entry[1]}/{entry[2]}"' for entry in drive.tx_pdo if entry[0] != index
    )
    return (
        f"{drive.name}: in OP it shows mode {shown} ({meaning}) in {index:#06x}, the rig has "
        f"{MODE_CODES[drive.mode]} (mode = {drive.mode!r}), and a drive is enabled only while it shows the rig's: set "
        "what its maker asks for in this mode under `setup`; or, where it follows "
        f"{index - 1:#06x} and shows its mode only once it operates, leave {index:#06x} out of its inputs: "
        f'mapping = "explicit", tx_pdo = [{others}]'
    )
