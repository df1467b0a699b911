"""The sentence of a trip: taken from the signals at the end, the record of its cycle, and the rig's wiring."""

import math

import numpy as np
import pytest

from io_bridge.exchange.exchange import BUS_LOST, FAULTS
from io_bridge.recording.record import RecordWriter
from rigloop.judge.tripped import (
    AT_THE_END,
    BUS_REMEDY,
    CHUNK,
    faults_of,
    is_of_bus,
    row_at,
    trip_of,
)
from rigloop.run_folder.manifest import DataFault
from rt_core.plan import FAULT_POLICY
from rt_core.safety.trips import TRIPS, Trip

LOST, DRIVE = min(BUS_LOST), next(c for c, words in FAULTS.items() if words.startswith("a drive"))
BUS, WHEEL = 1, 2  # places of the blocks of the task "estimation"
MUTE = "the frame of this cycle did not come back"
GOOD_BUS = {
    "bus/valid": 1.0,
    "bus/wheel/al_state": 8.0,
    "bus/wheel/wkc": 2.0,
    "bus/wheel/wkc_expected": 2.0,
    "bus/wheel/valid": 1.0,
    "bus/wheel/statusword": 0x0027,
    "bus/wheel/operational": 1.0,
}


@pytest.fixture
def rig(rigs):
    return rigs("steering_wheel").rig


def without(rig, *kinds):
    blocks = {name: block for name, block in rig.blocks.items() if block.kind not in kinds}
    return rig.model_copy(update={"blocks": blocks})


def rewired(rig, **reads):
    """Return the rig with other signals at its guard."""
    guard = rig.blocks["guard"]
    guard = guard.model_copy(update={"reads": guard.reads | reads})
    return rig.model_copy(update={"blocks": rig.blocks | {"guard": guard}})


def record(folder, task, n=10, t_ns=None, first=1, **columns):
    """Write the record of a task: cycles from `first` on, and columns of other signals."""
    columns = {name.replace("__", "/"): column for name, column in columns.items()}
    columns = {f"loop/{task}/cycle": np.arange(first, first + n, dtype=float)} | columns
    with RecordWriter(folder / f"{task}.npy", list(columns)) as writer:
        rows = np.zeros(n, writer.dtype)
        rows["t_ns"] = np.arange(n) if t_ns is None else t_ns
        for name, column in columns.items():
            rows[name] = column
        writer.append(rows)


def tripped(trip, **signals):
    return {"guard/trip": float(trip)} | {f"guard/trip_{name}": v for name, v in signals.items()}


def test_causes_come_in_the_order_of_their_times_and_guards_that_followed_come_last(rigs, tmp_path):
    trips = {
        "wheel": (Trip.OTHER_TRIPPED, 80.0),
        "brake": (Trip.RATE_LIMIT, 100.0),
        "gas": (Trip.ANGLE_LIMIT, 90.0),
    }
    signals = {}
    for axis, (trip, cycle) in trips.items():
        signals |= {f"{axis}_guard/trip": float(trip), f"{axis}_guard/trip_cycle": cycle}
    found = faults_of(rigs("pedals_and_wheel").rig, signals, tmp_path)
    assert [fault.kind for fault in found] == ["angle limit", "rate limit", "other tripped"]


@pytest.mark.parametrize("code", [99.0, -1.0, 4.5, -3.1e230, math.nan, math.inf])
def test_a_trip_that_no_guard_writes_is_a_fault_that_names_the_table(rig, tmp_path, code):
    (fault,) = faults_of(rig, tripped(code, block=math.nan, fault=math.nan), tmp_path)
    assert (fault.kind, fault.count, fault.first_row) == ("table written over", 1, 0)
    assert fault.words == (
        f"guard/trip: {code:g}, a code that no guard writes: another program overwrote the table of "
        "signals, so its values are uncertain; find the program that opens the files of the run"
    )
    assert not is_of_bus(rig, tripped(code))


