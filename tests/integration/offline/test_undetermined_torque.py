"""A torque that a pose does not determine, through kernel, guard and master: at most two steps stand in for it, then
the guard holds and the drive is sent zero.
"""

import math
import struct

import numpy as np
import pytest

from codegen.description.builder import MechanismBuilder
from codegen.kernels.build import build_kernel
from io_bridge.buses.simulated_bus import SimulatedBus
from io_bridge.slaves.drive_config import DriveConfig, DrivePlant
from io_bridge.wire.frame import parse
from rt_core.loop.offline import Offline
from rt_core.plan import Task, plan_table
from rt_core.safety.guard import READS, Guard
from rt_core.safety.trips import GuardConfig, State, Trip

STEP_NS = 1_000_000
COMING, LONG = 200, 400  # steps until the crank is stretched, and in all
PORTS = {
    "torque_request_nm": "model/torque_n",
    "angle_rad": "model/guide/slider/position_m",
    "rate_rad_s": "model/guide/slider/rate_m_s",
}
HEALTHY = {
    "request_fault": 0.0, "own_fault": 0.0, "own_stop": 0.0, "elapsed": 1.0, "sensor_valid": 1.0,
    "actuator_ready": 1.0, "stop": 0.0,
}  # fmt: skip
LIMITS = GuardConfig(
    limit_nm=6.0, rate_nm_s=10_000.0, max_angle_rad=8.0, max_rate_rad_s=40.0, ramp_in_s=0.002, ramp_out_s=0.005,
    request_hold_ms=3.0, request_period_ms=1.0,
)  # fmt: skip


def pushed_crank():
    """A crank of 0.1 m and a rod of 0.3 m whose slider is guided: stretched, nothing says how hard to push."""
    made = MechanismBuilder("pushed_crank", gravity_m_s2=(0, -9.81, 0))
    made.distance("slider", initial_m=0.38)
    y = 0.1 * math.sin(math.acos((0.1**2 + 0.38**2 - 0.3**2) / (2 * 0.1 * 0.38)))
    made.point("A", position_m=(math.sqrt(0.01 - y * y), y, 0), moves="xy")
    made.point("B", position_m=(0.38, 0, 0), moves="x")
    made.slide("slider", point="B", start_m=(0, 0, 0), along=(1, 0, 0), by="slider")
    made.constant_distance("crank", points=[(0, 0, 0), "A"]).uniform_rod(
        "crank", points=[(0, 0, 0), "A"], mass_kg=1.0
    )
    made.constant_distance("rod", points=["A", "B"]).uniform_rod(
        "rod", points=["A", "B"], mass_kg=0.5
    )
    made.guide("slider", coordinate="slider").output("torque_n", "guide.slider.reaction")
    return made.output("open", "guide.slider.reaction.undetermined")


def sent_permille(link):
    """Target torque of each frame."""
    return [
        struct.unpack_from("<Hh", datagram.data)[1]
        for frame in link.caught_frames()
        for datagram in parse(frame)
        if datagram.command == 11  # LWR
    ]


@pytest.fixture(scope="module")
def stretched(tmp_path_factory):
    """Columns of a run in which the crank comes to rest where it is stretched, and what was sent."""
    module = build_kernel(pushed_crank().save(tmp_path_factory.mktemp("crank"))).module
    named = [
        {port: f"model/{port}" for port in ports}
        for ports in (module.READ_PORTS, module.WRITE_PORTS)
    ]
    kernel = module.Kernel("model", *named)
    guard = Guard(
        LIMITS,
        period_ns=STEP_NS,
        reads={port: PORTS.get(port, f"in/{port}") for port in READS},
    )
    paths = {"drive/torque_nm": "guard/torque_nm", "drive/enable": "in/enable"}
    bus = SimulatedBus([DrivePlant(hands="free")], [DriveConfig()], paths=paths)
    bus.to_op()
    blocks = [kernel, guard, bus.block()]
    own = {path for block in blocks for path in block.writes.values()}
    given = {path for block in blocks for path in block.reads.values()} - own
    offline = Offline(plan_table([Task("fast", blocks, STEP_NS, inputs=tuple(sorted(given)))]))
    k = np.arange(1.0, LONG + 1)
    left = np.maximum(0.0, 1.0 - k / COMING)
    rate = 1e3 / COMING
    forced = {path: np.zeros(LONG) for path in given} | {
        "model/guide/slider/position_m": 0.4 - 0.02 * left**3,
        "model/guide/slider/rate_m_s": 0.06 * rate * left**2,
        "model/guide/slider/acceleration_m_s2": -0.12 * rate**2 * left,
        "in/enable": np.ones(LONG),
    }
    forced |= {f"in/{port}": np.full(LONG, value) for port, value in HEALTHY.items()}
    forced |= {f"in/{port}": k for port in ("request_cycle", "own_cycle", "heartbeat")}
    forced["in/arm"] = (k > 20).astype(float)
    bus.link.catch_frames()
    image = offline.run("fast", np.arange(LONG) * STEP_NS, forced=forced)["fast"]
    columns = dict(zip(offline.paths("fast"), image.T, strict=True))
    return columns, sent_permille(bus.link)


def test_a_torque_that_nothing_determines_is_held_twice_and_then_no_number(stretched):
    columns, _ = stretched
    asked, blind = columns["model/torque_n"], columns["model/open"]
    first = int(np.flatnonzero(blind)[0])
    assert COMING / 2 < first < COMING + 5
    assert np.all(np.isfinite(asked[: first + 2]))
    assert np.all(asked[first : first + 2] == asked[first - 1])
    assert np.all(np.isnan(asked[blind > 2]))
    # the crank stays stretched to the end
    assert blind[-1] > LONG - COMING - 10


def test_the_guard_holds_then_trips_and_the_drive_is_sent_zero(stretched):
    columns, sent = stretched
    wrong = int(np.flatnonzero(np.isnan(columns["model/torque_n"]))[0])
    state, torque_nm = columns["guard/state"], columns["guard/torque_nm"]
    assert state[wrong - 1] == State.RUNNING
    assert torque_nm[wrong - 1] != 0.0
    assert state[wrong] == State.HOLD
    assert columns["guard/trip"][-1] == Trip.REQUEST_NOT_FINITE
    assert np.all(np.isfinite(torque_nm))
    zero = wrong + 4 + LIMITS.cycles_to_zero(1e-3)
    assert not np.any(torque_nm[zero:])
    # the same in the bytes: one frame a cycle, torque while it was armed, none at the end
    assert len(sent) == LONG
    assert any(sent[:wrong])
    assert not any(sent[zero:])
