"""What a hand at the actuator feels: stretches without a fresh command, steps across them, saturation, given work."""

from dataclasses import replace

import numpy as np
import pytest

from rt_core.safety.guard import OPTIONAL
from rt_core.safety.trips import State

BAD = 100
MS_A_CYCLE = 0.2


@pytest.fixture
def wide(config):
    """Limits that a gap of some ms does not trip."""
    return replace(
        config, max_gap_ms=1e3, skip_bucket_ms=1e6, sensor_hold_ms=1e3, sensor_bucket_ms=1e6,
        request_hold_ms=1e3, max_request_age_ms=1e3, heartbeat_timeout_ms=1e3,
    )  # fmt: skip


def test_a_healthy_run_has_a_fresh_command_each_request(inputs, run, wide):
    out = run(inputs, wide)
    # requests come each fifth cycle, and leave in the one after
    assert out["longest_gap_ms"][-1] == pytest.approx(6 * MS_A_CYCLE)
    # the first of equal ones: of the request that was new in cycle 10, one before it was armed
    assert out["longest_gap_cycle"][-1] == 16
    assert out["gap_step_nm"][-1] == 0
    assert np.all(out["gap_ms"][:10] == 0)


def skipped(inputs):
    inputs["elapsed"][BAD] = 40
    # the model has gone on meanwhile
    inputs["request_cycle"][BAD:] += 8
    return np.cumsum(inputs["elapsed"]).astype(np.int64) - 1


def lost_frames(inputs):
    inputs["delivered"][BAD : BAD + 40] = 0


def held_sensor(inputs):
    inputs["sensor_valid"][BAD : BAD + 40] = 0


def held_request(inputs):
    inputs["torque_request_nm"][BAD : BAD + 40] = np.nan


def stale(inputs):
    inputs["request_cycle"][BAD : BAD + 40] = inputs["request_cycle"][BAD - 1]
    inputs["torque_request_nm"][BAD : BAD + 40] = inputs["torque_request_nm"][BAD - 1]


@pytest.mark.parametrize("break_it", [skipped, lost_frames, held_sensor, held_request, stale])
def test_skips_lost_frames_holds_and_stale_requests_are_one_stretch_to_the_hand(
    inputs, run, wide, break_it
):
    # the wanted torque falls by 4 Nm over the stretch and stays there
    inputs["torque_request_nm"] = np.interp(np.arange(300), [BAD, BAD + 40], [5.0, 1.0])
    if break_it is skipped:
        inputs["torque_request_nm"] = np.where(np.arange(300) < BAD, 5.0, 1.0)
    out = run(inputs, wide, break_it(inputs))
    # 40 cycles, and what was left of a request's five before and after
    assert 39 * MS_A_CYCLE < out["longest_gap_ms"][-1] <= 52 * MS_A_CYCLE
    assert BAD <= out["longest_gap_cycle"][-1] <= BAD + 55
    assert 3.5 < out["gap_step_nm"][-1] <= 4.5
    assert abs(out["gap_step_cycle"][-1] - out["longest_gap_cycle"][-1]) <= 1


def test_a_stretch_that_has_not_ended_counts(inputs, run, wide):
    stale(inputs)
    inputs["request_cycle"][BAD:] = inputs["request_cycle"][BAD - 1]
    out = run(inputs, wide)
    assert out["gap_ms"][-1] == out["longest_gap_ms"][-1] > 190 * MS_A_CYCLE
    assert out["gap_step_nm"][-1] == 0


def test_a_lost_frame_between_requests_is_made_up_by_the_next(inputs, run, wide):
    inputs["delivered"][BAD + 2] = 0
    assert run(inputs, wide)["longest_gap_ms"][-1] <= 7 * MS_A_CYCLE


def test_without_the_word_of_the_bus_each_frame_counts_as_delivered(inputs, run, wide):
    bare = {port: column for port, column in inputs.items() if port not in OPTIONAL}
    whole = run(inputs, wide)
    assert all(np.array_equal(whole[port], column) for port, column in run(bare, wide).items())


def test_saturation_is_counted_in_all_and_in_one_piece(inputs, run, wide):
    request = inputs["torque_request_nm"]
    request[BAD : BAD + 10] = 10
    request[BAD + 20 : BAD + 50] = -1e9
    request[BAD + 60] = 9.999
    out = run(inputs, wide)
    assert out["saturated_ms"][-1] == pytest.approx(40 * MS_A_CYCLE)
    # to less than a nanosecond
    assert out["longest_saturated_ms"][-1] == pytest.approx(30 * MS_A_CYCLE, rel=0, abs=1e-7)
    # armed in the eleventh cycle: what comes after it
    assert out["active_ms"][-1] == pytest.approx(289 * MS_A_CYCLE)


