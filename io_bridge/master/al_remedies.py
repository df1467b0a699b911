"""Remedies for a slave that refuses a state, by its AL status code (ETG.1020)."""

from __future__ import annotations

MAKERS_TOOL = "write its EEPROM with the maker's tool, which its firmware must agree with"
OUTPUTS = (
    "name its PDOs in rx_assign (or entries in rx_pdo) as its data sheet has them, or take mapping"
)
INPUTS = OUTPUTS.replace("rx_", "tx_")
CLOCK = "compare sync0, the clock table of the bus and the period of its task with its data sheet"
REMEDIES = {
    0x0003: "write the objects that its data sheet requires with setup",
    0x0014: "load its firmware with the maker's tool",
    0x0016: MAKERS_TOOL,
    0x0017: MAKERS_TOOL,
    0x001B: "find the cause of the delay of the frames, or raise watchdog_ms",
    0x001C: MAKERS_TOOL,
    0x001D: f'{OUTPUTS} = "fixed"',
    0x001E: f'{INPUTS} = "fixed"',
    0x001F: "set watchdog_ms to a value that the slave's maker allows",
    0x0020: "switch it off and on",
    0x0024: f'{INPUTS} = "fixed"',
    0x0025: f'{OUTPUTS} = "fixed"',
    0x0027: "give the bus a clock table and the drive sync0 = true",
    0x0028: "take sync0 = false",
    0x002E: "give its task a longer period",
    0x0050: MAKERS_TOOL,
    0x0051: MAKERS_TOOL,
} | dict.fromkeys((0x001A, 0x002C, 0x002D, *range(0x0030, 0x0038)), CLOCK)
ELSE = "its data sheet says what it needs there; `rigloop scan` shows its diagnosis history"


def al_remedy(code: int) -> str:
    """Return the remedy for a refusal."""
    return REMEDIES.get(code, ELSE)
