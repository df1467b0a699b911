from pathlib import Path

import numpy as np
import pytest
from plain_mapping import MAPPING

from io_bridge.logs.reader import LogError, read_log, unwrapped
from rig_configs.log_schema import parse_mapping

LOGS = Path(__file__).parents[3] / "data" / "logs"


def mapping(text=MAPPING, **changes):
    for old, new in changes.items():
        text = text.replace(old, new)
    return parse_mapping(text, "test")


def kinds(log):
    return {fault.kind: fault for fault in log.faults}


def write(folder, text):
    path = folder / "log.csv"
    path.write_text(text) if isinstance(text, str) else path.write_bytes(text)
    return path


def rows(values, dt=0.01):
    return "t,a\n" + "".join(f"{i * dt:.4f},{v}\n" for i, v in enumerate(values))


def test_torques_that_no_sensor_gives_are_told_and_left_out(tmp_path):
    torque = '[[torque]]\nname = "hand"\ncolumn = "m"\nunit = "nm"\nscale = 1e10\n'
    cells = [0.0, 1e-10, 1e300, -1e300, 2e-10, "inf", "", "1e-3", *[0.0] * 8]
    text = "t,a,m\n" + "".join(f"{0.01 * i:.2f},{i},{m}\n" for i, m in enumerate(cells))
    log = read_log(write(tmp_path, text), mapping(MAPPING + torque))
    np.testing.assert_allclose(log.torque["hand_nm"][:8], [0, 1, 1, 1, 2, 2, 2, 2])
    wild, blank = kinds(log)["wild torque"], kinds(log)["blank cells"]
    assert (wild.count, wild.first_row, "beyond ±1e+06 Nm" in wild.words) == (3, 2, True)
    assert (blank.count, blank.first_row) == (2, 5)


# --- the recorded logs: every figure is stated or counted independently, see the README there


def test_car_angle_log():
    log = read_log(LOGS / "comma2k19_segment40.csv")
    assert log.mapping.name == "comma2k19_segment40"
    assert len(log.t_s) == log.n_rows == 4974
    assert log.duration_s == pytest.approx(59.98725)
    assert log.sample_period_s == pytest.approx(11.22e-3, abs=1e-5)
    # 0.1 deg quantum, recovered exactly
    np.testing.assert_array_equal(log.position_count, np.rint(log.position_count))
    assert np.degrees(log.angle_rad).min() == pytest.approx(-4.6)
    assert np.degrees(log.angle_rad).max() == pytest.approx(2.5)
    faults = kinds(log)
    assert set(faults) == {"gap", "bunching", "constant run"}
    assert faults["gap"].count == 185
    assert faults["bunching"].count == 13
    assert "longest 125 samples" in faults["constant run"].words


def test_car_can_log_takes_the_angle_frames_and_holds_the_torques():
    log = read_log(LOGS / "comma2k19_segment40_can.csv")
    assert log.mapping.name == "comma2k19_segment40_can"
    plain = read_log(LOGS / "comma2k19_segment40.csv")
    n = len(log.t_s)
    assert log.n_rows == 1800
    np.testing.assert_array_equal(log.position_count, plain.position_count[:n])
    np.testing.assert_allclose(log.t_s, plain.t_s[:n], rtol=0, atol=1e-9)
    # the first angle frame comes after a torque frame of -5 and 24
    assert log.torque["driver_raw"][0] == -5
    assert log.torque["eps_raw"][0] == 24
    faults = kinds(log)
    assert {"blank cells", "repeated time, all rows", "gap", "bunching"} <= set(faults)
    assert "repeated time" not in faults


def test_handlebar_log_unwraps_its_time_counter():
    log = read_log(LOGS / "phobos_limtoc_k10_wrap.csv")
    wrap = kinds(log)["time counter wrap"]
    assert (wrap.count, wrap.first_row) == (1, 93)
    assert np.diff(log.t_s).min() > 0.9e-3
    assert np.diff(log.t_s).max() < 1.1e-3
    # the publisher's own unwrapped time
    table = np.genfromtxt(log.path, delimiter=",", names=True)
    np.testing.assert_allclose(log.t_s, table["t_s"] - table["t_s"][0], rtol=0, atol=1e-7)


def test_handlebar_log_shows_the_index_pulse_as_a_step():
    log = read_log(LOGS / "phobos_limtoc_k10_step.csv")
    step = kinds(log)["step"]
    assert (step.count, step.first_row) == (1, 553)
    assert "-0.0180 rad" in step.words
    assert set(log.torque) == {"sensor_nm", "motor_nm", "command_nm"}
    # a virtual spring of -10 N m/rad made the command: units and signs are right
    np.testing.assert_allclose(log.torque["command_nm"], -10 * log.angle_rad, rtol=0, atol=3e-4)


