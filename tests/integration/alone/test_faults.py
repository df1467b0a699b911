"""Every fault that can be injected, once, in live processes: met as the rig states, at zero in time, nothing left."""

import json

import pytest
from fifo_priority import may_be_fifo

from io_bridge.host.namespace import why_not
from rig_configs.load import find_rig
from rigloop.bench.fault_trials import attempt, rigs_for, sweep, trials, warm_up
from rigloop.compose.wiring import load
from rigloop.inject.faults import FAULTS
from rigloop.inject.kinds import ON_VETH
from rigloop.inject.limits import limits_of
from rigloop.run_folder.manifest import read_manifest

# a host that takes the whole machine away makes a bound in time fail; it does not do so three times in a row
TRIES = 3

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def tried(tmp_path_factory):
    """Every fault's last trial, and what any of the trials left behind."""
    if not may_be_fifo():
        pytest.skip("no right to FIFO priorities: bounds in cycles of a task mean nothing")
    rigs = rigs_for(load("fault_bench"))
    for rig in rigs.values():
        warm_up(rig)
    limits = limits_of(rigs[""].rig)
    runs = tmp_path_factory.mktemp("runs")
    names = [n for n, fault in FAULTS.items() if fault.needs not in ON_VETH or why_not() is None]
    found, left = {}, []
    for _ in range(TRIES):
        for trial in trials(names, limits):
            done = attempt(rigs[trial.needs], trial, runs)
            left += done.left
            found |= dict(done.faults)
            sweep(done.folder)
        names = [name for name in names if not found[name].good]
    return found, left


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_met_as_the_rig_states(tried, name):
    found, _ = tried
    if name not in found:
        pytest.skip("no network namespace")
    assert found[name].good, found[name].line()


def test_nothing_is_left_behind(tried):
    assert tried[1] == []


# and as a user does it, once with a rig that keeps its word and once with one that does not


def test_an_encoder_that_sticks_and_comes_back_is_named_with_time_and_jump(run_to_end, tmp_path):
    # the hands swing at 0.5 Hz: half a second later they are a quarter further, and one of two moves them
    stuck = ("--inject", "sensor-stuck@1", "--inject", "sensor-stuck@1.5")
    done = run_to_end("fault_bench", tmp_path, "--for", "2.5", *stuck)
    (said,) = [reason for reason in done.outcome["reasons"] if "the encoder was stuck" in reason]
    assert said.startswith("bus/wheel/position_count: the same count for 0.4")
    assert "rad away at once" in said
    for fault in done.outcome["injections"]:
        # while it lasts nothing tells it from a wheel at rest
        assert (fault["found_by"], fault["reaction"]) == ("HOLD", "HOLD")
        assert fault["to_find"] >= 400


def test_a_run_says_where_a_fault_began_what_found_it_and_when_the_torque_was_zero(
    run_to_end, tmp_path
):
    done = run_to_end(
        "fault_bench", tmp_path, "--for", "5", "--inject", "request-nan@0.3", "--report"
    )
    (fault,) = done.outcome["injections"]
    manifest = read_manifest(done.folder)
    assert fault["asked"] == manifest.injections[0].asked == "request-nan@0.3"
    assert fault["found"] == fault["began"] + fault["to_find"]
    assert fault["found_by"] == "REQUEST_NOT_FINITE"
    assert fault["reaction"] == "RAMP"
    assert fault["to_find"] <= 3
    assert 0 < fault["to_zero"] <= fault["to_zero_bound"]
    assert (done.code, done.outcome["good"]) == (0, True), done.outcome
    # the trip is told as ever: signal, value, limit, cycle
    (trip,) = [reason for reason in done.outcome["reasons"] if reason.startswith("guard:")]
    assert "steering/guide/torque_nm: the request is not a finite number: 4 ms" in trip
    assert f"limit blocks.guard.request_hold_ms = 3, at cycle {fault['found']} (" in trip
    page = (done.folder / "report.html").read_text()
    assert "Faults on purpose" in page
    assert "request-nan@0.3" in page
    assert manifest.tasks["estimation"].blocks[-2:] == ("inject1", "guard")


def test_a_run_with_faults_is_not_replayed(run_to_end, rigloop, tmp_path):
    done = run_to_end("fault_bench", tmp_path, "--for", "1", "--inject", "rate-range:-50@0.3")
    assert done.outcome["injections"][0]["good"], done.outcome
    again = rigloop("replay", done.folder, "--runs", tmp_path / "again")
    assert again.returncode == 2
    assert "faults on purpose (rate-range:-50@0.3)" in again.stderr


def test_a_rig_that_does_not_keep_its_word_is_a_bad_verdict(run_to_end, tmp_path):
    # one bad sample is to be bridged; this guard bridges none
    rig = tmp_path / "hasty.toml"
    text = find_rig("fault_bench").read_text()
    assert "sensor_bucket_ms = 30.0\n" in text
    rig.write_text(
        text.replace("sensor_bucket_ms = 30.0\n", "sensor_bucket_ms = 30.0\nsensor_hold_ms = 0.0\n")
    )
    done = run_to_end(rig, tmp_path / "runs", "--for", "5", "--inject", "sensor-nan-blip@0.3")
    assert done.code == 1
    assert "RAMP, stated HOLD" in done.outcome["injections"][0]["why"]
    assert any("sensor-nan-blip@0.3: not as stated" in reason for reason in done.outcome["reasons"])


def test_a_wrong_fault_is_told_and_nothing_is_started(rigloop, tmp_path):
    runs = tmp_path / "runs"
    done = rigloop("run", "fault_bench", "--runs", runs, "--inject", "sensor-nam@1", "--json")
    assert done.returncode == 2
    assert "did you mean 'sensor-nan'" in json.loads(done.stdout)["mistakes"][0]
    assert not runs.exists()
