"""A wheel that sings is known by one tone of its torque that no hand makes."""

import numpy as np
import pytest

from rigloop.compose.blocks import find_guards, paths
from rigloop.compose.wiring import load
from rigloop.judge.singing import singing
from rt_core.safety.trips import State

SECONDS = 3.0


@pytest.fixture(scope="module")
def rig():
    return load("steering_wheel").rig


def recorded(rig, torque_of, *, hz, swing_rad=0.02, state=State.RUNNING, guard="guard"):
    """A wheel that swings at hz while a hand turns it slowly, with the torque that this law gives."""
    reads, writes = paths(guard, find_guards(rig)[guard])
    period_s = rig.period_us(guard) * 1e-6
    t = np.arange(round(SECONDS / period_s)) * period_s
    w, slow = 2 * np.pi * hz, 2 * np.pi * 0.3
    angle = swing_rad * np.sin(w * t) + 0.5 * np.sin(slow * t)
    rate = swing_rad * w * np.cos(w * t) + 0.5 * slow * np.cos(slow * t)
    record = np.zeros(
        len(t),
        [
            (path, "f8")
            for path in ("t_ns", reads["angle_rad"], writes["torque_nm"], writes["state"])
        ],
    )
    record["t_ns"], record[reads["angle_rad"]], record[writes["state"]] = t * 1e9, angle, state
    record[writes["torque_nm"]] = torque_of(angle, rate)
    return {"fast": record}


@pytest.mark.parametrize("hz", [20.0, 33.3, 70.0, 300.0])
def test_a_tone_that_no_hand_makes_is_a_song_at_its_frequency(rig, hz):
    share = 2.0 / (0.02 * 2 * np.pi * hz)  # Nm over the rate of the swing
    (line,) = singing(rig, recorded(rig, lambda angle, rate: -3.0 * angle + share * rate, hz=hz))
    assert "guard: the wheel sang at" in line
    said = float(line.split(" Hz")[0].split()[-1])
    assert said == pytest.approx(hz, abs=0.2)
    assert "request_gain = 1" in line


def test_a_pedal_is_called_by_the_name_of_its_drive():
    rig = load("pedals_and_wheel").rig
    (line,) = singing(rig, recorded(rig, lambda a, r: 99.0 * a, hz=20.0, guard="brake_guard"))
    assert line.startswith("brake_guard: the brake sang at 20.0 Hz")


@pytest.mark.parametrize("hz", [1.0, 4.0, 12.0])
def test_a_hand_that_shakes_a_damped_wheel_is_none(rig, hz):
    damped = recorded(rig, lambda angle, rate: -40.0 * angle - 0.5 * rate, hz=hz)
    assert singing(rig, damped) == []


def test_noise_a_slow_swing_and_a_guard_that_lets_nothing_pass_are_none(rig):
    noise = np.random.default_rng(1)
    assert (
        singing(
            rig,
            recorded(rig, lambda a, r: noise.normal(size=len(a)) * 3.0 + r, hz=20.0, swing_rad=0.0),
        )
        == []
    )
    assert singing(rig, recorded(rig, lambda a, r: 2.0 * r, hz=3.0)) == []
    assert singing(rig, recorded(rig, lambda a, r: 2.0 * r, hz=20.0, state=State.READY)) == []


def test_a_model_that_shakes_by_itself_has_a_limit_of_its_own(rig):
    records = recorded(rig, lambda a, r: 60.0 * a, hz=20.0)
    assert len(singing(rig, records)) == 1
    patient = rig.model_copy(
        update={"verdict": rig.verdict.model_copy(update={"max_tone_nm": 1.3})}
    )
    assert singing(patient, records) == []


def test_a_record_of_a_few_cycles_or_of_numbers_that_are_none_says_nothing(rig):
    records = recorded(rig, lambda a, r: 2.0 * r, hz=20.0)
    assert singing(rig, {"fast": records["fast"][:100]}) == []
    assert singing(rig, {"fast": records["fast"][:0]}) == []
    records["fast"]["guard/torque_nm"] = np.nan
    assert singing(rig, records) == []
    assert singing(rig, {}) == []
