"""Where a slave's process data lies in the logical address space, and its watchdog registers."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import NamedTuple

from io_bridge.drive_config import DriveConfig, PdoEntry, pdo_bytes
from io_bridge.sii import Identity
from io_bridge.terminal_config import TerminalConfig, channel_bytes


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
    """How a slave was configured: enough to do it again after a power cycle."""

    layout: SlaveLayout
    identity: Identity
    managers: bytes  # registers of four sync managers, from 0x0800
    fmmus: bytes  # registers of the FMMUs, from 0x0600
    clock_delay: bytes = bytes(4)  # register 0x0928
    downloads: tuple[Download, ...] = ()  # objects that it gets in PREOP


def fmmu_rows(layout: SlaveLayout, outputs_start: int, inputs_start: int) -> bytes:
    """Return the FMMU registers that map whole bytes of outputs, then inputs."""
    rows = b""
    for at, size, physical, kind in (
        (layout.outputs_at, layout.n_outputs, outputs_start, 2),
        (layout.inputs_at, layout.n_inputs, inputs_start, 1),
    ):
        if size:
            rows += struct.pack("<IHBBHBBBxxx", at, size, 0, 7, physical, 0, kind, 1)
    return rows.ljust(64, b"\0")  # those that a master before has left are off


def pdo_downloads(
    assign: int, mapping: int, entries: Sequence[PdoEntry], assigned: Sequence[int] = ()
) -> list[Download]:
    """Return what to write for one PDO with `entries`, in order, and for an assignment of `assigned` (empty: of it
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
    """Return what to write to assign these PDOs."""
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


def process_managers(managers: bytes) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return start and bytes of outputs and of inputs by the registers of the sync managers."""
    areas = {1: (0, 0), 0: (0, 0)}
    for start, size, control, _, active, _ in struct.iter_unpack("<HHBBBB", managers):
        # mailboxes have mode 2; direction 1: the master writes
        if active & 1 and size and control & 0x03 == 0:
            areas[control >> 2 & 1] = (start, size)
    return areas[1], areas[0]


def from_fmmus(station: int, fmmus: bytes) -> SlaveLayout:
    """Read the layout back from a slave's FMMU registers (0x0600 on).

    Raises
    ------
    BitwiseError
        They do not lie on whole bytes.
    ValueError
        Outputs or inputs lie in more than one piece.
    """
    areas: dict[int, tuple[int, int]] = {}
    for at in range(0, len(fmmus) - 15, 16):
        start, size, first, last, physical, bit, kind, active = struct.unpack_from(
            "<IHBBHBBB", fmmus, at
        )
        # the mailbox status may be mapped too; it lies in the registers
        if not active & 1 or physical < 0x1000:
            continue
        if (first, last, bit) != (0, 7, 0):
            raise BitwiseError(f"slave {station:#06x}: FMMU {at // 16} maps bits, not bytes")
        if kind in areas:
            raise ValueError(f"slave {station:#06x}: process data in several pieces")
        areas[kind] = (start, size)
    outputs, inputs = areas.get(2, (0, 0)), areas.get(1, (0, 0))
    return SlaveLayout(station, *outputs, *inputs)


def is_joined(slave: DriveConfig | TerminalConfig) -> bool:
    """Whether it is a further axis of the slave before it."""
    return isinstance(slave, DriveConfig) and slave.joined


def axes_of(
    slaves: Sequence[DriveConfig | TerminalConfig],
) -> list[tuple[DriveConfig | TerminalConfig, ...]]:
    """Return what the rig has in each slave of the ring: one terminal, one drive, or a drive's axes."""
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
