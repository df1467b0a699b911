"""The gatekeeper of a TCP door: a connection is let in if its key is among those that are authorised now."""

from __future__ import annotations

import time
from collections import deque
from pathlib import Path

import zmq
from zmq.auth.thread import ThreadAuthenticator

from io_bridge.doorway.keys import authorised

DOMAIN = "rigloop"
KEPT_S = 0.5  # a key that was revoked is let in no longer than this
MOST_STRANGERS = 100  # that nobody has asked for yet


class Gatekeeper:
    """Answers ZeroMQ in a thread of its own; use as a context manager around the life of the door's sockets.

    Parameters
    ----------
    context : Context
        Of the door.
    folder : Path
        Of the keys.
    """

    def __init__(self, context: zmq.Context[zmq.Socket[bytes]], folder: Path) -> None:
        self._folder = folder
        self._read_at = -KEPT_S
        self._names: dict[str, str] = {}
        self._strangers: deque[str] = deque(maxlen=MOST_STRANGERS)
        self._authenticator = ThreadAuthenticator(context)

    def __enter__(self) -> Gatekeeper:
        self._authenticator.start()
        self._authenticator.configure_curve_callback(DOMAIN, credentials_provider=self)
        return self

    def __exit__(self, *error: object) -> None:
        self._authenticator.stop()

    def callback(self, domain: str, key: bytes) -> bool:
        """Decide if a key comes in; the library asks."""
        is_known = self.name_of(key.decode()) is not None
        if not is_known:
            self._strangers.append(key.decode())
        return is_known

    def strangers(self) -> list[str]:
        """Return the keys that were not let in since the last time, the newest ones."""
        found = []
        while self._strangers:
            found.append(self._strangers.popleft())
        return found

    def name_of(self, key: str) -> str | None:
        """Return whose key it is; None: nobody's who is authorised now."""
        now = time.monotonic()
        if now - self._read_at >= KEPT_S:
            try:
                names = {key: name for name, key in authorised(self._folder).items()}
            except OSError:
                # keys that others may write, or that cannot be read, let nobody in
                names = {}
            self._names, self._read_at = names, now
        return self._names.get(key)
