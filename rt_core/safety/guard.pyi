from collections.abc import Mapping
from enum import IntEnum

from rt_core.cycle_block import CycleBlock
from rt_core.safety.trips import GuardConfig

MOST_OTHERS: int
OTHER: str
OPTIONAL: tuple[str, ...]
READS: tuple[str, ...]
WRITES: tuple[str, ...]

class State(IntEnum):
    """State of the guard; the torque is exactly zero in INIT, READY and FAULT."""

    INIT = 0
    READY = 1
    RUNNING = 2
    HOLD = 3
    STOPPING = 4
    FAULT = 5

class Reaction(IntEnum):
    """To a trip: none, ramp out and latch, or zero at once and latch."""

    NONE = 0
    RAMP = 1
    SAFE = 2

class Trip(IntEnum):
    """Reasons for a fault; `rt_core.safety.trips.TRIPS` has the words."""

    NO_TRIP = 0
    ACTUATOR_LOST = 1
    OWN_FAULT = 2
    REQUEST_FAULT = 3
    REQUEST_STALE = 4
    REQUEST_NOT_FINITE = 5
    SENSOR_LOST = 6
    SENSOR_FLICKERS = 7
    ANGLE_LIMIT = 8
    RATE_LIMIT = 9
    TIME_GAP = 10
    OVERRUNS_MANY = 11
    HEARTBEAT_LOST = 12
    OTHER_TRIPPED = 13

def other_ports(other: str) -> tuple[str, str]:
    """Return the ports `with/OTHER/state` and `with/OTHER/trip`, by which the faults of another guard reach this
    one."""

class Guard(CycleBlock):
    """The last word on the torque: a block, last in the task that talks to the actuator.

    Ports read: `torque_request_nm`, `request_cycle` and `request_fault` (cycle
    counter and fault of the requesting task), `own_fault`, `own_cycle`, `elapsed` and `own_stop`
    (of the guard's own task), `sensor_valid`, `angle_rad`, `rate_rad_s`, `actuator_ready`,
    `heartbeat`, `arm` and `stop` (supervisor). `OPTIONAL` ones: `own_block` and `request_block` (which block
    failed), `delivered` (this cycle's frame reached the actuator; not wired: each does).
    Flags are true above 0.5; a NaN is always the bad value. Any number of other guards, up to `MOST_OTHERS`, by
    `other_ports`: this one ramps out with each that tripped on a cause of its own, and is not armed before it may be;
    then `trip_value` is the place of that one among them, from 1.

    Ports written: `torque_nm`, `state`, `safe` (1 when the output is zero and stays so until
    armed), `ramp` (0 to 1), `waits_for` (in INIT and FAULT: the trip code of the condition that fails),
    `trip`, `trip_value`, `trip_limit` (times in ms), `trip_cycle`, `trip_fault`, `trip_block`, `trip_delivered`
    (of the first trip since arming, with the fault of its task in that cycle).

    Effects at the hand, while the guard follows the request: `gap_ms` since the request was new
    that the acting command follows; `longest_gap_ms`, and the cycle in which it ended; `gap_step_nm`, the largest
    difference between the command wanted after a stretch that missed one and the torque acting in it, and its cycle;
    `active_ms`, of that `saturated_ms` with the request at the limit, `longest_saturated_ms` of it in one piece;
    `given_j`, the work of the torque on the hands minus theirs on it, slowly forgiven, and the largest it was.

    Arming takes a rising edge of `arm` in READY. After a FAULT, `arm` must go low while everything
    is good (back to READY) and rise again; the trip stays readable until then.

    Parameters
    ----------
    config : GuardConfig
    period_ns : int
        Of the task that the guard runs in.
    reads : mapping of port to signal path
    writes : mapping of port to signal path, optional
        Those that are not to be `<name>/<port>`.
    name : str

    Raises
    ------
    ValueError
        Every bad limit and every missing or unknown port, one a line.

    Real time
    ---------
    Safe: one loop over the other guards, no call.

    Source
    ------
    Leaky buckets as in LinuxCNC's hm2_eth (+2, -1), of time.
    """

    config: GuardConfig

    def __init__(
        self,
        config: GuardConfig,
        *,
        period_ns: int,
        reads: Mapping[str, str],
        writes: Mapping[str, str] | None = None,
        name: str = "guard",
    ) -> None: ...
