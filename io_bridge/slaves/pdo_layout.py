"""Layout of a slave's process data in the logical address space, and its watchdog registers."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from io_bridge.slaves.drive_config import DriveConfig, PdoEntry, pdo_bytes
from io_bridge.slaves.sii import Identity
from io_bridge.slaves.terminal_config import TerminalConfig, channel_bytes

OUTPUT_REGISTERS = 0x0F00
"""From here on process data may lie: terminals without a processor have theirs in front of the memory."""


class SlaveLayout(NamedTuple):
    """Station address, logical start and bytes of outputs and inputs, whether it has a clock; which objects lie
    there one after the other (none: as the rig says), and what the outputs are where nobody commands them."""

    station: int
    outputs_at: int
    n_outputs: int
    inputs_at: int
    n_inputs: int
    has_clock: bool = False
    outputs: tuple[PdoEntry, ...] = ()
    inputs: tuple[PdoEntry, ...] = ()
    rest: bytes = b""


Download = tuple[int, int, int, int]
"""Index, subindex, value and bytes of an object to write."""


class SlaveRecord(NamedTuple):
    """The configuration of a slave, complete enough to repeat it after a power cycle."""

    layout: SlaveLayout
    identity: Identity
    managers: bytes  # registers of the sync managers, from 0x0800
    fmmus: bytes  # registers of the FMMUs, from 0x0600
    clock_delay: bytes = bytes(4)  # register 0x0928
    downloads: tuple[Download, ...] = ()  # objects that it gets in PREOP


def fmmu_rows(
    layout: SlaveLayout, outputs: Sequence[tuple[int, int]], inputs: Sequence[tuple[int, int]]
) -> bytes:
    """Return the FMMU registers that map whole bytes of outputs, then inputs: pieces of (start, bytes) in the slave,
    which follow each other in the logical address space."""
    rows = b""
    for at, pieces, kind in ((layout.outputs_at, outputs, 2), (layout.inputs_at, inputs, 1)):
        for physical, size in pieces:
            rows += struct.pack("<IHBBHBBBxxx", at, size, 0, 7, physical, 0, kind, 1)
            at += size
    return rows.ljust(64, b"\0")  # those that a master before has left are off


def pdo_downloads(
    assign: int, mapping: int, entries: Sequence[PdoEntry], assigned: Sequence[int] = ()
) -> list[Download]:
    """Return the writes for one PDO with `entries`, in order, and for an assignment of `assigned` (empty: of it
    alone)."""
    return [
        (assign, 0, 0, 1),
        (mapping, 0, 0, 1),
        *(
            (mapping, i, index << 16 | sub << 8 | bits, 4)
            for i, (index, sub, bits) in enumerate(entries, 1)
        ),
        (mapping, 0, len(entries), 1),
        *assign_downloads(assign, assigned or (mapping,)),
    ]


def assign_downloads(assign: int, pdos: Sequence[int]) -> list[Download]:
    """Return the writes that assign these PDOs."""
    return [
        (assign, 0, 0, 1),
        *((assign, i, index, 2) for i, index in enumerate(pdos, 1)),
        (assign, 0, len(pdos), 1),
    ]


def watchdog_registers(watchdog_ms: float) -> tuple[tuple[int, int], ...]:
    """Return (register, value) for a process data watchdog in steps of 100 us."""
    return ((0x0400, 2498), (0x0420, max(1, round(10.0 * watchdog_ms))))


class BitwiseError(ValueError):
    """Process data that do not lie on whole bytes."""


def process_managers(managers: bytes) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Return start and bytes of outputs and of inputs by the registers of the sync managers."""
    areas: dict[int, list[tuple[int, int]]] = {1: [], 0: []}
    for start, size, control, _, active, _ in struct.iter_unpack("<HHBBBB", managers):
        # mailboxes have mode 2; direction 1: the master writes
        if active & 1 and size and control & 0x03 == 0:
            areas[control >> 2 & 1].append((start, size))
    return areas[1], areas[0]


