from collections.abc import Sequence
from typing import Any

class BusyBlock:
    """Burn `burn_ns` of wall time by spinning, in the steps `first`, `first + every`, ...

    Writes `<name>/burned_ns`.

    Real time
    ---------
    Safe: bounded by `burn_ns`. More than the period makes the task overrun, which is what it is
    for.
    """

    name: str
    reads: dict[str, str]
    writes: dict[str, str]

    def __init__(self, name: str, burn_ns: int, *, every: int = 1, first: int = 0) -> None: ...
    def bind(self, reads: Sequence[int], writes: Sequence[int]) -> None: ...
    def capsule(self) -> Any: ...
