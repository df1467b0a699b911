"""Guesses of time, angle, units, counts and span, with how sure they are."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from io_bridge.logs.formats.table import LogError, whole_table
from io_bridge.logs.guess.angle_span import guess_span
from io_bridge.logs.guess.guess import guess_mapping

T = np.arange(2000) * 1e-3
SWING = 0.6 * np.sin(5.0 * T)


def guess(units=None, remarks=(), **columns):
    names = {name.replace("__", " "): values for name, values in columns.items()}
    table = whole_table("", names, units or {}, "test", remarks)
    return guess_mapping(Path("log.csv"), [table])


@pytest.mark.parametrize(
    ("scale", "unit"), [(1.0, "s"), (1e3, "ms"), (1e6, "us"), (1e9, "ns")]
)  # fmt: skip
def test_unit_of_time_by_its_rate(scale, unit):
    mapping = guess(clock=T * scale, angle_deg=np.round(30 * SWING, 2)).mapping
    assert (mapping.time.column, mapping.time.unit) == ("clock", unit)


@pytest.mark.parametrize("name", ["enc (cnt)", "Lenkradwinkel [°]", "steering_deg"])
def test_wheel_that_turns_evenly_is_no_clock(name):
    torque = np.sin(40.0 * T)
    found = guess(remarks=("Sample rate: 500 Hz",), **{name: np.floor(8e4 * T), "tau (Nm)": torque})
    assert (found.mapping.time.unit, found.mapping.time.period_s) == ("rows", 0.002)
    assert found.mapping.angle.column == name


def test_stamps_that_step_by_a_subnormal_number_end_no_guess():
    assert guess(t_s=1e-320 * np.arange(2000), angle_deg=np.round(30 * SWING, 2)).mapping.time


def test_milliseconds_named_seconds_are_suspected():
    found = guess(t_s=T * 1e3, angle_deg=np.round(30 * SWING, 2))
    assert found.mapping.time.unit == "ms"
    assert "named s, which would be 1 Hz" in found.doubts[0]


def test_degrees_named_counts_are_suspected():
    found = guess(t_s=T, enc_counts=np.round(30 * SWING, 2))
    assert found.mapping.angle.unit == "deg"
    assert found.doubts


def test_log_without_time_takes_the_rate_of_its_banner_or_a_nominal_one():
    found = guess(angle_deg=np.round(30 * SWING, 2), remarks=("Sample rate: 500 Hz",))
    assert found.mapping.time.period_s == pytest.approx(2e-3)
    assert guess(angle_deg=np.round(30 * SWING, 2)).mapping.time.period_s == pytest.approx(1e-3)


def test_counts_of_a_turn_come_from_the_angle_beside_them_the_banner_or_the_span():
    raw = np.rint(SWING * 4096 / (2 * np.pi))
    beside = guess(t_s=T, enc_count=raw, theta_rad=SWING)
    if beside.mapping.angle.column == "enc_count":
        assert beside.mapping.angle.counts_per_rev == 4096
    stated = guess(t_s=T, enc_count=raw, remarks=("encoder with 10000 counts/rev",))
    assert stated.mapping.angle.counts_per_rev == 10_000
    around = guess(t_s=T, enc_count=np.floor(20.0 * T * 4096 / (2 * np.pi)) % 4096)
    assert (around.mapping.angle.counts_per_rev, around.mapping.angle.counter_span) == (4096, 4096)
    assert guess(t_s=T, enc_count=raw).choices[4].sure < 0.5


def test_span_of_a_counter_and_no_span_of_one_that_is_reset():
    turning = np.floor(3e4 * T)
    assert guess_span(turning % 1024) == 1024
    assert guess_span((turning + 512) % 1024 - 512) == 1024
    assert guess_span(turning % 4000) == 4000
    reset = turning.copy()
    for at in (500, 900, 1400):
        reset[at:] -= reset[at]
    assert guess_span(reset) == 0.0


@pytest.mark.parametrize("span", [10_000, 152_000, 4096])
@pytest.mark.parametrize("way", [1, -1])
def test_one_wrap_of_a_usual_encoder_gives_its_span(span, way):
    going = -way * 2000 + way * np.arange(4000) * 1.3
    assert guess_span(np.floor(going) % span) == span


def test_one_reset_from_any_other_count_gives_no_span():
    turning = np.floor(np.arange(4000) * 1.3)
    turning[3000:] -= turning[3000]
    assert guess_span(turning) == 0.0


def test_angle_and_torque_without_any_name():
    noise = np.random.default_rng(0).standard_normal(2000)
    found = guess(column_1=T, column_2=np.round(noise, 3), column_3=np.rint(1e4 * SWING))
    assert found.mapping.angle.column == "column_3"


def test_torques_keep_their_units():
    found = guess(
        t_s=T, angle_deg=np.round(30 * SWING, 2), hand_torque_mNm=SWING, motor_torque_raw=SWING
    )
    assert [(t.column, t.unit, t.scale) for t in found.mapping.torque] == [
        ("hand_torque_mNm", "nm", 1e-3),
        ("motor_torque_raw", "raw", 1.0),
    ]


def test_log_without_an_angle_is_refused():
    with pytest.raises(LogError, match="no column that can be an angle"):
        guess(t_s=T, motor_torque_Nm=np.zeros(2000))


def test_a_column_that_only_counts_up_is_no_angle_and_no_crash():
    mapping = guess(clock=T, wheel_position=np.arange(2000) * 4.0, angle=30 * SWING).mapping
    assert mapping.angle.column == "angle"


def test_the_last_word_of_a_path_says_what_a_column_is():
    mapping = guess(
        t_s=T, **{"steering/tyre/deflection_rad": 0.1 * SWING, "wheel/angle_rad": SWING}
    ).mapping
    assert mapping.angle.column == "wheel/angle_rad"


def test_counts_of_a_turn_from_an_angle_that_is_held_for_some_rows():
    held = np.repeat(SWING[::5], 5)
    found = guess(t_s=T, enc_count=np.rint(10_000 / (2 * np.pi) * held), pos_rad=SWING)
    assert found.mapping.angle.counts_per_rev == 10_000


def test_a_torque_in_percent_is_not_in_newton_metres():
    mapping = guess(t_s=T, angle_deg=30 * SWING, **{"torque_%": SWING}).mapping
    assert [torque.unit for torque in mapping.torque] == ["raw"]


def test_the_wheel_is_no_motor_behind_a_gear():
    found = guess(
        t_s=T,
        motor_enc=np.rint(17 * 4096 * SWING),
        wheel_enc=np.rint(16384 * SWING),
        motor_angle_deg=17 * 57 * SWING,
    )
    assert found.mapping.angle.column == "wheel_enc"
    assert found.mapping.angle.counts_per_rev != pytest.approx(964, rel=0.01)


def test_number_of_a_row_is_no_clock_beside_one():
    columns = {"column_1": np.arange(2000.0), "ts": 1.7e15 + 1e6 * T}
    mapping = guess(**columns, angle_deg=np.round(30 * SWING, 2)).mapping
    assert (mapping.time.column, mapping.time.unit) == ("ts", "us")


def test_stamps_of_two_senders_in_turn_are_a_clock():
    stamp = np.sort(np.r_[T[::2], T[::2] + 0.5e-3])
    mapping = guess(Timestamp=stamp, angle_deg=np.round(30 * SWING, 2)).mapping
    assert mapping.time.column == "Timestamp"


def test_counts_of_a_turn_from_an_angle_beside_a_stretch_of_zeros():
    count = np.rint(4096 / (2 * np.pi) * (SWING + 1.0))
    count[700:900] = 0.0
    found = guess(t_s=T, enc_count=count, pos_rad=np.round(SWING, 5))
    assert found.mapping.angle.counts_per_rev == 4096


def test_position_beside_an_effort_is_in_radians():
    spin = 40.0 * T + 0.5 * np.sin(9.0 * T)
    columns = {"field.position0": np.round(3 * spin, 3), "field.effort0": 0.1 * SWING}
    assert guess(t_s=T, **columns).mapping.angle.unit == "rad"


@pytest.mark.parametrize(("name", "unit"), [("logs/wheel_deg", "deg"), ("logs/wheel_rad", "rad")])
def test_unit_of_a_group_whose_columns_are_time_and_data(name, unit):
    columns = {"Time": T, "Data": np.round(SWING, 3)}
    tables = [
        whole_table("logs/torque_nm", {"Time": T, "Data": 2.0 * SWING}, {}, "mat"),
        whole_table(name, columns, {}, "mat"),
    ]
    mapping = guess_mapping(Path("log.mat"), tables).mapping
    assert (mapping.table, mapping.angle.unit) == (name, unit)


@pytest.mark.parametrize(
    ("begin", "per_s"),
    [
        (45_418.55, 1.0 / 86_400.0),
        (739_378.25, 1.0 / 86_400.0),
        (133_595_226_680_000_000.0, 1e7),
        (638_506_098_680_000_000.0, 1e7),
    ],
)
def test_clocks_that_begin_in_other_years(begin, per_s):
    mapping = guess(stamp=begin + T * per_s, angle_deg=np.round(30 * SWING, 2)).mapping
    assert mapping.time.unit == "ticks"
    assert mapping.time.ticks_per_s == pytest.approx(per_s)


def test_ticks_of_the_clock_that_the_banner_names():
    angle = np.round(30 * SWING, 2)
    found = guess(cyccnt=np.rint(T * 168e6), angle_deg=angle, remarks=("STM32 at 168 MHz",))
    assert found.mapping.time.ticks_per_s == 168e6


def test_a_column_that_counts_in_ones_is_a_clock_where_nothing_else_says_the_rate():
    angle, n = np.round(30 * SWING, 2), np.arange(2000.0)
    assert guess(x=n, angle_deg=angle).mapping.time.unit == "ms"
    stated = guess(x=n, angle_deg=angle, remarks=("Sample rate: 500 Hz",))
    assert stated.mapping.time.period_s == pytest.approx(2e-3)


def test_lines_of_an_encoder_in_quadrature_are_four_counts_each():
    raw = np.rint(SWING * 4096 / (2 * np.pi))
    for words, counts in (("1024 PPR, quadrature x4", 4096), ("1024 PPR", 1024)):
        assert guess(t_s=T, enc_count=raw, remarks=(words,)).mapping.angle.counts_per_rev == counts


@pytest.mark.parametrize(
    ("name", "scale"),
    [
        ("M__[Ncm]", 0.01), ("trq__(lbf-in)", 0.1129848), ("Torque__(ft-lb)", 1.3558179), ("torque_cNm", 0.01),
        ("Moment__[mNm]", 1e-3), ("torque_Nm", 1.0), ("hand_torque", 1.0),
    ],
)  # fmt: skip
def test_units_of_torque(name, scale):
    (torque,) = guess(
        t_s=T, angle_deg=np.round(30 * SWING, 2), **{name: np.round(SWING, 3)}
    ).mapping.torque
    assert (torque.unit, torque.scale) == ("nm", pytest.approx(scale))


def test_thousandths_of_a_degree_are_counts_of_a_known_turn():
    angle = guess(t_s=T, angle_mdeg=np.rint(30_000 * SWING)).mapping.angle
    assert (angle.unit, angle.counts_per_rev) == ("counts", 360_000.0)


@pytest.mark.parametrize(("turn", "unit"), [(2 * np.pi, "rad"), (360.0, "deg")])
def test_a_unit_that_nothing_names_is_that_in_which_the_counts_are_those_of_an_encoder(turn, unit):
    value = np.round(np.rint(SWING * 40 * 4096 / turn) * turn / 4096, 4)
    assert guess(t=T, position=value).mapping.angle.unit == unit


def test_a_unit_that_nothing_says_is_not_sure():
    found = guess(t=T, position=np.round(30 * SWING, 4))
    assert next(c for c in found.choices if c.what == "angle unit").sure < 0.5


@pytest.mark.parametrize(("per_s", "unit"), [(20_000, "us"), (20, "ms")])
def test_a_rate_that_nothing_says_is_that_of_a_hand(per_s, unit):
    # steps of 50: 20 Hz or 20 kHz
    t = np.arange(3000.0)
    swing = np.round(30 * np.sin(2 * np.pi * 0.8 * t / per_s), 3)
    mapping = guess(clock=50.0 * t, angle_deg=swing).mapping
    assert mapping.time.unit == unit


@pytest.mark.parametrize("is_torque_first", [False, True])
@pytest.mark.parametrize("rate_hz", [83.0, 1000.0])
def test_without_names_a_noisy_torque_is_not_the_angle(is_torque_first, rate_hz):
    t = np.arange(2000) / rate_hz
    rng = np.random.default_rng(0)
    angle = np.round(0.5 * np.sin(8.0 * t), 4)
    torque = np.round(2.0 * np.sin(4.4 * t) + 0.05 * rng.standard_normal(len(t)), 3)
    order = (torque, angle) if is_torque_first else (angle, torque)
    columns = dict(zip(("column_1", "column_2", "column_3"), (t, *order), strict=True))
    table = replace(whole_table("", columns, {}, "test"), has_names=False)
    mapping = guess_mapping(Path("log.csv"), [table]).mapping
    assert mapping.angle.column == ("column_3" if is_torque_first else "column_2")


def test_the_first_column_of_a_matrix_is_the_angle():
    columns = {"data_1": T, "data_2": np.round(40 * SWING, 9), "data_3": np.round(SWING, 9)}
    assert guess(**columns).mapping.angle.column == "data_2"


def test_a_unit_that_is_known_is_taken_as_it_is():
    table = whole_table("", {"t_s": T, "angle": np.round(20 * SWING, 4)}, {}, "test")
    assert guess_mapping(Path("log.csv"), [table]).mapping.angle.unit == "deg"
    assert guess_mapping(Path("log.csv"), [table], unit="rad").mapping.angle.unit == "rad"
