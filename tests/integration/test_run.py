"""A live run from the command line: what it leaves, and what the torque does."""

import numpy as np
import pytest

from io_bridge.recording.record import open_record
from rigloop.run_folder.manifest import read_manifest, read_timing
from rt_core.safety.trips import State

HOLD_DEG = 30.0


@pytest.fixture(scope="module")
def estimation(good_run):
    return open_record(good_run.folder / "estimation.npy")


@pytest.fixture(scope="module")
def simulation(good_run):
    return open_record(good_run.folder / "simulation.npy")


def test_exits_good_and_says_so(good_run):
    assert good_run.code == 0, good_run
    assert good_run.outcome["good"] is True
    assert "rights" in {figure[0] for figure in good_run.outcome["figures"]}


def test_manifest_is_valid_and_agrees_with_the_records(good_run, estimation, simulation):
    manifest = read_manifest(good_run.folder)
    assert (manifest.kind, manifest.verdict) == ("live", "good")
    assert manifest.duration_s >= 1.0
    assert manifest.tasks["estimation"].cycles == len(estimation)
    assert manifest.tasks["simulation"].cycles == len(simulation)
    assert manifest.tasks["estimation"].dropped == manifest.tasks["simulation"].dropped == 0
    assert manifest.rig.name == "steering"
    assert [kernel.name for kernel in manifest.kernels] == ["steering"]
    assert manifest.real_time is all(right.held for right in manifest.rights if right.needed)
    timing = read_timing(good_run.folder)
    assert sum(timing["estimation"]["late"].counts) == len(estimation)


def test_folder_has_the_report_and_nothing_half_written(good_run):
    names = {path.name for path in good_run.folder.iterdir()}
    assert names >= {"rig.toml", "manifest.json", "timing.json", "report.html", "recorder.json"}
    assert not [name for name in names if name.startswith(".")]
    page = (good_run.folder / "report.html").read_text()
    assert page.rstrip().endswith("</html>")
    assert "<svg" in page


def test_records_have_every_cycle_and_nominal_time(estimation, simulation):
    for record, task, period_ns in (
        (estimation, "estimation", 200_000),
        (simulation, "simulation", 1_000_000),
    ):
        cycle = record[f"loop/{task}/cycle"]
        assert np.array_equal(cycle, np.arange(1, len(record) + 1))
        assert np.all(record["t_ns"] % period_ns == 0)
        # time goes on by as many periods as the cycle says, skipped ones counted
        assert np.array_equal(
            np.diff(record["t_ns"]), period_ns * record[f"loop/{task}/elapsed"][1:]
        )


def test_angle_follows_the_hands(estimation):
    angle = estimation["wheel/angle_rad"]
    # the hands swing 60 degrees in 3.3 s, from rest; a good second is between a tenth and the whole of it
    assert np.radians(6) < np.max(np.abs(angle)) < np.radians(66)
    count = estimation["bus/wheel/position_count"]
    valid = estimation["wheel/trusted"] > 0.5
    # at no time is the filter further from the encoder than a degree
    error = angle - count * 2 * np.pi / 2**20
    assert np.max(np.abs(error[valid])) < np.radians(1)


def test_torque_is_zero_before_arming_and_after_the_end(estimation):
    torque, state = estimation["guard/torque_nm"], estimation["guard/state"]
    armed = np.flatnonzero(state == State.RUNNING)
    assert armed[0] > 0
    assert not np.any(torque[: armed[0]])
    assert torque[-1] == 0.0
    assert state[-1] in (State.INIT, State.READY)
    # at rest for two cycles at least, so that a frame with zero torque has left
    assert not np.any(torque[-2:])
    assert np.max(np.abs(torque)) > 0.2


def test_torque_obeys_limit_and_rate(estimation):
    torque = estimation["guard/torque_nm"]
    assert np.max(np.abs(torque)) <= 12.0
    # 2000 Nm/s in 200 us, and the rounding of a sum
    assert np.max(np.abs(np.diff(torque))) <= 0.4 * (1 + 1e-12)


def test_drive_gives_the_torque_that_it_is_told(estimation):
    told, given = estimation["guard/torque_nm"], estimation["bus/wheel/torque_actual_nm"]
    steady = estimation["guard/state"] == State.RUNNING
    # one command in a thousand of 6.37 Nm, a lag of 0.5 ms plus a cycle or a gap, at some 20 Nm/s
    error = np.abs(told - given)[steady]
    assert np.median(error) < 0.1
    assert np.corrcoef(told[steady], given[steady])[0, 1] > 0.99


@pytest.mark.slow
@pytest.mark.parametrize("side", [1, -1], ids=["left", "right"])
def test_motor_pushes_a_held_wheel_back_to_the_centre(make_rig, run_to_end, tmp_path, side):
    # the hands take two seconds to their farthest angle and stay near it for one
    rig = make_rig(
        {
            "blocks.bus.drives.wheel.plant.amplitude_deg": f"{side * HOLD_DEG}",
            "blocks.bus.drives.wheel.plant.frequency_hz": "0.125",
        }
    )
    done = run_to_end(rig, tmp_path, "--for", "2")
    assert done.code == 0, done
    record = open_record(done.folder / "estimation.npy")
    held = (
        (record["guard/ramp"] == 1)
        & (np.abs(record["wheel/rate_rad_s"]) < 0.1)
        & (np.abs(record["wheel/angle_rad"]) > np.radians(HOLD_DEG / 2))
    )
    angle, torque = record["wheel/angle_rad"][held], record["guard/torque_nm"][held]
    assert len(angle) > 100
    assert np.all(side * angle > 0)
    assert np.all(side * torque < -0.5)
    # the hands hold against it: their torque has the other sign
    assert np.all(side * record["bus/wheel/sensor_torque_nm"][held] > 0)
