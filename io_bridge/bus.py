"""The bus as the application sees it; `SimulatedBus` and `EthercatBus` are two of its kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol, Self, runtime_checkable

from io_bridge.bus_events import BusEvent
from io_bridge.exchange.exchange import FAULTS, Exchange
from io_bridge.slaves import words
from io_bridge.slaves.cia402 import drive_state
from io_bridge.slaves.errors import BringUpError
from io_bridge.slaves.own_scale import OwnScale
from io_bridge.slaves.pdo_layout import axes_of
from io_bridge.slaves.sii import Identity


@dataclass(frozen=True)
class BusFault:
    """One fault: its place, a code, and its meaning in words."""

    source: str
    code: int
    words: str


@runtime_checkable
class Bus(Protocol):
    """Lifecycle of a bus: any order of calls is safe, each may be repeated.

    The signal table needs `block()`'s ports, and `bind` is called on it, before or after `open`.
    The cycle runs between `to_op` and `close`; stop it before `close`. As a context manager a bus
    opens and closes itself.
    """

    def block(self) -> Exchange:
        """Return the cyclic exchange; the same object for the life of the bus."""

    def open(self) -> None:
        """Take hold of the interface. Raises OSError or ImportError with the remedy."""

    def to_op(self, tell: Callable[[str], None] = ...) -> None:
        """Identify, map and bring every slave to OP with zero outputs, each step within its limit.

        `tell` takes a sentence about a long wait.

        Raises
        ------
        BringUpError
            The message names slave, step and cause; the slaves are safe.
        """

    def attend(self) -> None:
        """From now on recover slaves that leave OP, and serve SDOs, beside the cycle; until `close`."""

    def close(self) -> None:
        """Zero torque, drives disabled, slaves to SAFEOP and INIT, interface released. Never raises
        on a dead bus."""

    def faults(self) -> list[BusFault]:
        """Return the faults of now; empty when all is well."""

    def events(self) -> list[BusEvent]:
        """Return the events outside the cycle, in words: slaves that left OP, emergencies, drives in fault."""

    def unattended(self) -> str:
        """Return why slaves are not attended any more, empty while they are: looked at during a run."""

    def bringup_counters(self) -> dict[str, int]:
        """Return the losses before OP: frames and replies; no verdict counts them."""

    def identities(self) -> dict[str, Identity]:
        """Return the identity that each slave reported when it was brought up, by its name."""

    def in_fault(self) -> list[str]:
        """Return a sentence for each drive in its fault state, with its 0x603F; call it before `attend`."""

    def own_scales(self) -> dict[str, OwnScale]:
        """Return what each drive says of the scale of its torque, by its name; call it before `attend`."""

    def __enter__(self) -> Self:
        self.open()
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


def list_faults(exchange: Exchange, problems: Mapping[int, str] | None = None) -> list[BusFault]:
    """Return the faults of a bus in the last cycle of its exchange.

    Parameters
    ----------
    exchange : Exchange
    problems : mapping of int to str, optional
        Problems that keep slaves from OP, by its place in the ring.
    """
    found = []
    counters = exchange.counters
    gap = gap_words(exchange)
    if gap:
        found.append(BusFault(exchange.name, exchange.gap or 0, gap))
    if counters["fault"]:
        culprit = exchange.culprit
        source = exchange.name if culprit is None else exchange.slaves[culprit].name
        found.append(BusFault(exchange.name, counters["fault"], _in_words(exchange, source)))
    for i, slave in enumerate(exchange.slaves):
        al_status, al_code, wkc, expected, answers = exchange.slave_status(i)
        if counters["cycles"] and wkc != expected:
            text = f"working counter {wkc}, expected {expected}"
            if not answers:
                text += ": it does not answer"
            found.append(BusFault(slave.name, wkc, text))
        if al_status and al_status != 8:
            text = f"{words.al_state(al_status)}, {words.al_code(al_code)}"
            found.append(BusFault(slave.name, al_code, text))
        if problems and i in problems:
            found.append(BusFault(slave.name, al_code, problems[i]))
    for i, drive in enumerate(exchange.drives):
        statusword = exchange.drive_status(i)[2]
        state = words.DRIVE_STATES[drive_state(statusword)]
        if state in ("fault", "fault reaction active", "no CiA 402 state"):
            found.append(BusFault(drive.name, statusword, f"statusword {statusword:#06x}: {state}"))
    return found


def gap_words(exchange: Exchange) -> str:
    """Return where the ring of a bus with two interfaces is open; empty when it is closed."""
    gap = exchange.gap
    if gap is None:
        return ""
    # axes of one slave are one piece of the ring
    names = ["+".join(slave.name for slave in group) for group in axes_of(exchange.slaves)]
    return words.ring_gap(names, gap)


def _in_words(exchange: Exchange, source: str) -> str:
    text = FAULTS[exchange.counters["fault"]]
    return text if source == exchange.name else f"{text} ({source})"


def await_clocks(
    exchange: Exchange, pass_time: Callable[[], None], has_time: Callable[[], bool]
) -> None:
    """Let time pass until the slaves' clocks agree and the cycle is locked to them.

    Raises
    ------
    BringUpError
        No time is left; the message names the awaited event.
    """
    clock = exchange.clock
    assert clock is not None
    while True:
        waits = [
            f"{slave.name} is {difference:.0f} ns off the reference clock, "
            f"limit {clock.difference_ns:.0f} ns"
            for slave, difference in zip(exchange.slaves, exchange.differences_ns, strict=True)
            if abs(difference) > clock.difference_ns
        ]
        locked, error_ns, drift_ppm = exchange.lock_state
        if not locked:
            waits.append(
                f"the cycle is {1e-3 * error_ns:.1f} us off its place in the reference clock's period "
                f"(limit {1e-3 * clock.tolerance_ns:.1f} us for {clock.settle_s} s), "
                f"drift {drift_ppm:.1f} ppm"
            )
        if not waits:
            return
        if not has_time():
            raise BringUpError("distributed clocks: still waiting: " + "; ".join(waits))
        pass_time()
