"""Subscriptions: newest values of a rig, pushed to a client as often as it asked, as long as it is there."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

from io_bridge.doorway.door import Client, Door
from rigloop.protocol.answers import Refused, Values, Why
from rigloop.protocol.codec import encoded
from rigloop.protocol.limits import MOST_SUBSCRIPTIONS, PROTOCOL
from rigloop.service.sessions import Session
from rt_core.signals.layout import TableError


@dataclass
class _Subscription:
    number: int
    client: Client
    session: Session
    paths: tuple[str, ...]
    period_s: float
    due_s: float
    pushed: int = 0


class Subscriptions:
    """All of them.

    Parameters
    ----------
    door : Door
    """

    def __init__(self, door: Door) -> None:
        self._door = door
        self._found: list[_Subscription] = []
        self._made = 0

    def __len__(self) -> int:
        return len(self._found)

    def add(self, client: Client, session: Session, paths: list[str], rate_hz: float) -> int:
        """Add one; return its number.

        Raises
        ------
        Refused
            The client has too many.
        """
        own = sum(one.client == client for one in self._found)
        if own >= MOST_SUBSCRIPTIONS:
            raise Refused(
                Why.RATE, f"{own} subscriptions: at most {MOST_SUBSCRIPTIONS} of one client"
            )
        self._made += 1
        self._found.append(
            _Subscription(
                self._made,
                client,
                session,
                tuple(paths),
                1.0 / rate_hz,
                _next(time.monotonic(), 1.0 / rate_hz),
            )
        )
        return self._made

    def remove(self, client: Client, number: int) -> None:
        """End one.

        Raises
        ------
        Refused
            The client has none with this number.
        """
        left = [one for one in self._found if (one.client, one.number) != (client, number)]
        if len(left) == len(self._found):
            raise Refused(
                Why.UNKNOWN,
                f"subscription = {number}: you have no such subscription; `subscribe` returns the number",
            )
        self._found = left

    def forget(self, client: Client) -> None:
        """End all of a client."""
        self._found = [one for one in self._found if one.client != client]

    def next_s(self) -> float:
        """Return when the next one is due, on the monotonic clock."""
        return min((one.due_s for one in self._found), default=float("inf"))

    def push(self) -> list[Client]:
        """Push those that are due; return clients that have gone."""
        now = time.monotonic()
        gone = []
        for one in self._found:
            if one.due_s > now:
                continue
            one.due_s = _next(now, one.period_s)
            if one.client not in gone and self._push(one) is False:
                gone.append(one.client)
        return gone

    def _push(self, one: _Subscription) -> bool | None:
        try:
            values = one.session.reader.read(one.paths)
        except (Refused, KeyError, TableError):
            # no run goes on, or this one has not all of the signals
            return None
        one.pushed += 1
        message = Values(
            protocol=PROTOCOL,
            subscription=one.number,
            number=one.pushed,
            monotonic_ns=time.monotonic_ns(),
            values=values.tolist(),
        )
        return self._door.send(one.client, encoded(message))


def _next(now: float, period_s: float) -> float:
    """Return the next multiple of a period: those of one rate are due together, and what was missed is not made up."""
    # the product of a whole number and a period, over the period, may be a little less than that number
    return (math.floor(now / period_s + 1e-6) + 1) * period_s
