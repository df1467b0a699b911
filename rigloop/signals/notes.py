"""The notes of `rigloop check` on signals: those only recorded, bare, unread, or of a unit that nobody knows."""

from __future__ import annotations

from rig_configs.schema import Rig
from rigloop.signals.listing import bare_ports, signals_of, unchecked, unread_blocks

MOST_NAMED = 6


def signal_facts(rig: Rig) -> dict[str, object]:
    """Return the counts and names of a good rig's signals."""
    signals = signals_of(rig)
    return {
        "written": len(signals),
        "used": sum(bool(s.readers) for s in signals),
        "bare_ports": {bare.port: bare.about for bare in bare_ports(rig)},
        "unread_blocks": unread_blocks(rig, signals),
        "unchecked_units": unchecked(rig, signals),
    }


def signal_words(rig: Rig, argument: str) -> list[str]:
    """Return a line of counts, and one of the optional ports that are not wired."""
    facts = signal_facts(rig)
    written, used = facts["written"], facts["used"]
    assert isinstance(written, int)
    assert isinstance(used, int)
    lines = [
        f"{written} signals: {used} are read or shown, the other {written - used} are only recorded: "
        f"`rigloop signals {argument}`"
    ]
    bare = ", ".join(one.port for one in bare_ports(rig))
    return lines + ([f"optional ports that are not wired: {bare}"] if bare else [])


def signal_notes(rig: Rig) -> list[str]:
    """Return what is likely a mistake: blocks that nobody reads, and wires whose units nobody checks."""
    signals = signals_of(rig)
    notes = [
        f"blocks.{name}: no block reads its signals, and none of them is shown: it only costs time; wire one of "
        "them, or remove the block"
        for name in unread_blocks(rig, signals)
    ]
    wires = unchecked(rig, signals)
    if wires:
        named = ", ".join(wires[:MOST_NAMED]) + (", ..." if len(wires) > MOST_NAMED else "")
        notes.append(
            f"units are not checked at {named}: the unit of the signal is unknown; a name that ends in a unit, "
            "such as torque_nm, states it"
        )
    return notes
