"""The axes beside the one that a fault strikes: the rig's word, and the judge on records that are made here."""

import json
import tomllib

import numpy as np
import pytest

from io_bridge.recording.record import RecordWriter
from rig_configs.load import find_rig
from rigloop.blocks.catalogue import rig_model
from rigloop.compose.wiring import load
from rigloop.inject.judge import judge
from rigloop.inject.limits import limits_of
from rigloop.inject.others import ended_with
from rigloop.inject.request import again
from rigloop.run_folder import messages
from rt_core.safety.trips import State, Trip

N, BEGAN = 900, 300
PERIOD_NS = 200_000
GUARDS = ("wheel_guard", "brake_guard", "gas_guard")


def rig_with(reach):
    """Three axes, of which the brake has this reach."""
    head, brake = find_rig("pedals_and_wheel").read_text().split("[blocks.brake_guard]")
    brake = brake.replace('reach = "group"', f'reach = "{reach}"', 1)
    return rig_model().model_validate(tomllib.loads(head + "[blocks.brake_guard]" + brake))


@pytest.mark.parametrize(
    ("words", "reach", "ends"),
    [
        ("brake_guard/request-nan@1", "axis", set()),
        ("brake_guard/request-nan@1", "group", {"gas_guard"}),
        ("brake_guard/request-nan@1", "all", {"wheel_guard", "gas_guard"}),
        ("gas_guard/request-nan@1", "axis", {"brake_guard"}),
        ("wheel_guard/request-nan@1", "axis", {"brake_guard", "gas_guard"}),
        ("bus/brake/drive-fault@1", "axis", set()),
        ("bus/brake/drive-fault@1", "group", {"gas_guard"}),
        # a slave that leaves OP and a silent wire are faults of the bus, and so of all its guards
        ("bus/brake/al-error@1", "axis", {"wheel_guard", "gas_guard"}),
        ("bus/link-down@1", "axis", {"brake_guard", "gas_guard"}),
        ("brake/model-fault@1", "axis", {"wheel_guard", "gas_guard"}),
        ("brake_guard/block-fault@1", "axis", {"wheel_guard", "gas_guard"}),
        ("brake_guard/request-nan-blip@1", "all", set()),
        ("bus/brake/wkc-low-blip@1", "all", set()),
        ("supervisor-term@1", "axis", {"brake_guard", "gas_guard"}),
        ("brake_guard/time-gap@1", "axis", None),
    ],
)
def test_a_rig_states_whom_a_fault_ends_beside_the_axis(words, reach, ends):
    (injection,) = again([words], rig_with(reach))
    assert ended_with(injection) == ends


def test_a_drive_that_fails_takes_the_other_axes_of_its_slave_along():
    table = tomllib.loads(find_rig("pedals_and_wheel").read_text())
    drives = table["blocks"]["bus"]["drives"]
    drives["wheel"]["position"] = 0
    drives["brake"] |= {"position": 1, "device": "two_axis_drive"}
    drives["gas"] |= {"position": 1, "axis": 1}
    for guard in ("brake_guard", "gas_guard"):
        table["blocks"][guard]["reach"] = "axis"
    rig = rig_model().model_validate(table)
    brake, wheel = again(["bus/brake/drive-fault@1", "bus/wheel/drive-fault@1"], rig)
    assert ended_with(brake) == {"gas_guard"}
    assert (
        "gas_guard" not in ended_with(wheel) or table["blocks"]["wheel_guard"].get("reach") == "all"
    )


def test_a_fault_of_one_line_is_none_of_the_other():
    rig = load("two_lines").rig
    feet, hands = again(["pedal_line/link-down@1", "wheel_line/link-down@1"], rig)
    assert ended_with(feet) == set()
    assert ended_with(hands) == {"brake_guard"}


@pytest.fixture
def verdict(tmp_path):
    """Judge NaN at the brake's request on records in which the others end as they are told to."""

    def judged(reach, others, late=0, armed_again=False):
        rig = rig_with(reach)
        row = np.arange(N)
        found = BEGAN + limits_of(rig, "brake_guard").held(3.0)
        fields = {
            "loop/estimation/cycle": row + 1.0,
            "inject1/cycle": np.where(row >= BEGAN, BEGAN + 1.0, 0.0),
        }
        trips = {"brake_guard": (Trip.REQUEST_NOT_FINITE, 0)}
        trips |= dict.fromkeys(others, (Trip.OTHER_TRIPPED, 1 + late))
        for name in GUARDS:
            trip, after = trips.get(name, (Trip.NO_TRIP, N))
            ramp, at = limits_of(rig, name).ramp, found + after
            state = np.select(
                [row < BEGAN, row < at, row < at + ramp],
                [
                    State.RUNNING,
                    State.HOLD if name == "brake_guard" else State.RUNNING,
                    State.STOPPING,
                ],
                State.FAULT,
            )
            fields[f"{name}/state"] = state.astype(float)
            fields[f"{name}/trip"] = np.where(row >= at, float(trip), 0.0)
            ends = [4.0, 4.0, 0.0] if after < N else [4.0, 4.0, 4.0]
            fields[f"{name}/torque_nm"] = np.interp(row, [0, at, at + ramp], ends)
            fields[f"{name}/torque_nm"][:100] = np.linspace(0, 4.0, 100)
        if armed_again:
            fields["gas_guard/torque_nm"][N - 100 :] = 1.0
            fields["gas_guard/state"][N - 100 :] = State.RUNNING
        for task, columns in (("estimation", fields), ("simulation", {"x": row * 1.0})):
            with RecordWriter(tmp_path / f"{task}.npy", list(columns)) as writer:
                rows = np.zeros(N, writer.dtype)
                rows["t_ns"] = row * PERIOD_NS
                for name, column in columns.items():
                    rows[name] = column
                writer.append(rows)
        messages.write(tmp_path, "cycle.json", messages.Report(at_rest=True, first_cycle_ns=1))
        (what,) = judge(tmp_path, again(["brake_guard/request-nan@0.06"], rig), None)
        return what

    return judged


