"""The gatekeeper of a TCP door: a connection is let in if its key is among those that are authorised now."""

from __future__ import annotations

import time
from pathlib import Path

import zmq
from zmq.auth.thread import ThreadAuthenticator

from io_bridge.doorway.keys import KeyFileError, authorised

DOMAIN = "rigloop"
KEPT_S = 0.5  # a key that was revoked is let in no longer than this


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
        self._authenticator = ThreadAuthenticator(context)

    def __enter__(self) -> Gatekeeper:
        self._authenticator.start()
        self._authenticator.configure_curve_callback(DOMAIN, credentials_provider=self)
        return self

    def __exit__(self, *error: object) -> None:
        self._authenticator.stop()

    def callback(self, domain: str, key: bytes) -> bool:
        """Decide if a key comes in; the library asks."""
        return self.name_of(key.decode()) is not None

    def name_of(self, key: str) -> str | None:
        """Return whose key it is; None: nobody's who is authorised now."""
        now = time.monotonic()
        if now - self._read_at >= KEPT_S:
            try:
                names = {key: name for name, key in authorised(self._folder).items()}
            except KeyFileError:
                # keys that others may write let nobody in
                names = {}
            self._names, self._read_at = names, now
        return self._names.get(key)