def mapped_bytes(fmmus: bytes) -> dict[int, list[int]]:
    """Return where each byte of outputs (2) and inputs (1) lies in a slave, in logical order, by its FMMU registers."""
    rows: dict[int, list[tuple[int, int, int]]] = {2: [], 1: []}
    for start, size, _, _, physical, _, kind, active in _active(fmmus):
        if active & 1:
            rows.setdefault(kind, []).append((start, size, physical))
    return {
        kind: [physical + i for _, size, physical in sorted(found) for i in range(size)]
        for kind, found in rows.items()
    }


def _active(fmmus: bytes) -> Iterator[tuple[int, ...]]:
    """Yield the FMMUs that map memory; the mailbox status may be mapped too, and lies in the registers."""
    for at in range(0, len(fmmus) - 15, 16):
        row = struct.unpack_from("<IHBBHBBB", fmmus, at)
        if row[7] & 1 and row[4] >= OUTPUT_REGISTERS:
            yield row


def from_fmmus(station: int, fmmus: bytes) -> SlaveLayout:
    """Read the layout back from a slave's FMMU registers (0x0600 on).

    Raises
    ------
    BitwiseError
        They do not lie on whole bytes.
    ValueError
        Outputs or inputs lie in pieces that do not follow each other.
    """
    areas: dict[int, tuple[int, int]] = {}
    for start, size, first, last, _, bit, kind, _ in sorted(_active(fmmus)):
        if (first, last, bit) != (0, 7, 0):
            raise BitwiseError(f"slave {station:#06x}: an FMMU maps bits, not bytes")
        if kind in areas and sum(areas[kind]) != start:
            raise ValueError(f"slave {station:#06x}: process data in several pieces")
        at, before = areas.get(kind, (start, 0))
        areas[kind] = (at, before + size)
    outputs, inputs = areas.get(2, (0, 0)), areas.get(1, (0, 0))
    return SlaveLayout(station, *outputs, *inputs)


def is_joined(slave: DriveConfig | TerminalConfig) -> bool:
    """Return whether the entry is a further axis of the slave before it."""
    return isinstance(slave, DriveConfig) and slave.joined


def axes_of(
    slaves: Sequence[DriveConfig | TerminalConfig],
) -> list[tuple[DriveConfig | TerminalConfig, ...]]:
    """Return the entries of the rig in each slave of the ring: one terminal, one drive, or a drive's axes."""
    found: list[tuple[DriveConfig | TerminalConfig, ...]] = []
    for slave in slaves:
        if is_joined(slave) and found:
            found[-1] += (slave,)
        else:
            found.append((slave,))
    return found


def spread(
    slaves: Sequence[DriveConfig | TerminalConfig], layouts: Sequence[SlaveLayout]
) -> list[SlaveLayout]:
    """Return the layout of each drive and terminal from those of the slaves of the ring."""
    groups = axes_of(slaves)
    if len(layouts) != len(groups):
        raise ValueError(f"{len(layouts)} layouts for {len(groups)} slaves")
    return [layout for group, layout in zip(groups, layouts, strict=True) for _ in group]


def check_sizes(
    name: str,
    slaves: Sequence[DriveConfig | TerminalConfig],
    layouts: Sequence[SlaveLayout],
) -> None:
    """Refuse layouts that contradict what the rig says of the process data; `layouts` has one for each of
    `slaves`."""
    wrong = []
    for slave, layout in zip(slaves, layouts, strict=True):
        for size, what, mapped in (
            (layout.n_outputs, "outputs", 0),
            (layout.n_inputs, "inputs", 1),
        ):
            if isinstance(slave, DriveConfig):
                objects = layout.inputs if mapped else layout.outputs
                needed = pdo_bytes(objects or (slave.tx_pdo if mapped else slave.rx_pdo))
                if size != needed:
                    wrong.append(f"{slave.name} maps {size} bytes of {what}, its PDO has {needed}")
            else:
                needed = channel_bytes(slave.inputs if mapped else slave.outputs)
                if size < needed:
                    wrong.append(
                        f"{slave.name} maps {size} bytes of {what}, its channels need {needed}"
                    )
    if wrong:
        raise ValueError(f"bus {name!r}: " + "; ".join(wrong))
