"""Wheel, brake and gas on one line: run, replayed, and one axis faulted, which reaches the others or does not."""

import json

import numpy as np
import pytest
from busy_machine import TOLERANT
from swaps import swapped

from io_bridge.recording.record import open_record
from rig_configs.load import find_rig
from rigloop.run_folder.manifest import read_manifest
from rt_core.safety.trips import State, Trip

pytestmark = pytest.mark.slow
GUARDS = ("wheel_guard", "brake_guard", "gas_guard")
RIG = find_rig("pedals_and_wheel").read_text()
GAS = 'reach = "group"\ngroup = "pedals"\nlimit_nm = 8.0'
SMALL = "max_angle_rad = 0.6\nmax_rate_rad_s = 40.0"


@pytest.fixture(scope="module")
def ran(run_to_end, tmp_path_factory):
    """Run the rig with its gas pedal limited to a twentieth of a radian, and this reach."""

    def run(reach, seconds="1", *options, at_rad="0.05"):
        text = swapped(RIG, *TOLERANT)
        head, gas = text.split("[blocks.gas_guard]")
        if reach is not None:
            gas = gas.replace('reach = "group"', f'reach = "{reach}"')
            gas = gas.replace("max_angle_rad = 0.6", f"max_angle_rad = {at_rad}")
        path = tmp_path_factory.mktemp("rig") / "axes.toml"
        path.write_text(head + "[blocks.gas_guard]" + gas)
        return run_to_end(path, tmp_path_factory.mktemp("runs"), "--for", seconds, *options)

    return run


@pytest.fixture(scope="module")
def good(ran):
    return ran(None, "1", "--report")


def test_three_axes_run_and_replay_bit_for_bit(good, rigloop, tmp_path):
    assert good.code == 0, good.outcome["reasons"]
    record = open_record(good.folder / "estimation.npy")
    for guard in GUARDS:
        assert np.any(record[f"{guard}/torque_nm"] != 0)
    done = rigloop("replay", good.folder, "--runs", tmp_path, "--json", "--no-report")
    assert done.returncode == 0, done.stdout
    assert json.loads(done.stdout)["reasons"][0].startswith("bit-equal to the live run")


def test_each_axis_is_judged_and_has_its_row_in_the_report(good):
    manifest = read_manifest(good.folder)
    assert list(manifest.axes) == list(GUARDS)
    assert {axis.drive for axis in manifest.axes.values()} == {"bus/wheel", "bus/brake", "bus/gas"}
    page = (good.folder / "report.html").read_text()
    for guard in GUARDS:
        assert manifest.axes[guard].felt.active_s > 0.5
        assert guard in page


def test_a_fault_with_the_reach_of_its_axis_leaves_the_others_alone(ran):
    run = ran("axis")
    why = run.outcome["reasons"]
    assert run.code == 1, why
    record = open_record(run.folder / "estimation.npy")
    assert np.any(record["gas_guard/trip"] == Trip.ANGLE_LIMIT), why
    # how many cycles come after it is the host's affair, that the others run on is the rig's
    ended = int(np.flatnonzero(record["gas_guard/state"] == State.FAULT)[0])
    for guard in ("wheel_guard", "brake_guard"):
        assert not np.any(record[f"{guard}/trip"]), why
        assert np.any(record[f"{guard}/state"][ended:] == State.RUNNING), why
    (reason,) = [r for r in run.outcome["reasons"] if "tripped" in r or "out of range" in r]
    assert reason.startswith("gas_guard: gas_angle/angle_rad: the angle is out of range")
    axes = read_manifest(run.folder).axes
    assert [axes[guard].verdict for guard in GUARDS] == ["good", "good", "bad"]
    # the run went on to its end
    assert not any("of 1 s" in r for r in run.outcome["reasons"])


@pytest.mark.parametrize(
    ("words", "guard", "reaction", "out"),
    [
        ("brake_guard/request-nan@0.3", "brake_guard", "RAMP", {"brake_guard", "gas_guard"}),
        ("gas/model-fault@0.3", "gas_guard", "RAMP", set(GUARDS)),
        ("bus/gas/drive-fault@0.3", "gas_guard", "SAFE", {"brake_guard", "gas_guard"}),
        ("bus/brake/wkc-low@0.3", "brake_guard", "SAFE", set(GUARDS)),
        ("gas_angle/sensor-jump:2000@0.3", "gas_guard", "HOLD", set()),
    ],
)
def test_a_fault_on_purpose_strikes_the_axis_that_it_names_and_is_judged_by_its_reach(
    ran, words, guard, reaction, out
):
    run = ran(None, "1", "--inject", words)
    (fault,) = run.outcome["injections"]
    assert fault["good"], fault["why"]
    assert (fault["guard"], fault["reaction"]) == (guard, reaction)
    record = open_record(run.folder / "estimation.npy")
    assert {name for name in GUARDS if np.any(record[f"{name}/trip"])} == out


def test_a_name_that_a_fault_does_not_take_is_refused_with_those_that_it_takes(rigloop, tmp_path):
    words = "brake_gard/request-nan@0.3"
    done = rigloop("run", "pedals_and_wheel", "--runs", tmp_path / "runs", "--inject", words)
    assert done.returncode == 2
    said = " ".join(done.stderr.split())
    assert "it strikes one of wheel_guard, brake_guard, gas_guard, bus/wheel, bus/brake" in said
    assert not (tmp_path / "runs").exists()


def test_a_fault_of_a_group_ends_the_group_and_nothing_else(ran):
    run = ran("group", "2")
    record, why = open_record(run.folder / "estimation.npy"), run.outcome["reasons"]
    assert np.any(record["gas_guard/trip"]), why
    assert record["brake_guard/trip"][-1] == Trip.OTHER_TRIPPED, why
    assert not np.any(record["wheel_guard/trip"]), why


def test_a_fault_that_reaches_all_ends_all_within_the_stated_cycles(ran):
    run = ran("all")
    record = open_record(run.folder / "estimation.npy")
    at = int(np.flatnonzero(record["gas_guard/trip"])[0])
    for guard, limit_nm, rate_nm_s in (
        ("wheel_guard", 12.0, 2000.0),
        ("brake_guard", 20.0, 4000.0),
    ):
        assert record[f"{guard}/trip"][-1] == Trip.OTHER_TRIPPED
        seen = int(np.flatnonzero(record[f"{guard}/trip"])[0])
        assert seen <= at + 1
        bound = 1 + round(0.02 / 2e-4) + int(np.ceil(limit_nm / (rate_nm_s * 2e-4))) + 1
        zero = int(np.flatnonzero(record[f"{guard}/torque_nm"][at:] == 0)[0])
        assert zero <= bound
        assert record[f"{guard}/state"][-1] == State.FAULT
    words = run.outcome["reasons"]
    assert any(
        w.startswith(
            "wheel_guard: tripped with guard 'gas_guard': the angle is out of range, at cycle"
        )
        for w in words
    ), words
    assert words[0].startswith("gas_guard:")
