"""The bus of a rig that has none: every call of its life does nothing."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

from io_bridge.bus import BusFault
from io_bridge.exchange.exchange import Exchange


class NoBus:
    """A `Bus` without frames."""

    def block(self) -> Exchange:
        """Raise: there is nothing to exchange."""
        raise TypeError("a rig without a bus has no exchange")

    def open(self) -> None: ...
    def to_op(self, tell: Callable[[str], None] = print) -> None: ...
    def attend(self) -> None: ...
    def close(self) -> None: ...

    def bringup_counters(self) -> dict[str, int]:
        """Return nothing: nothing was brought up."""
        return {}

    def in_fault(self) -> list[str]:
        """Return nothing: there is no drive."""
        return []

    def faults(self) -> list[BusFault]:
        """Return nothing: nothing can be wrong."""
        return []

    def events(self) -> list[Any]:
        """Return nothing: nothing happens beside the cycle."""
        return []

    def unattended(self) -> str:
        """Return nothing: there is nobody to attend."""
        return ""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...
