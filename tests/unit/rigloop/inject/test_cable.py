"""Cables that were pulled and put back, on records that are made here, one thing wrong at a time."""

import json

import numpy as np
import pytest

from io_bridge.recording.record import RecordWriter
from rigloop.compose.wiring import load
from rigloop.inject.judge import judge
from rigloop.inject.limits import limits_of
from rigloop.inject.request import again
from rigloop.run_folder import messages
from rt_core.safety.trips import State, Trip

N, PULLED, FOUND, PUT_BACK, BACK = 900, 300, 302, 500, 512
MS = 1_000_000
START_NS = 7 * MS


@pytest.fixture(scope="module")
def lim():
    return limits_of(load("fault_bench").rig)


def columns():
    """A run that pushes 4 Nm, and goes on whatever happens to the bus."""
    row = np.arange(N)
    return {
        "loop/estimation/cycle": row + 1.0,
        "guard/state": np.full(N, float(State.RUNNING)),
        "guard/trip": np.zeros(N),
        "guard/torque_nm": np.interp(row, [0, 100], [0.0, 4.0]),
        "bus/valid": np.ones(N),
        "bus/al_state": np.full(N, 8.0),
        "bus/wheel/operational": np.ones(N),
        "bus/ring_breaks": np.zeros(N),
    }


@pytest.fixture
def line():
    """A slave that is lost in row 300, found lost in row 302, there again in row 500, in OP in row 512."""
    row, found = np.arange(N), columns()
    lost = row >= FOUND
    found["guard/state"][lost] = State.FAULT
    found["guard/trip"][lost] = Trip.ACTUATOR_LOST
    found["guard/torque_nm"][lost] = 0.0
    found["bus/valid"][PULLED:PUT_BACK] = 0
    found["bus/al_state"][PUT_BACK:BACK] = 0x14
    found["bus/wheel/operational"][lost] = 0
    return found


@pytest.fixture
def ring():
    """A ring that loses a frame each time."""
    found = columns()
    found["bus/valid"][[PULLED, PUT_BACK]] = 0
    found["bus/ring_breaks"][PULLED:] = 1
    return found


@pytest.fixture
def verdict(lim, tmp_path):
    def write(asked, columns, n=N, orders=("unplug 0", "plug 0")):
        for task, fields in (
            ("estimation", columns),
            ("simulation", {"loop/simulation/cycle": np.arange(N) + 1.0}),
        ):
            with RecordWriter(tmp_path / f"{task}.npy", list(fields)) as writer:
                rows = np.zeros(n, writer.dtype)
                rows["t_ns"] = np.arange(n) * MS
                for name, column in fields.items():
                    rows[name] = column[:n]
                writer.append(rows)
        messages.write(
            tmp_path, "cycle.json", messages.Report(at_rest=True, first_cycle_ns=START_NS)
        )
        # half a cycle before those that miss and have the slave
        times = [START_NS + row * MS - MS // 2 for row in (PULLED, PUT_BACK)]
        asked_ns = times[0] - MS
        (tmp_path / "injected.json").write_text(json.dumps({"number": 0, "at_ns": asked_ns}) + "\n")
        obeyed = [["unplug 0", 1], *zip(orders, times, strict=False)]
        (tmp_path / "drive.json").write_text(json.dumps({"orders": obeyed}))
        (found,) = judge(tmp_path, again([f"{asked}@0.25"], lim.rig), None)
        return found

    return write


def test_a_lost_slave_is_good_with_its_cycles_and_the_time_of_its_return(verdict, line):
    found = verdict("cable-pull", line)
    assert found.good, found.why
    assert (found.began, found.to_find, found.to_zero) == (PULLED, 3, 3)
    assert (found.reaction, found.found_by) == ("SAFE", "ACTUATOR_LOST")
    assert found.back_s == pytest.approx(0.013)
    assert found.back_bound_s == 2.0
    assert "in OP again 0.01 s after the cable" in found.line()


def test_a_frame_that_is_lost_later_keeps_no_slave_from_op(verdict, line):
    line["bus/valid"][800] = 0
    assert verdict("cable-pull", line).back_s == pytest.approx(0.013)


def test_a_frame_that_is_lost_later_is_not_the_cables(verdict, ring):
    ring["bus/valid"][[400, 800]] = 0
    assert verdict("ring-break", ring).good


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"bus/al_state": (BACK, N, 0x14)}, "not every slave was in OP when the run ended"),
        ({"bus/valid": (PUT_BACK, N, 0)}, "not every slave was in OP when the run ended"),
        ({"bus/wheel/operational": (BACK, N, 1)}, "a drive worked again without having been armed"),
        ({"guard/torque_nm": (BACK, N, 0.5)}, "the torque was not seen to be zero"),
    ],
)
def test_a_slave_that_does_not_come_back_as_it_should_is_told(verdict, line, wrong, words):
    for name, (first, last, value) in wrong.items():
        line[name][first:last] = value
    found = verdict("cable-pull", line)
    assert not found.good
    assert words in found.why


@pytest.mark.parametrize("name", ["cable-pull", "ring-break"])
def test_a_cable_that_was_never_put_back_shows_nothing(verdict, line, ring, name):
    found = verdict(name, line if name == "cable-pull" else ring, orders=("unplug 0",))
    assert "the cable was not put back before the run ended" in found.why


def test_a_cable_that_was_never_pulled_was_not_tried(verdict, line):
    found = verdict("cable-pull", line, orders=())
    assert not found.tried


def test_a_ring_that_loses_a_cycle_each_time_is_good(verdict, ring):
    found = verdict("ring-break", ring)
    assert found.good, found.why
    assert (found.reaction, found.found_by, found.to_find) == ("COUNT", "bus/ring_breaks", 1)
    assert found.back_s is None


@pytest.mark.parametrize(
    ("name", "rows", "value", "words"),
    [
        ("bus/valid", [PULLED, PULLED + 1], 0, "2 bad cycles when the cable was pulled, stated 1"),
        ("bus/valid", [PUT_BACK + 2], 0, "2 bad cycles when the cable was put back, stated 1"),
        ("bus/wheel/operational", [350], 0, "a drive did not work on when the cable was pulled"),
        ("bus/ring_breaks", range(N), 0, "bus/ring_breaks did not count it"),
        ("bus/ring_breaks", [PULLED], 0, "found after 2 cycles, stated 1"),
    ],
)
def test_what_a_ring_loses_is_told(verdict, ring, name, rows, value, words):
    ring[name][list(rows)] = value
    assert words in verdict("ring-break", ring).why
