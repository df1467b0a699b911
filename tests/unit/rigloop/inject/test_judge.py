"""The judge on records that are made here, one thing wrong at a time: it must find it and say it."""

import msgspec
import numpy as np
import pytest

from io_bridge.recording.record import RecordWriter
from rigloop.compose.wiring import load
from rigloop.inject.judge import judge, judge_words
from rigloop.inject.limits import limits_of
from rigloop.inject.request import again
from rigloop.run_folder import messages
from rigloop.run_folder.manifest import NOT_ARMED
from rt_core.safety.trips import State, Trip

N, BEGAN, FOUND, ZERO = 600, 300, 303, 325
MS = 1_000_000
ASKED = ("request-nan@0.25",)


@pytest.fixture(scope="module")
def lim():
    return limits_of(load("fault_bench").rig)


@pytest.fixture
def columns():
    """A run that pushes 4 Nm, gets a NaN for good in row 300, trips in row 303 and is at zero in row 325."""
    row = np.arange(N)
    torque = np.interp(row, [0, 100, FOUND - 1, ZERO], [0.0, 4.0, 4.0, 0.0])
    state = np.select(
        [row < BEGAN, row < FOUND, row < ZERO],
        [State.RUNNING, State.HOLD, State.STOPPING],
        State.FAULT,
    )
    return {
        "loop/estimation/cycle": row + 1.0,
        "guard/state": state.astype(float),
        "guard/trip": np.where(row >= FOUND, float(Trip.REQUEST_NOT_FINITE), 0.0),
        "guard/torque_nm": torque,
        "inject1/cycle": np.where(row >= BEGAN, BEGAN + 1.0, 0.0),
    }


@pytest.fixture
def verdict(lim, tmp_path):
    def write(columns, at_rest=True, asked=ASKED, series=False, **told):
        n = N
        for task, fields in (
            ("estimation", columns),
            ("simulation", {"loop/simulation/cycle": np.arange(n) + 1.0}),
        ):
            with RecordWriter(tmp_path / f"{task}.npy", list(fields)) as writer:
                rows = np.zeros(n, writer.dtype)
                rows["t_ns"] = np.arange(n) * MS
                for name, column in fields.items():
                    rows[name] = column
                writer.append(rows)
        report = messages.Report(at_rest=at_rest, first_cycle_ns=1, **told)
        messages.write(tmp_path, "cycle.json", report)
        found = judge(tmp_path, again(asked, lim.rig, series=series), None)
        return found if series else found[0]

    return write


def test_a_run_that_kept_its_word_is_good_with_its_cycles(columns, verdict):
    found = verdict(columns)
    assert found.good, found.why
    assert (found.began, found.found, found.zero) == (BEGAN + 1, FOUND + 1, ZERO + 1)
    assert (found.to_find, found.to_zero) == (FOUND - BEGAN, ZERO - BEGAN)
    assert (found.reaction, found.found_by) == ("RAMP", "REQUEST_NOT_FINITE")
    assert found.tried


@pytest.mark.parametrize("state", [State.INIT, State.READY])
def test_a_fault_of_a_guard_that_was_not_armed_was_not_tried(columns, verdict, state):
    nothing = np.zeros(N)
    columns |= {"guard/torque_nm": nothing, "guard/trip": nothing, "guard/state": nothing + state}
    found = verdict(columns)
    assert not found.tried
    assert NOT_ARMED in found.why


def test_a_fault_that_comes_when_the_run_is_ending_by_itself_was_not_tried(columns, verdict):
    # the machine kept the injection from its time: the guard had let go 40 ms before, and nothing had tripped
    columns["guard/trip"][:] = 0
    over = np.arange(N) >= BEGAN - 40
    columns["guard/state"] = np.where(over, State.STOPPING, State.RUNNING).astype(float)
    columns["guard/torque_nm"] = np.interp(
        np.arange(N), [0, 100, BEGAN - 40, BEGAN - 14], [0.0, 4.0, 4.0, 0.0]
    )
    found = verdict(columns)
    assert not found.good
    assert not found.tried
    assert "the run was ending before it" in found.why


