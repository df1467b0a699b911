"""What the guard does not allow ends the run, with the signal, its value and the limit in the verdict."""

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from io_bridge.recording.record import open_record
from rigloop.run_folder.manifest import read_manifest
from rt_core.safety.trips import State, Trip

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def tripped(make_rig, run_to_end, tmp_path_factory):
    """A run whose wheel turns faster than its guard allows."""
    rig = make_rig({"blocks.guard.max_rate_rad_s": "0.3"})
    return run_to_end(rig, tmp_path_factory.mktemp("runs"), "--for", "20", "--report")


def test_a_wheel_too_fast_is_a_bad_verdict_with_signal_value_and_limit(tripped):
    assert tripped.code == 1
    reason = next(r for r in tripped.outcome["reasons"] if r.startswith("guard:"))
    found = re.search(
        r"wheel/rate_rad_s: too fast: (\S+) rad/s, limit blocks\.guard\.max_rate_rad_s = 0\.3, at cycle ",
        reason,
    )
    assert found, reason
    assert abs(float(found[1])) > 0.3


def test_the_manifest_keeps_the_reason(tripped):
    manifest = read_manifest(tripped.folder)
    assert manifest.verdict == "bad"
    assert list(manifest.reasons) == tripped.outcome["reasons"]
    assert manifest.counters["guard/trip"] == Trip.RATE_LIMIT
    # the first fault of the manifest is the same sentence, with its time
    assert manifest.faults[0].kind == "rate limit"
    assert manifest.faults[0].words in manifest.reasons
    assert manifest.faults[0].at_s > 0
    assert "Faults" in (tripped.folder / "report.html").read_text()


def test_the_run_ended_at_the_trip_with_zero_torque(tripped):
    record = open_record(tripped.folder / "estimation.npy")
    assert record["guard/state"][-1] == State.FAULT
    assert record["guard/torque_nm"][-1] == 0.0
    at = int(np.flatnonzero(record["guard/trip"] == Trip.RATE_LIMIT)[0])
    assert record["guard/trip_cycle"][-1] == record["loop/estimation/cycle"][at]
    # while it was armed no earlier cycle had passed the limit, and after the trip the torque has gone
    armed = np.flatnonzero(record["guard/state"] == State.RUNNING)[0]
    assert np.all(np.abs(record["wheel/rate_rad_s"][armed:at]) <= 0.3)
    assert not np.any(record["guard/torque_nm"][record["guard/state"] == State.FAULT])


IMPATIENT = (
    "from rigloop import cli; from rigloop.live import supervise; "
    "supervise.READY_TIMEOUT_S = 2.0; cli.main()"
)


def test_a_kernel_that_fails_is_a_bad_verdict_and_zero_torque(make_rig, tmp_path):
    # an inertia with which no step of the kernel converges
    rig = make_rig(
        {
            "blocks.steering.parameters": '{ "inertia/wheel/inertia_kg_m2" = 1e15 }',
            "blocks.bus.drives.wheel.plant.hands": '"prescribed"',
            "blocks.bus.drives.wheel.plant.frequency_hz": "1.0",
        }
    )
    # it is never ready to be armed; nobody has to wait a quarter of a minute for that here
    done = subprocess.run(
        [sys.executable, "-c", IMPATIENT, "run", rig, "--runs", tmp_path, "--json", "--for", "20"],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 1, done
    outcome = json.loads(done.stdout)
    reason = next(r for r in outcome["reasons"] if r.startswith("guard:"))
    assert "never ready to be armed" in reason
    assert "loop/simulation/fault: a block of the requesting task failed" in reason
    # which block, what its code means, and what to do
    assert re.search(
        r"block 'steering' \(mechanism\): fault [34]: (the step did|a result is)", reason
    )
    assert "look at its inputs" in reason
    folder = Path(outcome["folder"])
    record = open_record(folder / "estimation.npy")
    # whatever the kernel asked for: what left was finite and within the limit
    assert np.all(np.abs(record["guard/torque_nm"]) <= 12.0)
    assert record["guard/torque_nm"][-1] == 0.0
    kernel = open_record(folder / "simulation.npy")
    assert np.any(kernel["steering/status"] != 0)
    assert np.all(np.isfinite(kernel["steering/guide/torque_nm"]))