def swing(inputs):
    phase = np.linspace(0, 6 * np.pi, 300)
    inputs["angle_rad"] = np.sin(phase)
    inputs["rate_rad_s"] = np.zeros(300)
    return inputs["angle_rad"], np.gradient(inputs["angle_rad"], MS_A_CYCLE * 1e-3)


def test_a_spring_and_damper_takes_work_and_with_the_wrong_sign_gives_it(inputs, run, wide):
    angle, rate = swing(inputs)
    inputs["torque_request_nm"] = 3 * angle + 0.003 * rate
    wide = replace(wide, ramp_in_s=0.0, rate_nm_s=1e6)
    right = run(inputs, replace(wide, request_sign=-1))
    wrong = run(inputs, replace(wide, request_sign=1))
    # armed off the centre a spring gives back what it held: 3 Nm/rad over half a radian
    assert right["most_given_j"][-1] < 0.5
    assert wrong["most_given_j"][-1] > 1.4
    assert wrong["given_j"][-1] > 0
    assert right["given_j"][-1] < 0


def test_a_jump_of_the_angle_is_no_work(inputs, run, wide):
    inputs["angle_rad"][BAD:] = 7.9
    inputs["angle_rad"][BAD + 50 :] = -7.9
    out = run(inputs, wide)
    # 7.9 rad within the range is motion to the guard; 15.8 is not
    assert out["most_given_j"][-1] < 5 * 8
    assert np.all(np.isfinite(out["given_j"]))


def test_a_gap_is_the_age_of_the_request_that_acts(inputs, run, wide):
    """Against the definition: a frame takes along the output of the cycle before, and that follows a request."""
    inputs["delivered"][[50, 51, 70, 71, 72]] = [0, 0, 0.5, 0.5, 0]
    inputs["sensor_valid"][90:93] = 0
    inputs["elapsed"][[60, 200]] = [9, 17]
    periods = np.cumsum(inputs["elapsed"]).astype(np.int64)
    out = run(inputs, wide, periods)
    good = inputs["sensor_valid"] > 0
    new, newest, newest_at = np.zeros(300), 0.0, 0
    for k in range(300):
        if good[k] and inputs["request_cycle"][k] != newest:
            newest, newest_at = inputs["request_cycle"][k], periods[k]
        new[k] = newest_at
    armed = int(np.flatnonzero(out["state"] == State.RUNNING)[0])
    acting, longest = periods[armed], 0
    for k in range(armed + 1, 300):
        longest = max(longest, periods[k] - acting)
        if inputs["delivered"][k] > 0.5:
            acting = new[k - 1]
        assert out["gap_ms"][k] == pytest.approx((periods[k] - acting) * MS_A_CYCLE, abs=1e-9)
    assert out["longest_gap_ms"][-1] == pytest.approx(longest * MS_A_CYCLE)


@pytest.mark.parametrize("first", [0.0, 1.0, -1.0])
def test_the_first_request_is_new_when_it_is_first_good_whatever_its_number(
    inputs, run, wide, first
):
    # another number came before it, while nothing was good
    inputs["request_cycle"][0], inputs["sensor_valid"][0] = 7, 0
    inputs["request_cycle"][1:] = first
    out = run(inputs, wide, np.arange(300) + 50_000)
    assert out["state"][12] == State.RUNNING
    assert out["gap_ms"][12] == pytest.approx(11 * MS_A_CYCLE)


@pytest.mark.parametrize(("stretch", "counts"), [(11, False), (12, True)])
def test_a_step_counts_across_a_stretch_that_missed_a_command(inputs, run, wide, stretch, counts):
    # two periods of the requests and one of the guard: 11 cycles
    cycle = inputs["own_cycle"]
    inputs["request_cycle"] = np.where(cycle <= BAD, cycle, np.maximum(BAD, cycle - stretch + 2))
    inputs["torque_request_nm"] = np.where(inputs["request_cycle"] <= BAD, 5.0, 1.0)
    wide = replace(wide, rate_nm_s=1e6)
    out = run(inputs, wide)
    assert out["longest_gap_ms"][-1] == pytest.approx(stretch * MS_A_CYCLE)
    assert out["gap_step_nm"][-1] == pytest.approx(4 if counts else 0)
    assert out["gap_step_cycle"][-1] == (out["longest_gap_cycle"][-1] if counts else 0)
    # without a step there is no cycle of one
    inputs["torque_request_nm"][:] = 5
    assert run(inputs, wide)["gap_step_cycle"][-1] == 0


