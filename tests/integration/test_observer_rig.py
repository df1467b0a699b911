"""A rig that feels the driver's hands without a sensor: run, replayed, reported; and refused when it cannot."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from io_bridge.recording.record import open_record
from rig_configs.load import find_rig
from rigloop.report.observer_statistics import observer_facts, torque_facts
from rigloop.run_folder.manifest import read_manifest
from rt_core.safety.trips import State

pytestmark = pytest.mark.slow

HANDS = "force/hands/torque_nm"


@pytest.fixture(scope="module")
def rig(make_rig):
    return make_rig(shipped="steering_observer")


@pytest.fixture(scope="module")
def observed_run(rig, run_to_end, tmp_path_factory):
    """Three seconds of the hands at work."""
    return run_to_end(rig, tmp_path_factory.mktemp("runs"), "--for", "3", "--report")


@pytest.fixture(scope="module")
def records(observed_run):
    return {"estimation": open_record(observed_run.folder / "estimation.npy")}


def test_it_runs_and_the_manifest_has_the_observer_s_binary(observed_run):
    assert observed_run.code == 0, observed_run
    manifest = read_manifest(observed_run.folder)
    assert {kernel.name for kernel in manifest.kernels} == {"steering", "hands"}
    assert manifest.counters["hands/status"] == 0
    assert manifest.signals["virtual"] == ("estimation", f"hands/{HANDS}")
    assert manifest.signals["measured"] == ("estimation", "bus/wheel/sensor_torque_nm")


def test_the_virtual_torque_is_that_of_the_hands(records):
    record = records["estimation"]
    running = record["guard/state"] == State.RUNNING
    # cycles that lost none before them: over a gap the drive turns alone, and the observer only guesses
    whole = running & (record["loop/estimation/elapsed"] == 1)
    error = (record[f"hands/{HANDS}"] - record["bus/wheel/sensor_torque_nm"])[whole]
    reach = np.max(np.abs(record["bus/wheel/sensor_torque_nm"]))
    assert reach > 1.0
    # what remains: the friction of the file turns over as tanh, the plant's as w / sqrt(w^2 + w_s^2), 0.02 Nm at most;
    # the torque that the drive reports, rounded to 6 mNm and one cycle of its 0.5 ms lag; and rounding to counts
    assert np.median(np.abs(error)) < 0.05
    # a busy machine loses cycles, and a gap is felt for some 20 ms after it
    assert np.quantile(np.abs(error), 0.95) < 0.2


def test_the_report_shows_it_beside_the_sensor(observed_run, records):
    page = (observed_run.folder / "report.html").read_text()
    assert "Virtual torque" in page
    assert "Observer hands" in page
    (facts,) = observer_facts(records)
    assert f"{facts.outside_percent:.1f} %" in page
    signals = read_manifest(observed_run.folder).signals
    torque = torque_facts(records, signals["virtual"], signals["measured"])
    assert f"{torque.rms_nm:.3f} N m" in page


def test_it_replays_bit_for_bit_with_the_same_binary(rigloop, observed_run, tmp_path):
    done = rigloop("replay", observed_run.folder, "--runs", tmp_path, "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    outcome = json.loads(done.stdout)
    assert outcome["reasons"][0].startswith("bit-equal to the live run")
    live = open_record(observed_run.folder / "estimation.npy")
    again = open_record(f"{outcome['folder']}/estimation.npy")
    for port in (HANDS, "wheel_rad", "nis", f"variance/{HANDS}"):
        assert np.array_equal(live[f"hands/{port}"], again[f"hands/{port}"])
    assert np.ptp(again[f"hands/{HANDS}"]) > 1.0
    page = (Path(outcome["folder"]) / "report.html").read_text()
    assert {"Virtual torque", "Observer hands", "Smoothed: wheel"} <= set(
        re.findall(r"<h2>(.*?)</h2>", page)
    )


def test_an_observer_in_the_slow_task_replays_what_it_saw_of_the_bus(
    make_rig, run_to_end, rigloop_here, tmp_path
):
    rig = make_rig(
        {
            "tasks.estimation.blocks": '["bus", "wheel", "guard"]',
            "tasks.simulation.blocks": '["hands", "steering"]',
            # samples that come through another task are late by as much as its thread is
            "blocks.hands.sensors.encoder.std": "1e-2",
        },
        shipped="steering_observer",
    )
    done = run_to_end(rig, tmp_path / "runs", "--for", "1")
    assert done.code == 0, done
    record = open_record(done.folder / "simulation.npy")
    assert np.ptp(record[f"hands/{HANDS}"]) > 1.0
    again = rigloop_here(
        "replay", done.folder, "--runs", tmp_path / "replays", "--json", "--no-report"
    )
    assert again.returncode == 0, again.stdout + again.stderr


@pytest.mark.parametrize("command", ["run", "check"])
def test_what_no_sensor_feels_is_refused_with_the_reason(rigloop, tmp_path, command):
    text = find_rig("steering_observer").read_text()
    for old, new in (
        ('unknown = ["force/hands/torque_nm"]', 'unknown = ["force/hands/torque_nm", "force/motor/torque_nm"]'),
        ('"force/hands/torque_nm" = 1.0', '"force/hands/torque_nm" = 1.0\n"force/motor/torque_nm" = 1.0'),
        ("start_std = [10.0, 1.0, 10.0]", "start_std = [10.0, 1.0, 10.0, 1.0]"),
        ('"input/force/motor/torque_nm" = "bus/wheel/torque_actual_nm"\n', ""),
    ):  # fmt: skip
        assert old in text
        text = text.replace(old, new)
    rig = tmp_path / "blind.toml"
    rig.write_text(text)
    runs = tmp_path / "runs"
    options = ("--for", "1", "--runs", runs) if command == "run" else ()
    done = rigloop(command, rig, "--json", *options)
    assert done.returncode == 2
    (line,) = json.loads(done.stdout)["mistakes"]
    assert line.startswith(f"{rig}: blocks.hands.unknown = ")
    assert (
        "force/hands/torque_nm cannot be observed: a change of it together with force/motor" in line
    )
    assert not runs.exists()


def test_a_log_without_motor_torque_is_replayed_without_the_observer(rigloop_here, tmp_path):
    log = "tests/data/logs/phobos_limtoc_k10_step.csv"
    done = rigloop_here(
        "replay", log, "--rig", "steering_observer", "--runs", tmp_path, "--json", "--no-report"
    )
    assert done.returncode in (0, 1), done.stdout + done.stderr
    record = open_record(json.loads(done.stdout)["folder"] + "/estimation.npy")
    assert "wheel/angle_rad" in record.dtype.names
    assert not [name for name in record.dtype.names if name.startswith("hands/")]
