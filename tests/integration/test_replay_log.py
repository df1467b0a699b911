"""Recorded encoder logs through the filter and the kernel, from the command line."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from io_bridge.record import open_record
from rigloop.manifest import read_manifest

LOGS = Path(__file__).parents[1] / "data" / "logs"
# what is in each of them was found independently of this project's reader: see its README
FAULTS = {
    "comma2k19_segment40": {"gap": 185, "constant run": None},
    "comma2k19_segment40_can": {"gap": None, "blank cells": 1284},
    "phobos_limtoc_k10_step": {"jump": 1},
    "phobos_limtoc_k10_wrap": {"time counter wrap": 1},
    "phobos_raw_counts_v6": {"counter wrap": 113},
}
WITHOUT_WIRE_LIBRARIES = """
import sys
sys.modules["pysoem"] = sys.modules["zmq"] = None  # what an import of a missing module meets
from rigloop.cli import main
main()
"""


@pytest.fixture(scope="module", params=sorted(FAULTS))
def replayed(request, rigloop, tmp_path_factory):
    runs = tmp_path_factory.mktemp("replays")
    done = rigloop("replay", LOGS / f"{request.param}.csv", "--runs", runs, "--json")
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
    # the model is guided by the filter: they are at the same angle
    assert np.array_equal(kernel["steering/wheel/angle_rad"], kernel["wheel/angle_rad"])


def test_replay_twice_gives_the_same_bits(rigloop, tmp_path):
    folders = []
    for _ in range(2):
        done = rigloop(
            "replay", LOGS / "phobos_limtoc_k10_step.csv", "--runs", tmp_path, "--json"
        )
        folders.append(Path(json.loads(done.stdout)["folder"]))
    for task in ("estimation", "simulation"):
        one, two = ((folder / f"{task}.npy").read_bytes() for folder in folders)
        assert one == two


def test_replay_needs_neither_pysoem_nor_zmq(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_WIRE_LIBRARIES, "replay"]
        + [str(LOGS / "phobos_limtoc_k10_wrap.csv"), "--runs", str(tmp_path), "--json"],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["good"]


def _empty(folder):
    path = folder / "empty.csv"
    path.touch()
    return path


def _truncated(folder):
    path = folder / "cut.csv"
    text = (LOGS / "comma2k19_segment40.csv").read_text()
    path.write_text(text[: text.index("\n", 5000) + 6])
    return path


def _binary(folder):
    path = folder / "binary.csv"
    path.write_bytes(bytes(range(256)) * 40)
    return path


def _unknown_columns(folder):
    path = folder / "columns.csv"
    path.write_text("time,angle\n" + "".join(f"{i},{i}\n" for i in range(100)))
    return path


BAD_LOGS = {
    "missing": (lambda folder: folder / "no.csv", "no such file"),
    "folder": (lambda folder: folder, "manifest.json: cannot be read"),
    "empty": (_empty, "is empty"),
    "truncated": (_truncated, "truncated: the last row"),
    "binary": (_binary, "not a text file"),
    "unknown columns": (_unknown_columns, "no shipped mapping fits its columns time, angle"),
}


@pytest.mark.parametrize("kind", BAD_LOGS)
def test_a_log_that_cannot_be_used_is_one_line_and_exit_2(rigloop, tmp_path, kind):
    make, words = BAD_LOGS[kind]
    logs = tmp_path / "logs"
    logs.mkdir()
    log = make(logs)
    done = rigloop("replay", log, "--runs", tmp_path / "runs")
    assert done.returncode == 2, done.stderr
    (line,) = done.stderr.splitlines()
    assert str(log) in line
    assert words in line
    assert not (tmp_path / "runs").exists()


def test_a_bad_log_is_one_json_object_too(rigloop, tmp_path):
    done = rigloop("replay", tmp_path / "no.csv", "--json")
    assert done.returncode == 2
    answer = json.loads(done.stdout)
    assert answer["exit_code"] == 2
    assert "no such file" in answer["mistakes"][0]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (None, "cannot read this mapping: No such file"),
        ("name = 3", "name: "),
        (
            'name = "mine"\ntitle = "x"\nheader = ["t_s"]\ntime = { column = "t_s", unit = "s" }\n'
            'angle = { column = "angel_deg", unit = "deg", counts_per_rev = 3600 }',
            "no column angel_deg (mapping mine); found t_s, steering_angle_deg, speed_mps",
        ),
    ],
    ids=["missing", "wrong", "no such column"],
)
def test_a_bad_mapping_is_one_line_and_exit_2(rigloop, tmp_path, text, words):
    mapping = tmp_path / "mine.toml"
    if text is not None:
        mapping.write_text(text)
    log = LOGS / "comma2k19_segment40.csv"
    done = rigloop("replay", log, "--mapping", mapping, "--runs", tmp_path / "runs")
    assert done.returncode == 2, done.stderr
    (line,) = done.stderr.splitlines()
    assert words in line
