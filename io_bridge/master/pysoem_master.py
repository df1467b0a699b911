"""pysoem as our buses use it: scan, map and change states, from one ordinary thread.

Its socket is non-blocking and sees only its own indices. What it has set is read back from the slaves instead of
guessed.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import logging
import os
import socket
import stat
from collections.abc import Sequence
from typing import Any

from io_bridge.master import slave_clock
from io_bridge.master.bringup import (
    INIT,
    PREOP,
    SlaveConfig,
    open_mailbox,
    ready,
    settle_all,
)
from io_bridge.master.master import Master
from io_bridge.master.process_data import ProcessData
from io_bridge.master.slave_registers import MAILBOX_BYTES, lay_out, mailbox_rows
from io_bridge.master.state_change import finish, reach, together
from io_bridge.master.survey import Surveyed, survey
from io_bridge.slaves.errors import BringUpError
from io_bridge.slaves.pdo_layout import (
    BitwiseError,
    SlaveLayout,
    SlaveRecord,
    axes_of,
    from_fmmus,
    mapped_bytes,
    process_managers,
)
from io_bridge.slaves.state_limits import StateLimits
from io_bridge.wire.acyclic import FIRST_INDEX
from io_bridge.wire.packet_socket import attach_filter

log = logging.getLogger("rigloop.bus")

REPLY_TIMEOUT_US = 20_000
"""Timeout of pysoem's datagrams, outside the cycle; its own 2 ms is too short for a slave that is a
process."""
IO_MAP_BYTES = 4096
"""Size of pysoem's process image; it writes past its end without a check."""
OWN_LOGICAL = 0x10000
"""Logical address at which our own mapping begins when pysoem's is not known."""
STATE_US, EEPROM_US = 5_000_000, 2_000_000
"""Timeouts that pysoem gets: those of the standard, for its own ones are shorter."""


