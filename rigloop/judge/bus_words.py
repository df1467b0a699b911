"""The signals of a bus in words: which slave, and why."""

from __future__ import annotations

from collections.abc import Callable

from io_bridge.slaves import words
from io_bridge.slaves.cia402 import drive_state
from rig_configs.slaves import Drive
from rigloop.blocks.kinds.bus import BusBlock
from rigloop.blocks.slaves import ring
from rigloop.compose.blocks import paths

OP = 8


def explain_bus(name: str, config: BusBlock, value: Callable[[str], float]) -> list[str]:
    """Return everything that keeps a bus from being well at one moment, slave by slave.

    Parameters
    ----------
    value : callable
        From a signal path to its value at that moment.
    """
    writes = paths(name, config)[1]

    def of(port: str) -> int:
        found = value(writes[port])
        return int(found) if abs(found) < 2.0**31 else 0

    if not of("valid") and not of("wkc"):
        # nothing is known of the slaves: what they said last was before
        return [f"the frame of this cycle did not come back ({of('lost')} lost in all)"]
    found = []
    for slave, kind in ring(config).items():
        wrong = []
        al_state, code = of(f"{slave}/al_state"), of(f"{slave}/al_code")
        wkc, expected = of(f"{slave}/wkc"), of(f"{slave}/wkc_expected")
        if al_state == 0:
            wrong.append("it does not answer: cable or power")
        elif al_state != OP:
            wrong.append(words.al_state(al_state) + (f", {words.al_code(code)}" if code else ""))
        if wkc != expected:
            wrong.append(f"working counter {wkc}, expected {expected}")
        elif not of(f"{slave}/valid"):
            wrong.append("its clock stands still: it repeats old data")
        if isinstance(kind, Drive) and al_state == OP and wkc == expected:
            # with one slave's data bad for too long the bus forgets what all drives said
            forgotten = not of("valid")
            wrong += _drive(
                of(f"{slave}/statusword"), forgotten or bool(of(f"{slave}/operational"))
            )
        if wrong:
            found.append(f"slave {slave!r}: {', '.join(wrong)}")
    return found


def _drive(statusword: int, right_mode: bool) -> list[str]:
    state = words.DRIVE_STATES[drive_state(statusword)]
    if state != "operation enabled":
        return [f"statusword {statusword:#06x}: {state}"]
    return [] if right_mode else [f"statusword {statusword:#06x}: enabled, but in another mode"]
