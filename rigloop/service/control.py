"""Control of a rig: one client at a time has its token."""

from __future__ import annotations

import secrets
from collections.abc import Callable

from io_bridge.doorway.door import Client
from rigloop.protocol.answers import Refused, Why
from rigloop.service.clients import Visitor


def _always(client: Client) -> bool:
    return True


class Control:
    """The token of a rig, and who has it; it is kept until given back or taken over, also by a client that is gone.

    A token is worth something on the connection that took it; once that has gone, on another one with the same key.

    Parameters
    ----------
    is_there : callable, optional
        Whether a client can still be reached.
    """

    def __init__(self, is_there: Callable[[Client], bool] = _always) -> None:
        self._is_there = is_there
        self._token = ""
        self._who: Visitor | None = None

    @property
    def author(self) -> str:
        """Author of the client in control; empty: nobody."""
        return self._who.author if self._who is not None else ""

    @property
    def client(self) -> Client | None:
        """The connection of the client in control."""
        return self._who.client if self._who is not None else None

    def take(self, who: Visitor, *, over: bool, rig: str) -> tuple[str, Visitor | None]:
        """Give the token to a client; return it, and who has lost it.

        Raises
        ------
        Refused
            Another one has it, and `over` was not asked for.
        """
        lost = self._who if self._who is not None and self._who.client != who.client else None
        if lost is not None and not over:
            raise Refused(
                Why.CONTROL,
                f"{rig}: {lost.author} is in control; ask there, or take it over (over = true), which is noticed",
            )
        self._token, self._who = secrets.token_urlsafe(16), who
        return self._token, lost

    def check(self, token: str, who: Visitor, rig: str, command: str) -> None:
        """Refuse a client that is not in control: its token is another one, or was taken by another client.

        Raises
        ------
        Refused
        """
        if self._who is None:
            raise Refused(
                Why.CONTROL, f"{command} needs control of {rig}: `take` it first; no client has it"
            )
        if not self.is_of(token, who):
            what = "another token than yours" if token else "a token, and none was given"
            if self._is_token(token):
                what = "a token of your own, and yours was given to another client"
            raise Refused(
                Why.CONTROL, f"{command} needs {what}: {self.author} is in control of {rig}"
            )

    def is_of(self, token: str, who: Visitor) -> bool:
        """Decide if a client is in control, which it is on a new connection, too, once its old one has gone."""
        if self._who is None or not self._is_token(token):
            return False
        if who.client != self._who.client:
            is_same = (who.client.door, who.whose) == (self._who.client.door, self._who.whose)
            if not is_same or self._is_there(self._who.client):
                return False
            self._who = who
        return True

    def _is_token(self, token: str) -> bool:
        return bool(self._token) and secrets.compare_digest(token.encode(), self._token.encode())

    def drop(self) -> None:
        """Take the token out of use."""
        self._token, self._who = "", None
