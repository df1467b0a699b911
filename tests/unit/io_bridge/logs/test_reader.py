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
    # its stamps jitter, as those of a polling logger do, and nothing is missing
    assert log.faults == ()


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
    assert set(kinds(log)) == {"blank cells"}


def test_handlebar_log_unwraps_its_time_counter():
    log = read_log(LOGS / "phobos_limtoc_k10_wrap.csv")
    wrap = kinds(log)["clock wrap"]
    assert (wrap.count, wrap.first_row) == (1, 93)
    assert np.diff(log.t_s).min() > 0.9e-3
    assert np.diff(log.t_s).max() < 1.1e-3
    # the publisher's own unwrapped time
    table = np.genfromtxt(log.path, delimiter=",", names=True)
    np.testing.assert_allclose(log.t_s, table["t_s"] - table["t_s"][0], rtol=0, atol=1e-7)


def test_handlebar_log_goes_on_across_the_index_pulse():
    log = read_log(LOGS / "phobos_limtoc_k10_step.csv")
    (step,) = log.findings
    assert (step.kind, step.row, step.action) == ("index jump", 554, "split")
    assert "-0.018 at" in step.words or "-0.0179" in step.words
    # the jump is taken off: from there on the angle is another one than that of the command, by as much
    jump = 0.01798
    assert set(log.torque) == {"sensor_nm", "motor_nm", "command_nm"}
    # a virtual spring of -10 N m/rad made the command: units and signs are right
    angle = log.angle_rad - np.where(log.row >= 554, jump, 0.0)
    np.testing.assert_allclose(log.torque["command_nm"], -10 * angle, rtol=0, atol=5e-4)
    assert np.max(np.abs(np.diff(log.angle_rad))) < 0.015


def test_raw_count_log_unwraps_its_encoder():
    log = read_log(LOGS / "phobos_raw_counts_v6.csv")
    assert kinds(log)["counter wrap"].count == 113
    assert set(kinds(log)) == {"counter wrap"}
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
    text = rows(range(20)) + "0.1900,20\n0.2000,21\n"
    log = read_log(write(tmp_path, text), mapping())
    assert (kinds(log)["repeated stamps"].count, kinds(log)["repeated stamps"].first_row) == (1, 20)
    assert log.position_count[-2:].tolist() == [20, 21]
    assert log.row[-2:].tolist() == [20, 21]


def test_samples_that_go_back_in_time_are_left_out(tmp_path):
    text = rows(range(40)) + "0.2000,39\n0.4000,40\n0.4100,41\n"
    log = read_log(write(tmp_path, text), mapping())
    assert kinds(log)["backward stamps"].first_row == 40
    assert log.row[-1] == 42
    assert (np.diff(log.t_s) > 0).all()


def test_blank_and_non_finite_cells_are_left_out_and_named(tmp_path):
    text = rows([*range(10), "", "nan", "inf", *range(13, 30)]) + ",31\n"
    log = read_log(write(tmp_path, text), mapping())
    assert [(f.kind, f.row, f.samples) for f in log.findings] == [
        ("missing value", 10, 3),
        ("missing time", 30, 1),
    ]
    assert len(log.t_s) == 27


def test_last_line_that_is_cut_is_left_out_and_said(tmp_path):
    log = read_log(write(tmp_path, rows(range(20)) + "0.20"), mapping())
    assert kinds(log)["cut last row"].first_row == 20
    assert len(log.t_s) == 20


def test_whole_last_line_without_an_end_is_read(tmp_path):
    log = read_log(write(tmp_path, rows(range(20)) + "0.2000,20"), mapping())
    assert log.faults == ()
    assert len(log.t_s) == 21


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
        (b"t,a\n", "no rows of numbers"),
        (b"\x7fELF\0\0\0\1", "byte 4 is 0x00"),
        (b"time,a\n0,1\n", "no column t"),
        (b"t,b\n0,1\n", "found t, b"),
        (b"b,c\n0,1\n", "no column a (mapping plain); found b, c"),
        (b"t,a\n0,1\n0.1,2\n", "2 usable angle samples"),
        (b"a" * 100_000, "no rows of numbers: line 1 begins with 'aaaa"),
        (b",".join(b"%d" % i for i in range(300)) + b"\n", "300 columns"),
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


