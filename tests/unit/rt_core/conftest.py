"""The guard as the loop steps it, over histories of its inputs."""

import numpy as np
import pytest

from rt_core.loop.offline import Offline
from rt_core.plan import Task, plan_table
from rt_core.safety.guard import READS, Guard
from rt_core.safety.trips import GuardConfig

PERIOD_NS = 200_000
PATHS = {port: f"in/{port}" for port in READS}
N = 300
CONFIG = GuardConfig(
    limit_nm=10, rate_nm_s=10_000, max_angle_rad=8, max_rate_rad_s=40,
    ramp_in_s=0.002, ramp_out_s=0.002, heartbeat_timeout_ms=4,
    # of 200 us: 15, 3, 5, 25 and 10 cycles
    max_request_age_ms=3, request_hold_ms=0.6, sensor_hold_ms=1, max_gap_ms=5,
    sensor_bucket_ms=2, skip_bucket_ms=2, request_period_ms=1,
)  # fmt: skip


@pytest.fixture
def config():
    """Limits of 15, 3, 5, 25 and 10 cycles: request age, request hold, sensor hold, gap, buckets."""
    return CONFIG


@pytest.fixture
def inputs():
    """A healthy rig, armed in cycle 10, that asks for 5 Nm."""
    cycle = np.arange(1.0, N + 1)
    columns = dict.fromkeys(READS, 0.0) | {
        "torque_request_nm": 5.0,
        "request_cycle": cycle // 5 + 1,
        "own_cycle": cycle,
        "elapsed": 1.0,
        "sensor_valid": 1.0,
        "actuator_ready": 1.0,
        "delivered": 1.0,
        "heartbeat": cycle,
        "arm": cycle > 10,
    }
    return {port: np.full(N, column, float) for port, column in columns.items()}


@pytest.fixture
def run():
    """Step a guard over its inputs; return what it writes, by port. `periods`: number of each cycle's period."""

    def step(inputs, config=CONFIG, periods=None):
        guard = Guard(config, period_ns=PERIOD_NS, reads={port: PATHS[port] for port in inputs})
        task = Task("fast", [guard], PERIOD_NS, inputs=tuple(PATHS[port] for port in inputs))
        offline = Offline(plan_table([task]))
        forced = {PATHS[port]: column for port, column in inputs.items()}
        periods = np.arange(N) if periods is None else periods
        image = offline.run("fast", PERIOD_NS * periods, forced=forced)["fast"]
        paths = offline.paths("fast")
        return {port: image[:, paths.index(path)] for port, path in guard.writes.items()}

    return step