def test_raw_count_log_unwraps_its_encoder():
    log = read_log(LOGS / "phobos_raw_counts_v6.csv")
    assert kinds(log)["encoder wrap"].count == 113
    assert set(kinds(log)) == {"encoder wrap"}
    table = np.genfromtxt(log.path, delimiter=",", names=True)
    # the publisher's signed angle has six decimals
    np.testing.assert_allclose(log.angle_rad, table["steer_angle_rad"], rtol=0, atol=6e-7)
    np.testing.assert_array_equal(log.torque["sensor_nm"], table["sensor_torque_Nm"])
    assert log.bandwidth_rad_s(310.4) == pytest.approx(300.0)
    assert log.bandwidth_rad_s(100.0) == 100.0


# --- faults put into a clean log


def test_clean_log_has_no_fault(tmp_path):
    log = read_log(write(tmp_path, rows(range(50))), mapping())
    assert log.faults == ()
    np.testing.assert_allclose(log.t_s, np.arange(50) * 0.01, atol=1e-12)


def test_of_samples_with_one_time_the_newest_counts(tmp_path):
    text = rows(range(20)) + "0.1900,77\n0.2000,78\n"
    log = read_log(write(tmp_path, text), mapping())
    assert kinds(log)["repeated time"].count == 1
    assert kinds(log)["repeated time"].first_row == 19
    assert log.position_count[-2:].tolist() == [77, 78]
    assert log.row[-2:].tolist() == [20, 21]


def test_samples_that_go_back_in_time_are_left_out(tmp_path):
    text = rows(range(40)) + "0.2000,5\n0.4000,40\n"
    log = read_log(write(tmp_path, text), mapping())
    assert kinds(log)["decreasing time"].first_row == 40
    assert log.row[-1] == 41
    assert (np.diff(log.t_s) > 0).all()


def test_blank_and_non_finite_cells_are_left_out_and_named(tmp_path):
    text = rows([*range(10), "", "nan", "inf", *range(13, 30)]) + ",31\n"
    log = read_log(write(tmp_path, text), mapping())
    assert kinds(log)["bad angle"].count == 3
    assert kinds(log)["bad angle"].first_row == 10
    assert kinds(log)["bad time"].first_row == 30
    assert len(log.t_s) == 27


def test_last_line_without_an_end_is_left_out_and_said(tmp_path):
    log = read_log(write(tmp_path, rows(range(20)) + "0.2000,2"), mapping())
    assert kinds(log)["cut last line"].first_row == 20
    assert len(log.t_s) == 20


def test_angle_off_its_grid_is_said(tmp_path):
    degrees = mapping(counts_per_rev="sign = -1\ncounts_per_rev").model_copy()
    degrees = mapping(**{'unit = "counts"': 'unit = "deg"'})
    log = read_log(
        write(tmp_path, rows([0.36 * i + (0.15 if i == 7 else 0) for i in range(20)])), degrees
    )
    assert kinds(log)["off the grid"].first_row == 7
    assert log.position_count[3] == 3


def test_time_in_large_ticks_keeps_its_digits(tmp_path):
    ticks = mapping(**{'unit = "s"': 'unit = "ticks"\nticks_per_s = 1e9'})
    text = "t,a\n" + "".join(f"{1_700_000_000_000_000_000 + 250_000 * i},{i}\n" for i in range(30))
    log = read_log(write(tmp_path, text), ticks)
    # such stamps are read as float64, whose spacing there is 256 ns
    np.testing.assert_allclose(log.t_s, np.arange(30) * 250e-6, rtol=0, atol=256e-9)


def test_byte_order_mark_carriage_returns_and_blank_lines_do_no_harm(tmp_path):
    text = "\ufeff" + rows(range(20)).replace("\n", "\r\n") + "\r\n"
    log = read_log(write(tmp_path, text.encode()), mapping())
    assert len(log.t_s) == 20
    assert log.faults == ()


def test_sign_and_zero_turn_counts_into_the_angle(tmp_path):
    changed = mapping(counts_per_rev="sign = -1\nzero_count = 5\ncounts_per_rev")
    log = read_log(write(tmp_path, rows(range(20))), changed)
    assert log.angle_rad[15] == pytest.approx(-10 * 2 * np.pi / 1000)