@pytest.mark.parametrize(
    ("bad", "kind"),
    [
        ("0.2000,20,7", "damaged row"),
        ("0.2000", "damaged row"),
        ("0.2000,\x00", "damaged cell"),
        ("0.2000,x7", "damaged cell"),
        ("t,a", "repeated header"),
        ("0.2000," + "1" * 100_000, "impossible value"),
    ],
)
def test_bad_row_is_listed_with_its_line_and_the_others_are_read(tmp_path, bad, kind):
    text = rows(range(20)) + bad + "\n" + "".join(f"0.{i}00,{i}\n" for i in range(21, 40))
    log = read_log(write(tmp_path, text), mapping())
    (fault,) = log.findings
    assert (fault.kind, fault.row, fault.line) == (kind, 20, 22)
    assert len(log.t_s) == 39


def test_missing_file_and_folder_are_named(tmp_path):
    with pytest.raises(LogError, match="no such file"):
        read_log(tmp_path / "none.csv", mapping())
    with pytest.raises(LogError, match="is a folder"):
        read_log(tmp_path, mapping())


def test_column_of_nearly_the_name_is_proposed(tmp_path):
    named = mapping(**{'column = "a"': 'column = "steer_angle"'})
    with pytest.raises(LogError, match="did you mean 'steering_angle'"):
        read_log(write(tmp_path, "t,a,steering_angle\n0,1,2\n"), named)


def test_header_that_fits_no_mapping_lists_what_there_is(tmp_path):
    path = write(tmp_path, "t_s,steering_angle_deg\n0,1\n")
    with pytest.raises(LogError, match="comma2k19_segment40 it lacks speed_mps") as caught:
        read_log(path)
    assert "--mapping" in str(caught.value)
    assert "phobos_raw_counts_v6" in str(caught.value)


def test_time_that_runs_backwards_is_no_clock(tmp_path):
    text = "t,a\n" + "".join(f"{-i},{i}\n" for i in range(50))
    with pytest.raises(LogError, match=r"go back in time|usable angle samples|suspicion of units"):
        read_log(write(tmp_path, text), mapping())


def test_counter_wider_than_its_mapping_is_refused(tmp_path):
    narrow = mapping(counts_per_rev="counter_span = 1000\ncounts_per_rev")
    with pytest.raises(LogError, match="repeats after 1000"):
        read_log(write(tmp_path, rows(range(0, 3000, 100))), narrow)


def test_counter_that_runs_over_without_a_span_jumps(tmp_path):
    turning = (np.arange(400) * 7) % 1000
    path = write(tmp_path, rows(turning))
    assert len(kinds(read_log(path, mapping()))) == 1
    log = read_log(path, mapping(MAPPING + "counter_span = 1000\n"))
    assert set(kinds(log)) == {"counter wrap"}
    assert np.allclose(np.diff(log.angle_rad), 7 * 2 * np.pi / 1000)


@pytest.mark.parametrize("value", ["1e300", "-1e18", "inf"])
def test_count_that_no_counter_has_is_left_out_and_named(tmp_path, value):
    log = read_log(write(tmp_path, rows([*range(20), value, *range(20, 40)])), mapping())
    assert [f.row for f in log.findings] == [20]
    assert len(log.t_s) == 40


def test_time_beyond_all_days_is_refused_with_its_unit(tmp_path):
    with pytest.raises(LogError, match=r"column t spans 1e\+300 s, .* is its unit right"):
        read_log(write(tmp_path, rows(range(20)) + "1e300,20\n"), mapping())