def late(columns):
    columns["guard/trip"][: FOUND + 1] = 0


def slow_ramp(columns):
    columns["guard/torque_nm"] = np.interp(
        np.arange(N), [0, 100, FOUND, FOUND + 60], [0.0, 4.0, 4.0, 0.0]
    )


def stays(columns):
    columns["guard/torque_nm"][-1] = 0.1


def other_trip(columns):
    columns["guard/trip"][FOUND:] = Trip.HEARTBEAT_LOST


def nothing_found(columns):
    columns["guard/trip"][:] = 0
    columns["guard/state"][:] = State.RUNNING


def no_torque(columns):
    columns["guard/torque_nm"][:] = 0


def beyond(columns):
    columns["guard/torque_nm"][200] = 12.5


def not_finite(columns):
    columns["guard/torque_nm"][301] = np.nan


def steep(columns):
    columns["guard/torque_nm"][250] = -4.0


def before(columns):
    columns["guard/trip"][280:] = Trip.TIME_GAP


def never(columns):
    columns["inject1/cycle"][:] = 0


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (late, "found after 4 cycles, stated 3"),
        (slow_ramp, "zero after 63 cycles, stated 31"),
        (stays, "the torque was not seen to be zero"),
        (other_trip, "found by HEARTBEAT_LOST, stated REQUEST_NOT_FINITE"),
        (nothing_found, "COUNT, stated RAMP"),
        (no_torque, "there was no torque before it"),
        (beyond, "a torque beyond the limit left the guard"),
        (not_finite, "a torque beyond the limit left the guard"),
        (steep, "the torque changed faster than its limit"),
        (before, "the guard had tripped before it: TIME_GAP"),
        (never, "it did not begin before the run ended"),
    ],
)
def test_what_is_not_as_stated_is_found_and_said(columns, verdict, wrong, words):
    wrong(columns)
    found = verdict(columns)
    assert not found.good
    assert words in found.why
    assert words in found.line()
    assert found.tried == (wrong not in (before, never))


def test_an_output_that_was_not_seen_at_rest_is_not_good(columns, verdict):
    found = verdict(columns, at_rest=False)
    assert found.why == ("the cycle process did not see the output at rest",)


def in_series(columns, began):
    """Two armings: a run of rows 0 to 399 and another from row 450 on, whose fault begins in a row."""
    row = np.arange(N)
    columns["supervisor/arm"] = ((row < 400) | (row >= 450)).astype(float)
    for name in ("guard/state", "guard/trip", "guard/torque_nm"):
        before = columns[name].copy()
        columns[name][450:] = before[BEGAN - 60 : BEGAN + 90]
    columns["guard/state"][400:450] = State.READY
    columns["guard/torque_nm"][450:500] = np.linspace(0.0, 4.0, 50)
    columns["inject1/cycle"] = np.where(row >= BEGAN, BEGAN + 1.0, 0.0)
    columns["inject2/cycle"] = np.where(row >= began, began + 1.0, 0.0)


def test_each_fault_of_a_series_is_judged_by_its_own_arming(columns, verdict):
    in_series(columns, 510)
    first, second = verdict(columns, asked=ASKED * 2, series=True)
    assert (first.good, second.good) == (True, True), (first.why, second.why)
    assert (first.began, first.to_find, first.to_zero) == (BEGAN + 1, FOUND - BEGAN, ZERO - BEGAN)
    assert (second.began, second.to_find, second.to_zero) == (511, FOUND - BEGAN, ZERO - BEGAN)


