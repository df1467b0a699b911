"""Scan a wire: slaves, identities, states, PDOs. Leaves every slave in the state it was in."""

from __future__ import annotations

import functools
import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from io_bridge.attendant.mailbox_service import Answer, ask, is_served, socket_path
from io_bridge.host.ethtool import require_link
from io_bridge.master.diagnosis import diagnose
from io_bridge.master.mapped_pdos import Upload, mapped_pdos
from io_bridge.master.master import APRD, BringUpError, Master
from io_bridge.master.state_change import reach_now
from io_bridge.slaves import words
from io_bridge.slaves.errors import SdoAbortError
from io_bridge.slaves.sii import Identity
from io_bridge.slaves.sii_contents import SiiContents, SiiPdo, read_contents
from io_bridge.slaves.state_limits import STANDARD, StateLimits
from io_bridge.wire.acyclic import TOOL_INDEX, AcyclicLine
from io_bridge.wire.foreign_master import Heard, listen, require_silence
from io_bridge.wire.owner import WireOwner

BLANK = 0xFFFFFFFF
INIT, PREOP, SAFEOP = 1, 2, 4
# how long a slave may take, where something else than the standard is known
LimitsOf = Callable[[Identity], StateLimits] | None


@dataclass
class FoundSlave:
    """One slave of a wire."""

    position: int
    station: int
    identity: Identity
    name: str
    al_status: int
    al_code: int
    has_clock: bool
    has_coe: bool
    outputs: list[SiiPdo] = field(default_factory=list)
    inputs: list[SiiPdo] = field(default_factory=list)
    note: str = ""
    diagnosis: list[str] = field(default_factory=list)
    """Errors that the slave reports of itself: error code, diagnosis history, emergencies."""
    no_esi: str = ""
    """The reason for which no ESI file matches the slave, if ESI files were given."""


@dataclass
class Found:
    """A scanned wire."""

    slaves: list[FoundSlave]
    in_use: bool
    """Some slave was in SAFEOP or OP: a master runs it, and nothing was changed."""
    heard: list[str] = field(default_factory=list)
    """Frames of a foreign master, in words."""


class Line:
    """A wire that a tool may speak on: its master, and whether another one runs the slaves.

    Parameters
    ----------
    interface : str
    second : str, optional
        The interface at the other end of a ring.
    force : bool
        Look on also where a foreign master was heard; nothing is written then.

    Raises
    ------
    OSError
        No such interface, it is down, no CAP_NET_RAW, or another process or master has the wire.
    """

    def __init__(self, interface: str, second: str | None = None, force: bool = False) -> None:
        require_link(interface)
        if second is not None:
            require_link(second)
        self._owner: WireOwner | None = None
        self.heard: list[Heard] = []
        if not is_served(socket_path(interface)):
            self._owner = WireOwner(interface, second)
            try:
                self._listen(interface, second, force)
            except OSError:
                self._owner.close()
                raise
        self._line = AcyclicLine(interface, TOOL_INDEX, second)
        self.master = Master(self._line.transact, first_index=TOOL_INDEX, pause_s=0.001)
        self.mailbox: Path | None = socket_path(interface)
        if not is_served(socket_path(interface)):
            self.mailbox = None
        self._alone = second is None
        self.limits_of: LimitsOf = None
        self.n_slaves = 0
        self.states: list[tuple[int, int]] = []

    def __enter__(self) -> Line:
        return self

    def __exit__(self, *exc: object) -> None:
        self._line.close()
        if self._owner is not None:
            self._owner.close()

    def _listen(self, interface: str, second: str | None, force: bool) -> None:
        """A foreign master is heard before anything is sent."""
        if not force:
            require_silence(interface, second)
            return
        self.heard = listen(interface, second)

    def look(self) -> None:
        """Count the slaves and read their states; raises BringUpError when none answers."""
        try:
            self.n_slaves = self.master.count()
        except BringUpError:
            self.n_slaves = 0
        if not self.n_slaves:
            raise BringUpError(
                "no slave answers: cable, power, another kind of network, or a ring of two interfaces "
                "(see --second-interface)"
                if self._alone
                else "no slave answers: cable, power, or another kind of network"
            )
        self.states = []
        for position in range(self.n_slaves):
            data, _ = self.master.access(APRD, -position, 0x0130, bytes(6))
            status, code = struct.unpack("<HxxH", data)
            self.states.append((status, code))

    @property
    def in_use(self) -> bool:
        """True if a master already runs some slave."""
        return bool(self.heard) or any(status & 0x0F >= SAFEOP for status, _ in self.states)

    def stations(self) -> list[int]:
        """Return the station addresses; given by us where no master has."""
        found = [
            int.from_bytes(self.master.access(APRD, -i, 0x0010, bytes(2))[0], "little")
            for i in range(self.n_slaves)
        ]
        if self.in_use:
            return found
        return [self.master.address(i) for i in range(self.n_slaves)]

    def uploader(self, position: int, station: int) -> Upload:
        """Return a function that reads objects of a slave: by its mailbox, or by the loop that runs it.

        Raises
        ------
        BringUpError
            It has no mailbox, or another master runs it.
        """
        if self.mailbox is not None:
            path = self.mailbox
            return lambda index, sub: answered(ask(path, position, index, sub))
        if self.in_use:
            raise BringUpError(f"slave {position}: {self._why_not()}")
        self.to_preop(station)
        return lambda index, sub: self.master.upload(station, index, sub)

    def _why_not(self) -> str:
        if self.heard:
            return "a master that serves no SDOs runs this wire; stop it first"
        # nobody was heard: silent, or dead
        running = [
            f"slave {i} is in {words.al_state(status)}{f', {words.al_code(code)}' if code else ''}"
            for i, (status, code) in enumerate(self.states)
            if status & 0x0F >= SAFEOP
        ]
        return (
            f"not asked for objects: {', '.join(running[:4])}, though no master is heard: a silent one runs it, so "
            "stop that one first; or its master was killed: then `rigloop run` takes it over, or switch it off and on"
        )

    def to_preop(self, station: int) -> None:
        """Open the mailbox of a slave that nobody runs."""
        limits = self._limits(station)
        state = self.master.state(station)[0]
        if state == PREOP:
            self.master.know_mailbox(station, self.master.read(station, 0x0800, 16))
            if self.master.has_mailbox(station):
                return
        reach_now(self.master, station, INIT, limits)
        self.master.set_mailbox(station)
        if not self.master.has_mailbox(station):
            raise BringUpError(f"{self.master.called(station)}: it has no mailbox")
        reach_now(self.master, station, PREOP, limits)

    def _limits(self, station: int) -> StateLimits:
        """Return how long a slave may take, and have its mailbox take so long."""
        if self.limits_of is not None:
            self.master.limits[station] = self.limits_of(self.master.identity(station))
        return self.master.limits.get(station, STANDARD)

    def leave(self, station: int, position: int) -> None:
        """Take a slave back to where it was."""
        if not self.in_use and self.states[position][0] & 0x0F == INIT:
            self.master.request(station, INIT)