def _load_pysoem() -> Any:
    try:
        return importlib.import_module("pysoem")
    except ImportError as error:
        raise ImportError(
            "pysoem cannot be imported: pip install pysoem==1.1.13, or take "
            'bringup = "rigloop" in the rig\'s bus block'
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
        timeouts = self._pysoem.settings.timeouts
        timeouts.ret = REPLY_TIMEOUT_US
        timeouts.state, timeouts.eeprom = STATE_US, EEPROM_US
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

    def to_safeop(
        self, master: Master, slaves: Sequence[SlaveConfig], alone: bool = False
    ) -> list[SlaveRecord]:
        """Bring every slave to SAFEOP and return how each is configured.

        pysoem addresses the slaves, opens their mailboxes, maps their process data and sets their clocks; before and
        between that, what the rig wants of each slave is settled, and where pysoem has mapped something else, or
        nothing, the slave gets our own registers.

        Parameters
        ----------
        master : Master
            Ours, on the same wire.
        slaves : sequence of DriveConfig or TerminalConfig
        alone : bool
            Refuse a slave that pysoem does not map.

        Raises
        ------
        BringUpError
            The message names slave, step and cause.
        """
        groups = axes_of(slaves)
        firsts = [group[0] for group in groups]
        self._wait_as_long_as([config.limits for config in firsts])
        found = survey(master, groups)
        self._scan(master, found)
        for slave in found:
            # pysoem leaves a mailbox off that the table of the EEPROM has off
            open_mailbox(master, slave.station, mailbox_rows(slave.contents))
        for state in (INIT, PREOP):
            changes = [
                reach(master, slave.station, state, config.limits)
                for slave, config in zip(found, firsts, strict=True)
            ]
            finish(together(changes), master.pause_s)
        data = settle_all(master, found, groups)
        for slave in found:
            master.leave_mailbox(slave.station)
        why, free = self._map()
        self._master.config_dc()
        records = []
        for slave, wanted, config in zip(found, data, firsts, strict=True):
            records.append(self._taken(master, slave, wanted, free, alone and config.name, why))
            layout = records[-1].layout
            free = max(
                free, layout.outputs_at + layout.n_outputs, layout.inputs_at + layout.n_inputs
            )
        changes = [ready(master, *pair) for pair in zip(firsts, records, strict=True)]
        finish(together(changes), master.pause_s)
        return records

    def _wait_as_long_as(self, limits: Sequence[StateLimits]) -> None:
        """pysoem has one time limit for the mailboxes of all slaves: that of the slowest."""
        timeouts = self._pysoem.settings.timeouts
        answer_s = max(slave.mailbox_response_s for slave in limits)
        timeouts.tx_mailbox = round(1e6 * max(slave.mailbox_request_s for slave in limits))
        timeouts.rx_mailbox = round(1e6 * answer_s)

    def _scan(self, master: Master, found: Sequence[Surveyed]) -> None:
        """Have pysoem find the slaves and set their mailboxes; all stay in INIT."""
        self._master.manual_state_change = 1
        n = self._master.config_init()
        if n != len(found):
            raise BringUpError(f"pysoem finds {max(n, 0)} slaves, and {len(found)} answer")
        for slave, known in zip(self._master.slaves, found, strict=True):
            # an answer of some slaves to complete access ends pysoem's mapping; single entries do as well
            slave._disable_complete_access()
            slave.add_emergency_callback(functools.partial(_note, master, known.station))

    def _map(self) -> tuple[str, int]:
        """Have pysoem map what the slaves have; return what went wrong with it, and the first free logical address."""
        try:
            size = self._master.config_map()
        except Exception as error:
            listed = getattr(error, "error_list", None)
            return f"{listed or error!r}", OWN_LOGICAL
        if size > IO_MAP_BYTES:
            return f"the slaves map {size} bytes, pysoem holds {IO_MAP_BYTES}", max(
                size, OWN_LOGICAL
            )
        return "", size

    def _taken(
        self,
        master: Master,
        slave: Surveyed,
        data: ProcessData,
        free: int,
        alone: str | bool,
        why: str,
    ) -> SlaveRecord:
        """Read back what pysoem has set, instead of guessing it; where that is not what the slave maps, plan our own,
        from the logical address `free` on.

        Terminals whose bits share a byte with another one's get bytes of their own: a datagram of one must not reach
        the other.
        """
        plan = lay_out(master, slave, data, free)
        station = slave.station
        if slave.has_clock:
            plan = plan._replace(clock_delay=master.read(station, slave_clock.DELAY, 4))
        fmmus, managers = (
            master.read(station, first, len(rows))
            for first, rows in ((0x0600, plan.fmmus), (0x0800, plan.managers))
        )
        wanted = process_managers(plan.managers)
        shared = False
        try:
            layout = from_fmmus(station, fmmus)
        except ValueError as error:
            shared = isinstance(error, BitwiseError)
            layout = SlaveLayout(station, 0, 0, 0, 0)
        sizes = (plan.layout.n_outputs, plan.layout.n_inputs)
        # several sync managers of one direction may be mapped in another order
        agree = shared or mapped_bytes(fmmus) == mapped_bytes(plan.fmmus)
        agree = agree and process_managers(managers) == wanted
        if agree and (layout.n_outputs, layout.n_inputs) == sizes:
            return plan._replace(
                layout=plan.layout._replace(
                    outputs_at=layout.outputs_at, inputs_at=layout.inputs_at
                ),
                managers=plan.managers[:MAILBOX_BYTES] + managers[MAILBOX_BYTES:],
                fmmus=fmmus,
            )
        if not shared:
            said = (
                f"{master.called(station)}: pysoem maps {layout.n_outputs} bytes of outputs and {layout.n_inputs} "
                f"of inputs, the slave has {sizes[0]} and {sizes[1]}" + (f" ({why})" if why else "")
            )
            if alone:
                raise BringUpError(f'{said}; bringup = "auto" uses the mapping of rigloop there')
            log.info("%s; mapped by rigloop", said)
        return plan

    def close(self) -> None:
        """Let go of the interface."""
        with contextlib.suppress(Exception):
            self._master.close()


def _note(master: Master, station: int, emergency: Any) -> None:
    """A slave may report an error unasked, and continue."""
    log.warning(
        "%s: emergency %#06x, register %#04x",
        master.called(station),
        emergency.error_code,
        emergency.error_reg,
    )