def test_unwrapping_takes_the_shortest_way():
    assert unwrapped(np.array([990.0, 5.0, 995.0]), 1000).tolist() == [-10, 5, -5]
    assert unwrapped(np.array([990.0, 5.0]), 1000, zero_count=980).tolist() == [990, 1005]


# --- files that are no log: one line that says what and where


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty"),
        (b"t,a\n", "no data row"),
        (b"t,a\n0,1\n1,2\n2", "truncated: the last row (2) has 1 of 2 cells"),
        (b"t,a\n0,1\n1,2,3\n2,3\n", "row 1 has 3 cells"),
        (b"\x7fELF\0\0\0\1", "NUL"),
        (b"t,a\n0,1\n1,\0\n2,3\n", "NUL"),
        (b"t,a\n0,1\n1,\xff\n2,3\n", "not UTF-8"),
        (b"\xff\xfe,b\n", "not UTF-8"),
        (b"1.0,2.0\n2.0,3.0\n", "must name the columns"),
        (b"t,t\n0,1\n", "more than once"),
        (b"time,a\n0,1\n", "no column t"),
        (b"t,b\n0,1\n", "found t, b"),
        (b"t,a\n0,1\n0.1,2\n0.2,x7\n0.3,4\n", "row 2, column a: 'x7' is not a number"),
        (b"t,a\n0,1\n0.1,2\n", "2 usable angle samples"),
        (b"a" * 100_000, "no end of line"),
        (b"t,a\n0," + b"1" * 100_000 + b"\n", "longer than"),
        (b",".join(b"c%d" % i for i in range(300)) + b"\n", "300 columns"),
    ],
)
def test_file_that_is_no_log_is_refused_in_one_line(tmp_path, content, words):
    path = write(tmp_path, content)
    with pytest.raises(LogError) as caught:
        read_log(path, mapping())
    message = str(caught.value)
    assert words in message
    assert str(path) in message
    assert "\n" not in message


def test_missing_file_and_folder_are_named(tmp_path):
    with pytest.raises(LogError, match="no such file"):
        read_log(tmp_path / "none.csv", mapping())
    with pytest.raises(LogError, match="is a folder"):
        read_log(tmp_path, mapping())


def test_column_of_nearly_the_name_is_proposed(tmp_path):
    named = mapping(**{'column = "a"': 'column = "steer_angle"'})
    with pytest.raises(LogError, match="near: steering_angle"):
        read_log(write(tmp_path, "t,a,steering_angle\n0,1,2\n"), named)


def test_header_that_fits_no_mapping_lists_what_there_is(tmp_path):
    path = write(tmp_path, "t_s,steering_angle_deg\n0,1\n")
    with pytest.raises(LogError, match="comma2k19_segment40 it lacks speed_mps") as caught:
        read_log(path)
    assert "--mapping" in str(caught.value)
    assert "phobos_raw_counts_v6" in str(caught.value)


def test_time_that_runs_backwards_is_no_clock(tmp_path):
    text = "t,a\n" + "".join(f"{-i},{i}\n" for i in range(50))
    with pytest.raises(LogError, match="go back in time"):
        read_log(write(tmp_path, text), mapping())


def test_counter_wider_than_its_mapping_is_refused(tmp_path):
    narrow = mapping(counts_per_rev="counter_span = 1000\ncounts_per_rev")
    with pytest.raises(LogError, match="repeats after 1000"):
        read_log(write(tmp_path, rows(range(0, 3000, 100))), narrow)


def test_angle_that_starts_again_after_a_turn_names_the_key_that_unwraps_it(tmp_path):
    turning = (np.arange(400) * 7) % 1000
    path = write(tmp_path, rows(turning))
    (words,) = [fault.words for fault in read_log(path, mapping()).faults if fault.kind == "step"]
    assert "counter_span = 1000" in words
    unwrapped = mapping(MAPPING + "counter_span = 1000\n")
    log = read_log(path, unwrapped)
    assert "step" not in kinds(log)
    assert np.allclose(np.diff(log.angle_rad), 7 * 2 * np.pi / 1000)


@pytest.mark.parametrize("value", ["1e300", "-1e18", "inf"])
def test_count_that_no_counter_has_is_left_out_and_named(tmp_path, value):
    log = read_log(write(tmp_path, rows([*range(20), value, *range(20, 40)])), mapping())
    assert kinds(log)["bad angle"].count == 1
    assert len(log.t_s) == 40


def test_time_beyond_all_days_is_refused_with_its_unit(tmp_path):
    with pytest.raises(LogError, match=r"column t spans 1e\+300 s, .* is its unit right"):
        read_log(write(tmp_path, rows(range(20)) + "1e300,20\n"), mapping())
