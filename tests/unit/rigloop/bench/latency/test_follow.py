"""Sign changes followed through records made by hand, whose latencies are known exactly."""

import numpy as np
import pytest

from io_bridge.recording.record import record_dtype
from rigloop.bench.latency.events import GROUPS, STAGES, Path
from rigloop.bench.latency.follow import find_events
from rt_core.lateness.cause import Cause

US, MS = 1_000, 1_000_000
FAST, SLOW = 100 * US, 1 * MS
PATH = Path(
    bus="bus",
    fast="fast",
    slow="slow",
    fast_ns=FAST,
    slow_ns=SLOW,
    bus_valid="bus/valid",
    sent_ns="bus/sent_ns",
    device_ns="bus/dc_time_ns",
    drive_valid="bus/wheel/valid",
    operational="bus/wheel/operational",
    torque_actual_nm="bus/wheel/torque_actual_nm",
    count="wheel/unwrapped_count",
    angle_rad="wheel/angle_rad",
    torque_nm="guard/torque_nm",
    ramp="guard/ramp",
    offset_rad="wheel/offset_rad",
)
ZERO_NS = 5_000_000_000.0
N, M = 2000, 200
CHANGES = (40 * MS + 30 * US, 110 * MS + 580 * US, 160 * MS + 910 * US)
COUNT_PER_NS = 1e-3
# wake-up to begin of the frame, and the way to the device
SEND_NS, WIRE_NS = 2_000.0, 7_000.0
STEP_NS = 40_000.0


def triangle(t, changes=CHANGES):
    """Angle in counts: straight through zero at each change, first from below."""
    t = np.asarray(t, float)
    middles = (np.array(changes[1:]) + np.array(changes[:-1])) / 2
    piece = np.searchsorted(middles, t)
    return (-1.0) ** piece * (t - np.array(changes)[piece]) * COUNT_PER_NS