def answered(answer: Answer) -> bytes:
    """Return the object's data out of the answer of a loop.

    Raises
    ------
    BringUpError
        The slave refused, or the loop could not ask it.
    """
    if answer.abort_code is not None:
        raise SdoAbortError.heard(str(answer.error), answer.abort_code)
    if answer.data is None:
        raise BringUpError(answer.error or "the loop that runs it gives no data")
    return bytes.fromhex(answer.data)


def scan(
    interface: str,
    second: str | None = None,
    force: bool = False,
    limits_of: LimitsOf = None,
) -> Found:
    """Look at every slave of a wire; with `second`, of a ring; with `force`, also beside a foreign master.

    Raises
    ------
    OSError
        The interface cannot be used.
    BringUpError
        No slave answers, or one stopped answering.
    """
    with Line(interface, second, force) as line:
        line.look()
        slaves = []
        line.limits_of = limits_of
        for position, station in enumerate(line.stations()):
            if station:
                slaves.append(_read_slave(line, position, station))
                continue
            state = line.states[position]
            slave = FoundSlave(position, 0, Identity(0, 0, 0), "", *state, False, False)
            slave.note = "it has no station address, and beside another master none is given"
            slaves.append(slave)
        return Found(slaves, line.in_use, [str(heard) for heard in line.heard])


def _read_slave(line: Line, position: int, station: int) -> FoundSlave:
    contents = read_contents(functools.partial(line.master.eeprom, station))
    slave = FoundSlave(
        position,
        station,
        line.master.identity(station),
        contents.name,
        *line.states[position],
        has_clock=bool(line.master.read(station, 0x0008, 1)[0] & 0x04),
        has_coe=contents.has_coe,
    )
    if slave.identity.vendor in (BLANK, 0):
        slave.has_coe = False
        slave.note = "its EEPROM is blank: write it with the maker's tool"
    else:
        _read_pdos(line, slave, contents)
    return slave


def _read_pdos(line: Line, slave: FoundSlave, contents: SiiContents) -> None:
    """Read the present mapping by the mailbox, where there is one; else take the PDOs of the EEPROM."""
    slave.outputs, slave.inputs = contents.outputs, contents.inputs
    if not contents.has_coe:
        return
    try:
        upload = line.uploader(slave.position, slave.station)
        slave.outputs = mapped_pdos(upload, 0x1C12, 2)
        slave.inputs = mapped_pdos(upload, 0x1C13, 3)
        slave.diagnosis = diagnose(upload).sentences()
    except (BringUpError, OSError) as error:
        slave.note = str(error)
    finally:
        slave.diagnosis += [str(said) for said in line.master.emergencies.of(slave.station)]
        line.leave(slave.station, slave.position)
