"""The bus on a network interface: pysoem configures, our own frame runs the cycle.

pysoem scans, maps and changes states from one ordinary thread; its socket is non-blocking and sees
only its own indices. The cycle has a socket of its own, and so has what recovers slaves beside it.
While OP is asked for, and until the cycle's first step, a keeper thread without the GIL exchanges
the cycle's frame with zero outputs, so that no watchdog runs out in between.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import socket
import stat
import struct
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from io_bridge import slave_clock, words
from io_bridge.acyclic import FIRST_INDEX, AcyclicLine
from io_bridge.attendant import Attendant
from io_bridge.bringup import SlaveConfig, check_identity, setup_downloads
from io_bridge.bus import Bus, BusFault, await_clocks, gap_words, list_faults
from io_bridge.clock_config import ClockConfig
from io_bridge.drive_config import DriveConfig, pdo_bytes
from io_bridge.ethtool import require_link
from io_bridge.exchange import Exchange
from io_bridge.mailbox_service import MailboxService
from io_bridge.master import BringUpError, Master
from io_bridge.packet_socket import PacketSocket, attach_filter
from io_bridge.pdo_layout import (
    BitwiseError,
    SlaveLayout,
    SlaveRecord,
    fmmu_rows,
    from_fmmus,
    process_managers,
    watchdog_registers,
)
from io_bridge.recovery import Recovery
from io_bridge.redundant_socket import RedundantSocket, open_lines
from io_bridge.sii import Identity

REPLY_TIMEOUT_US = 20_000
"""Of pysoem's datagrams, outside the cycle; its own 2 ms is too short for a slave that is a
process."""
IO_MAP_BYTES = 4096
"""Size of pysoem's process image; it writes past its end without a check."""
SAFE_CYCLES = 4
SAFE_PERIOD_S = 0.001
INIT, PREOP, SAFEOP, OP = 1, 2, 4, 8


def _load_pysoem() -> Any:
    try:
        return importlib.import_module("pysoem")
    except ImportError as error:
        raise ImportError(
            "EtherCAT on a network interface needs pysoem: pip install rigloop[ethercat]"
        ) from error


def _packet_sockets() -> set[int]:
    """Return the descriptors of this process that are raw packet sockets."""
    found = set()
    for name in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):
            if not stat.S_ISSOCK(os.stat(int(name)).st_mode):
                continue
            with socket.socket(fileno=os.dup(int(name))) as copy:
                if copy.family == socket.AF_PACKET:
                    found.add(int(name))
    return found


