"""A client of a service: requests in, answers out; values and notices that come meanwhile are kept for who asks."""

from __future__ import annotations

import contextlib
import os
import time
from collections import deque
from collections.abc import Callable
from typing import Any, Self

import msgspec

from io_bridge.doorway.caller import Caller
from io_bridge.doorway.keys import authorised, key_folder, own_pair
from io_bridge.doorway.local_socket import (
    IPC,
    DoorError,
    checked_endpoint,
    found_endpoint,
    services,
)
from rig_configs.mistakes import near
from rigloop.protocol import requests as asked
from rigloop.protocol.answers import (
    ANSWERS,
    Notice,
    RawAnswer,
    Refusal,
    RigStatus,
    Values,
    Why,
)
from rigloop.protocol.codec import decoded, encoded, read_message
from rigloop.protocol.limits import PROTOCOL

TIMEOUT_S = 10.0
HELLO_TIMEOUT_S = 5.0
KEPT = 10_000  # values and notices that nobody has asked for


class ServiceError(RuntimeError):
    """A service refused, or is not there; `why` is the kind of the refusal."""

    def __init__(self, words: str, why: Why | None = None) -> None:
        super().__init__(words)
        self.why = why


class ServiceClient:
    """A connection to a service; use as a context manager.

    Parameters
    ----------
    service : str
        Name of a service of this user, or an endpoint, `ipc://PATH` or `tcp://HOST:PORT`.
    name : str, optional
        Who asks, in the journal; by default user and process.
    key : str, optional
        Name of the service's key, of those that `rigloop keys list` has; needed over TCP where there are several.

    Raises
    ------
    ServiceError
        There is none, or it does not let this client in.
    """

    def __init__(self, service: str, name: str = "", *, key: str = "") -> None:
        self.endpoint = _endpoint(service)
        self._number = 0
        self._ahead_ns: int | None = None  # of the service's clock
        self._is_open = True
        self._values: deque[Values] = deque(maxlen=KEPT)
        self._notices: deque[Notice] = deque(maxlen=KEPT)
        try:
            self._caller = _connected(self.endpoint, key)
        except DoorError as error:
            raise ServiceError(str(error)) from None
        try:
            self.hello = self.ask(
                asked.Hello, timeout_s=HELLO_TIMEOUT_S, name=name[:64] or _own_name()
            )
        except TimeoutError:
            self.close()
            remedy = (
                "is there a service, and has it authorised your key (`rigloop keys list`)?"
                if not self.is_local
                else "has it been stopped?"
            )
            raise ServiceError(f"{self.endpoint}: no answer: {remedy}") from None
        except ServiceError:
            self.close()
            raise
        self._ahead_ns = self.hello.monotonic_ns - time.monotonic_ns()

    @property
    def is_local(self) -> bool:
        """True: the service is on this machine, and its tables can be read."""
        return self.endpoint.startswith(IPC)

    def ask(
        self, command: type[asked.Request], *, timeout_s: float = TIMEOUT_S, **keys: Any
    ) -> Any:
        """Send a request and return its answer; one that the service finds after the timeout, it does not do.

        Raises
        ------
        ServiceError
            It was refused, or the service has ended meanwhile.
        TimeoutError
            There was no answer.
        """
        self._number += 1
        number = self._number
        if self._ahead_ns is not None:
            # what waits in a socket while the service stands still, or is out of reach, must not be done at any time
            keys["until_ns"] = time.monotonic_ns() + self._ahead_ns + round(1e9 * timeout_s)
        self._caller.send(encoded(command(protocol=PROTOCOL, id=number, **keys)))
        found = self._until(lambda m: isinstance(m, RawAnswer) and m.id == number, timeout_s)
        if found is None:
            raise TimeoutError(
                f"{self.endpoint}: no answer within {timeout_s:g} s: the service hangs or has ended; "
                "see `rigloop service status`, and attach again"
            )
        assert isinstance(found, RawAnswer)
        kind = ANSWERS.get(command)
        return decoded(found.answer, kind) if kind is not None else None

    def status(self, rig: str = "") -> RigStatus:
        """Return the state of a rig; of the only one without a name.

        Raises
        ------
        ServiceError
            There is no such rig.
        """
        found = {one.rig: one for one in self.ask(asked.Status)}
        if not rig and len(found) == 1:
            return next(iter(found.values()))
        if rig not in found:
            raise ServiceError(f"rig = {rig!r}: {near(rig, found)}", Why.UNKNOWN)
        return found[rig]

    def values(self, timeout_s: float = 0.0) -> Values | None:
        """Return the oldest pushed values that were not asked for yet; None after a time."""
        if not self._values:
            self._until(lambda message: isinstance(message, Values), timeout_s)
        return self._values.popleft() if self._values else None

    def notices(self, timeout_s: float = 0.0) -> list[Notice]:
        """Return the notices since the last time; wait for one so long, if there is none."""
        if not self._notices:
            self._until(lambda message: isinstance(message, Notice), timeout_s)
        # and what else is there
        self._until(lambda message: False, 0.0)
        found = list(self._notices)
        self._notices.clear()
        return found

    def close(self) -> None:
        """Leave. Harmless when repeated."""
        if self._is_open:
            self._is_open = False
            with contextlib.suppress(DoorError):
                self._caller.send(encoded(asked.Bye(protocol=PROTOCOL, id=self._number + 1)))
            self._caller.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _until(
        self, is_it: Callable[[RawAnswer | Values | Notice], bool], timeout_s: float
    ) -> RawAnswer | Values | Notice | None:
        """Take messages in until one is it, which is returned; a refusal is raised."""
        until = time.monotonic() + timeout_s
        while True:
            try:
                raw = self._caller.receive(until - time.monotonic())
            except DoorError as error:
                raise ServiceError(str(error)) from None
            if raw is None:
                return None
            if not raw:
                continue
            try:
                message = read_message(raw)
            except msgspec.MsgspecError as error:
                raise ServiceError(
                    f"{self.endpoint}: no answer of this protocol: {error}"
                ) from None
            if isinstance(message, Refusal):
                if message.id in (0, self._number):
                    raise ServiceError(message.words, message.why)
                continue
            if isinstance(message, Values):
                self._values.append(message)
            elif isinstance(message, Notice):
                self._notices.append(message)
            if is_it(message):
                return message


def _endpoint(service: str) -> str:
    try:
        return checked_endpoint(service) if "://" in service else found_endpoint(service)
    except DoorError as error:
        raise ServiceError(str(error)) from None


def only_service() -> str:
    """Return the name of the only service of this user.

    Raises
    ------
    ServiceError
        There is none, or there are several.
    """
    found = services()
    if len(found) != 1:
        what = ", ".join(found) if found else "`rigloop serve RIG` starts one"
        raise ServiceError(f"{len(found)} services of yours are there, name one: {what}")
    return found[0]


def _connected(endpoint: str, key: str) -> Caller:
    if endpoint.startswith(IPC):
        return Caller(endpoint)
    folder = key_folder()
    pair, known = own_pair(folder), authorised(folder)
    if not key and len(known) == 1:
        key = next(iter(known))
    if key not in known:
        raise DoorError(
            f"{endpoint}: which key has the service? name one: {', '.join(known) or '`rigloop keys authorise`'}"
        )
    return Caller(endpoint, pair, known[key])


def _own_name() -> str:
    return f"{os.environ.get('USER', f'user {os.getuid()}')[:40]}, process {os.getpid()}"
