"""The common part of the buses: an exchange, the master that brought it up, and the thread that attends it."""

from __future__ import annotations

from io_bridge.attendant.attendant import Attendant
from io_bridge.attendant.drives_in_fault import drives_in_fault
from io_bridge.attendant.own_scales import own_scales
from io_bridge.bus import Bus, BusFault, list_faults
from io_bridge.bus_events import BusEvent, BusEvents
from io_bridge.exchange.exchange import Exchange
from io_bridge.master.bringup import know
from io_bridge.master.master import Master
from io_bridge.slaves.own_scale import OwnScale
from io_bridge.slaves.pdo_layout import SlaveRecord, axes_of
from io_bridge.slaves.sii import Identity

SAFE_CYCLES = 4
"""Frames with zero torque before the slaves leave OP."""


class AttendedBus(Bus):
    """A bus with slaves; not used by itself."""

    def __init__(self, exchange: Exchange) -> None:
        self._exchange = exchange
        self._master: Master | None = None
        self._records: list[SlaveRecord] = []
        self._attendant: Attendant | None = None
        self._events = BusEvents()

    def block(self) -> Exchange:
        """Return the cyclic exchange."""
        return self._exchange

    def bringup_counters(self) -> dict[str, int]:
        """Return the losses before OP: frames and replies; no verdict counts them."""
        return dict(self._exchange.bringup_counters)

    def identities(self) -> dict[str, Identity]:
        """Return the identity that each slave reported when it was brought up, by its name."""
        groups = axes_of(self._exchange.slaves)
        found = zip(groups, self._records, strict=False)
        return {slave.name: record.identity for group, record in found for slave in group}

    def stations(self) -> dict[str, int]:
        """Return the station address of each slave, by its name."""
        groups = axes_of(self._exchange.slaves)
        found = zip(groups, self._records, strict=True)
        return {slave.name: record.layout.station for group, record in found for slave in group}

    def introduce(self, master: Master) -> None:
        """Tell a further master of the slaves, so that it can ask them."""
        know(master, self._exchange.slaves, self._records)

    def in_fault(self) -> list[str]:
        """Return a sentence for each drive in its fault state, with its 0x603F; call it before `attend`."""
        if self._master is None:
            return []
        return drives_in_fault(self._exchange, self._master, self._records)

    def own_scales(self) -> dict[str, OwnScale]:
        """Return what each drive says of the scale of its torque, by its name; call it before `attend`."""
        if self._master is None:
            return {}
        return own_scales(self._exchange, self._master, self._records)

    def faults(self) -> list[BusFault]:
        """Return the faults of now."""
        problems = self._attendant.recovery.problems if self._attendant is not None else {}
        return list_faults(self._exchange, problems)

    def events(self) -> list[BusEvent]:
        """Return the events outside the cycle."""
        return list(self._events)

    def unattended(self) -> str:
        """Return why slaves are not attended any more."""
        return "" if self._attendant is None else self._attendant.problem

    def _leave_service(self) -> None:
        """End the attendance and ask for zero torque; the frames that carry it are still to be sent."""
        if self._attendant is not None:
            self._attendant.stop()
            self._attendant = None
        self._exchange.in_service = False
        self._exchange.safe = True
