"""A wheel and a pedal on two lines, each with a bus, a task and a guard of its own: run, replayed, one line lost."""

import json

import numpy as np
import pytest
from busy_machine import TOLERANT
from fifo_priority import may_be_fifo
from swaps import swapped

from io_bridge.host import namespace
from io_bridge.recording.record import open_record
from rig_configs.load import find_rig
from rigloop.run_folder.manifest import read_manifest
from rt_core.safety.trips import State, Trip

pytestmark = pytest.mark.slow
RIG = find_rig("two_lines").read_text()
ON_VETH = pytest.mark.skipif(namespace.why_not() is not None, reason=str(namespace.why_not()))
PATIENT = ('backend = "simulated"', 'backend = "simulated"\nexchange_budget_us = 100000')
# on a wire the host takes a few frames away now and then
OFTEN_LOST = (
    ("exchange_budget_us = 100000", "exchange_budget_us = 150\nbad_limit = 100"),
    ("period_us = 200", "period_us = 1000"),
    ("stall_cycles = 1000 # 200 ms", "stall_cycles = 200"),
)


@pytest.fixture(scope="module")
def write(tmp_path_factory):
    """Write the rig for a busy machine, with further changes."""

    def written(*changes):
        text = swapped(RIG, *TOLERANT, PATIENT, *changes)
        path = tmp_path_factory.mktemp("rig") / "two_lines.toml"
        path.write_text(text)
        return path

    return written


@pytest.fixture(scope="module")
def good(write, run_to_end, tmp_path_factory):
    return run_to_end(write(), tmp_path_factory.mktemp("runs"), "--for", "1")


def test_two_lines_run_and_three_tasks_replay_bit_for_bit(good, rigloop, tmp_path):
    assert good.code == 0, good.outcome["reasons"]
    assert np.any(open_record(good.folder / "hands.npy")["wheel_guard/torque_nm"] != 0)
    assert np.any(open_record(good.folder / "feet.npy")["brake_guard/torque_nm"] != 0)
    done = rigloop("replay", good.folder, "--runs", tmp_path, "--json", "--no-report")
    assert done.returncode == 0, done.stdout
    assert json.loads(done.stdout)["reasons"][0].startswith("bit-equal to the live run")
    drives = {axis.drive for axis in read_manifest(good.folder).axes.values()}
    assert drives == {"wheel_line/wheel", "pedal_line/brake"}


def test_the_health_of_a_bus_is_asked_for_by_its_name(good, rigloop_here):
    refused = rigloop_here("bus", good.folder)
    assert refused.returncode == 2
    assert "it has the buses pedal_line, wheel_line: name one by --bus" in refused.stderr
    for bus, slave in (("wheel_line", "wheel"), ("pedal_line", "brake")):
        done = rigloop_here("bus", good.folder, "--bus", bus, "--json")
        assert done.returncode == 0, done.stderr
        assert [s["name"] for s in json.loads(done.stdout)["slaves"]] == [slave]
    assert "no bus none" in rigloop_here("bus", good.folder, "--bus", "none").stderr


@pytest.mark.netns
@ON_VETH
@pytest.mark.parametrize("bus", ["veth", "pedal_line=veth"])
def test_each_line_may_be_a_wire(write, run_to_end, tmp_path, bus):
    done = run_to_end(write(), tmp_path, "--for", "0.5", "--bus", bus)
    kinds = " ".join(done.outcome["reasons"])
    assert done.code == 0 or "lost" in kinds, kinds
    assert np.any(open_record(done.folder / "feet.npy")["brake_guard/torque_nm"] != 0)
    assert np.any(open_record(done.folder / "hands.npy")["wheel_guard/torque_nm"] != 0)


@pytest.mark.parametrize("reach", ["axis", "all"])
def test_a_lost_line_ends_its_own_torque_and_the_others_as_its_reach_says(
    write, run_to_end, tmp_path, reach
):
    rig = write(('reach = "all"', f'reach = "{reach}"'))
    done = run_to_end(rig, tmp_path, "--inject", "link-down@0.3", "--for", "1")
    hands, feet = (open_record(done.folder / f"{task}.npy") for task in ("hands", "feet"))
    at = int(np.flatnonzero(hands["wheel_guard/trip"])[0])
    assert hands["wheel_guard/trip"][-1] == Trip.ACTUATOR_LOST, done.outcome["reasons"]
    # a guard without its drive lets go at once; no torque is asked for after that
    assert not np.any(hands["wheel_guard/torque_nm"][at:])
    assert hands["wheel_guard/state"][-1] == State.FAULT
    if reach == "axis":
        assert not np.any(feet["brake_guard/trip"])
        t_ns = hands["t_ns"][at]
        later = feet[feet["t_ns"] > t_ns + 100_000_000]
        assert np.all(later["brake_guard/state"][:50] == State.RUNNING)
    else:
        assert feet["brake_guard/trip"][-1] == Trip.OTHER_TRIPPED
        # 20 Nm at 4000 Nm/s and the ramp of 20 ms, in periods of 1 ms, and one for the hand-over
        zero_ns = feet["t_ns"][np.flatnonzero(feet["brake_guard/state"] == State.FAULT)[0]]
        periods = np.diff(feet["t_ns"]).max() // 1_000_000
        assert zero_ns - hands["t_ns"][at] <= (2 + 20 + 5 + periods) * 1_000_000


