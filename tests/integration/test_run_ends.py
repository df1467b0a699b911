"""However a live run ends, the torque ends at zero, the record is whole, and nothing is left behind."""

import os
import signal

import numpy as np
import pytest

from io_bridge.recording.record import open_record
from rigloop.run_folder.manifest import read_manifest

pytestmark = pytest.mark.slow

# stop (1 s of waiting for rest at most), recorder, report: some two seconds on an idle machine
END_TIMEOUT_S = 40
GONE_TIMEOUT_S = 20
QUICK_HEARTBEAT = {"blocks.guard.heartbeat_timeout_ms": "500.0"}


def assert_at_rest_and_whole(live):
    """The record goes on without a gap until the torque is zero and the guard says safe."""
    for task in ("estimation", "simulation"):
        record = open_record(live.folder / f"{task}.npy")
        assert np.array_equal(record[f"loop/{task}/cycle"], np.arange(1, len(record) + 1))
    record = open_record(live.folder / "estimation.npy")
    assert np.any(record["guard/torque_nm"] != 0)
    assert record["guard/torque_nm"][-1] == 0.0
    assert record["guard/safe"][-1] == 1.0


def ramp_out_s(live):
    """Time from the last full-gain cycle to the first with exactly zero torque, s."""
    record = open_record(live.folder / "estimation.npy")
    pushing = np.flatnonzero(record["guard/torque_nm"] != 0)[-1]
    full = np.flatnonzero(record["guard/safe"] == 0)
    ramp = record["guard/ramp"][full[0] : pushing + 1]
    begin = full[0] + np.flatnonzero(np.diff(ramp) < 0)[0]
    return 1e-9 * (record["t_ns"][pushing + 1] - record["t_ns"][begin])


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["SIGINT", "SIGTERM"])
def test_an_interrupted_supervisor_ramps_out_and_judges(start_live, number):
    live = start_live()
    live.wait_until_it_pushes()
    table = live.table
    live.process.send_signal(number)
    outcome = live.end(END_TIMEOUT_S)
    assert live.process.returncode == 0, outcome
    assert outcome["good"]
    live.wait_until_gone(GONE_TIMEOUT_S)
    assert not table.exists()
    assert_at_rest_and_whole(live)
    assert read_manifest(live.folder).verdict == "good"
    # 20 ms of ramp, 12 Nm at 2000 Nm/s, and slack for skipped cycles
    assert ramp_out_s(live) < 1.0


def test_a_second_interrupt_does_not_cut_the_ramp_short(start_live):
    live = start_live()
    live.wait_until_it_pushes()
    table = live.table
    for _ in range(3):
        live.process.send_signal(signal.SIGINT)
    assert live.end(END_TIMEOUT_S)["good"]
    live.wait_until_gone(GONE_TIMEOUT_S)
    assert not table.exists()
    assert_at_rest_and_whole(live)


def test_a_terminated_cycle_process_ramps_out_by_itself(start_live):
    live = start_live(None, "--for", "60")
    live.wait_until_it_pushes()
    table = live.table
    os.kill(live.pid("rigloop.live.cycle"), signal.SIGTERM)
    outcome = live.end(END_TIMEOUT_S)
    # it came to rest, but it did not run as long as it was asked to
    assert live.process.returncode == 1
    assert any("of 60 s" in reason for reason in outcome["reasons"]), outcome
    live.wait_until_gone(GONE_TIMEOUT_S)
    assert not table.exists()
    assert_at_rest_and_whole(live)


def test_a_killed_cycle_process_is_a_bad_verdict(start_live):
    live = start_live()
    live.wait_until_it_pushes()
    table = live.table
    os.kill(live.pid("rigloop.live.cycle"), signal.SIGKILL)
    outcome = live.end(END_TIMEOUT_S)
    assert live.process.returncode == 1
    assert not outcome["good"]
    assert any("not seen at rest" in reason for reason in outcome["reasons"]), outcome
    live.wait_until_gone(GONE_TIMEOUT_S)
    assert not table.exists()
    record = open_record(live.folder / "estimation.npy")
    # what was stepped before the kill is there
    assert np.any(record["guard/torque_nm"] != 0)
    assert read_manifest(live.folder).verdict == "bad"


def test_without_its_supervisor_the_cycle_process_ramps_out(start_live):
    live = start_live()
    live.wait_until_it_pushes()
    table = live.table
    live.process.kill()
    live.process.wait()
    live.wait_until_gone(GONE_TIMEOUT_S)
    assert not table.exists()
    assert_at_rest_and_whole(live)


def test_a_frozen_supervisor_is_a_lost_heartbeat(start_live, make_rig, wait_for):
    live = start_live(make_rig(QUICK_HEARTBEAT))
    live.wait_until_it_pushes()
    table = live.table
    live.process.send_signal(signal.SIGSTOP)
    wait_for(lambda: not table.exists(), GONE_TIMEOUT_S, "end of the cycle process")
    live.process.send_signal(signal.SIGCONT)
    outcome = live.end(END_TIMEOUT_S)
    assert live.process.returncode == 1
    (reason,) = [r for r in outcome["reasons"] if "supervisor/heartbeat" in r]
    assert "limit blocks.guard.heartbeat_timeout_ms = 500" in reason
    live.wait_until_gone(GONE_TIMEOUT_S)
    assert_at_rest_and_whole(live)


def test_a_killed_recorder_costs_the_record_but_not_the_loop(start_live):
    live = start_live()
    live.wait_until_it_pushes()
    table = live.table
    os.kill(live.pid("io_bridge.recording.recorder"), signal.SIGKILL)
    live.process.send_signal(signal.SIGINT)
    outcome = live.end(END_TIMEOUT_S)
    assert live.process.returncode == 1
    assert [reason for reason in outcome["reasons"] if "recorder" in reason], outcome
    # the loop itself came to rest
    assert not [reason for reason in outcome["reasons"] if "rest" in reason], outcome
    live.wait_until_gone(GONE_TIMEOUT_S)
    assert not table.exists()
    assert len(open_record(live.folder / "estimation.npy"))