@pytest.mark.parametrize(
    ("reach", "others"),
    [("axis", ()), ("group", ("gas_guard",)), ("all", ("wheel_guard", "gas_guard"))],
)
def test_a_run_in_which_a_fault_reached_whom_it_is_to_reach_is_good(verdict, reach, others):
    what = verdict(reach, others)
    assert what.good, what.why
    assert what.guard == "brake_guard"


def test_an_axis_that_ended_without_being_reached_is_told(verdict):
    what = verdict("axis", ("gas_guard",))
    assert what.why == ("gas_guard tripped too, which the fault does not reach",)


def test_an_axis_that_went_on_though_it_was_reached_is_told(verdict):
    what = verdict("all", ("gas_guard",))
    assert what.why == ("wheel_guard did not trip, which the fault reaches",)


def test_torque_after_an_axis_was_armed_again_is_none_of_the_fault(verdict):
    what = verdict("group", ("gas_guard",), armed_again=True)
    assert what.good, what.why


PULLED_MS, PUT_BACK_MS = 100, 300


@pytest.fixture
def cable(tmp_path):
    """Judge a cable of the pedals' line that is pulled and put back, beside a wheel that ends by a trip at a time."""

    def judged(trip, at_ms):
        rig = load("two_lines").rig
        pedal_ns, wheel_ns, start_ns = 1_000_000, 200_000, 7
        brake, wheel = np.arange(400), np.arange(2000)
        lost, out = brake >= PULLED_MS + 2, wheel * wheel_ns >= at_ms * pedal_ns
        fields = {
            "feet": {
                "loop/feet/cycle": brake + 1.0,
                "brake_guard/state": np.where(lost, State.FAULT, State.RUNNING),
                "brake_guard/trip": np.where(lost, Trip.ACTUATOR_LOST, Trip.NO_TRIP),
                "brake_guard/torque_nm": np.where(lost, 0.0, np.interp(brake, [0, 50], [0, 4.0])),
                "pedal_line/valid": 1.0 * ((brake < PULLED_MS) | (brake > PUT_BACK_MS)),
                "pedal_line/al_state": np.full(400, 8.0),
                "pedal_line/brake/operational": 1.0 * ~lost,
            },
            "hands": {
                "loop/hands/cycle": wheel + 1.0,
                "wheel_guard/state": np.where(out, State.FAULT, State.RUNNING),
                "wheel_guard/trip": np.where(out, trip, Trip.NO_TRIP),
                "wheel_guard/torque_nm": np.where(out, 0.0, 1.0),
            },
            "simulation": {"x": brake * 1.0},
        }
        for task, columns in fields.items():
            with RecordWriter(tmp_path / f"{task}.npy", list(columns)) as writer:
                rows = np.zeros(len(next(iter(columns.values()))), writer.dtype)
                rows["t_ns"] = np.arange(len(rows)) * (wheel_ns if task == "hands" else pedal_ns)
                for name, column in columns.items():
                    rows[name] = column
                writer.append(rows)
        report = messages.Report(at_rest=True, first_cycle_ns=start_ns)
        messages.write(tmp_path, "cycle.json", report)
        pulled, put_back = (start_ns + ms * pedal_ns for ms in (PULLED_MS, PUT_BACK_MS))
        (tmp_path / "injected.json").write_text(json.dumps({"number": 0, "at_ns": pulled - 9}))
        orders = {"orders": [["unplug 0", pulled], ["plug 0", put_back]]}
        (tmp_path / "pedal_line.drive.json").write_text(json.dumps(orders))
        (what,) = judge(tmp_path, again(["brake_guard/cable-pull@0.1"], rig), None)
        return what

    return judged


@pytest.mark.parametrize("at_ms", [PULLED_MS + 1, PULLED_MS + 2.5, PUT_BACK_MS + 1])
def test_a_line_that_is_lost_as_another_ones_cable_is_moved_is_told(cable, at_ms):
    what = cable(Trip.ACTUATOR_LOST, at_ms)
    assert what.why == ("wheel_guard tripped too, which the fault does not reach",)


@pytest.mark.parametrize("at_ms", [PULLED_MS + 20, PUT_BACK_MS - 1, PUT_BACK_MS + 20])
def test_a_line_that_loses_frames_of_its_own_later_is_not_the_others_cable(cable, at_ms):
    what = cable(Trip.ACTUATOR_LOST, at_ms)
    assert what.good, what.why


@pytest.mark.parametrize("trip", [Trip.OTHER_TRIPPED, Trip.REQUEST_FAULT])
def test_a_cable_that_reaches_another_line_is_told_whenever_it_does(cable, trip):
    what = cable(trip, PULLED_MS + 50)
    assert what.why == ("wheel_guard tripped too, which the fault does not reach",)


def test_an_axis_that_was_at_zero_too_late_is_told_with_its_cycles(verdict):
    (why,) = verdict("group", ("gas_guard",), late=1).why
    assert why == "gas_guard was at zero after 124 cycles, stated 123"
