from collections.abc import Mapping

from rt_core.cycle_block import CycleBlock

READS: tuple[str, ...]
WRITES: tuple[str, ...]
FAULTS: dict[int, str]

class Relay(CycleBlock):
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
        The torque is not a positive number, or a port is wrong: all mistakes in one message.

    Real time
    ---------
    Safe: one comparison.

    Source
    ------
    Latency test of a steering-wheel HIL rig, ECCOMAS Multibody Dynamics 2015: tau = h if theta >= 0,
    else -h.
    """

    def __init__(
        self,
        torque_nm: float,
        name: str,
        reads: Mapping[str, str],
        writes: Mapping[str, str] | None = None,
    ) -> None: ...
