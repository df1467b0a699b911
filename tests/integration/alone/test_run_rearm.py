"""Arming again within a run: after a bus fault that is over, as often as the rig says, and after nothing else."""

import numpy as np
import pytest

from io_bridge.host import namespace
from io_bridge.recording.record import open_record
from rig_configs.load import find_rig
from rigloop.run_folder.manifest import read_manifest
from rt_core.safety.trips import State

pytestmark = pytest.mark.slow

AFTER_BUS = (
    'rearm = { after = "bus", at_most = %d, settle_s = 0.2, within_s = %s, reset_drive = %s }\n'
)
BUCKET = "sensor_bucket_ms = 30.0\n"


@pytest.fixture
def rig(tmp_path):
    def make(within_s="5.0", reset="true", at_most=1):
        path = tmp_path / "again.toml"
        text = find_rig("fault_bench").read_text()
        assert BUCKET in text
        path.write_text(text.replace(BUCKET, BUCKET + AFTER_BUS % (at_most, within_s, reset)))
        return path

    return make


def armings(record):
    runs = record["guard/state"] == State.RUNNING
    at_rest = np.isin(record["guard/state"], [State.READY, State.INIT, State.FAULT])
    return np.flatnonzero(runs[1:] & at_rest[:-1]) + 1


@pytest.mark.netns
@pytest.mark.skipif(namespace.why_not() is not None, reason="no network namespace")
def test_after_a_cable_that_is_back_it_is_armed_again_once_and_ramped(rig, run_to_end, tmp_path):
    done = run_to_end(
        rig(), tmp_path / "runs", "--bus", "veth", "--for", "4", "--inject", "cable-pull@0.5"
    )
    manifest = read_manifest(done.folder)
    record = open_record(done.folder / "estimation.npy")
    begins = armings(record)
    assert len(begins) == 2, done.outcome["reasons"]
    assert manifest.felt.rearmed == 1
    torque, state = record["guard/torque_nm"], record["guard/state"]
    # nothing between, and a ramp from zero after
    let_go = np.flatnonzero(state == State.FAULT)
    assert not np.any(torque[let_go[0] : begins[1]])
    ramp = record["guard/ramp"][begins[1] : begins[1] + 50]
    assert np.allclose(np.diff(ramp), 0.01, atol=1e-9)
    assert np.any(torque[begins[1] + 100 :] != 0)
    assert manifest.faults[0].kind == "actuator lost"
    assert any("armed again 1 times" in reason for reason in done.outcome["reasons"])
    assert any("slave" in f.words or "frame" in f.words for f in manifest.faults)


@pytest.mark.parametrize("fault", ["al-error", "drive-watchdog"])
def test_the_same_fault_acts_again_after_the_run_was_armed_again(rig, run_to_end, tmp_path, fault):
    """As does another one, in whatever order they are named."""
    asked = (f"{fault}@2", "wkc-low-blip@3.8", f"{fault}@0.3")
    words = [word for injection in asked for word in ("--inject", injection)]
    done = run_to_end(rig(at_most=2), tmp_path / "runs", "--for", "4.4", *words)
    manifest = read_manifest(done.folder)
    assert manifest.felt.rearmed == 2
    assert len(armings(open_record(done.folder / "estimation.npy"))) == 3
    assert [injected.why for injected in manifest.injections] == [(), (), ()]


def test_a_slave_that_stays_frozen_is_waited_for_and_then_the_run_ends(rig, run_to_end, tmp_path):
    done = run_to_end(
        rig(within_s="1.0"), tmp_path / "runs", "--for", "8", "--inject", "sensor-stale@0.5"
    )
    assert len(armings(open_record(done.folder / "estimation.npy"))) == 1
    manifest = read_manifest(done.folder)
    assert manifest.felt.rearmed == 0
    assert 1.0 < manifest.duration_s < 6
    (trip,) = [fault for fault in manifest.faults if fault.kind == "actuator lost"]
    assert "slave 'wheel': its clock stands still" in trip.words
    assert any("not armed again" in r and "within_s = 1" in r for r in manifest.reasons)


def test_a_run_that_ends_while_it_waits_says_what_it_waited_for(rig, run_to_end, tmp_path):
    done = run_to_end(rig(), tmp_path / "runs", "--for", "1.5", "--inject", "sensor-stale@0.5")
    said = [r for r in read_manifest(done.folder).reasons if "not armed again" in r]
    assert len(said) == 1
    assert "slave 'wheel': its clock stands still" in said[0]
    assert "before the run ended" in said[0]


@pytest.mark.parametrize("fault", ["rate-range", "block-fault", "drive-fault"])
def test_nothing_but_a_bus_fault_is_armed_again(rig, run_to_end, tmp_path, fault):
    done = run_to_end(rig(), tmp_path / "runs", "--for", "6", "--inject", f"{fault}@0.4")
    assert len(armings(open_record(done.folder / "estimation.npy"))) == 1
    manifest = read_manifest(done.folder)
    assert manifest.felt.rearmed == 0
    assert manifest.duration_s < 3


def test_without_a_word_in_the_rig_no_run_is_armed_again(run_to_end, tmp_path):
    done = run_to_end("fault_bench", tmp_path, "--for", "6", "--inject", "link-down@0.4")
    assert len(armings(open_record(done.folder / "estimation.npy"))) == 1
    assert read_manifest(done.folder).duration_s < 3
