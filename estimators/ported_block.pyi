from collections.abc import Iterable, Sequence
from typing import Any

def wrong_ports(
    reads: Iterable[str],
    writes: Iterable[str],
    read_ports: Iterable[str],
    write_ports: Iterable[str],
) -> list[str]: ...

class WiredBlock:
    name: str
    reads: dict[str, str]
    writes: dict[str, str]
    read_ports: tuple[str, ...]
    write_ports: tuple[str, ...]
    def bind(self, reads: Sequence[int], writes: Sequence[int]) -> None: ...
    def capsule(self) -> Any: ...

class PortedBlock(WiredBlock): ...

def not_positive(**values: float) -> list[str]: ...
