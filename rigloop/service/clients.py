"""The clients of a service: their names, their rates, and which of them are there."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from io_bridge.doorway.door import Client
from rigloop.protocol.answers import Refused, Why
from rigloop.protocol.limits import MOST_CLIENTS, REQUEST_BURST

SWEEP_S = 0.2


@dataclass
class Visitor:
    """A client that has asked for something.

    Attributes
    ----------
    client : Client
    whose : str
        Name of its key; `local` without one.
    name : str
        That it gave itself with `hello`.
    """

    client: Client
    whose: str
    name: str = "nameless"
    _credit: float = field(default=REQUEST_BURST, repr=False)
    _at: float = field(default_factory=time.monotonic, repr=False)

    @property
    def author(self) -> str:
        """Its name in the journal."""
        return f"{self.name} ({self.whose})"

    def pay(self, a_second: float) -> None:
        """Count a request.

        Raises
        ------
        Refused
            There were too many.
        """
        now = time.monotonic()
        self._credit = min(self._credit + (now - self._at) * a_second, REQUEST_BURST)
        self._at = now
        if self._credit < 1.0:
            raise Refused(
                Why.RATE, f"more than {a_second:g} requests a second: wait, or subscribe to values"
            )
        self._credit -= 1.0


class Visitors:
    """All of them; who has gone makes room.

    Parameters
    ----------
    is_there : callable
        Whether a client can still be reached.
    most : int
    """

    def __init__(self, is_there: Callable[[Client], bool], most: int = MOST_CLIENTS) -> None:
        self._is_there, self._most = is_there, most
        self._found: dict[tuple[str, bytes], Visitor] = {}
        self._swept_at = -SWEEP_S

    def __iter__(self) -> Iterator[Visitor]:
        return iter(list(self._found.values()))

    def __len__(self) -> int:
        return len(self._found)

    def of(self, client: Client, whose: str) -> Visitor:
        """Return the visitor of a connection, a new one if need be.

        Raises
        ------
        Refused
            There are too many already.
        """
        place = client.door, client.name
        found = self._found.get(place)
        if found is None:
            # not for each of the messages of one who finds no room
            if len(self._found) >= self._most and time.monotonic() - self._swept_at >= SWEEP_S:
                self.sweep()
            if len(self._found) >= self._most:
                raise Refused(
                    Why.RATE, f"{len(self._found)} clients are there: at most {self._most}"
                )
            found = self._found[place] = Visitor(client, whose)
        return found

    def sweep(self) -> list[Visitor]:
        """Forget those that have gone; return them."""
        self._swept_at = time.monotonic()
        gone = [one for one in self if not self._is_there(one.client)]
        for one in gone:
            self.forget(one.client)
        return gone

    def forget(self, client: Client) -> None:
        """Forget one. Harmless when repeated."""
        self._found.pop((client.door, client.name), None)
