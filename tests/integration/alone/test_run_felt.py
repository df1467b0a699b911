"""What the driver's hand feels is judged: gaps between fresh commands, a wrong sign, saturation."""

import pytest

from io_bridge.recording.record import open_record
from rigloop.run_folder.manifest import read_manifest

pytestmark = pytest.mark.slow


def reasons(done, word):
    return [reason for reason in done.outcome["reasons"] if word in reason]


def test_a_good_run_says_what_the_hand_felt(good_run):
    felt = read_manifest(good_run.folder).felt
    record = open_record(good_run.folder / "estimation.npy")
    assert felt.longest_gap_ms == pytest.approx(record["guard/longest_gap_ms"][-1])
    assert felt.active_s > 0.9
    assert felt.rearmed == 0
    # the row of that cycle is the moment that is named
    row = int(record["guard/longest_gap_cycle"][-1]) - 1
    assert felt.longest_gap_at_s == pytest.approx(record["t_ns"][row] * 1e-9)
    assert any("fresh command" in figure[0] for figure in good_run.outcome["figures"])
    page = (good_run.folder / "report.html").read_text()
    assert "Longest without a fresh command" in page


def test_a_wrong_sign_is_not_good_and_is_named(make_rig, run_to_end, tmp_path):
    rig = make_rig({"blocks.guard.request_sign": "1"})
    # some 3 J a second; less where a starved host lets torques act late
    done = run_to_end(rig, tmp_path, "--for", "6")
    assert done.code == 1, done
    (reason,) = reasons(done, "request_sign = 1")
    assert "the torque drives the motion" in reason
    assert "limit verdict.max_given_j = 6" in reason
    felt = read_manifest(done.folder).felt
    assert felt.most_given_j > 6


def test_a_request_at_the_limit_for_long_is_not_good(make_rig, run_to_end, tmp_path):
    rig = make_rig({"blocks.guard.limit_nm": "0.5", "verdict.max_saturated_s": "0.2"})
    done = run_to_end(rig, tmp_path, "--for", "2")
    assert done.code == 1, done
    (share,) = reasons(done, "max_saturated_percent = 10")
    (piece,) = reasons(done, "max_saturated_s = 0.2")
    assert "limit_nm = 0.5" in share
    assert "request_sign = -1" in piece
    assert read_manifest(done.folder).felt.saturated_percent > 10


def test_a_gap_and_a_step_beyond_the_limits_of_the_rig_are_not_good(make_rig, run_to_end, tmp_path):
    # each request of 1 ms acts for longer than this
    rig = make_rig({"verdict.max_command_gap_ms": "0.5"})
    done = run_to_end(rig, tmp_path, "--for", "1")
    assert done.code == 1, done
    (reason,) = reasons(done, "max_command_gap_ms = 0.5")
    assert "no fresh command reached the drive" in reason


def test_lost_frames_and_a_late_model_are_one_gap(run_to_end, tmp_path):
    # the model is busy for 40 of its periods, well within the age that the guard allows
    done = run_to_end("fault_bench", tmp_path, "--for", "2", "--inject", "overrun:40000@0.6")
    felt = read_manifest(done.folder).felt
    assert 35 < felt.longest_gap_ms < 100
    record = open_record(done.folder / "estimation.npy")
    assert record["guard/longest_gap_ms"][-1] == pytest.approx(felt.longest_gap_ms)
    assert felt.gap_step_nm > 0
