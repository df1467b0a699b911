"""The bus on a network interface: pysoem brings it up, our own frame runs the cycle.

pysoem (`pysoem_master`) addresses the slaves, maps them and sets their clocks; `bringup` does without it, where a rig
asks for that or pysoem is not there. The cycle has a socket of its own, and so has the mailbox traffic beside it.
While OP is asked for, and until the cycle's first step, a keeper thread without the GIL exchanges
the cycle's frame with zero outputs, so that no watchdog runs out in between.
"""

from __future__ import annotations

import contextlib
import logging
import struct
import threading
import time
from collections.abc import Callable, Sequence
from typing import Literal, Unpack

from io_bridge.attendant.attendant import Attendant
from io_bridge.attendant.foreign_watch import ForeignWatch
from io_bridge.attendant.mailbox_service import MailboxService
from io_bridge.attendant.recovery import Recovery
from io_bridge.attendant.watch import Watch
from io_bridge.bus import await_clocks, gap_words
from io_bridge.bus_events import BusEvent, BusEvents
from io_bridge.buses.attended_bus import SAFE_CYCLES, AttendedBus
from io_bridge.buses.drive_modes import SHOWN_IN_S, await_modes
from io_bridge.buses.settings import ExchangeSettings
from io_bridge.exchange.exchange import Exchange
from io_bridge.host.ethtool import require_link
from io_bridge.master import slave_clock
from io_bridge.master.bringup import SlaveConfig, know, prepare, start_clocks, to_op
from io_bridge.master.master import BWR, BringUpError, Master
from io_bridge.master.pysoem_master import PysoemMaster
from io_bridge.master.state_change import finish
from io_bridge.slaves.pdo_layout import axes_of
from io_bridge.wire.acyclic import FIRST_INDEX, AcyclicLine
from io_bridge.wire.foreign_master import require_silence
from io_bridge.wire.owner import WireOwner
from io_bridge.wire.packet_socket import PacketSocket
from io_bridge.wire.redundant_socket import RedundantSocket, open_lines

log = logging.getLogger("rigloop.bus")

BUDGET_US = 500.0
WAYS = ("auto", "pysoem", "rigloop")
LISTEN_S = 0.5
"""Period at which slaves are asked for messages of their own."""
SAFE_PERIOD_S = 0.001
PAUSE_S = 0.001
INIT, SAFEOP = 1, 4