@pytest.mark.parametrize("number", [math.nan, math.inf, -1.0, 1e300])
def test_the_place_of_a_trip_may_be_any_number(rig, tmp_path, number):
    words = trip_of(
        rig, "guard", tripped(Trip.OWN_FAULT, block=number, fault=number), tmp_path
    ).words
    assert "a block of this task failed" in words
    assert not is_of_bus(rig, tripped(Trip.OWN_FAULT, block=number, fault=number))


@pytest.mark.parametrize("signals", [{}, {"guard/trip": 0.0}])
def test_a_guard_that_did_not_trip_has_no_sentence(rig, tmp_path, signals):
    assert trip_of(rig, "guard", signals, tmp_path) is None
    assert faults_of(rig, signals, tmp_path) == ()
    assert not is_of_bus(rig, signals)


def test_a_trip_without_a_record_takes_its_time_from_the_cycle(rig, tmp_path):
    signals = tripped(Trip.TIME_GAP, value=250.5, limit=200.0, cycle=5001.0)
    found = trip_of(rig, "guard", signals, tmp_path)
    assert found.words == (
        "guard: loop/estimation/elapsed: no cycle was stepped: 250.5 ms, limit "
        "blocks.guard.max_gap_ms = 200, at cycle 5001 (1.000 s) (RAMP); see why the task was late "
        "(`rigloop doctor`), or raise the limit"
    )
    assert (found.kind, found.count, found.first_row) == ("time gap", 1, 5000)
    assert found.at_s == pytest.approx(1.0002)


def test_the_record_says_when_the_cycle_of_a_trip_was(rig, tmp_path):
    # periods were skipped: the seventh cycle was not 1.4 ms after the start
    record(tmp_path, "estimation", t_ns=np.arange(10) * 500_000_000)
    found = trip_of(rig, "guard", tripped(Trip.TIME_GAP, cycle=7.0), tmp_path)
    assert found.at_s == pytest.approx(3.0)
    assert "at cycle 7 (3.000 s)" in found.words


def test_a_trip_of_which_only_the_code_is_left_still_has_a_sentence(rig, tmp_path):
    found = trip_of(rig, "guard", tripped(Trip.RATE_LIMIT), tmp_path)
    assert "too fast: 0 rad/s, limit blocks.guard.max_rate_rad_s = 0, at cycle 0 (0." in found.words
    assert (found.first_row, found.at_s) == (0, 0.0)
    own = trip_of(rig, "guard", tripped(Trip.OWN_FAULT), tmp_path)
    assert "task 'estimation': fault 0: no block of it says why, at cycle" in own.words
    assert MUTE in trip_of(rig, "guard", tripped(Trip.SENSOR_LOST), tmp_path).words
    assert is_of_bus(rig, tripped(Trip.SENSOR_LOST))
    assert not is_of_bus(rig, tripped(Trip.ACTUATOR_LOST))
    no_fault = tripped(Trip.ACTUATOR_LOST, block=BUS)
    assert not is_of_bus(rig, no_fault)
    assert "fault" not in trip_of(rig, "guard", no_fault, tmp_path).words
    assert not is_of_bus(rig, tripped(Trip.ACTUATOR_LOST, fault=LOST))
    assert not is_of_bus(rig, {"guard/trip_block": float(BUS), "guard/trip_fault": float(LOST)})


@pytest.mark.parametrize("cycle", [math.nan, math.inf, -math.inf])
def test_a_cycle_that_is_no_number_is_no_row(rig, tmp_path, cycle):
    record(tmp_path, "estimation")
    assert row_at(tmp_path, "estimation", cycle) is None
    found = trip_of(rig, "guard", tripped(Trip.TIME_GAP, cycle=cycle), tmp_path)
    assert found.first_row == 0


def test_the_row_of_a_cycle_is_found_in_a_record_that_begins_late(tmp_path):
    record(tmp_path, "estimation", n=5, first=101)
    for cycle in range(101, 106):
        assert row_at(tmp_path, "estimation", cycle)["loop/estimation/cycle"] == cycle
    for cycle in (0, 100, 102.5, 106):
        assert row_at(tmp_path, "estimation", cycle) is None


