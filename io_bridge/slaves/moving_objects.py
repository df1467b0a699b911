"""The objects of a drive that move it, so that no setup may write them: what moves a drive passes its guard."""

from __future__ import annotations

AXIS_STEP = 0x800
"""From an object of one axis to that of the next: 0x6040, 0x6840, ... (CiA 402-1)."""
FIRST, BEHIND = 0x6000, 0xA000
"""Objects of CiA 402, of all axes."""
MOVING = {
    0x6040: "the controlword",
    0x6071: "the target torque",
    0x607A: "the target position",
    0x60B0: "the position offset",
    0x60B1: "the velocity offset",
    0x60B2: "the torque offset",
    0x60FF: "the target velocity",
}
"""Objects that move a drive, and what they are, of its first axis."""


def moving(index: int) -> str:
    """Return the name of an object that moves an axis; empty: it moves none."""
    if not FIRST <= index < BEHIND:
        return ""
    return MOVING.get(FIRST + (index - FIRST) % AXIS_STEP, "")
