"""The bus block of a rig file, from what a scan found."""

from __future__ import annotations

import re
from collections.abc import Sequence

from io_bridge.drive_config import pdo_offset
from io_bridge.scan import FoundSlave
from io_bridge.sii_contents import SiiPdo
from rig_configs.plain import line, toml_string
from rigloop.fieldbus.esi_notes import CLOCK, Known

CONTROLWORD, STATUSWORD = 0x6040, 0x6041
SIGNED = {"SINT", "INT", "DINT", "INT8", "INT16", "INT32"}


def bus_block(
    interface: str,
    slaves: Sequence[FoundSlave],
    known: Sequence[Known | None] | None = None,
    second: str | None = None,
) -> str:
    """Return TOML with what is known, ESI files included; what only a data sheet knows is marked."""
    esis = known or [None] * len(slaves)
    titles = [s.name if e is None else e.device.name for s, e in zip(slaves, esis, strict=True)]
    names = _names(slaves, titles)
    rows = list(zip(slaves, names, titles, esis, strict=True))
    drives = [row for row in rows if _is_drive(row[0])]
    terminals = [row for row in rows if not _is_drive(row[0])]
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
    for _, name, _, _ in drives:
        lines += [
            f'"{name}/torque_nm" = "guard/torque_nm"',
            f'"{name}/enable" = "supervisor/enable"',
            f'"{name}/reset" = "supervisor/reset"',
        ]
    for slave, name, title, esi in drives:
        lines += [
            "",
            f"[blocks.bus.drives.{name}] # {line(title, 80) or 'no name'}",
            f"position = {slave.position}",
            f"identity = {_identity(slave)}",
            "counts_per_rev = 1048576 # CHECK",
            "rated_torque_nm = 1.0 # CHECK: object 0x6076 has it in mNm",
            "peak_torque_nm = 1.0 # CHECK",
        ]
        modes = [] if esi is None else esi.device.clock_modes
        lines += [
            f"# clock mode {line(mode.name, 80)} ({mode.activate:#06x}): {_says(mode.activate)}"
            for mode in modes
        ]
    for slave, name, title, esi in terminals:
        lines += [
            "",
            f"[blocks.bus.terminals.{name}] # {line(title, 80) or 'no name'}",
            f"position = {slave.position}",
            f"identity = {_identity(slave)}",
        ]
        for way, pdos in (("inputs", slave.inputs), ("outputs", slave.outputs)):
            lines += _channels(name, way, pdos, esi)
    return "\n".join(lines) + "\n"


def _is_drive(slave: FoundSlave) -> bool:
    entries = tuple(entry for pdo in slave.inputs for entry in pdo.entries)
    return pdo_offset(entries, STATUSWORD) >= 0


def _identity(slave: FoundSlave) -> str:
    who = slave.identity
    return (
        f"{{ vendor = {who.vendor:#x}, product = {who.product:#x}, revision = {who.revision:#x} }}"
    )


def _says(activate: int) -> str:
    return "sync0 = true" if activate & CLOCK else "sync0 = false"


def _names(slaves: Sequence[FoundSlave], titles: Sequence[str]) -> list[str]:
    names: list[str] = []
    for slave, title in zip(slaves, titles, strict=True):
        base = "drive" if _is_drive(slave) else _word(title) or "slave"
        same = sum(name.rstrip("0123456789") == base for name in names)
        names.append(f"{base}{same}" if same or base in ("drive", "slave") else base)
    return names


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
