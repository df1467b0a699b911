"""Report changes of the cables of an emulated segment, and wait for a link that goes down."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Sequence

from io_bridge.host.ethtool import has_link

LOOK_S = 0.05


class LineWatch:
    """Looks at interfaces now and then.

    Parameters
    ----------
    interfaces : sequence of str
    say : callable
        Gets a line when a link goes down or comes up.

    Raises
    ------
    OSError
        There is no such interface.
    """

    def __init__(self, interfaces: Sequence[str], say: Callable[[str], None]) -> None:
        self._index = {name: socket.if_nametoindex(name) for name in interfaces}
        self._up = dict.fromkeys(interfaces, True)
        self._say = say
        self._next_s = 0.0

    def look(self) -> None:
        """Report changes; at most every `LOOK_S`.

        Raises
        ------
        OSError
            Every interface is gone, not only down.
        """
        if time.monotonic() < self._next_s:
            return
        self._next_s = time.monotonic() + LOOK_S
        there = [name for name in self._index if self._is_there(name)]
        if not there:
            raise OSError(f"interface {' and '.join(map(repr, self._index))} is gone")
        for name in there:
            up = has_link(name) is not False
            if up != self._up[name]:
                self._up[name] = up
                self._say(
                    f"interface {name!r}: link is up again"
                    if up
                    else f"interface {name!r}: link is down; waiting for it"
                )

    def _is_there(self, name: str) -> bool:
        try:
            # one that was made again under the same name is another one: no frame of it arrives here
            return socket.if_nametoindex(name) == self._index[name]
        except OSError:
            return False
