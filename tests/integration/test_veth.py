"""Real frames on a veth pair: pysoem brings the emulated drive to OP, our own frame runs beside
it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from io_bridge import namespace

pytest.importorskip("pysoem")
pytestmark = [
    pytest.mark.netns,
    pytest.mark.skipif(namespace.why_not() is not None, reason=str(namespace.why_not())),
]
SCENARIOS = Path(__file__).with_name("veth_scenarios.py")
TURN = 2**20


@pytest.fixture
def scenario(tmp_path):
    def run(name):
        command = namespace.wrap([sys.executable, str(SCENARIOS), name, str(tmp_path)])
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, env=os.environ)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout.splitlines()[-1])

    return run


def test_torque_turns_the_wheel_and_close_leaves_none(scenario):
    found = scenario("torque_turns_the_wheel")
    seen = found["seen"]
    assert found["codes"] == [0]
    assert found["faults"] == []
    assert found["valid"] == 1.0
    assert seen["wkc"] == seen["wkc_expected"] == 3.0
    assert seen["drive/al_state"] == 8
    assert seen["drive/operational"] == 1
    assert seen["drive/torque_actual_nm"] == pytest.approx(0.5, abs=0.00637)
    # 0.5 Nm on 0.06 kg m2 for some 0.4 s against 0.1 Nm of friction: well over a tenth of a turn,
    # at rest before
    assert found["rest"] == 0
    assert seen["drive/position_count"] > 0.05 * TURN
    assert seen["drive/velocity_count_s"] > 0
    assert found["segment"][-1] == "drive 0: INIT, 0.000 Nm"


def test_a_dead_segment_makes_inputs_invalid_but_never_zero(scenario):
    found = scenario("segment_dies")
    assert found["before"] != 0
    assert found["after"] == found["before"]
    assert found["valid"] == found["wkc"] == 0
    assert found["lost"] == 6
    assert found["codes"] == [0, 0, 2, 2, 2, 2]
    assert "frames lost or late beyond the limit" in found["faults"]


def test_a_silent_master_is_answered_by_the_slave_watchdog(scenario):
    found = scenario("master_falls_silent")
    assert found["enabled"] == 1
    assert found["silent"] == {
        "al_state": 0x14,
        "al_code": 0x1B,
        "operational": 0,
        "torque_actual_nm": 0,
        "statusword": 0x08,
    }
    assert found["codes"][-1] == 5
    assert any("0x001b process data watchdog" in text for text in found["faults"])
    # brought up and reset again it works as before
    assert found["again"] == 1
    assert found["codes_after"][-1] == 0
    assert found["segment"][-1] == "drive 0: INIT, 0.000 Nm"


def test_an_empty_wire_is_named_at_once(scenario):
    found = scenario("nobody_answers")
    assert found["error"] == "veth0: no slave answers, the rig has 1"
    assert found["s"] < 3.0


def test_a_foreign_drive_is_refused_with_every_difference(scenario):
    found = scenario("wrong_drive")
    for field in ("vendor", "product", "revision"):
        assert field in found["error"]
    assert found["segment"][-1] == "drive 0: INIT, 0.000 Nm"


def test_sdo_traffic_does_not_disturb_the_cycle(scenario):
    found = scenario("sdo_beside_the_cycle")
    assert found["answers"] == [6370]
    assert found["name"] == "rigloop simulated CiA 402 drive"
    assert found["cycles"] > 50
    assert found["lost"] == 0
    assert found["valid"] == 1


def test_two_drives_keep_their_own_data(scenario):
    seen = scenario("two_drives")["seen"]
    assert seen["drive0/position_count"] / TURN == pytest.approx(0.1 / 6.283185307, abs=1 / TURN)
    assert seen["drive1/position_count"] / TURN == pytest.approx(-0.2 / 6.283185307, abs=1 / TURN)
    assert seen["wkc"] == seen["wkc_expected"] == 6


def test_a_cycle_that_stands_still_is_replaced_by_the_watchdog(scenario):
    found = scenario("a_cycle_that_stands_still")
    assert found["pushed"] > 0.9
    assert found["stall"]["sent"] >= 20
    # not the drive's own watchdog, which would have taken it out of OP
    assert found["segment"][-1] == "drive 0: OP, 0.000 Nm"
