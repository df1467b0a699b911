"""A rig whose drive is one of the emulated foreign slaves: several axes, in fault, on the bus of a run."""

import shlex

import pytest

from io_bridge.recording.record import open_record
from rigloop.run_folder.manifest import read_manifest
from rt_core.safety.trips import State

pytestmark = pytest.mark.slow

BOTH = (
    '{ "wheel/torque_nm" = "guard/torque_nm", "wheel/enable" = "supervisor/enable", '
    '"wheel/reset" = "supervisor/reset", "rack/torque_nm" = "guard/torque_nm", '
    '"rack/enable" = "supervisor/enable", "rack/reset" = "supervisor/reset" }'
)
RACK = """
[blocks.bus.drives.rack]
position = 0
axis = 1
counts_per_rev = 1048576
rated_torque_nm = 6.37
peak_torque_nm = 19.1
watchdog_ms = 1000.0
"""


@pytest.fixture
def foreign(make_rig):
    """Write a steering rig whose wheel is turned by this device."""

    def make(device, changes=None, more=""):
        changes = {"blocks.bus.drives.wheel.device": f'"{device}"'} | (changes or {})
        path = make_rig(changes)
        head, mark, rest = path.read_text().partition("[blocks.bus.drives.wheel.plant]\n")
        assert mark
        path.write_text(head + rest[rest.index("\n[") :] + more)
        return path

    return make


def test_both_axes_of_a_drive_are_driven_in_this_process_too(foreign, run_to_end, tmp_path):
    rig = foreign(
        "two_axis_drive",
        {"blocks.bus.reads": BOTH, "blocks.bus.drives.wheel.position": "0"},
        RACK,
    )
    done = run_to_end(rig, tmp_path / "runs", "--bus", "simulated", "--for", "0.5")
    assert (done.code, done.outcome["good"]) == (0, True), done
    record = open_record(done.folder / "estimation.npy")
    running = record["guard/state"] == State.RUNNING
    assert running.any()
    assert record["bus/rack/operational"][running].all()


def test_a_drive_in_fault_is_refused_with_a_command_that_takes_the_same_file(
    foreign, rigloop, run_to_end, tmp_path
):
    rig = foreign("direct_drive+fault_at_power_up")
    done = rigloop("run", rig, "--runs", tmp_path / "refused", "--for", "0.5")
    assert done.returncode == 3, done.stderr
    said = " ".join(done.stderr.split())
    assert "slave 0 (wheel): fault" in said
    assert "0x603f: 0x7305" in said
    command = said[said.index("`rigloop run ") + 1 : said.rindex("`")]
    name, options = shlex.split(command)[2], shlex.split(command)[3:]
    again = run_to_end(name, tmp_path / "runs", *options, "--for", "0.5")
    assert again.code == 0, again
    assert read_manifest(again.folder).verdict == "good"
