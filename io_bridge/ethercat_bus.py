"""The bus on a network interface: pysoem configures, our own frame runs the cycle.

pysoem (`pysoem_master`) scans, maps and changes states. The cycle has a socket of its own, and so has what
recovers slaves beside it.
While OP is asked for, and until the cycle's first step, a keeper thread without the GIL exchanges
the cycle's frame with zero outputs, so that no watchdog runs out in between.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence

from io_bridge import slave_clock
from io_bridge.acyclic import FIRST_INDEX, AcyclicLine
from io_bridge.attendant import Attendant
from io_bridge.bringup import SlaveConfig
from io_bridge.bus import Bus, BusFault, await_clocks, gap_words, list_faults
from io_bridge.bus_events import BusEvent, BusEvents
from io_bridge.clock_config import ClockConfig
from io_bridge.drive_config import DriveConfig, pdo_bytes
from io_bridge.ethtool import require_link
from io_bridge.exchange import Exchange
from io_bridge.mailbox_service import MailboxService
from io_bridge.master import BringUpError, Master
from io_bridge.packet_socket import PacketSocket
from io_bridge.pdo_layout import SlaveRecord
from io_bridge.pysoem_master import IO_MAP_BYTES, PysoemMaster
from io_bridge.recovery import Recovery
from io_bridge.redundant_socket import RedundantSocket, open_lines
from io_bridge.watch import Watch

LISTEN_S = 0.5
"""How often slaves are asked whether they have something to say."""
SAFE_CYCLES = 4
SAFE_PERIOD_S = 0.001
INIT, SAFEOP, OP = 1, 4, 8


class EthercatBus(Bus):
    """Drives on a real, or a veth, network interface.

    Parameters
    ----------
    interface : str
    slaves : sequence of DriveConfig or TerminalConfig
        Every slave on the wire, in ring order.
    second_interface : str, optional
        Where the last slave's cable comes back to: with one cable out all slaves are still there.
    name, paths, budget_us, bad_limit, leak_cycles, clock
        As for `Exchange`.
    keep_us : float
        Period of the keeper.
    poll : bool
        The cycle polls for its reply instead of sleeping; only with a core of its own.
    """

    def __init__(
        self,
        interface: str,
        slaves: Sequence[SlaveConfig],
        *,
        second_interface: str | None = None,
        name: str = "bus",
        paths: Mapping[str, str] | None = None,
        budget_us: float = 500.0,
        bad_limit: int = 3,
        leak_cycles: int = 10,
        clock: ClockConfig | None = None,
        keep_us: float = 1000.0,
        poll: bool = False,
    ) -> None:
        drives = [slave for slave in slaves if isinstance(slave, DriveConfig)]
        size = sum(pdo_bytes(d.rx_pdo) + pdo_bytes(d.tx_pdo) for d in drives)
        if size > IO_MAP_BYTES:
            raise ValueError(f"process data of {size} bytes: pysoem maps at most {IO_MAP_BYTES}")
        if not 50.0 <= keep_us <= 100_000.0:
            raise ValueError(f"keep_us = {keep_us}: 50 to 100000")
        if second_interface == interface:
            raise ValueError(
                f"second_interface = {interface!r}: the first one is the same; a ring needs two"
            )
        self.interface = interface
        self.second_interface = second_interface
        self._exchange = Exchange(
            slaves,
            name=name,
            paths=paths,
            budget_us=budget_us,
            bad_limit=bad_limit,
            leak_cycles=leak_cycles,
            clock=clock,
        )
        # a locked cycle is kept at its own period, so that the keeper learns the drift of its clock
        self._keep_us = keep_us if clock is None else 1e-3 * clock.period_ns
        self._poll = poll
        self._master: PysoemMaster | None = None
        self._socket: PacketSocket | RedundantSocket | None = None
        self._keeper: threading.Thread | None = None
        self._records: list[SlaveRecord] = []
        self._attendant: Attendant | None = None
        self._events = BusEvents()

    def block(self) -> Exchange:
        """Return the cyclic exchange."""
        return self._exchange

    def open(self) -> None:
        """Open the sockets of pysoem and of the cycle.

        Raises
        ------
        ImportError
            pysoem is not installed.
        PermissionError
            No CAP_NET_RAW.
        OSError
            No such interface, it is down, or it has no link.
        """
        if self._master is not None:
            return
        second = self.second_interface
        require_link(self.interface)
        if second is not None:
            require_link(second)
        master = PysoemMaster(self.interface, second)
        self._socket = (
            PacketSocket(self.interface, poll=self._poll)
            if second is None
            else open_lines(self.interface, second, poll=self._poll)
        )
        try:
            master.open()
        except OSError:
            self._socket.close()
            raise
        self._master = master

    def to_op(self, timeout_s: float = 5.0) -> None:
        """Identify, map and bring every drive to OP with zero outputs; then keep it there until the
        cycle steps."""
        self.open()
        if self._exchange.in_service:
            return
        master = self._master
        assert master is not None
        deadline = time.monotonic() + timeout_s
        try:
            self._check_ends()
            self._records = master.map_until(self._exchange.slaves, deadline)
            self._start_keeper()
            self._keep_time(deadline)
            master.request(OP, deadline)
        except Exception:
            self.close()
            raise
        self._exchange.safe = False
        self._exchange.in_service = True

    def attend(self) -> None:
        """Recover slaves that leave OP and serve SDOs, from a thread of its own, until `close`."""
        if self._attendant is not None or not self._exchange.in_service:
            return
        line = AcyclicLine(self.interface, second=self.second_interface)
        master = Master(line.transact, first_index=FIRST_INDEX, pause_s=0.001)
        for record in self._records:
            master.know_mailbox(record.layout.station, record.managers)
        self._events = BusEvents()
        self._attendant = Attendant(
            Recovery(master, self._exchange, self._records, self._events),
            MailboxService(self.interface, master, self._records, lambda: self._events),
            Watch(master, self._exchange, self._records, self._events, LISTEN_S),
            self._events,
            line.close,
        )
        self._attendant.start()

    def close(self) -> None:
        """Zero torque, drives disabled, slaves to SAFEOP and INIT, sockets closed; on a dead bus as
        far as it goes."""
        if self._master is None:
            return
        if self._attendant is not None:
            self._attendant.stop()
            self._attendant = None
        exchange = self._exchange
        exchange.in_service = False
        exchange.safe = True
        self._stop_keeper()
        for cycle in range(SAFE_CYCLES):
            exchange.step(cycle * int(SAFE_PERIOD_S * 1e9))
            time.sleep(SAFE_PERIOD_S)
        exchange.disconnect()
        self._master.close(SAFEOP, INIT)
        if self._socket is not None:
            self._socket.close()
        self._master = None
        self._socket = None

    def faults(self) -> list[BusFault]:
        """Return what is wrong now."""
        problems = self._attendant.recovery.problems if self._attendant is not None else {}
        return list_faults(self._exchange, problems)

    def events(self) -> list[BusEvent]:
        """Return what happened beside the cycle."""
        return list(self._events)

    def unattended(self) -> str:
        """Return why slaves are not attended any more."""
        return "" if self._attendant is None else self._attendant.problem

    def _check_ends(self) -> None:
        """A run may lose one end of the ring, and does not begin without it."""
        if self.second_interface is None:
            return
        ends = (self.interface, self.second_interface)
        line = AcyclicLine(self.interface, second=self.second_interface)
        try:
            silent = line.silent_lines()
        finally:
            line.close()
        if len(silent) == 1:
            raise BringUpError(
                f"{ends[silent[0]]}: no frame comes back from this end of the ring: mend its cable, or take "
                f"{ends[1 - silent[0]]!r} for backend and no second_interface"
            )

    def _keep_time(self, deadline: float) -> None:
        """Wait until the slaves' clocks agree and the cycle keeps step with them; then start SYNC0."""
        clock = self._exchange.clock
        if clock is None:
            return
        until = min(deadline, time.monotonic() + clock.timeout_s)
        await_clocks(self._exchange, lambda: time.sleep(0.01), lambda: time.monotonic() < until)
        gap = self._exchange.gap
        if gap is not None and 0 < gap < len(self._records):
            raise BringUpError(
                f"{self.interface}: {gap_words(self._exchange)}; the clocks behind it cannot be set: "
                "put the cable in"
            )
        line = AcyclicLine(self.interface, second=self.second_interface)
        try:
            master = Master(line.transact, first_index=FIRST_INDEX, pause_s=0.001)
            for config, record in zip(self._exchange.slaves, self._records, strict=True):
                if isinstance(config, DriveConfig) and config.sync0:
                    slave_clock.start_sync0(master, record.layout.station, clock)
        finally:
            line.close()

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
