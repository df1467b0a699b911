from collections.abc import Sequence
from typing import NamedTuple

from _typeshed import ReadableBuffer

class WireDatagram(NamedTuple):
    command: int
    index: int
    address: int
    data: bytes
    wkc: int = 0

def build(datagrams: Sequence[WireDatagram]) -> bytes: ...
def parse(frame: ReadableBuffer) -> list[WireDatagram]: ...
