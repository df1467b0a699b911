"""The bus block of a rig file, from what a scan found."""

from __future__ import annotations

import re
from collections.abc import Sequence

from io_bridge.drive_config import pdo_offset
from io_bridge.scan import FoundSlave
from io_bridge.sii_contents import SiiPdo

CONTROLWORD, STATUSWORD = 0x6040, 0x6041


def bus_block(interface: str, slaves: Sequence[FoundSlave], second: str | None = None) -> str:
    """Return TOML with what is known; what only a data sheet knows is marked."""
    names = _names(slaves)
    drives = [(s, n) for s, n in zip(slaves, names, strict=True) if _is_drive(s)]
    terminals = [(s, n) for s, n in zip(slaves, names, strict=True) if not _is_drive(s)]
    lines = [
        f"# {len(slaves)} slaves on {interface}. Look up and fill in what is marked CHECK.",
        "",
        "[blocks.bus]",
        'kind = "bus"',
        f'backend = "{interface}"',
        *([] if second is None else [f'second_interface = "{second}"']),
        "",
        "[blocks.bus.reads] # CHECK: the signals that command the drives",
    ]
    for _, name in drives:
        lines += [
            f'"{name}/torque_nm" = "guard/torque_nm"',
            f'"{name}/enable" = "supervisor/enable"',
            f'"{name}/reset" = "supervisor/reset"',
        ]
    for slave, name in drives:
        lines += [
            "",
            f"[blocks.bus.drives.{name}] # {slave.name or 'no name'}",
            f"position = {slave.position}",
            f"identity = {_identity(slave)}",
            "counts_per_rev = 1048576 # CHECK",
            "rated_torque_nm = 1.0 # CHECK: object 0x6076 has it in mNm",
            "peak_torque_nm = 1.0 # CHECK",
        ]
    for slave, name in terminals:
        lines += [
            "",
            f"[blocks.bus.terminals.{name}] # {slave.name or 'no name'}",
            f"position = {slave.position}",
            f"identity = {_identity(slave)}",
        ]
        for way, pdos in (("inputs", slave.inputs), ("outputs", slave.outputs)):
            lines += _channels(name, way, pdos)
    return "\n".join(lines) + "\n"


def _is_drive(slave: FoundSlave) -> bool:
    entries = tuple(entry for pdo in slave.inputs for entry in pdo.entries)
    return pdo_offset(entries, STATUSWORD) >= 0


def _identity(slave: FoundSlave) -> str:
    who = slave.identity
    return (
        f"{{ vendor = {who.vendor:#x}, product = {who.product:#x}, revision = {who.revision:#x} }}"
    )


def _names(slaves: Sequence[FoundSlave]) -> list[str]:
    names: list[str] = []
    for slave in slaves:
        base = "drive" if _is_drive(slave) else _word(slave.name) or "slave"
        same = sum(name.rstrip("0123456789") == base for name in names)
        names.append(f"{base}{same}" if same or base in ("drive", "slave") else base)
    return names


def _word(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")[:24].rstrip("_0123456789")


def _channels(terminal: str, way: str, pdos: list[SiiPdo]) -> list[str]:
    """One channel an entry; padding takes its place."""
    lines = []
    bit = 0
    for pdo in pdos:
        for index, sub, bits in pdo.entries:
            if index and 1 <= bits <= 32:
                lines.append(f"x{index:04x}_{sub} = {{ bit = {bit}, bits = {bits} }}")
            bit += bits
    return [f"[blocks.bus.terminals.{terminal}.{way}]", *lines] if lines else []
