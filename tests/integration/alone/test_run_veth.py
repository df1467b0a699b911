"""A live run over a real network interface pair: real frames, brought up by pysoem."""

import json
import signal

import numpy as np
import pytest

from io_bridge.emulator.catalogue.device_file import find_device
from io_bridge.host import namespace
from io_bridge.recording.record import open_record
from rigloop.run_folder.manifest import read_manifest
from rt_core.safety.trips import State

pytest.importorskip("pysoem")
pytestmark = [
    pytest.mark.netns,
    pytest.mark.slow,
    pytest.mark.skipif(namespace.why_not() is not None, reason=str(namespace.why_not())),
]
END_TIMEOUT_S = 60
# both ends of the wire share the cores with everything else: 1 kHz, and a reply may take most of that
SLOW_WIRE = {
    "tasks.estimation.period_us": "1000",
    "blocks.bus.exchange_budget_us": "800",
}

RACK = """
[blocks.bus.terminals.coupler]
position = 0
device = "ek_coupler"

[blocks.bus.terminals.switches]
position = 1
device = "{device}"
watchdog_ms = 1000.0
inputs = {{ lamp_is_on = {{ bit = 3 }} }}
outputs = {{ lamp = {{ bit = 3 }} }}
"""


@pytest.fixture(scope="module")
def veth_run(make_rig, run_to_end, tmp_path_factory):
    rig = make_rig(SLOW_WIRE)
    return run_to_end(rig, tmp_path_factory.mktemp("runs"), "--bus", "veth", "--for", "1")


def test_a_run_over_veth_is_good_and_ends_at_rest(veth_run):
    assert veth_run.code == 0, veth_run
    assert read_manifest(veth_run.folder).verdict == "good"
    record = open_record(veth_run.folder / "estimation.npy")
    assert np.array_equal(record["loop/estimation/cycle"], np.arange(1, len(record) + 1))
    assert record["guard/torque_nm"][-1] == 0.0
    assert record["guard/safe"][-1] == 1.0


def test_frames_came_back_and_the_drive_was_operational(veth_run):
    record = open_record(veth_run.folder / "estimation.npy")
    running = record["guard/state"] == State.RUNNING
    assert np.count_nonzero(running) > 100
    assert np.all(record["bus/wheel/operational"][running] == 1)
    valid = record["bus/valid"] == 1
    assert np.mean(valid[running]) > 0.5
    assert np.all(record["bus/wkc"][valid] == record["bus/wkc_expected"][valid])
    assert np.ptp(record["wheel/angle_rad"]) > np.radians(6)


def test_terminals_of_a_rig_are_on_the_wire_in_ring_order(make_rig, run_to_end, tmp_path):
    device = tmp_path / "wired_back.toml"
    device.write_text(find_device("digital_io").read_text() + "\n[options]\nloopback = true\n")
    reads = (
        '{ "wheel/torque_nm" = "guard/torque_nm", "wheel/enable" = "supervisor/enable", '
        '"wheel/reset" = "supervisor/reset", "switches/lamp" = "supervisor/enable" }'
    )
    rig = make_rig(SLOW_WIRE | {"blocks.bus.reads": reads})
    rig.write_text(rig.read_text() + RACK.format(device=device))
    run = run_to_end(rig, tmp_path / "runs", "--bus", "veth", "--for", "1")
    assert run.code == 0, run
    record = open_record(run.folder / "estimation.npy")
    good = (record["guard/state"] == State.RUNNING) & (record["bus/valid"] == 1)
    assert np.count_nonzero(good) > 100
    # the drive turns behind the rack, and the terminal feels its own output
    assert np.ptp(record["wheel/angle_rad"]) > np.radians(6)
    assert np.all(record["bus/switches/valid"][good] == 1)
    lamp = record["bus/switches/lamp_is_on"]
    assert lamp[0] == 0
    assert np.mean(lamp[good]) > 0.9


def test_a_terminal_with_nothing_to_stand_for_it_is_named(make_rig, run_to_end, tmp_path):
    rig = make_rig(SLOW_WIRE)
    bare = "\n[blocks.bus.terminals.lamps]\n[blocks.bus.terminals.doors]\n"
    rig.write_text(rig.read_text() + bare)
    run = run_to_end(rig, tmp_path / "runs", "--bus", "veth", "--for", "1")
    assert run.code == 3
    assert "terminal 'lamps': device: name one" in json.dumps(run.outcome)
    assert "terminal 'doors': device: name one" in json.dumps(run.outcome)


def test_a_killed_supervisor_leaves_nothing_behind_over_veth_either(start_live, make_rig):
    live = start_live(make_rig(SLOW_WIRE), "--bus", "veth")
    live.wait_until_it_pushes()
    table = live.table
    live.process.send_signal(signal.SIGKILL)
    live.process.wait()
    live.wait_until_gone(END_TIMEOUT_S)
    assert not table.exists()
    record = open_record(live.folder / "estimation.npy")
    assert record["guard/torque_nm"][-1] == 0.0
    assert record["guard/safe"][-1] == 1.0


def test_a_run_over_a_ring_of_two_pairs_is_good_and_its_bus_says_that_it_is_closed(
    make_rig, run_to_end, rigloop, tmp_path
):
    ring = SLOW_WIRE | {"blocks.bus.backend": '"veth"', "blocks.bus.second_interface": '"veth"'}
    ran = run_to_end(make_rig(ring), tmp_path / "runs", "--for", "1")
    assert ran.code == 0, ran
    record = open_record(ran.folder / "estimation.npy")
    assert record["guard/torque_nm"][-1] == 0.0
    assert np.mean(record["bus/valid"][record["guard/state"] == State.RUNNING]) > 0.5
    assert record["bus/ring_open"][-1] == record["bus/ring_breaks"][-1] == 0
    assert "the ring of two interfaces is closed" in rigloop("bus", ran.folder).stdout
