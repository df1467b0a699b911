"""The bus block of a rig file, from what a scan found."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import fields
from typing import NamedTuple

from io_bridge.attendant.scan import FoundSlave
from io_bridge.slaves.drive_config import pdo_offset
from io_bridge.slaves.moving_objects import AXIS_STEP
from io_bridge.slaves.sii_contents import SiiPdo
from io_bridge.slaves.state_limits import STANDARD
from rig_configs.plain import line, toml_string
from rig_configs.slaves import MOST_AXES
from rigloop.fieldbus.esi_notes import CLOCK, Known

STATUSWORD, RATED_TORQUE = 0x6041, 0x6076
SIGNED = {"SINT", "INT", "DINT", "INT8", "INT16", "INT32"}


class Row(NamedTuple):
    """A terminal (no axis), or an axis of a drive, with the name that it gets."""

    slave: FoundSlave
    name: str
    title: str
    esi: Known | None
    axis: int | None
    is_first: bool


def bus_block(
    interface: str,
    slaves: Sequence[FoundSlave],
    known: Sequence[Known | None] | None = None,
    second: str | None = None,
) -> str:
    """Return TOML with what is known, ESI files included; what only a data sheet knows is marked."""
    esis = known or [None] * len(slaves)
    titles = [s.name if e is None else e.device.name for s, e in zip(slaves, esis, strict=True)]
    rows = _rows(slaves, titles, esis)
    drives = [row for row in rows if row.axis is not None]
    terminals = [row for row in rows if row.axis is None]
    lines = [
        f"# {len(slaves)} slaves on {line(interface)}. Look up and fill in what is marked CHECK.",
        "",
        "[blocks.bus]",
        'kind = "bus"',
        f"backend = {toml_string(interface)}",
        *([] if second is None else [f"second_interface = {toml_string(second)}"]),
        "",
        "[blocks.bus.reads] # CHECK: the signals that command the drives",
    ]
    for row in drives:
        lines += [
            f'"{row.name}/torque_nm" = "guard/torque_nm"',
            f'"{row.name}/enable" = "supervisor/enable"',
            f'"{row.name}/reset" = "supervisor/reset"',
        ]
    for slave, name, title, esi, axis, is_first in drives:
        lines += [
            "",
            f"[blocks.bus.drives.{name}] # {line(title, 80) or 'no name'}"
            + (f", axis {axis}" if axis or not is_first else ""),
            f"position = {slave.position}",
            *([f"axis = {axis}"] if axis else []),
            # one slave has one identity and one processor: its first axis says what holds for all
            *([f"identity = {_identity(slave)}", *_limits(esi)] if is_first else []),
            "counts_per_rev = 1048576 # CHECK",
            f"rated_torque_nm = 1.0 # CHECK: object {RATED_TORQUE + AXIS_STEP * (axis or 0):#06x} has it in mNm",
            "peak_torque_nm = 1.0 # CHECK",
        ]
        modes = [] if esi is None or not is_first else esi.device.clock_modes
        lines += [
            f"# clock mode {line(mode.name, 80)} ({mode.activate:#06x}): {_says(mode.activate)}"
            for mode in modes
        ]
    for slave, name, title, esi, _, _ in terminals:
        lines += [
            "",
            f"[blocks.bus.terminals.{name}] # {line(title, 80) or 'no name'}",
            f"position = {slave.position}",
            f"identity = {_identity(slave)}",
            *_limits(esi),
        ]
        for way, pdos in (("inputs", slave.inputs), ("outputs", slave.outputs)):
            lines += _channels(name, way, pdos, esi)
    return "\n".join(lines) + "\n"


def _rows(
    slaves: Sequence[FoundSlave], titles: Sequence[str], esis: Sequence[Known | None]
) -> list[Row]:
    """Return a row for each terminal and each axis of a drive."""
    rows: list[Row] = []
    for slave, title, esi in zip(slaves, titles, esis, strict=True):
        axes: Sequence[int | None] = _axes(slave) or [None]
        for axis in axes:
            name = _name([row.name for row in rows], "drive" if axis is not None else _word(title))
            rows.append(Row(slave, name, title, esi, axis, axis == axes[0]))
    return rows


def _axes(slave: FoundSlave) -> list[int]:
    """Return the axes of a drive, by the statuswords that it has mapped; none of a terminal."""
    entries = tuple(entry for pdo in slave.inputs for entry in pdo.entries)
    return [n for n in range(MOST_AXES) if pdo_offset(entries, STATUSWORD + AXIS_STEP * n) >= 0]


def _limits(esi: Known | None) -> list[str]:
    """Return the time limits that the slave's ESI has otherwise than the standard."""
    if esi is None:
        return []
    own = esi.device.limits
    found = [
        f"{item.name} = {getattr(own, item.name):g}"
        for item in fields(own)
        if getattr(own, item.name) != getattr(STANDARD, item.name)
    ]
    return [f"limits = {{ {', '.join(found)} }} # of its ESI"] if found else []


def _identity(slave: FoundSlave) -> str:
    who = slave.identity
    return (
        f"{{ vendor = {who.vendor:#x}, product = {who.product:#x}, revision = {who.revision:#x} }}"
    )


def _says(activate: int) -> str:
    return "sync0 = true" if activate & CLOCK else "sync0 = false"


def _name(before: Sequence[str], word: str) -> str:
    base = word or "slave"
    same = sum(name.rstrip("0123456789") == base for name in before)
    return f"{base}{same}" if same or base in ("drive", "slave") else base


def _key(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")[:24].strip("_")


def _word(text: str) -> str:
    return _key(text).rstrip("_0123456789")


def _channels(terminal: str, way: str, pdos: list[SiiPdo], esi: Known | None) -> list[str]:
    """One channel an entry, by the name that its ESI has; padding takes its place."""
    lines = []
    bit = 0
    taken: set[str] = set()
    for pdo in pdos:
        for index, sub, bits in pdo.entries:
            if index and 1 <= bits <= 32:
                label, kind = ("", "") if esi is None else esi.name_of(index, sub)
                word = _key(label)
                if not word or word in taken:
                    word = f"x{index:04x}_{sub}"
                taken.add(word)
                signed = ", signed = true" if kind in SIGNED else ""
                lines.append(f"{word} = {{ bit = {bit}, bits = {bits}{signed} }}")
            bit += bits
    return [f"[blocks.bus.terminals.{terminal}.{way}]", *lines] if lines else []