def test_a_fault_of_the_other_line_is_named_and_leaves_the_first_one_alone(
    write, run_to_end, tmp_path
):
    done = run_to_end(write(), tmp_path, "--inject", "pedal_line/link-down@0.3", "--for", "1")
    (fault,) = done.outcome["injections"]
    assert fault["good"], fault["why"]
    assert fault["guard"] == "brake_guard"
    hands, feet = (open_record(done.folder / f"{task}.npy") for task in ("hands", "feet"))
    assert feet["brake_guard/trip"][-1] == Trip.ACTUATOR_LOST
    assert not np.any(hands["wheel_guard/trip"])


@pytest.mark.netns
@ON_VETH
def test_the_cable_of_the_other_line_is_pulled_and_put_back(write, run_to_end, tmp_path):
    words = "pedal_line/brake/cable-pull@0.4"
    done = run_to_end(
        write(*OFTEN_LOST), tmp_path, "--bus", "veth", "--inject", words, "--for", "3.5"
    )
    (fault,) = done.outcome["injections"]
    assert (fault["guard"], fault["found_by"]) == ("brake_guard", "ACTUATOR_LOST"), fault
    assert fault["back_s"] is not None
    assert fault["back_s"] < 2.0
    assert not np.any(open_record(done.folder / "hands.npy")["wheel_guard/trip"])


@pytest.mark.skipif(not may_be_fifo(), reason="without FIFO no task keeps its core from another")
def test_a_cycle_that_hangs_on_the_core_of_both_lines_ends_the_torque_of_both(run_to_end, tmp_path):
    done = run_to_end("two_lines", tmp_path, "--inject", "wheel_guard/cycle-hang@0.3", "--for", "1")
    (fault,) = done.outcome["injections"]
    assert (fault["guard"], fault["reaction"]) == ("wheel_guard", "SAFE"), fault["why"]
    assert fault["good"], fault["why"]


REARM = 'rearm = { after = "bus", at_most = 2, settle_s = 0.2, within_s = 3.0, reset_drive = true }'
ARMED_AGAIN = [
    (f'[blocks.{guard}]\nkind = "guard"\n', f'[blocks.{guard}]\nkind = "guard"\n{REARM}\n')
    for guard in ("wheel_guard", "brake_guard")
]


def test_lines_that_end_together_are_armed_again_together(write, run_to_end, tmp_path):
    rig = write(*ARMED_AGAIN, ('reach = "axis"', 'reach = "all"'))
    words = "pedal_line/brake/al-error@0.3"
    done = run_to_end(rig, tmp_path, "--inject", words, "--for", "2.5")
    (fault,) = done.outcome["injections"]
    assert fault["good"], fault["why"]
    for task, guard in (("hands", "wheel_guard"), ("feet", "brake_guard")):
        record = open_record(done.folder / f"{task}.npy")
        assert np.any(record[f"{guard}/state"] == State.FAULT)
        assert record[f"{guard}/torque_nm"][-1] == 0
        late = record[record["t_ns"] > record["t_ns"][-1] - 500_000_000]
        assert np.any(late[f"{guard}/state"] == State.RUNNING)
    assert read_manifest(done.folder).felt.rearmed == 1


def test_a_line_that_is_lost_while_the_other_goes_on_is_not_armed_again_and_the_run_says_why(
    write, run_to_end, tmp_path
):
    words = "pedal_line/brake/al-error@0.3"
    done = run_to_end(write(*ARMED_AGAIN), tmp_path, "--inject", words, "--for", "1.5")
    (reason,) = [r for r in done.outcome["reasons"] if "not armed again" in r]
    assert reason.startswith("brake_guard: not armed again: wheel_guard continued")
    assert open_record(done.folder / "feet.npy")["brake_guard/state"][-1] == State.FAULT


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            [('backend = "simulated"\nexchange_budget_us = 100000', 'backend = "eth7"')],
            "blocks.pedal_line.backend = 'eth7': the frames of bus 'wheel_line' go to this interface",
        ),
        (
            [('exchange_budget_us = 100000\n', 'exchange_budget_us = 100000\nclock = {}\n')],
            "blocks.pedal_line.clock: all tasks keep step with the clock of bus 'wheel_line' already",
        ),
        (
            [('own_fault = "loop/feet/fault"', 'own_fault = "loop/hands/fault"')],
            "blocks.brake_guard.reads.own_fault: is of task 'hands', and the guard is stepped in 'feet'",
        ),
        (
            [
                ('"pedal_line", "brake_angle", "brake_guard"', '"brake_angle", "brake_guard"'),
                ('"wheel_line", "wheel_angle"', '"pedal_line", "wheel_line", "wheel_angle"'),
            ],
            "the guard 'brake_guard' is not among the last blocks of the task that has the bus",
        ),
    ],
)  # fmt: skip
def test_what_two_lines_cannot_share_is_refused(write, rigloop_here, changes, said):
    done = rigloop_here("check", write(*changes))
    assert done.returncode == 2
    assert said in done.stderr


@pytest.mark.parametrize(
    ("bus", "said"),
    [
        ("eth7", "eth7 would take the frames of several buses"),
        ("none=veth", "'none=veth' names no bus of this rig"),
        ("wheel_line=", "names no bus of this rig"),
        ("wheel_line=veth,pedal_line=eth7", "veth has a network of its own"),
    ],
)
def test_a_bus_option_that_cannot_be_is_refused_in_one_sentence(
    write, rigloop_here, tmp_path, bus, said
):
    done = rigloop_here("run", write(), "--bus", bus, "--for", "1", "--runs", tmp_path / "runs")
    assert done.returncode == 3
    assert said in done.stderr
    assert not (tmp_path / "runs").exists()
