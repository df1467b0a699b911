"""pysoem as our buses use it: scan, map and change states, from one ordinary thread.

Its socket is non-blocking and sees only its own indices. What it has set is read back from the slaves instead of
guessed.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import socket
import stat
import struct
import time
from collections.abc import Callable, Sequence
from typing import Any

from io_bridge import slave_clock, words
from io_bridge.acyclic import FIRST_INDEX
from io_bridge.bringup import SlaveConfig, check_identity, setup_downloads
from io_bridge.master import BringUpError
from io_bridge.packet_socket import attach_filter
from io_bridge.pdo_layout import (
    BitwiseError,
    SlaveLayout,
    SlaveRecord,
    fmmu_rows,
    from_fmmus,
    process_managers,
    watchdog_registers,
)
from io_bridge.sii import Identity

REPLY_TIMEOUT_US = 20_000
"""Of pysoem's datagrams, outside the cycle; its own 2 ms is too short for a slave that is a
process."""
IO_MAP_BYTES = 4096
"""Size of pysoem's process image; it writes past its end without a check."""
SAFEOP = 4


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


class PysoemMaster:
    """A master on one interface, or on both ends of a ring.

    Parameters
    ----------
    interface : str
    second : str, optional

    Raises
    ------
    ImportError
        pysoem is not installed.
    """

    def __init__(self, interface: str, second: str | None = None) -> None:
        self.interface = interface
        self._second = second
        self._pysoem = _load_pysoem()
        self._pysoem.settings.timeouts.ret = REPLY_TIMEOUT_US
        self._master = self._pysoem.Master()

    def open(self) -> None:
        """Take hold of the interface.

        Raises
        ------
        OSError
            It cannot.
        """
        before = _packet_sockets()
        try:
            self._master.open(self.interface, self._second)
        except ConnectionError as error:
            both = "" if self._second is None else f" with {self._second!r}"
            raise OSError(f"interface {self.interface!r}{both}: pysoem cannot open it") from error
        for fd in _packet_sockets() - before:
            _tame_pysoem_socket(fd)

    @property
    def slaves(self) -> Sequence[Any]:
        """Slaves that were found, as pysoem has them."""
        return self._master.slaves

    def map_until(self, slaves: Sequence[SlaveConfig], deadline: float) -> list[SlaveRecord]:
        """Map, from the start again when an answer was lost; not in the cycle, so patience is
        free."""
        while True:
            try:
                return self._map(slaves)
            except (self._pysoem.WkcError, self._pysoem.PacketError) as error:
                if time.monotonic() > deadline:
                    raise BringUpError(
                        f"{self.interface}: a slave stopped answering while it was configured"
                    ) from error

    def request(self, state: int, deadline: float) -> None:
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

    def close(self, *states: int) -> None:
        """Ask for these states one after the other and let go of the interface; on a dead bus as far as it goes."""
        for state in states:
            with contextlib.suppress(Exception):
                self._master.state = state
                self._master.write_state()
                self._master.state_check(state, 50_000)
        with contextlib.suppress(Exception):
            self._master.close()

    def _map(self, slaves: Sequence[SlaveConfig]) -> list[SlaveRecord]:
        """Scan, check identities, map the PDOs, reach SAFEOP; return how each slave is configured."""
        master = self._master
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
            records.append(_record(slave, identity, size))
            layout = records[-1].layout
            size = max(
                size, layout.outputs_at + layout.n_outputs, layout.inputs_at + layout.n_inputs
            )
            for register, value in watchdog_registers(config.watchdog_ms):
                slave._fpwr(register, struct.pack("<H", value))
        self.request(SAFEOP, time.monotonic() + 2.0)
        return records

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


def _record(slave: Any, identity: Identity, free: int) -> SlaveRecord:
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