def test_a_record_without_its_cycles_or_none_at_all_has_no_row(tmp_path):
    assert row_at(tmp_path, "simulation", 1) is None
    with RecordWriter(tmp_path / "simulation.npy", ["a/b"]) as writer:
        writer.append(np.ones(3, writer.dtype))
    assert row_at(tmp_path, "simulation", 1) is None


def test_a_failed_block_is_named_and_the_bus_says_which_slave(rig, tmp_path):
    signals = tripped(Trip.OWN_FAULT, block=BUS, fault=LOST, cycle=3.0)
    words = trip_of(rig, "guard", signals, tmp_path).words
    assert words.startswith(
        "guard: loop/estimation/fault: a block of this task failed: block 'bus' (bus): "
        f"fault {LOST}: {FAULTS[LOST]}; {MUTE} (0 lost in all), at cycle 3 (0.001 s) (RAMP)"
    )
    # a block other than the bus, or the loop itself, says nothing of slaves
    for place in (WHEEL, 0):
        assert (
            MUTE not in trip_of(rig, "guard", signals | {"guard/trip_block": place}, tmp_path).words
        )
    # how the bus was in that cycle is in the record; at the end it may be another
    well = {path: np.full(10, value) for path, value in GOOD_BUS.items()}
    record(tmp_path, "estimation", **well | {"bus/wheel/al_state": np.full(10, 4.0)})
    words = trip_of(rig, "guard", signals | GOOD_BUS, tmp_path).words
    assert "slave 'wheel': SAFEOP" in words
    assert (
        "slave"
        not in trip_of(
            rig, "guard", signals | GOOD_BUS | {"guard/trip_cycle": 99.0}, tmp_path
        ).words
    )


def test_the_code_of_a_failed_block_may_be_negative(rig, tmp_path):
    signals = tripped(Trip.OWN_FAULT, block=WHEEL, fault=-1.0)
    assert "fault -1: a code that" in trip_of(rig, "guard", signals, tmp_path).words


def test_a_fault_of_the_loop_brings_its_own_remedy(rig, tmp_path):
    signals = tripped(Trip.REQUEST_FAULT, block=0, fault=FAULT_POLICY, cycle=3.0)
    words = trip_of(rig, "guard", signals, tmp_path).words
    assert f"task 'simulation': fault {FAULT_POLICY}: too many overruns" in words
    assert words.endswith("or raise its overrun_limit")


def test_blocks_of_faults_on_purpose_count_as_places(rig, tmp_path):
    stages = {"estimation": ["lossy", "bus", "wheel", "guard"]}
    signals = tripped(Trip.OWN_FAULT, block=BUS, fault=LOST)
    assert "block 'lossy': fault" in trip_of(rig, "guard", signals, tmp_path, stages).words
    assert not is_of_bus(rig, signals, stages)
    signals = tripped(Trip.OWN_FAULT, block=BUS + 1, fault=LOST)
    assert "block 'bus' (bus)" in trip_of(rig, "guard", signals, tmp_path, stages).words
    assert "block 'bus' (bus)" in faults_of(rig, signals, tmp_path, blocks=stages)[0].words
    assert is_of_bus(rig, signals, stages)
    assert not is_of_bus(rig, signals)


def test_a_lost_actuator_says_what_the_bus_says_with_its_fault_where_it_has_one(rig, tmp_path):
    signals = tripped(Trip.ACTUATOR_LOST)
    words = trip_of(rig, "guard", signals, tmp_path).words
    assert f"the actuator left its operating state: {MUTE} (0 lost in all), at cycle" in words
    assert words.endswith(TRIPS[Trip.ACTUATOR_LOST].remedy)
    words = trip_of(
        rig, "guard", signals | tripped(Trip.ACTUATOR_LOST, block=BUS, fault=99), tmp_path
    ).words
    assert f"operating state: bus: fault 99: unknown; {MUTE}" in words
    # without a bus in the rig there is only the trip itself
    words = trip_of(without(rig, "bus"), "guard", signals, tmp_path).words
    assert "left its operating state: 0, at cycle" in words


