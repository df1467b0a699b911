"""Recorded encoder logs through the filter and the kernel, from the command line."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from io_bridge.recording.record import open_record
from rigloop.run_folder.manifest import read_manifest

pytestmark = pytest.mark.slow

LOGS = Path(__file__).parents[2] / "data" / "logs"
# what is in each of them was found independently of this project's reader: see its README
FAULTS = {
    "comma2k19_segment40": {},
    "comma2k19_segment40_can": {"blank cells": 1284},
    "phobos_limtoc_k10_step": {"index jump": 1},
    "phobos_limtoc_k10_wrap": {"clock wrap": 1},
    "phobos_raw_counts_v6": {"counter wrap": 113},
}
WITHOUT_WIRE_LIBRARIES = """
import sys
sys.modules["pysoem"] = sys.modules["zmq"] = None  # what an import of a missing module meets
from rigloop.cli import main
main()
"""


@pytest.fixture(scope="module", params=sorted(FAULTS))
def replayed(request, rigloop_here, tmp_path_factory):
    runs = tmp_path_factory.mktemp("replays")
    done = rigloop_here("replay", LOGS / f"{request.param}.csv", "--runs", runs, "--json")
    assert done.returncode == 0, done.stderr
    return request.param, json.loads(done.stdout)


def test_replay_is_good_and_names_the_faults_of_the_log(replayed):
    name, outcome = replayed
    assert outcome["good"]
    manifest = read_manifest(outcome["folder"])
    found = {}
    for fault in manifest.faults:
        found[fault.kind] = max(fault.count, found.get(fault.kind, 0))
    for kind, count in FAULTS[name].items():
        assert kind in found, found
        assert count in (None, found[kind]), found
    # each of them is told too
    assert len(outcome["notes"]) == len(manifest.faults)
    assert manifest.replay.log.name == f"{name}.csv"


def test_every_cycle_is_recorded_and_finite(replayed):
    _, outcome = replayed
    folder = Path(outcome["folder"])
    manifest = read_manifest(folder)
    for task, facts in manifest.tasks.items():
        record = open_record(folder / facts.record)
        assert np.array_equal(record["t_ns"], np.arange(len(record)) * facts.period_ns)
        assert record["t_ns"][-1] * 1e-9 == pytest.approx(manifest.duration_s, abs=2e-3), task
    kernel = open_record(folder / "simulation.npy")
    assert np.all(np.isfinite(kernel["steering/guide/torque_nm"]))
    assert np.ptp(kernel["steering/guide/torque_nm"]) > 0
    assert not np.any(kernel["steering/status"])
    # the model is guided by the filter: they are at the same angle, to a tenth of the encoder's count
    error = kernel["steering/wheel/angle_rad"] - kernel["wheel/angle_rad"]
    assert np.max(np.abs(error)) < 0.1 * 2 * np.pi / 2**20


def test_replay_twice_gives_the_same_bits(rigloop, tmp_path):
    folders = []
    for _ in range(2):
        done = rigloop("replay", LOGS / "phobos_limtoc_k10_step.csv", "--runs", tmp_path, "--json")
        folders.append(Path(json.loads(done.stdout)["folder"]))
    for task in ("estimation", "simulation"):
        one, two = ((folder / f"{task}.npy").read_bytes() for folder in folders)
        assert one == two


def test_replay_needs_neither_pysoem_nor_zmq(tmp_path):
    log = LOGS / "phobos_limtoc_k10_wrap.csv"
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_WIRE_LIBRARIES, "replay", str(log), "--runs", str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert "GOOD" in done.stdout


def test_a_log_that_is_sampled_faster_than_the_rig_steps_is_replayed(rigloop_here, tmp_path):
    log = tmp_path / "fast.csv"
    head, *rows = (LOGS / "phobos_raw_counts_v6.csv").read_text().splitlines()
    stamps = [int(row.split(",")[0]) // 50 for row in rows]
    log.write_text(
        "\n".join(
            [head, *(f"{t},{r.partition(',')[2]}" for t, r in zip(stamps, rows, strict=True))]
        )
    )
    done = rigloop_here("replay", log, "--runs", tmp_path / "runs", "--json")
    # fifty times as fast as it was: a verdict, whatever it is
    assert done.returncode in (0, 1), done.stderr
    assert "Traceback" not in done.stderr
    assert read_manifest(json.loads(done.stdout)["folder"]).replay.superseded > 1000