def _tame_pysoem_socket(fd: int) -> None:
    """Non-blocking, or its timeouts are two jiffies at least; filtered, or the cycle's replies pile
    up in it."""
    os.set_blocking(fd, False)
    with socket.socket(fileno=os.dup(fd)) as copy:
        attach_filter(copy, 0x00, FIRST_INDEX - 1)


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
        self._pysoem: Any = None
        self._master: Any = None
        self._socket: PacketSocket | RedundantSocket | None = None
        self._keeper: threading.Thread | None = None
        self._records: list[SlaveRecord] = []
        self._attendant: Attendant | None = None

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
        self._pysoem = _load_pysoem()
        self._pysoem.settings.timeouts.ret = REPLY_TIMEOUT_US
        self._socket = (
            PacketSocket(self.interface, poll=self._poll)
            if second is None
            else open_lines(self.interface, second, poll=self._poll)
        )
        before = _packet_sockets()
        master = self._pysoem.Master()
        try:
            master.open(self.interface, second)
        except ConnectionError as error:
            self._socket.close()
            both = "" if second is None else f" with {second!r}"
            raise OSError(f"interface {self.interface!r}{both}: pysoem cannot open it") from error
        self._master = master
        for fd in _packet_sockets() - before:
            _tame_pysoem_socket(fd)

    def to_op(self, timeout_s: float = 5.0) -> None:
        """Identify, map and bring every drive to OP with zero outputs; then keep it there until the
        cycle steps."""
        self.open()
        if self._exchange.in_service:
            return
        deadline = time.monotonic() + timeout_s
        try:
            self._check_ends()
            self._records = self._map_until(deadline)
            self._start_keeper()
            self._keep_time(deadline)
            self._request(OP, deadline)
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
        recovery = Recovery(master, self._exchange, self._records)
        mailbox = MailboxService(self.interface, master, self._records)
        self._attendant = Attendant(recovery, mailbox, line.close)
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
        for state in (SAFEOP, INIT):
            with contextlib.suppress(Exception):
                self._master.state = state
                self._master.write_state()
                self._master.state_check(state, 50_000)
        with contextlib.suppress(Exception):
            self._master.close()
        if self._socket is not None:
            self._socket.close()
        self._master = None
        self._socket = None

    def faults(self) -> list[BusFault]:
        """Return what is wrong now."""
        problems = self._attendant.recovery.problems if self._attendant is not None else {}
        return list_faults(self._exchange, problems)

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

    def _map_until(self, deadline: float) -> list[SlaveRecord]:
        """Map, from the start again when an answer was lost; not in the cycle, so patience is
        free."""
        while True:
            try:
                return self._map()
            except (self._pysoem.WkcError, self._pysoem.PacketError) as error:
                if time.monotonic() > deadline:
                    raise BringUpError(
                        f"{self.interface}: a slave stopped answering while it was configured"
                    ) from error

    def _map(self) -> list[SlaveRecord]:
        """Scan, check identities, map the PDOs, reach SAFEOP; return how each slave is configured."""
        master, slaves = self._master, self._exchange.slaves
        found = master.config_init()
        if found != len(slaves):
            many = "no slave answers" if found <= 0 else f"{found} slaves answer"
            names = ", ".join(slave.name for slave in master.slaves)
            raise BringUpError(
                f"{self.interface}: {many}, the rig has {len(slaves)}"
                + (f"; those are: {names}" if names else "")
            )
        wrong = []
        identities = []
        for position, (slave, config) in enumerate(zip(master.slaves, slaves, strict=True)):
            serial = int.from_bytes(slave.eeprom_read(14), "little")
            identities.append(Identity(slave.man, slave.id, slave.rev, serial))
            wrong += check_identity(position, config, identities[-1])
            slave.setup_func = self._mapper(config)
        if wrong:
            raise BringUpError(f"{self.interface}: " + "; ".join(wrong))
        try:
            size = master.config_map()
        except self._pysoem.ConfigMapError as error:
            raise BringUpError(f"{self.interface}: mapping failed: {error.error_list}") from error
        if size > IO_MAP_BYTES:
            raise BringUpError(f"{self.interface}: the slaves map {size} bytes, pysoem holds 4096")
        master.config_dc()
        records = []
        for slave, config, identity in zip(master.slaves, slaves, identities, strict=True):
            records.append(self._record(slave, identity, size))
            layout = records[-1].layout
            size = max(
                size, layout.outputs_at + layout.n_outputs, layout.inputs_at + layout.n_inputs
            )
            for register, value in watchdog_registers(config.watchdog_ms):
                slave._fpwr(register, struct.pack("<H", value))
        self._request(SAFEOP, time.monotonic() + 2.0)
        return records

    def _record(self, slave: Any, identity: Identity, free: int) -> SlaveRecord:
        """Read back what pysoem has set, instead of guessing it.

        Terminals whose bits share a byte with another one's get bytes of their own, from the logical address
        `free` on: a datagram of one must not reach the other.
        """
        station = int.from_bytes(slave._fprd(0x0010, 2), "little")
        fmmus, managers = slave._fprd(0x0600, 64), slave._fprd(0x0800, 32)
        try:
            layout = from_fmmus(station, fmmus)
        except BitwiseError:
            (out_start, n_out), (in_start, n_in) = process_managers(managers)
            layout = SlaveLayout(station, free, n_out, free + n_out, n_in)
            fmmus = fmmu_rows(layout, out_start, in_start).ljust(64, b"\0")
            slave._fpwr(0x0600, fmmus)
        has_clock = bool(slave._fprd(0x0008, 1)[0] & 0x04)
        delay = slave._fprd(slave_clock.DELAY, 4) if has_clock else bytes(4)
        return SlaveRecord(layout._replace(has_clock=has_clock), identity, managers, fmmus, delay)

    def _mapper(self, config: SlaveConfig) -> Callable[[Any], None]:
        """Return the PREOP to SAFEOP hook that writes the slave's objects and PDO mapping."""

        def write_mapping(slave: Any) -> None:
            for index, sub, value, size in setup_downloads(config):
                try:
                    slave.sdo_write(index, sub, (value % (1 << 8 * size)).to_bytes(size, "little"))
                except self._pysoem.SdoError as error:
                    raise BringUpError(
                        f"{config.name}: SDO {index:#06x}:{sub} aborted: "
                        f"{words.sdo_abort(error.abort_code)}"
                    ) from error

        return write_mapping

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

    def _request(self, state: int, deadline: float) -> None:
        """Ask every slave for an AL state and wait for it."""
        master = self._master
        master.state = state
        master.write_state()
        while True:
            master.read_state()
            behind = [slave for slave in master.slaves if slave.state != state]
            if not behind:
                return
            if any(slave.state & 0x10 for slave in behind) or time.monotonic() > deadline:
                break
            time.sleep(0.001)
        raise BringUpError(
            f"{self.interface}: {words.al_state(state)} asked: "
            + "; ".join(
                f"slave {position} is in {words.al_state(slave.state)}, "
                f"{words.al_code(slave.al_status)}"
                for position, slave in enumerate(master.slaves)
                if slave in behind
            )
        )

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