def test_the_period_of_requests_that_are_faster_than_the_guard_is_its_own(inputs, run, wide):
    inputs["request_cycle"] = inputs["own_cycle"].copy()
    inputs["torque_request_nm"][BAD:] = 1
    for lost, counts in ((1, False), (2, True)):
        inputs["delivered"][:] = 1
        inputs["delivered"][BAD + 1 : BAD + 1 + lost] = 0
        out = run(inputs, replace(wide, request_period_ms=0.0, rate_nm_s=1e6))
        assert out["longest_gap_ms"][-1] == pytest.approx((2 + lost) * MS_A_CYCLE)
        assert out["gap_step_nm"][-1] == (4 if counts else 0)


# a twentieth of the limit of 10 Nm for each second
DRAINED_J = 0.5 * 2e-4


def test_given_work_is_torque_times_motion_and_is_forgiven_with_time(inputs, run, wide):
    # 5 Nm over 2 mrad
    inputs["angle_rad"][BAD:] = 2e-3
    out = run(inputs, wide)
    assert out["given_j"][BAD - 1] == 0
    since = np.arange(300 - BAD) + 1
    expected = np.maximum(0.01 - since * DRAINED_J, 0)
    assert np.allclose(out["given_j"][BAD:], expected, atol=1e-12, rtol=0)
    assert out["given_j"][-1] == 0
    assert out["most_given_j"][-1] == pytest.approx(0.01 - DRAINED_J)
    # work that the hands gave is not forgotten
    inputs["angle_rad"][BAD:] = -2e-3
    out = run(inputs, wide)
    assert np.allclose(out["given_j"][BAD:], -0.01, atol=1e-12, rtol=0)
    assert out["most_given_j"][-1] == 0


def test_work_is_that_of_the_torque_that_acts(inputs, run, wide):
    # frames are lost, so the drive keeps giving 5 Nm, though the guard has sent 1
    inputs["torque_request_nm"][BAD:] = 1
    inputs["delivered"][BAD : BAD + 20] = 0
    inputs["angle_rad"][BAD + 15 :] = 2e-3
    assert run(inputs, wide)["most_given_j"][-1] == pytest.approx(0.01 - DRAINED_J)


def test_motion_that_no_good_sample_saw_counts_when_one_comes(inputs, run, wide):
    inputs["sensor_valid"][BAD : BAD + 10] = 0
    inputs["angle_rad"][BAD : BAD + 10] = 1
    inputs["angle_rad"][BAD + 10 :] = 2e-3
    assert run(inputs, wide)["most_given_j"][-1] == pytest.approx(0.01 - DRAINED_J)


def test_a_motion_of_the_whole_range_is_one_and_beyond_it_none(inputs, run, wide):
    inputs["angle_rad"][BAD:] = 8
    assert run(inputs, wide)["most_given_j"][-1] == pytest.approx(40 - DRAINED_J)
    inputs["angle_rad"][:BAD] = -1e-9
    assert run(inputs, wide)["most_given_j"][-1] == 0


@pytest.mark.parametrize("lost", [False, True])
def test_arming_again_begins_with_no_work_no_torque_and_no_saturation(inputs, run, wide, lost):
    inputs["torque_request_nm"][:] = 10
    inputs["angle_rad"][BAD:] = 1e-3
    inputs["arm"][BAD + 20 : BAD + 60] = 0
    # the wheel is turned meanwhile, or while the first frames after it do not arrive
    inputs["angle_rad"][BAD + 40 :] = 3
    if lost:
        inputs["angle_rad"][BAD + 63 :] = 3.5
        inputs["delivered"][BAD + 61 : BAD + 70] = 0
    out = run(inputs, wide)
    assert out["state"][BAD + 60] == State.RUNNING
    assert np.all(out["given_j"][BAD + 60 :] == 0)
    assert out["most_given_j"][-1] == pytest.approx(0.01 - DRAINED_J)
    # armed in the eleventh cycle; the piece before ended in the cycle that stopped
    piece_ms = (300 - BAD - 61) * MS_A_CYCLE
    assert out["longest_saturated_ms"][-1] == pytest.approx(piece_ms, rel=0, abs=1e-7)
    assert out["active_ms"][-1] == pytest.approx((BAD + 20 - 10 + 300 - BAD - 61) * MS_A_CYCLE)
    assert out["gap_ms"][BAD + 60] == 0
    assert np.all(out["gap_ms"][BAD + 30 : BAD + 60] == 0)


def test_the_longest_saturated_piece_is_kept_when_shorter_ones_follow(inputs, run, wide):
    inputs["torque_request_nm"][BAD : BAD + 40] = 10
    inputs["torque_request_nm"][BAD + 50 : BAD + 60] = 10
    assert run(inputs, wide)["longest_saturated_ms"][-1] == pytest.approx(40 * MS_A_CYCLE)
