from collections.abc import Sequence
from typing import Any

class PortedBlock:
    name: str
    reads: dict[str, str]
    writes: dict[str, str]
    read_ports: tuple[str, ...]
    write_ports: tuple[str, ...]
    def bind(self, reads: Sequence[int], writes: Sequence[int]) -> None: ...
    def capsule(self) -> Any: ...

def not_positive(**values: float) -> list[str]: ...