@pytest.mark.parametrize("trip", [Trip.SENSOR_LOST, Trip.SENSOR_FLICKERS])
def test_samples_that_did_not_come_are_of_the_bus_and_others_of_the_sensor(rig, tmp_path, trip):
    lost = trip_of(rig, "guard", tripped(trip, delivered=0.0), tmp_path).words
    assert MUTE in lost
    assert lost.endswith(BUS_REMEDY)
    assert is_of_bus(rig, tripped(trip, delivered=0.0))
    for delivered in (0.5, 1.0):
        came = trip_of(rig, "guard", tripped(trip, delivered=delivered), tmp_path).words
        assert MUTE not in came
        assert came.endswith(TRIPS[trip].remedy)
        assert not is_of_bus(rig, tripped(trip, delivered=delivered))
    # a bus that says nothing, or none at all, leaves the remedy of the sensor
    for of, more in ((rig, GOOD_BUS), (without(rig, "bus"), {})):
        words = trip_of(of, "guard", tripped(trip, delivered=0.0) | more, tmp_path).words
        assert words.endswith(TRIPS[trip].remedy)


def test_an_old_request_names_the_newest_cycle_of_its_task_when_it_tripped(rig, tmp_path):
    signals = tripped(Trip.REQUEST_STALE, value=200.4, limit=200.0, cycle=4.0)
    signals |= {"loop/simulation/cycle": 88.0}
    words = trip_of(rig, "guard", signals, tmp_path).words
    assert "no new request: cycle 88 of task 'simulation' is still the newest: 200.4 ms" in words
    record(tmp_path, "estimation", loop__simulation__cycle=np.arange(70.0, 80.0))
    assert "cycle 73 of task 'simulation'" in trip_of(rig, "guard", signals, tmp_path).words
    assert (
        "cycle nan"
        in trip_of(rig, "guard", tripped(Trip.REQUEST_STALE, cycle=99.0), tmp_path).words
    )


@pytest.mark.parametrize(
    "path", ["wheel/nis", "loop/another/cycle", "a/simulation", "bus/wheel/wkc"]
)
def test_a_request_that_no_task_counts_is_old_without_a_task(rig, tmp_path, path):
    of = rewired(rig, request_cycle=path)
    words = trip_of(of, "guard", tripped(Trip.REQUEST_STALE, value=3.0, limit=2.0), tmp_path).words
    assert f"{path}: no new request: 3 ms, limit" in words


def test_only_the_wire_and_what_hangs_on_it_is_of_the_bus(rig):
    for trip in (Trip.ACTUATOR_LOST, Trip.OWN_FAULT):
        assert is_of_bus(rig, tripped(trip, block=BUS, fault=LOST))
        assert not is_of_bus(rig, tripped(trip, block=BUS, fault=DRIVE))
        for place in (-1, 0, WHEEL, 3, 4):
            assert not is_of_bus(rig, tripped(trip, block=place, fault=LOST))
        assert not is_of_bus(without(rig, "bus"), tripped(trip, block=BUS, fault=LOST))
    for trip in (Trip.REQUEST_FAULT, Trip.TIME_GAP, Trip.HEARTBEAT_LOST):
        assert not is_of_bus(rig, tripped(trip, block=BUS, fault=LOST, delivered=0.0))


def test_the_last_block_of_a_task_may_be_the_bus(rig):
    task = rig.tasks["estimation"]
    task = task.model_copy(update={"blocks": ["wheel", "guard", "bus"]})
    last = rig.model_copy(update={"tasks": rig.tasks | {"estimation": task}})
    assert is_of_bus(last, tripped(Trip.OWN_FAULT, block=3, fault=LOST))
    assert not is_of_bus(last, tripped(Trip.OWN_FAULT, block=0, fault=LOST))


