"""Contents of a slave's process data: read from the slave, and changed only where the rig needs something else.

A drive needs its controlword and command, its statusword and position, on whole bytes; more is wished for. Where the
PDOs that the slave has assigned hold what is wished for, or exactly what the rig names, nothing is written. Else one
PDO is mapped again, and what other axes have stays mapped. A slave that refuses that keeps its mapping, if it holds
what is needed, or all that the rig names. Complete access is not used, so that nothing depends on it.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import NamedTuple

from io_bridge.master.mailbox import LostFramesError, MailboxError
from io_bridge.master.manager_pieces import ASSIGN, entries_of, in_order, managers_of
from io_bridge.master.mapped_pdos import mapped_pdos
from io_bridge.master.slave_objects import FIXED, MISSING, SlaveObjects
from io_bridge.slaves import words
from io_bridge.slaves.drive_config import (
    MODE_CODES,
    DriveConfig,
    PdoEntry,
    pdo_bytes,
    pdo_offset,
)
from io_bridge.slaves.errors import BringUpError, SdoAbortError
from io_bridge.slaves.moving_objects import AXIS_STEP
from io_bridge.slaves.pdo_layout import Download, assign_downloads, pdo_downloads
from io_bridge.slaves.sii_contents import SiiContents, SiiPdo
from io_bridge.slaves.terminal_config import TerminalConfig

log = logging.getLogger("rigloop.bus")

OUT, IN = 3, 4
"""Uses of a sync manager."""
DRIVE_OBJECTS = range(0x6000, 0xA000)
AT_REST = (0x6040, 0x6071, 0x60FF, 0x60B0, 0x60B1, 0x60B2)
"""Objects of an axis that nobody commands and that must be zero: controlword, targets of torque and speed, offsets."""
FIRST_PDO = {OUT: 0x1600, IN: 0x1A00}
PDO_STEP = 0x10
"""From a PDO of one axis to that of the next (ETG.6010)."""


class ProcessData(NamedTuple):
    """PDOs of a slave in order, the outputs where nobody commands them, and the writes that it was sent for that."""

    outputs: tuple[SiiPdo, ...]
    inputs: tuple[SiiPdo, ...]
    rest: bytes
    downloads: tuple[Download, ...]


def from_eeprom(contents: SiiContents) -> ProcessData:
    """Return the process data of a slave that has no objects: the PDOs that its EEPROM assigns."""
    outputs, inputs = (
        in_order(
            [pdo for pdo in pdos if pdo.manager < max(1, len(contents.managers))],
            managers_of(contents, use),
        )
        for use, pdos in ((OUT, contents.outputs), (IN, contents.inputs))
    )
    return ProcessData(outputs, inputs, b"", ())


def settle(
    slaves: Sequence[DriveConfig | TerminalConfig], contents: SiiContents, objects: SlaveObjects
) -> ProcessData:
    """Write the objects of the rig to a slave in PREOP, and settle its process data.

    Parameters
    ----------
    slaves : sequence of DriveConfig or TerminalConfig
        The entries of the rig in this slave: a terminal, a drive, or axes of one.
    contents : SiiContents
        Of its EEPROM.
    objects : SlaveObjects

    Raises
    ------
    BringUpError
        An object is refused, or an object that a drive needs is missing.
    """
    sent: list[Download] = []
    for slave in slaves:
        for s in slave.setup:
            objects.demand(item := (s.index, s.subindex, s.value, s.size), slave.name)
            sent.append(item)
    for slave in slaves:
        if isinstance(slave, DriveConfig):
            sent += _set_mode(slave, objects)
    ways = []
    for use in (OUT, IN):
        pdos, written = _Way(use, slaves, contents, objects).settled()
        ways.append(pdos)
        sent += written
    return ProcessData(ways[0], ways[1], _rest(slaves, ways[0], objects), tuple(sent))


def _set_mode(drive: DriveConfig, objects: SlaveObjects) -> list[Download]:
    """Set 0x6060; a drive that has one mode alone may not let it be written."""
    shift, wanted = AXIS_STEP * drive.axis, MODE_CODES[drive.mode]
    item = (shift + 0x6060, 0, wanted, 1)
    try:
        objects.download(item)
        return [item]
    except SdoAbortError as error:
        if error.code not in (*MISSING, *FIXED):
            raise BringUpError(
                f"{drive.name}: mode {drive.mode!r} ({wanted} in {item[0]:#06x}) is refused: "
                f"{words.sdo_abort(error.code)}"
            ) from error
        refused = error
    for index in (0x6061, 0x6060):
        try:
            has = int.from_bytes(objects.upload(shift + index)[:1], "little", signed=True)
        except SdoAbortError:
            continue
        if has == wanted:
            return []
        raise BringUpError(
            f"{drive.name}: mode {drive.mode!r} ({wanted}) cannot be set, and the drive is in mode {has}: "
            f"{words.sdo_abort(refused.code)}"
        ) from refused
    log.info("%s: it has no object for its mode; %r is assumed", drive.name, drive.mode)
    return []


class _Way:
    """One direction of one slave."""

    def __init__(
        self,
        use: int,
        slaves: Sequence[DriveConfig | TerminalConfig],
        contents: SiiContents,
        objects: SlaveObjects,
    ) -> None:
        self._use = use
        self._slaves = slaves
        self._contents = contents
        self._objects = objects
        self._name = "outputs" if use == OUT else "inputs"
        self._managers = managers_of(contents, use)
        self._sent: list[Download] = []

    def settled(self) -> tuple[tuple[SiiPdo, ...], list[Download]]:
        """Return the PDOs, and the writes for them."""
        pdos = self._read()
        pdos = self._take_named(pdos)
        for slave in self._slaves:
            if isinstance(slave, DriveConfig):
                pdos = self._fit(slave, pdos)
        for slave in self._slaves:
            if isinstance(slave, DriveConfig):
                self._require(slave, pdos)
        return pdos, self._sent

    def _read(self) -> tuple[SiiPdo, ...]:
        """Read the assigned PDOs; a slave without such objects has them in its EEPROM."""
        given = from_eeprom(self._contents)
        pdos: list[SiiPdo] = []
        for manager in self._managers:
            try:
                pdos += mapped_pdos(self._objects.upload, ASSIGN + manager, manager)
            except SdoAbortError as error:
                if error.code not in MISSING:
                    raise BringUpError(
                        f"{self._objects.name}: its {self._name} cannot be read: {error}"
                    ) from error
                known = given.outputs if self._use == OUT else given.inputs
                pdos += [pdo for pdo in known if pdo.manager == manager]
            except LostFramesError:
                raise
            except MailboxError as error:
                raise BringUpError(
                    f"{error}; it says which {self._name} it has mapped, and the run needs that: `rigloop scan` shows "
                    "what the slave says, and its maker's firmware must mend it"
                ) from error
        return tuple(pdos)

    def _take_named(self, pdos: tuple[SiiPdo, ...]) -> tuple[SiiPdo, ...]:
        """Assign the PDOs that the rig names, unless they are."""
        named: list[int] = []
        for slave in self._slaves:
            named += slave.rx_assign if self._use == OUT else slave.tx_assign
        known = self._contents.outputs if self._use == OUT else self._contents.inputs
        place = {pdo.index: pdo.manager for pdo in (*known, *pdos)}
        changed = False
        for manager in self._managers:
            # one of several sync managers keeps its PDOs, where the rig names none of them
            wanted = [i for i in named if self._place(place.get(i)) == manager]
            if wanted and wanted != [pdo.index for pdo in pdos if pdo.manager == manager]:
                changed = True
                for item in assign_downloads(ASSIGN + manager, wanted):
                    self._objects.demand(item)
                    self._sent.append(item)
        return self._read() if changed else pdos

    def _place(self, manager: int | None) -> int:
        """Return the sync manager that a PDO goes to: its own, else the first."""
        return manager if manager in self._managers else self._managers[0]

    def _fit(self, drive: DriveConfig, pdos: tuple[SiiPdo, ...]) -> tuple[SiiPdo, ...]:
        """Map the objects that the drive wishes, where they are missing and may be mapped."""
        wished = drive.rx_pdo if self._use == OUT else drive.tx_pdo
        there = entries_of(pdos)
        named = drive.given[0 if self._use == OUT else 1]
        fits = there == wished if named else not _lacking(there, wished)
        if drive.mapping == "fixed" or (drive.mapping == "auto" and fits):
            return pdos
        given = drive.rx_assign if self._use == OUT else drive.tx_assign
        own = [pdo for pdo in pdos if drive.axis in _axes_of(pdo)]
        manager = own[0].manager if own else self._managers[0]
        own = [pdo for pdo in own if pdo.manager == manager]
        first = FIRST_PDO[self._use] + PDO_STEP * drive.axis
        target = (*given, *(pdo.index for pdo in own), first)[0]
        # objects of other axes in these PDOs stay mapped
        others = tuple(e for pdo in own for e in pdo.entries if _axis(e) not in (None, drive.axis))
        fitted = SiiPdo(target, manager, "", wished + others)
        after = [pdo for pdo in pdos if pdo not in own or pdo.index in (target, *given)]
        indices = [pdo.index for pdo in after]
        if target in indices:
            after[indices.index(target)] = fitted
        else:
            after.append(fitted)
        after = list(in_order(after, self._managers))
        assigned = [pdo.index for pdo in after if pdo.manager == manager]
        writes = pdo_downloads(ASSIGN + manager, target, fitted.entries, assigned)
        done: list[Download] = []
        try:
            for item in writes:
                self._objects.download(item)
                done.append(item)
        except SdoAbortError as error:
            refused = f"SDO {item[0]:#06x}:{item[1]} aborted: {words.sdo_abort(error.code)}"
            lacking = _lacking(entries_of(pdos), self._needed(drive))
            if drive.mapping == "explicit" or lacking:
                raise BringUpError(self._explained(drive, refused, pdos, lacking)) from error
            self._restore([pdo for pdo in pdos if pdo.manager == manager], manager, done)
            log.info("%s: its own mapping of %s stays: %s", drive.name, self._name, refused)
            return pdos
        self._sent += writes
        return tuple(after)

    def _restore(self, pdos: Sequence[SiiPdo], manager: int, done: Sequence[Download]) -> None:
        """Restore the mapping that a slave had before it refused another one."""
        touched = {item[0] for item in done}
        for pdo in pdos:
            if pdo.index in touched:
                for item in pdo_downloads(ASSIGN + manager, pdo.index, pdo.entries)[1:-3]:
                    self._objects.demand(item)
        if touched:
            for item in assign_downloads(ASSIGN + manager, [pdo.index for pdo in pdos]):
                self._objects.demand(item)

    def _explained(
        self, drive: DriveConfig, refused: str, pdos: tuple[SiiPdo, ...], lacking: list[PdoEntry]
    ) -> str:
        text = f"{drive.name}: {self._name} cannot be mapped as the rig has them: {refused}"
        if lacking:
            text += (
                f"; and the drive's own PDOs ({_listed(pdos)}) lack {_named(lacking)}: name others in "
                f"{'rx_assign' if self._use == OUT else 'tx_assign'}, or take another mode"
            )
            known = self._contents.outputs if self._use == OUT else self._contents.inputs
            holds = [
                f"{pdo.index:#06x}"
                for pdo in known
                if any(entry in pdo.entries for entry in lacking)
            ]
            if holds:
                text += f" (its EEPROM lists {', '.join(dict.fromkeys(holds))})"
        else:
            text += '; with mapping = "auto" the drive\'s own would do'
        return text

    def _needed(self, drive: DriveConfig) -> tuple[PdoEntry, ...]:
        """Return the required objects: all that the rig names, else those that every drive needs."""
        if self._use == OUT:
            return drive.rx_pdo if drive.given[0] else drive.needed_outputs
        return drive.tx_pdo if drive.given[1] else drive.needed_inputs

    def _require(self, drive: DriveConfig, pdos: tuple[SiiPdo, ...]) -> None:
        lacking = _lacking(entries_of(pdos), self._needed(drive))
        if lacking:
            raise BringUpError(
                f"{drive.name}: its {self._name} ({_listed(pdos)}) lack {_named(lacking)}, on whole bytes: "
                f"name PDOs that hold them in {'rx_assign' if self._use == OUT else 'tx_assign'}"
                + ("" if drive.mapping != "fixed" else ', or take mapping = "auto"')
            )


def _lacking(entries: tuple[PdoEntry, ...], wanted: Sequence[PdoEntry]) -> list[PdoEntry]:
    return [
        (index, sub, bits)
        for index, sub, bits in wanted
        if index and pdo_offset(entries, index, sub, bits) < 0
    ]


def _axis(entry: PdoEntry) -> int | None:
    """Return the axis of an object; None: it is of no axis."""
    return (entry[0] - 0x6000) // AXIS_STEP if entry[0] in DRIVE_OBJECTS else None


def _axes_of(pdo: SiiPdo) -> set[int]:
    return {axis for axis in map(_axis, pdo.entries) if axis is not None}


def _named(entries: Sequence[PdoEntry]) -> str:
    return ", ".join(f"{index:#06x}:{sub}/{bits}" for index, sub, bits in entries)


def _listed(pdos: Sequence[SiiPdo]) -> str:
    return (
        "; ".join(f"{pdo.index:#06x}: {_named(pdo.entries) or 'nothing'}" for pdo in pdos) or "none"
    )


def _rest(
    slaves: Sequence[DriveConfig | TerminalConfig],
    outputs: tuple[SiiPdo, ...],
    objects: SlaveObjects,
) -> bytes:
    """Return the outputs where nobody commands them: the slave's present values, limits of torque and speed among
    them; zero where that would make an axis move that nobody commands."""
    entries = entries_of(outputs)
    drives = [slave for slave in slaves if isinstance(slave, DriveConfig)]
    if not drives:
        return b""
    commanded = {
        entry[:2]
        for drive in drives
        for entry in (
            *drive.needed_outputs,
            (AXIS_STEP * drive.axis + 0x6060, 0, 8),
        )
    }
    image = 0
    at = 0
    for index, sub, bits in entries:
        zero = index in DRIVE_OBJECTS and (index - 0x6000) % AXIS_STEP + 0x6000 in AT_REST
        if index and not zero and (index, sub) not in commanded:
            try:
                value = int.from_bytes(objects.upload(index, sub), "little")
                image |= (value & (1 << bits) - 1) << at
            except SdoAbortError as error:
                log.info(
                    "%s: %#06x:%d cannot be read, zero is sent: %s", objects.name, index, sub, error
                )
        at += bits
    return image.to_bytes(pdo_bytes(entries), "little")
