from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

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
def one_each(
    key: str, value: ArrayLike, count: int, mistakes: list[str]
) -> NDArray[np.float64]: ...
def gate_mistakes(gate_sigma: float, gate_patience: int) -> list[str]: ...