class EthercatBus(AttendedBus):
    """Drives on a real, or a veth, network interface.

    Parameters
    ----------
    interface : str
    slaves : sequence of DriveConfig or TerminalConfig
        Every slave on the wire, in ring order.
    second_interface : str, optional
        Where the last slave's cable comes back to: with one cable out all slaves are still there.
    bringup : {"auto", "pysoem", "rigloop"}
        Who brings the slaves to SAFEOP: pysoem, with our own registers where a slave needs them, or without it
        where it is not installed; pysoem alone; or ours alone.
    keep_us : float
        Period of the keeper.
    poll : bool
        The cycle polls for its reply instead of sleeping; only with a core of its own.
    **settings
        As for `Exchange`; the budget is 500 µs if not given.
    """

    def __init__(
        self,
        interface: str,
        slaves: Sequence[SlaveConfig],
        *,
        second_interface: str | None = None,
        bringup: Literal["auto", "pysoem", "rigloop"] = "auto",
        keep_us: float = 1000.0,
        poll: bool = False,
        **settings: Unpack[ExchangeSettings],
    ) -> None:
        if bringup not in WAYS:
            raise ValueError(f"bringup = {bringup!r}: {', '.join(WAYS)}")
        if not 50.0 <= keep_us <= 100_000.0:
            raise ValueError(f"keep_us = {keep_us}: 50 to 100000")
        if second_interface == interface:
            raise ValueError(
                f"second_interface = {interface!r}: the first one is the same; a ring needs two"
            )
        clock = settings.get("clock")
        settings.setdefault("budget_us", BUDGET_US)
        super().__init__(Exchange(slaves, **settings))
        self.interface = interface
        self.second_interface = second_interface
        # a locked cycle is kept at its own period, so that the keeper learns the drift of its clock
        self._keep_us = keep_us if clock is None else 1e-3 * clock.period_ns
        self._poll = poll
        self._bringup = bringup
        self._pysoem: PysoemMaster | None = None
        self._owner: WireOwner | None = None
        self._line: AcyclicLine | None = None
        self._socket: PacketSocket | RedundantSocket | None = None
        self._keeper: threading.Thread | None = None
        self._foreign: ForeignWatch | None = None

    def open(self) -> None:
        """Open the sockets of pysoem, of the cycle, and of the part that speaks to slaves beside it.

        Raises
        ------
        ImportError
            pysoem is not installed, and the rig asks for it.
        PermissionError
            No CAP_NET_RAW.
        OSError
            No such interface, it is down, it has no link, or another process or master has the wire.
        """
        if self._master is not None:
            return
        second = self.second_interface
        require_link(self.interface)
        if second is not None:
            require_link(second)
        pysoem = self._load()
        owner = WireOwner(self.interface, second)
        try:
            # nothing is sent before it is known that nobody else speaks here
            require_silence(self.interface, second)
            self._open_sockets(pysoem, second)
        except (OSError, ImportError):
            owner.close()
            raise
        self._owner = owner

    def _open_sockets(self, pysoem: PysoemMaster | None, second: str | None) -> None:
        self._line = AcyclicLine(self.interface, second=second)
        try:
            self._socket = (
                PacketSocket(self.interface, poll=self._poll)
                if second is None
                else open_lines(self.interface, second, poll=self._poll)
            )
            if pysoem is not None:
                pysoem.open()
        except OSError:
            self._line.close()
            if self._socket is not None:
                self._socket.close()
            raise
        self._pysoem = pysoem
        self._master = Master(self._line.transact, first_index=FIRST_INDEX, pause_s=PAUSE_S)

    def _load(self) -> PysoemMaster | None:
        if self._bringup == "rigloop":
            return None
        try:
            return PysoemMaster(self.interface, self.second_interface)
        except ImportError as error:
            if self._bringup == "pysoem":
                raise
            log.warning("%s: brought up without it", error)
            return None

    def to_op(self, tell: Callable[[str], None] = lambda text: None) -> None:
        """Identify, map and bring every slave to OP with zero outputs; then keep it there until the
        cycle steps."""
        self.open()
        if self._exchange.in_service:
            return
        master = self._master
        assert master is not None
        master.tell = tell
        slaves = self._exchange.slaves
        try:
            self._check_ends()
            self._records = (
                prepare(master, slaves)
                if self._pysoem is None
                else self._pysoem.to_safeop(master, slaves, self._bringup == "pysoem")
            )
            self._start_keeper()
            self._keep_time()
            finish(to_op(master, axes_of(slaves), self._records), PAUSE_S)
            until = time.monotonic() + SHOWN_IN_S
            await_modes(
                self._exchange, lambda: time.sleep(PAUSE_S), lambda: time.monotonic() < until
            )
            self._exchange.begin_service()
        except BringUpError as error:
            self.close()
            text = str(error)
            raise BringUpError(
                text
                if text.startswith((self.interface, str(self.second_interface)))
                else f"{self.interface}: {text}"
            ) from error
        except Exception:
            self.close()
            raise

    def attend(self) -> None:
        """Recover slaves that leave OP and serve SDOs, from a thread of its own, until `close`."""
        if self._attendant is not None or not self._exchange.in_service:
            return
        assert self._line is not None
        master = Master(self._line.transact, first_index=FIRST_INDEX, pause_s=PAUSE_S)
        know(master, self._exchange.slaves, self._records)
        self._events = BusEvents()
        ends = [name for name in (self.interface, self.second_interface) if name is not None]
        foreign = None
        try:
            self._foreign = foreign = ForeignWatch(ends, self._events, LISTEN_S)
        except OSError as error:
            log.warning("other masters are not looked for: %s", error)
        self._attendant = Attendant(
            Recovery(master, self._exchange, self._records, self._events),
            MailboxService(self.interface, master, self._records, lambda: self._events),
            Watch(master, self._exchange, self._records, self._events, LISTEN_S),
            self._events,
            lambda: None if foreign is None else foreign.close(),
            () if foreign is None else (("foreign masters", foreign.look),),
        )
        self._attendant.start()

    def close(self) -> None:
        """Zero torque, drives disabled, slaves to SAFEOP and INIT, sockets closed; on a dead bus as
        far as it goes."""
        if self._master is None:
            return
        self._leave_service()
        exchange = self._exchange
        self._stop_keeper()
        for cycle in range(SAFE_CYCLES):
            exchange.step(cycle * int(SAFE_PERIOD_S * 1e9))
            time.sleep(SAFE_PERIOD_S)
        exchange.disconnect()
        self._release()
        if self._pysoem is not None:
            self._pysoem.close()
        if self._socket is not None:
            self._socket.close()
        if self._line is not None:
            self._line.close()
        self._master = self._pysoem = self._socket = self._line = None
        if self._owner is not None:
            self._owner.close()
            self._owner = None

    def _release(self) -> None:
        """Ask all slaves for SAFEOP and INIT; those that are still there follow."""
        assert self._master is not None
        for state in (SAFEOP, INIT):
            with contextlib.suppress(BringUpError, OSError):
                self._master.access(BWR, 0, 0x0120, struct.pack("<H", state | 0x10))
                time.sleep(SAFE_PERIOD_S)

    def events(self) -> list[BusEvent]:
        """Return the events outside the cycle."""
        if self._foreign is not None:
            self._foreign.take()
        return super().events()

    def _check_ends(self) -> None:
        """A run may lose one end of the ring, and does not begin without it."""
        if self.second_interface is None:
            return
        ends = (self.interface, self.second_interface)
        assert self._line is not None
        silent = self._line.silent_lines()
        if len(silent) == 1:
            raise BringUpError(
                f"{ends[silent[0]]}: no frame comes back from this end of the ring: repair its cable, or "
                f"use {ends[1 - silent[0]]!r} as backend without second_interface"
            )

    def _keep_time(self) -> None:
        """Wait until the slaves' clocks agree and the cycle keeps step with them; then start SYNC0."""
        clock = self._exchange.clock
        if clock is None:
            return
        until = time.monotonic() + clock.timeout_s
        await_clocks(self._exchange, lambda: time.sleep(0.01), lambda: time.monotonic() < until)
        gap = self._exchange.gap
        if gap is not None and 0 < gap < len(self._records):
            raise BringUpError(
                f"{self.interface}: {gap_words(self._exchange)}; the clocks behind it cannot be set: "
                "put the cable in"
            )
        assert self._master is not None
        start_clocks(self._master, axes_of(self._exchange.slaves), self._records, clock)

    def _start_keeper(self) -> None:
        exchange = self._exchange
        assert self._socket is not None
        try:
            exchange.configure(
                self._socket,
                [record.layout for record in self._records],
                n_slaves=len(self._records),
                clock_station=slave_clock.reference(self._records),
            )
        except ValueError as error:
            raise BringUpError(str(error)) from error
        exchange.safe = True
        exchange.stop_keeping(False)
        self._keeper = threading.Thread(target=exchange.keep, args=(self._keep_us,), daemon=True)
        self._keeper.start()

    def _stop_keeper(self) -> None:
        self._exchange.stop_keeping()
        if self._keeper is not None:
            self._keeper.join()
            self._keeper = None
