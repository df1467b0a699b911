from collections.abc import Sequence
from dataclasses import dataclass

from _typeshed import ReadableBuffer

@dataclass(frozen=True)
class WireDatagram:
    command: int
    index: int
    address: int
    data: bytes
    wkc: int = 0

def build(datagrams: Sequence[WireDatagram]) -> bytes: ...
def parse(frame: ReadableBuffer) -> list[WireDatagram]: ...
