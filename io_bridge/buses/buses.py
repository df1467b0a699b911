"""The buses of a rig as one: none, one or several, brought up and let go together.

A bus that has been brought up keeps its slaves in OP by itself while the next one comes up, and until the cycle steps.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from dataclasses import replace
from typing import Self

from io_bridge.bus import Bus, BusFault
from io_bridge.bus_events import BusEvent
from io_bridge.slaves.own_scale import OwnScale
from io_bridge.slaves.sii import Identity


class Buses:
    """The lifecycle of `Bus`, for each bus in turn; where there are several, their words begin with the bus.

    Parameters
    ----------
    each : mapping of str to Bus
        By the name of the bus; in this order they are brought up, and let go in the other one.
    """

    def __init__(self, each: Mapping[str, Bus]) -> None:
        self.each = dict(each)
        self._opened = ExitStack()

    def __enter__(self) -> Self:
        with ExitStack() as opened:
            for bus in self.each.values():
                opened.enter_context(bus)
            self._opened = opened.pop_all()
        return self

    def __exit__(self, *exc: object) -> None:
        self._opened.close()

    def to_op(self, tell: Callable[[str], None] = lambda text: None) -> None:
        """Bring every bus to OP, one after the other.

        Raises
        ------
        BringUpError
            The message names slave, step and cause; what was brought up is safe once this is left.
        """
        for name, bus in self.each.items():
            bus.to_op(lambda text, name=name: tell(self._of(name, text)))  # type: ignore[misc]

    def attend(self) -> None:
        """Recover slaves that leave OP, and serve SDOs, beside the cycle, until this is left."""
        for bus in self.each.values():
            bus.attend()

    def faults(self) -> list[BusFault]:
        """Return the faults of now; empty when all is well."""
        return [
            replace(fault, source=self._place(name, fault.source))
            for name, bus in self.each.items()
            for fault in bus.faults()
        ]

    def events(self) -> list[BusEvent]:
        """Return the events outside the cycle, in the order of their times."""
        found = [
            event._replace(source=self._place(name, event.source))
            for name, bus in self.each.items()
            for event in bus.events()
        ]
        return sorted(found, key=lambda event: event.time_ns)

    def unattended(self) -> str:
        """Return why slaves are not attended any more, empty while they are."""
        return "; ".join(self._told((name, bus.unattended()) for name, bus in self.each.items()))

    def bringup_counters(self) -> dict[str, int]:
        """Return the losses before OP, of all buses together."""
        total: Counter[str] = Counter()
        for bus in self.each.values():
            total.update(bus.bringup_counters())
        return dict(total)

    def identities(self) -> dict[str, Identity]:
        """Return the identity that each slave reported when it was brought up, by bus and name: `bus/wheel`."""
        return {
            f"{bus_name}/{slave}": identity
            for bus_name, bus in self.each.items()
            for slave, identity in bus.identities().items()
        }

    def own_scales(self) -> dict[str, OwnScale]:
        """Return what each drive says of the scale of its torque, by bus and name; call it before `attend`."""
        return {
            f"{bus_name}/{drive}": scale
            for bus_name, bus in self.each.items()
            for drive, scale in bus.own_scales().items()
        }

    def in_fault(self) -> list[str]:
        """Return a sentence for each drive in its fault state; call it before `attend`."""
        found = ((name, text) for name, bus in self.each.items() for text in bus.in_fault())
        return list(self._told(found))

    def _told(self, found: Iterable[tuple[str, str]]) -> Iterable[str]:
        return (self._of(name, text) for name, text in found if text)

    def _of(self, name: str, text: str) -> str:
        return text if len(self.each) < 2 else f"bus {name}: {text}"

    def _place(self, name: str, source: str) -> str:
        return source if len(self.each) < 2 or source == name else f"{name}: {source}"
