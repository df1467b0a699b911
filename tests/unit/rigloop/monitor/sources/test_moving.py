"""A mechanism on the page moves by its own kernel, whatever the coordinates of that are."""

import time

import numpy as np
import pytest

from codegen.description.mechanism import find, load, ports
from rigloop.monitor.sources.moving import Moving
from rigloop.protocol.description import DescribedMechanism


@pytest.mark.slow
def test_an_arm_that_steps_its_joints_moves_as_its_elbow_is_guided():
    reads, _ = ports(load("desk_arm"))
    described = DescribedMechanism(
        "arm", "desk_arm", find("desk_arm").read_text(), "simulation", {port: port for port in reads},
        {}, {"formulation": "articulated"}, {},
    )  # fmt: skip
    moving = Moving(described, 1000)
    deadline = time.monotonic() + 60.0
    while not moving.paths and not moving.problem and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not moving.problem
    before = moving.points()
    t = 1e-3 * np.arange(201)
    columns = {port: np.zeros(len(t)) for port in reads}
    columns["guide/elbow/position_rad"] = 0.5 * t * t * 10.0
    columns["guide/elbow/rate_rad_s"] = 10.0 * t
    columns["guide/elbow/acceleration_rad_s2"] = 10.0 + 0.0 * t
    moving.step(columns, again=True)
    after = moving.points()
    assert after.shape == before.shape
    # 0.2 rad of a forearm with hand that reach 0.38 m
    assert 0.03 < np.max(np.linalg.norm(after - before, axis=1)) < 0.15
    moving.close()
