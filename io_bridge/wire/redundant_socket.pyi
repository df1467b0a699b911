import socket

from io_bridge.wire.link import Link

class RedundantSocket(Link):
    def __init__(
        self, first: socket.socket, second: socket.socket, *, poll: bool = False
    ) -> None: ...
    def close(self) -> None: ...

def open_lines(first: str, second: str, *, poll: bool = False) -> RedundantSocket: ...
