from collections.abc import Mapping

from numpy.typing import ArrayLike

from rt_core.cycle_block import CycleBlock

READS: tuple[str, ...]
WRITES: tuple[str, ...]

class Player(CycleBlock):
    """A torque over time, one value a cycle, and a spring about the angle at which the take began.

    It begins as soon as `play` is another positive number than before; before and after it asks for zero. Cycles that
    are missed are left out of it, so that no torque lasts longer than it was meant to. The spring has the timing of a
    model in a slower task: it is computed every `hold` cycles and acts one hold later.

    Parameters
    ----------
    name : str
    reads : mapping of port to signal path
        `position_count` of the drive, `play`: the number of the take, `elapsed`: periods since the last cycle. It
        writes `torque_nm`, `angle_rad` since the take began, `rate_rad_s`, and `at`: the cycles that are over.
    counts_per_rev : int
    period_ns : int
    hold : int
    room : int
        Cycles of the longest take.

    Raises
    ------
    ValueError
        Other ports, or a number below 1.

    Real time
    ---------
    Safe: `load` is for other threads, while nothing is played.
    """

    def __init__(
        self,
        name: str,
        reads: Mapping[str, str],
        *,
        counts_per_rev: int,
        period_ns: int,
        hold: int = 1,
        room: int = ...,
    ) -> None: ...
    def load(
        self, profile_nm: ArrayLike, *, stiffness_nm_rad: float = 0.0, damping_nms: float = 0.0
    ) -> None:
        """Take the torques of the next take, shape (n,), and its spring."""
