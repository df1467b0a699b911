"""Answers that the archive looks for: sent when they are found, and bounded until the client has taken them."""

from __future__ import annotations

import logging
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, TypeAlias

from io_bridge.doorway.door import Client, Door, MessageTracker
from rigloop.protocol.answers import Answer, Refused, Why
from rigloop.protocol.codec import encoded
from rigloop.protocol.limits import PROTOCOL
from rigloop.protocol.requests import Capture, Runs
from rigloop.service.clients import Visitor

MOST_PENDING = 4  # answers that one client waits for, or has not taken

Asked: TypeAlias = Capture | Runs
Refuse = Callable[[Visitor, Asked, Refused], None]

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class _Pending:
    visitor: Visitor
    request: Asked
    answer: Future[Any]


class ArchivedAnswers:
    """All of them.

    Parameters
    ----------
    door : Door
    refuse : callable
        Writes a refusal into the journals, and sends it.
    """

    def __init__(self, door: Door, refuse: Refuse) -> None:
        self._door, self._refuse = door, refuse
        self._pending: list[_Pending] = []
        # megabytes each: a client that reads none of them gets no more
        self._leaving: list[tuple[Client, MessageTracker]] = []

    def add(self, visitor: Visitor, request: Asked, answer: Future[Any]) -> None:
        """Wait for an answer."""
        answer.add_done_callback(lambda _: self._door.wake())
        self._pending.append(_Pending(visitor, request, answer))

    def refuse_crowd(self, client: Client) -> None:
        """Refuse a client that has not taken the answers that it has asked for.

        Raises
        ------
        Refused
        """
        self._leaving = [(one, sent) for one, sent in self._leaving if not sent.done]
        found = [one.visitor.client for one in self._pending] + [one for one, _ in self._leaving]
        if found.count(client) >= MOST_PENDING:
            raise Refused(
                Why.RATE,
                f"{MOST_PENDING} answers are on their way, or wait to be read: ask again when one has come",
            )

    def send(self) -> None:
        """Send the answers that the archive has found."""
        done = [one for one in self._pending if one.answer.done()]
        self._pending = [one for one in self._pending if not one.answer.done()]
        for one in done:
            try:
                found = Answer(protocol=PROTOCOL, id=one.request.id, answer=one.answer.result())
            except Refused as refused:
                self._refuse(one.visitor, one.request, refused)
            except Exception as error:
                # a file of a run that nobody could foresee ends no service
                _log.exception("archive")
                words = f"{type(error).__name__}; see the service's output"
                self._refuse(one.visitor, one.request, Refused(Why.FAILED, words))
            else:
                sent = self._door.send_large(one.visitor.client, encoded(found))
                self._leaving += [(one.visitor.client, sent)] if sent is not None else []
