from collections.abc import Mapping, Sequence
from typing import Any

READS: tuple[str, ...]
WRITES: tuple[str, ...]
FAULTS: dict[int, str]

class Relay:
    """Torque `+torque_nm` where the angle is zero or more, `-torque_nm` where it is below.

    It stands behind the model in the simulation task: the model is stepped, its torque is not used.
    An angle that is not finite gives no torque and a fault.

    Parameters
    ----------
    torque_nm : float
        Above 0.
    name : str
    reads, writes : mapping of port to signal path
        `angle_rad`; `torque_nm`.

    Raises
    ------
    ValueError
        With everything that is wrong.

    Real time
    ---------
    Safe: one comparison.

    Source
    ------
    Latency test of a steering-wheel HIL rig, ECCOMAS Multibody Dynamics 2015: tau = h if theta >= 0,
    else -h.
    """

    name: str
    reads: dict[str, str]
    writes: dict[str, str]

    def __init__(
        self,
        torque_nm: float,
        name: str,
        reads: Mapping[str, str],
        writes: Mapping[str, str] | None = None,
    ) -> None: ...
    def bind(self, reads: Sequence[int], writes: Sequence[int]) -> None: ...
    def capsule(self) -> Any: ...