def test_faults_stand_in_the_order_of_their_causes(rig, tmp_path):
    before = DataFault("time gap", 1, 7, "an earlier trip")
    at_the_end = [{"source": "wheel", "code": 1, "words": "gone"}]
    found = faults_of(rig, tripped(Trip.RATE_LIMIT), tmp_path, [before], at_the_end)
    assert [fault.kind for fault in found] == ["time gap", "rate limit", *AT_THE_END]
    assert found[0] is before
    assert found[-1] == DataFault(AT_THE_END[0], 1, 0, "wheel: gone")


def test_the_first_failure_of_each_task_that_no_guard_watches_is_a_fault(rig, tmp_path):
    fault, place = np.zeros(10), np.zeros(10)
    fault[[3, 7]], place[[3, 7]] = 3.0, 1.0
    columns = {"loop/simulation/fault": fault, "loop/simulation/fault_block": place}
    record(tmp_path, "simulation", t_ns=np.arange(10) * 250_000_000, **columns)
    # the guard of this rig watches both tasks
    assert faults_of(rig, {}, tmp_path) == ()
    expected = "loop/simulation/fault: block 'steering' (mechanism): fault 3: "
    for of in (rewired(rig, request_fault="wheel/nis"), without(rig, "guard")):
        (found,) = faults_of(of, {}, tmp_path)
        assert found.words.startswith(expected)
        assert ", first at row 3 (0.750 s); look at its inputs" in found.words
        assert (found.kind, found.count, found.first_row) == ("block failed", 1, 3)
        assert found.at_s == pytest.approx(0.75)
    (found,) = faults_of(without(rig, "guard"), {}, tmp_path, blocks={"simulation": ["stolen"]})
    assert "block 'stolen': fault 3, first at row 3 (0.750 s)" in found.words
    assert found.words.endswith("s)")


@pytest.mark.parametrize("row", [0, CHUNK - 1, CHUNK])
def test_the_first_failure_is_found_wherever_it_is_in_a_long_record(rig, tmp_path, row):
    n = CHUNK + 5
    fault = np.zeros(n)
    fault[[row, -1]] = FAULT_POLICY
    columns = {"loop/estimation/fault": fault, "loop/estimation/fault_block": np.zeros(n)}
    record(tmp_path, "estimation", n, **columns)
    (found,) = faults_of(without(rig, "guard"), {}, tmp_path)
    assert found.first_row == row
    assert "too many overruns" in found.words


def test_a_record_without_failures_or_without_their_column_has_no_fault(rig, tmp_path):
    record(tmp_path, "estimation", loop__estimation__fault=np.zeros(10))
    record(tmp_path, "simulation")
    assert faults_of(without(rig, "guard"), {}, tmp_path) == ()


@pytest.mark.parametrize(
    ("place", "other"), [(1.0, "wheel_guard"), (2.0, "brake_guard"), (0.0, None), (3.0, None)]
)
def test_a_guard_that_followed_names_the_one_that_reached_it_and_its_cause(
    rigs, tmp_path, place, other
):
    signals = {
        "wheel_guard/trip": float(Trip.RATE_LIMIT),
        "brake_guard/trip": float(Trip.ANGLE_LIMIT),
        "gas_guard/trip": float(Trip.OTHER_TRIPPED),
        "gas_guard/trip_value": place,
    }
    words = trip_of(rigs("pedals_and_wheel").rig, "gas_guard", signals, tmp_path).words
    if other is None:
        assert "tripped with guard" not in words
        return
    cause = TRIPS[int(signals[f"{other}/trip"])].words
    assert f"tripped with guard {other!r}: {cause}" in words


def test_a_guard_that_followed_one_that_nobody_kept_names_none(rigs, tmp_path):
    rig = rigs("pedals_and_wheel").rig
    signals = {"gas_guard/trip": float(Trip.OTHER_TRIPPED)}
    assert "tripped with guard" not in trip_of(rig, "gas_guard", signals, tmp_path).words
    signals["gas_guard/trip_value"] = 1.0
    assert "tripped with guard 'wheel_guard'" in trip_of(rig, "gas_guard", signals, tmp_path).words