def records(*, device_offset=None, changes=CHANGES, fast_late=0.0, slow_late=0.0):
    """Return records of both tasks of a rig whose filter is perfect and whose tasks keep their order.

    Each simulation cycle sees the fast cycle before the one of its own tick; its torque is guarded in
    the fast cycle after that, and sent in the one after that. With a `device_offset` the device has a
    clock of its own, ahead of the host's, and the frame is WIRE_NS under way.
    """
    fast = np.zeros(
        N,
        record_dtype(
            [
                "loop/fast/cycle", "loop/fast/late_ns", "loop/slow/cycle", "bus/valid", "bus/sent_ns",
                "bus/dc_time_ns", "bus/wheel/valid", "bus/wheel/operational",
                "bus/wheel/torque_actual_nm", "wheel/unwrapped_count", "wheel/angle_rad",
                "guard/torque_nm", "guard/ramp", "wheel/offset_rad", "loop/fast/elapsed", "loop/fast/cause",
            ]
        ),
    )  # fmt: skip
    slow = np.zeros(
        M,
        record_dtype(
            [
                "loop/slow/cycle",
                "loop/slow/late_ns",
                "loop/slow/step_ns",
                "loop/slow/elapsed",
                "loop/slow/cause",
                "loop/fast/cycle",
                "wheel/angle_rad",
            ]
        ),
    )
    fast["t_ns"], slow["t_ns"] = np.arange(N) * FAST, np.arange(M) * SLOW
    fast["loop/fast/cycle"], slow["loop/slow/cycle"] = np.arange(N) + 1, np.arange(M) + 1
    fast["loop/fast/late_ns"], slow["loop/slow/late_ns"] = fast_late, slow_late
    slow["loop/slow/step_ns"] = STEP_NS
    fast["loop/fast/elapsed"] = slow["loop/slow/elapsed"] = 1
    fast["bus/sent_ns"] = ZERO_NS + fast["t_ns"] + fast["loop/fast/late_ns"] + SEND_NS
    if device_offset is None:
        fast["bus/dc_time_ns"] = fast["t_ns"] + 12_345.0
        true = fast["t_ns"]
    else:
        true = fast["bus/sent_ns"] - ZERO_NS + WIRE_NS
        fast["bus/dc_time_ns"] = true + device_offset
    for flag in ("bus/valid", "bus/wheel/valid", "bus/wheel/operational", "guard/ramp"):
        fast[flag] = 1
    fast["wheel/unwrapped_count"] = np.floor(triangle(true, changes))
    fast["wheel/angle_rad"] = fast["wheel/unwrapped_count"] + 0.5
    # rows: slow m sees the fast row before its tick, fast i sees the tick before its own
    saw = np.maximum(np.arange(M) * (SLOW // FAST) - 1, 0)
    slow["loop/fast/cycle"] = fast["loop/fast/cycle"][saw]
    slow["wheel/angle_rad"] = fast["wheel/angle_rad"][saw]
    seen = (np.arange(N) - 1) // (SLOW // FAST)
    fast["loop/slow/cycle"] = np.where(seen >= 0, slow["loop/slow/cycle"][seen], 0)
    fast["guard/torque_nm"] = np.where(seen >= 0, np.sign(slow["wheel/angle_rad"][seen]), 0)
    # the drive answers a cycle after it got the torque
    fast["bus/wheel/torque_actual_nm"][2:] = fast["guard/torque_nm"][:-2]
    return fast, slow


def arrival(change):
    """Nominal time at which the torque of the new sign is sent: two fast cycles after the tick that sees it."""
    sample = -(-change // FAST)
    tick = -(-(sample + 1) * FAST // SLOW) * SLOW
    return tick + 2 * FAST


def find(fast, slow, *, nominal_clock=True):
    return find_events(fast, slow, PATH, ZERO_NS, nominal_clock=nominal_clock)


def test_latency_on_the_nominal_clock_is_exact_but_for_half_a_count():
    events = find(*records()).events
    assert list(events["sign"]) == [1, -1, 1]
    # half a count of the encoder is 0.5 us
    expected = [arrival(change) - change for change in CHANGES]
    assert np.allclose(events["nominal_ns"], expected, rtol=0, atol=600)
    assert np.allclose(events["total_ns"], np.array(expected) + SEND_NS, rtol=0, atol=600)
    assert np.allclose(events["t0_ns"] - 12_345.0, CHANGES, rtol=0, atol=600)


def test_the_stages_are_where_the_time_went_and_add_up():
    events = find(*records(slow_late=25 * US)).events
    assert np.allclose(sum(events[f"{s}_ns"] for s in STAGES), events["total_ns"], rtol=0, atol=1)
    assert {s for stages in GROUPS.values() for s in stages} == set(STAGES)
    first = events[0]
    # changed 30 us after a cycle: sampled 70 us later; the tick comes 0.9 ms after that, and is late
    assert first["wait_sample_ns"] == pytest.approx(70 * US, abs=600)
    assert first["filter_ns"] == 0
    assert first["wait_tick_ns"] == pytest.approx(0.9 * MS + 25 * US, abs=1)
    assert first["step_ns"] == STEP_NS
    assert first["hand_over_ns"] == pytest.approx(FAST - 25 * US - STEP_NS, abs=1)
    assert first["bus_ns"] == pytest.approx(FAST + SEND_NS, abs=1)


def test_late_cycles_that_send_the_torque_make_the_latency_longer_by_as_much():
    fast, slow = records()
    on_time = find(fast, slow).events
    row = on_time["frame"][1]
    fast["loop/fast/late_ns"][row] = 33 * US
    fast["bus/sent_ns"][row] += 33 * US
    late = find(fast, slow).events
    assert np.allclose(late["total_ns"] - on_time["total_ns"], [0, 33 * US, 0], rtol=0, atol=1)
    assert np.array_equal(late["nominal_ns"], on_time["nominal_ns"])
    assert late["late_ns"][1] == 33 * US


def test_a_clock_of_the_device_counts_the_wire_and_needs_no_common_zero():
    # one day ahead of the host
    fast, slow = records(device_offset=86_400e9)
    events = find(fast, slow, nominal_clock=False).events
    for event, change in zip(events, CHANGES, strict=True):
        first = -(-(change - SEND_NS - WIRE_NS) // FAST)
        tick = -(-(first + 1) * FAST // SLOW) * SLOW
        expected = tick + 2 * FAST + SEND_NS + WIRE_NS - change
        assert event["total_ns"] == pytest.approx(expected, abs=600)
        stages = sum(event[f"{s}_ns"] for s in STAGES)
        assert stages == pytest.approx(event["total_ns"], abs=50)  # digits of a day in ns


def test_a_device_without_a_clock_is_timed_by_the_host():
    fast, slow = records(device_offset=0.0)
    found = find(fast, slow, nominal_clock=False)
    fast["bus/dc_time_ns"] = 0
    without = find(fast, slow, nominal_clock=False)
    assert (found.clock, without.clock) == ("device", "host")
    # the way to the device is in neither end, so it cancels
    assert np.allclose(without.events["total_ns"], found.events["total_ns"], rtol=0, atol=5)


def test_a_frame_that_did_not_come_back_does_not_count_as_arrived():
    fast, slow = records()
    before = find(fast, slow).events
    for flag in ("bus/valid", "bus/wheel/valid"):
        fast[flag][before["frame"][0]] = 0
    after = find(fast, slow).events
    assert np.allclose(after["total_ns"] - before["total_ns"], [FAST, 0, 0], rtol=0, atol=1)


def test_a_sample_that_did_not_come_back_is_no_sample():
    fast, slow = records()
    before = find(fast, slow).events
    fast["bus/wheel/valid"][before["sample"][0]] = 0
    after = find(fast, slow).events
    # interpolated over the hole, the sign change is where it was
    assert np.allclose(after["t0_ns"], before["t0_ns"], rtol=0, atol=600)
    assert after["wait_sample_ns"][0] - before["wait_sample_ns"][0] == pytest.approx(FAST, abs=600)
    assert after["filter_ns"][0] == -FAST
    assert np.allclose(after["total_ns"], before["total_ns"], rtol=0, atol=600)


def test_a_filter_that_leads_or_lags_is_told_apart_from_the_wait():
    fast, slow = records()
    before = find(fast, slow).events
    row = before["sample"][2]
    fast["wheel/angle_rad"][row : row + 2] *= -1
    after = find(fast, slow).events
    assert after["filter_ns"][2] == 2 * FAST
    assert after["wait_tick_ns"][2] == pytest.approx(before["wait_tick_ns"][2] - 2 * FAST, abs=1)


def test_the_answer_of_the_drive_is_where_its_own_torque_changes_sign():
    fast, slow = records()
    events = find(fast, slow).events
    # half-way between the samples of -1 and +1, one cycle after the torque was there
    assert np.allclose(events["response_ns"], events["nominal_ns"] + FAST / 2, rtol=0, atol=1)
    fast["bus/wheel/torque_actual_nm"] = np.nan
    assert np.isnan(find(fast, slow).events["response_ns"]).all()


def test_a_task_taken_off_its_core_after_it_began_gets_the_time_where_it_was_lost():
    fast, slow = records()
    before = find(fast, slow).events
    # the cycle of the first tick that sees it began on time, but read its inputs 3 fast cycles later
    s, g = before["tick"][0], before["guard"][0]
    slow["loop/fast/cycle"][s] = fast["loop/fast/cycle"][g + 2]
    fast["loop/slow/cycle"][g : g + 3] = slow["loop/slow/cycle"][s - 1]
    fast["guard/torque_nm"][g : g + 3] = -1
    event = find(fast, slow).events[0]
    assert event["wait_tick_ns"] == pytest.approx(before["wait_tick_ns"][0] + 3 * FAST, abs=1)
    assert event["total_ns"] == pytest.approx(before["total_ns"][0] + 3 * FAST, abs=1)
    assert event["hand_over_ns"] >= 0


def test_the_cause_is_that_of_the_longest_time_without_a_cycle():
    fast, slow = records()
    events = find(fast, slow).events
    assert not events["cause"].any()
    assert not events["lost_ns"].any()
    # on the way of the first: two fast cycles; of the second: those and a tick, which shows in the next one
    for i in (0, 1):
        fast["loop/fast/elapsed"][events["guard"][i]] = 3
        fast["loop/fast/cause"][events["guard"][i]] = Cause.BUS
    slow["loop/slow/elapsed"][events["tick"][1] + 1] = 2
    slow["loop/slow/cause"][events["tick"][1] + 1] = Cause.STOLEN
    # on no way
    fast["loop/fast/elapsed"][events["frame"][2] + 1] = 9
    found = find(fast, slow).events
    assert list(found["cause"]) == [Cause.BUS, Cause.STOLEN, Cause.NONE]
    assert list(found["lost_ns"]) == [2 * FAST, SLOW, 0]


def test_lateness_of_whole_periods_is_counted_once():
    fast, slow = records()
    on_time = find(fast, slow).events
    # woken 2 periods and 5 us late: t_ns has gone on by the two periods
    slow["loop/slow/late_ns"][on_time["tick"][0]] = 2 * SLOW + 5 * US
    event = find(fast, slow).events[0]
    assert event["wait_tick_ns"] == pytest.approx(on_time["wait_tick_ns"][0] + 5 * US, abs=1)
    assert event["late_ns"] == 2 * SLOW + 5 * US


@pytest.mark.parametrize("signal", ["guard/ramp", "bus/wheel/operational"])
def test_a_sign_change_that_the_rig_held_back_is_left_out(signal):
    fast, slow = records()
    fast[signal][: find(fast, slow).events["frame"][0]] = 0
    found = find(fast, slow)
    assert (len(found.events), found.unarmed) == (2, 1)


def test_a_sign_change_while_the_filter_bridges_a_jump_is_left_out():
    fast, slow = records()
    fast["wheel/offset_rad"] = 1e-3 * np.exp(-np.arange(N) / 100)
    found = find(fast, slow)
    assert (len(found.events), found.bridged) == (2, 1)


def test_sign_changes_too_close_to_each_other_are_left_out():
    changes = (40 * MS, 42 * MS, 160 * MS)
    found = find(*records(changes=changes))
    assert (len(found.events), found.crowded) == (1, 2)


def test_an_answer_that_never_comes_is_counted():
    fast, slow = records()
    guard = find(fast, slow).events["guard"]
    fast["guard/torque_nm"][guard[1] : guard[2]] = 1
    found = find(fast, slow)
    assert (len(found.events), found.lost) == (2, 1)


def test_an_answer_beyond_the_end_of_the_record_is_not_missed():
    fast, slow = records()
    end = find(fast, slow).events["frame"][2]
    found = find(fast[:end], slow)
    assert (len(found.events), found.lost) == (2, 0)


@pytest.mark.parametrize("task", ["fast", "slow"])
def test_a_sign_change_next_to_a_hole_of_the_record_is_left_out(task):
    fast, slow = records()
    events = find(fast, slow).events
    if task == "fast":
        fast = np.delete(fast, events["frame"][1] - 1)
    else:
        slow = np.delete(slow, events["tick"][1] - 1)
    found = find(fast, slow)
    assert (len(found.events), found.unrecorded) == (2, 1)


def test_a_wheel_at_rest_has_no_events():
    fast, slow = records()
    fast["wheel/unwrapped_count"] = 17
    found = find(fast, slow)
    assert len(found.events) == 0
    assert (found.unarmed, found.crowded, found.lost, found.unrecorded) == (0, 0, 0, 0)
