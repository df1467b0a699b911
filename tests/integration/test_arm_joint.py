"""The rig of an imported arm: run, its hand's torque observed in joint coordinates, replayed to the bit."""

import json

import numpy as np
import pytest
from mechanisms.free_arm import HAND, JOINTS, write_free_arm

from codegen.description.mechanism import load
from io_bridge.recording.record import open_record
from rigloop.drawing.motion import motion_of_run
from rt_core.safety.trips import State

pytestmark = pytest.mark.slow

# the same arm with its elbow free: what moves it there is the torque that the guide of the other one needs
TOUCH = f"""
[blocks.touch]
kind = "observer"
mechanism = "free_arm.toml"
options = {{ formulation = "articulated" }}
independent = {list(JOINTS)}
unknown = ["{HAND}"]
acceleration_noise = {[1e-4] * 7}
start_std = {[1.0] * 7 + [5.0] * 7 + [20.0]}
# cycles that a busy machine loses are no reason to leave out samples
gate_sigma = 0.0

[blocks.touch.input_noise]
"{HAND}" = 20.0

[blocks.touch.reads]
"input/force/lift_servo/torque_nm" = "sway/y"
"""


@pytest.fixture(scope="module")
def run(make_rig, run_to_end, tmp_path_factory):
    """Two seconds, with the observer behind the arm."""
    rig = make_rig(
        {"tasks.simulation.blocks": '["sway", "arm", "touch"]'}, "arm", "arm_joint", "elbow"
    )
    write_free_arm(rig.parent)
    text = TOUCH + "".join(
        f'"input/force/{name}_servo/torque_nm" = "{name}/value"\n'
        for name in ("waist", "roll", "twist", "nod", "spin")
    )
    text += "".join(f'{name} = "arm/{name}/angle_rad"\n' for name in JOINTS)
    for name in JOINTS:
        text += f'[blocks.touch.sensors.{name}]\nkind = "encoder"\nangle = "{name}"\nstd = 3e-6\n'
    rig.write_text(rig.read_text() + text)
    return run_to_end(rig, tmp_path_factory.mktemp("runs"), "--for", "2")


def test_the_arm_runs_and_an_observer_of_its_joints_feels_the_hand(run):
    assert run.code == 0, run
    record = open_record(run.folder / "simulation.npy")
    assert not record["touch/status"].any()
    feels = open_record(run.folder / "estimation.npy")["guard/state"] == State.RUNNING
    assert feels.any()
    # the first samples move it from the pose of the file to where the arm is
    later = slice(len(record) // 4, None)
    true, found = record["arm/elbow/torque_nm"][later], record[f"touch/{HAND}"][later]
    assert np.ptp(true) > 0.2
    # each cycle that a busy machine loses is a kick of the guide, to either side; how well a torque is found without
    # these is for tests/unit/estimators/closed_loop/test_joint_angles.py
    assert abs(np.median(found - true)) < 0.25 * np.ptp(true)
    for name in JOINTS:
        gap = np.abs(record[f"touch/{name}_rad"] - record[f"arm/{name}/angle_rad"])[later]
        assert np.median(gap) < 1e-4


def test_it_replays_bit_for_bit(rigloop, run, tmp_path):
    done = rigloop("replay", run.folder, "--runs", tmp_path, "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    outcome = json.loads(done.stdout)
    assert outcome["reasons"][0].startswith("bit-equal to the live run")
    live = open_record(run.folder / "simulation.npy")
    again = open_record(f"{outcome['folder']}/simulation.npy")
    for port in (f"touch/{HAND}", "touch/elbow_rate_rad_s", "touch/nis", "arm/elbow/torque_nm"):
        assert np.array_equal(live[port], again[port])


def test_a_page_of_it_finds_where_its_bodies_are(run):

    # films and pages draw the file's coordinates, whatever the kernel steps
    mechanism = load("desk_arm")
    motion = motion_of_run(run.folder, mechanism, lambda done, total: None)
    elbow = mechanism.system.scalars["elbow"].index
    assert motion.q.shape[1] == len(mechanism.system.coordinates)
    assert np.ptp(motion.q[:, elbow]) > 0.05
