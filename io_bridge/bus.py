"""The bus as the application sees it; `SimulatedBus` and `EthercatBus` are two of its kind."""

from __future__ import annotations

from dataclasses import dataclass
from types import TracebackType
from typing import Protocol, Self, runtime_checkable

from io_bridge import words
from io_bridge.cia402 import drive_state
from io_bridge.exchange import FAULTS, Exchange


@dataclass(frozen=True)
class BusFault:
    """One thing that is wrong: where, a code, and what it means in words."""

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

    def to_op(self, timeout_s: float) -> None:
        """Identify, map and bring every slave to OP with zero outputs.

        Raises
        ------
        BringUpError
            The message names slave, step and cause; the slaves are safe.
        """

    def close(self) -> None:
        """Zero torque, drives disabled, slaves to SAFEOP and INIT, interface released. Never raises
        on a dead bus."""

    def faults(self) -> list[BusFault]:
        """Return what is wrong now; empty when all is well."""

    def __enter__(self) -> Self:
        self.open()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def list_faults(exchange: Exchange) -> list[BusFault]:
    """Return the faults of a bus by what its exchange saw last."""
    found = []
    counters = exchange.counters
    if counters["fault"]:
        found.append(BusFault(exchange.name, counters["fault"], FAULTS[counters["fault"]]))
    for i, drive in enumerate(exchange.drives):
        al_status, al_code, statusword, wkc = exchange.drive_status(i)
        if counters["cycles"] and wkc != 2:
            found.append(BusFault(drive.name, wkc, f"working counter {wkc}, expected 2"))
        if al_status and al_status != 8:
            text = f"{words.al_state(al_status)}, {words.al_code(al_code)}"
            found.append(BusFault(drive.name, al_code, text))
        state = words.DRIVE_STATES[drive_state(statusword)]
        if state in ("fault", "fault reaction active", "no CiA 402 state"):
            found.append(BusFault(drive.name, statusword, f"statusword {statusword:#06x}: {state}"))
    return found