def test_torque_that_its_arming_took_with_it_was_not_seen_to_end(columns, verdict):
    in_series(columns, 510)
    columns["guard/torque_nm"][:400] = 4.0
    columns["guard/torque_nm"][400:450] = np.linspace(4.0, 0.0, 50)
    first, second = verdict(columns, asked=ASKED * 2, series=True)
    assert "the torque was not seen to be zero" in first.why
    assert first.to_zero is None
    assert second.good, second.why


@pytest.mark.parametrize("began", [350, 420, N])
def test_a_fault_of_a_series_that_began_in_another_arming_was_not_tried(columns, verdict, began):
    in_series(columns, began)
    first, second = verdict(columns, asked=ASKED * 2, series=True)
    assert not second.tried
    assert first.tried


def test_an_arming_that_a_run_did_not_come_to_shows_nothing(columns, verdict):
    columns["supervisor/arm"] = np.ones(N)
    columns["inject2/cycle"] = np.zeros(N)
    _, second = verdict(columns, asked=ASKED * 2, series=True)
    assert not second.tried


def test_a_blip_must_be_held_and_then_run_on(columns, verdict):
    row = np.arange(N)
    columns["guard/trip"][:] = 0
    columns["guard/torque_nm"] = np.interp(row, [0, 100], [0.0, 4.0])
    columns["guard/state"] = np.where(row == BEGAN, State.HOLD, State.RUNNING).astype(float)
    assert verdict(columns, asked=("request-nan-blip@0.25",)).good


def test_a_run_without_a_record_was_not_tried(lim, tmp_path):
    (found,) = judge(tmp_path, again(ASKED, lim.rig), None)
    assert not found.good
    assert not found.tried


@pytest.mark.parametrize("column", ["inject1/cycle", "guard/state", "loop/estimation/cycle"])
def test_a_record_that_lacks_what_tells_of_a_fault_is_said_to(columns, verdict, column):
    lacking = {name: values for name, values in columns.items() if name != column}
    if column == "guard/state":
        lacking["guard/state_of_another_rig"] = columns[column]
    found = verdict(lacking)
    assert not found.good
    assert not found.tried
    assert f"the record of estimation has no {column}" in found.why[0]


@pytest.mark.parametrize("name", ["cycle.json", "recorder.json", "injected.json", "drive.json"])
@pytest.mark.parametrize("text", ["", "[]", "{", '{"number": "x"}\n', "[" * 10_000, "\x00\xff"])
def test_garbage_beside_a_record_ends_no_judgement(columns, verdict, lim, tmp_path, name, text):
    verdict(columns)
    (tmp_path / name).write_text(text, encoding="latin-1")
    for asked in (ASKED, ("supervisor-kill@0.25",), ("recorder-stop@0.1",)):
        (found,) = judge(tmp_path, again(asked, lim.rig), None)
        assert found.good == (asked == ASKED and name != "cycle.json")


def test_a_run_that_left_no_record_tells_nothing_of_its_faults(lim, tmp_path):
    (found,) = judge(tmp_path, again(ASKED, lim.rig), None)
    assert found.why == ("its outcome is unknown: the run left no record of estimation",)


@pytest.mark.parametrize(
    ("asked", "said", "good"),
    [
        ("gain-too-high@0.25", ["guard: the wheel sang at 38.3 Hz: from 0.5 s on"], True),
        ("gain-too-high@0.25", ["guard: something else"], False),
        ("gain-too-high@0.25", [], False),
        ("request-huge@0.25", [], True),
    ],
)
def test_what_no_cycle_finds_is_judged_by_the_words_of_the_verdict(
    lim, tmp_path, asked, said, good
):
    injections = again([asked], lim.rig)
    (never,) = judge(tmp_path, injections, {})
    # without a beginning there is nothing to say
    assert judge_words([never], injections, said) == [never]
    began = msgspec.structs.replace(never, began=250, good=True, why=())
    (what,) = judge_words([began], injections, said)
    assert what.good == good
    assert what.why == (() if good else ("no line of the verdict says 'sang at'",))
