"""What a hand at the actuator feels: stretches without a fresh command, steps across them, saturation, given work."""

from dataclasses import replace

import numpy as np
import pytest

from rt_core.guard import OPTIONAL

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
    assert out["longest_saturated_ms"][-1] == pytest.approx(30 * MS_A_CYCLE)
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
