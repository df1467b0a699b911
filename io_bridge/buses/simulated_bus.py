"""The bus without hardware: the emulated segment in this process, behind the real frames of the
real cycle."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Sequence
from typing import Unpack

from io_bridge.attendant.attendant import Attendant
from io_bridge.attendant.mailbox_service import MailboxService
from io_bridge.attendant.recovery import Recovery
from io_bridge.attendant.watch import Watch
from io_bridge.bus import await_clocks
from io_bridge.buses.attended_bus import SAFE_CYCLES, AttendedBus
from io_bridge.buses.drive_modes import SHOWN_IN_S, await_modes
from io_bridge.buses.settings import ExchangeSettings
from io_bridge.emulator.devices.slave_device import SlaveDevice
from io_bridge.emulator.drive.device import DriveDevice
from io_bridge.emulator.segment import Segment
from io_bridge.emulator.segment_link import SegmentLink
from io_bridge.exchange.exchange import Exchange
from io_bridge.master import slave_clock
from io_bridge.master.bringup import SlaveConfig, know, prepare, to_op
from io_bridge.master.master import BringUpError, Master
from io_bridge.slaves.drive_config import (
    SENSOR,
    SIMULATED_IDENTITY,
    TX_PDO,
    DriveConfig,
    DrivePlant,
)
from io_bridge.slaves.pdo_layout import axes_of

OP_POLL_NS = 1_000_000
PAUSE_S = 0.0005
CYCLE_COMES_S = 0.005
"""After this time without a cycle a frame beside it disturbs none."""


class SimulatedBus(AttendedBus):
    """Slaves emulated in this process; no rights, no sockets, simulated time is the cycle's nominal
    time.

    Parameters
    ----------
    plants : sequence of DrivePlant, optional
        One simulated drive each; default one with its defaults.
    drives : sequence of DriveConfig or TerminalConfig, optional
        The drives as the master sees them; default taken from the plants, the torque sensor mapped
        too.
    devices : sequence of SlaveDevice, optional
        The whole ring in order, in place of `plants`; then `drives` is the master's view.
    **settings
        As for `Exchange`.
    """

    def __init__(
        self,
        plants: Sequence[DrivePlant] | None = None,
        drives: Sequence[SlaveConfig] | None = None,
        *,
        devices: Sequence[SlaveDevice] | None = None,
        **settings: Unpack[ExchangeSettings],
    ) -> None:
        plants = tuple(plants) if plants is not None else (DrivePlant(),)
        if drives is None:
            drives = [simulated_drive(plant, i, len(plants)) for i, plant in enumerate(plants)]
        self.devices = tuple(devices or (DriveDevice(plant) for plant in plants))
        self.segment = Segment(self.devices)
        self.link = SegmentLink(self.segment)
        super().__init__(Exchange(drives, **settings))
        clock = settings.get("clock")
        self._beside_the_cycle = threading.Lock()
        self._poll_ns = OP_POLL_NS if clock is None else clock.period_ns

    def open(self) -> None:
        """Connect the master to the segment."""
        if self._master is None:
            self._master = Master(self.link.transact)

    def to_op(self, tell: Callable[[str], None] = lambda text: None) -> None:
        """Bring the slaves to OP; time limits are simulated time here."""
        self.open()
        exchange = self._exchange
        if exchange.in_service:
            return
        master = self._master
        assert master is not None
        master.tell = tell
        try:
            self._records = prepare(master, exchange.slaves, exchange.clock)
            stations = [record.layout.station for record in self._records]
            exchange.configure(
                self.link,
                [record.layout for record in self._records],
                n_slaves=len(stations),
                clock_station=slave_clock.reference(self._records),
            )
            exchange.safe = True
            cycles = itertools.count()

            def step() -> None:
                exchange.step(next(cycles) * self._poll_ns)

            if exchange.clock is not None:
                last = int(exchange.clock.timeout_s * 1e9) // self._poll_ns
                await_clocks(exchange, step, lambda: next(cycles) < last)
            for _ in to_op(master, axes_of(exchange.slaves), self._records):
                step()
            until = exchange.counters["cycles"] + int(SHOWN_IN_S * 1e9) // self._poll_ns
            await_modes(exchange, step, lambda: exchange.counters["cycles"] < until)
        except ValueError as error:
            self.close()
            raise BringUpError(str(error)) from error
        except Exception:
            self.close()
            raise
        exchange.begin_phase()
        exchange.begin_service()

    def recovery(self, pause_s: float = 0.0) -> Recovery:
        """Return the object that brings slaves back to OP; its `look` may be called while the cycle runs.

        Parameters
        ----------
        pause_s : float
            As of `Master`: with a pause the cycle, on which time depends, continues meanwhile.
        """
        master = Master(self._beside, pause_s=pause_s)
        know(master, self._exchange.slaves, self._records)
        return Recovery(master, self._exchange, self._records, self._events)

    def attend(self) -> None:
        """Recover slaves that leave OP and serve SDOs, from a thread of its own, until `close`."""
        if self._attendant is not None or not self._exchange.in_service:
            return
        recovery = self.recovery(PAUSE_S)
        self._attendant = Attendant(
            recovery,
            MailboxService("simulated", recovery.master, self._records, lambda: self._events),
            Watch(recovery.master, self._exchange, self._records, self._events, None),
            self._events,
            lambda: None,
        )
        self._attendant.start()

    def _beside(self, frame: bytes) -> bytes | None:
        """Exchange a frame behind that of a cycle, or while no cycle runs; the segment's time stays where it is."""
        with self._beside_the_cycle:
            found = self.link.transact_beside(frame, CYCLE_COMES_S)
        if found is not None:
            return found or None
        return self._exchange.lend(lambda: self.link.transact(frame, 0))

    def close(self) -> None:
        """Zero torque, drives disabled, slaves back to INIT."""
        if self._master is None:
            return
        self._leave_service()
        exchange = self._exchange
        for cycle in range(SAFE_CYCLES):
            exchange.step(cycle * OP_POLL_NS)
        for state in (4, 1):
            self._master.access(8, 0, 0x0120, bytes([state | 0x10, 0]))
        exchange.disconnect()
        self._master = None


def simulated_drive(plant: DrivePlant, position: int = 0, n_drives: int = 1) -> DriveConfig:
    """Return the configuration that fits a simulated drive; named ``drive``, or ``drive0``,
    ``drive1``, ..."""
    return DriveConfig(
        name="drive" if n_drives == 1 else f"drive{position}",
        rated_torque_nm=plant.rated_torque_nm,
        peak_torque_nm=plant.peak_torque_nm,
        counts_per_rev=plant.counts_per_rev,
        identity=SIMULATED_IDENTITY,
        tx_pdo=(*TX_PDO, SENSOR),
    )
