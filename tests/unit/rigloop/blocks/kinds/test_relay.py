"""The relay: sign of the angle times h, whatever the angle is."""

import math

import numpy as np
import pytest

from rigloop.blocks.kinds.relay_step import Relay
from rt_core.loop.offline import Offline
from rt_core.plan import Task, plan_table

READS = {"angle_rad": "in/angle_rad"}


def run(angles):
    """Step a relay of 2.5 Nm over angles; return torque and fault of each cycle."""
    task = Task("slow", [Relay(2.5, "relay", READS)], 1000, inputs=("in/angle_rad",))
    offline = Offline(plan_table([task]))
    n = len(angles)
    images = offline.run("slow", np.arange(n) * 1000, forced={"in/angle_rad": np.array(angles)})
    paths = offline.paths("slow")
    return (images["slow"][:, paths.index(p)] for p in ("relay/torque_nm", "loop/slow/fault"))


def test_torque_has_the_sign_of_the_angle_and_zero_counts_as_positive():
    torque, fault = run([0.3, 1e-300, 0.0, -0.0, -1e-300, -7.0])
    assert np.array_equal(torque, [2.5, 2.5, 2.5, 2.5, -2.5, -2.5])
    assert not fault.any()


def test_an_angle_that_is_no_number_gives_no_torque_and_a_fault():
    torque, fault = run([0.3, math.nan, math.inf, -math.inf, -0.1])
    assert np.array_equal(torque, [2.5, 0.0, 0.0, 0.0, -2.5])
    assert np.array_equal(fault != 0, [False, True, True, True, False])


def test_what_is_wrong_is_told_at_once():
    with pytest.raises(ValueError, match=r"torque_nm = -1\.0.*no such read port angle"):
        Relay(-1.0, "relay", {"angle": "a/b"})
    with pytest.raises(ValueError, match="torque_nm = nan"):
        Relay(math.nan, "relay", READS)
