"""A recorded live run, stepped again: the same bits, or the first that is not."""

import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest

from io_bridge.recording.record import open_record
from rigloop.run_folder.manifest import read_manifest

pytestmark = pytest.mark.slow


@pytest.fixture
def copied(good_run, tmp_path):
    """A copy of the good run, to spoil."""
    return shutil.copytree(good_run.folder, tmp_path / "run")


def flip_bit(folder, task, signal, row, bit=0):
    """Turn one bit of one value of a record; bit 0 is the last of the fraction."""
    path = folder / f"{task}.npy"
    record = open_record(path)
    start = record.offset + row * record.dtype.itemsize + record.dtype.fields[signal][1]
    del record
    data = bytearray(path.read_bytes())
    data[start + bit // 8] ^= 1 << bit % 8
    path.write_bytes(data)


def replay(rigloop, folder, tmp_path):
    done = rigloop("replay", folder, "--runs", tmp_path / "replays", "--json", "--no-report")
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)


def test_a_live_run_replays_bit_for_bit(rigloop, good_run, tmp_path):
    code, outcome = replay(rigloop, good_run.folder, tmp_path)
    assert code == 0, outcome
    (reason,) = outcome["reasons"]
    compared = int(reason.removeprefix("bit-equal to the live run: ").removesuffix(" values"))
    cycles = sum(task.cycles for task in read_manifest(good_run.folder).tasks.values())
    # guard and filter in every fast cycle, kernel and what it saw in every slow one: ten each at least
    assert compared > 10 * cycles
    live = open_record(good_run.folder / "estimation.npy")
    again = open_record(f"{outcome['folder']}/estimation.npy")
    for signal in ("wheel/angle_rad", "guard/torque_nm", "guard/state"):
        assert np.array_equal(live[signal], again[signal])
    assert np.any(again["guard/torque_nm"] != 0)


def test_a_flipped_bit_of_an_output_is_found_where_it_is(rigloop_here, copied, tmp_path):
    row = len(open_record(copied / "simulation.npy")) // 2
    flip_bit(copied, "simulation", "steering/rack/travel_m", row)
    code, outcome = replay(rigloop_here, copied, tmp_path)
    assert code == 1
    (reason,) = outcome["reasons"]
    assert reason.startswith("steering/rack/travel_m differs in 1 of ")
    assert f"first at row {row}: " in reason
    assert read_manifest(outcome["folder"]).verdict == "bad"


def test_a_flipped_bit_of_an_input_shows_in_what_came_of_it(rigloop_here, copied, tmp_path):
    count = open_record(copied / "estimation.npy")["bus/wheel/position_count"]
    row = len(count) // 2
    # a fraction of 52 bits: this one is worth one count
    bit = 52 - int(np.log2(abs(count[row])))
    flip_bit(copied, "estimation", "bus/wheel/position_count", row, bit)
    code, outcome = replay(rigloop_here, copied, tmp_path)
    assert code == 1
    angle = next(r for r in outcome["reasons"] if r.startswith("wheel/angle_rad differs"))
    # the filter saw another count at that row and not before
    assert f"first at row {row}: " in angle


def test_a_what_if_lists_what_differs_and_from_when_on(rigloop, good_run, tmp_path):
    done = rigloop(
        "replay", good_run.folder, "--set", "blocks.wheel.bandwidth_rad_s=250",
        "--runs", tmp_path, "--json", "--no-report",
    )  # fmt: skip
    outcome = json.loads(done.stdout)
    assert "signals differ, first wheel/" in outcome["reasons"][0], done.stderr
    figures = {name: (figure, words) for name, figure, words in outcome["figures"]}
    differ, compared = re.findall(r"\d+", outcome["reasons"][0])[:2]
    # a signal that two tasks record is one signal
    assert figures["compared"][1] == f"values of {compared} signals"
    assert int(figures["equal"][0]) == int(compared) - int(differ)
    told = json.loads((Path(outcome["folder"]) / "differences.json").read_text())
    assert told["changed"] == ["blocks.wheel.bandwidth_rad_s=250"]
    differing = {d["path"]: d for d in told["comparison"]["differences"]}
    assert differing["wheel/rate_rad_s"]["largest"] > 0
    assert differing["wheel/rate_rad_s"]["first_row"] <= differing["guard/torque_nm"]["first_row"]
    assert not any("bit-equal" in reason for reason in outcome["reasons"])
    # the record is what it saw
    live = open_record(good_run.folder / "estimation.npy")["bus/wheel/position_count"]
    again = open_record(f"{outcome['folder']}/estimation.npy")["bus/wheel/position_count"]
    assert np.array_equal(live, again)


def test_a_what_if_that_changes_nothing_is_equal_bit_for_bit(rigloop, good_run, tmp_path):
    rig = tmp_path / "again.toml"
    shutil.copy(good_run.folder / "rig.toml", rig)
    done = rigloop(
        "replay", good_run.folder, "--rig", rig, "--runs", tmp_path, "--json", "--no-report"
    )
    assert done.returncode == 0, done.stdout
    assert json.loads(done.stdout)["reasons"][0].startswith("equal bit for bit: ")


@pytest.mark.parametrize("row", [0, 700], ids=["the first", "one amid"])
def test_a_record_that_lacks_a_cycle_is_refused(rigloop_here, copied, tmp_path, row):
    path = copied / "estimation.npy"
    record = np.load(path)
    path.unlink()
    np.save(path, np.delete(record, row))
    code, outcome = replay(rigloop_here, copied, tmp_path)
    assert code == 2
    (line,) = outcome["mistakes"]
    assert f"estimation lacks cycles before row {row};" in line
    assert not (tmp_path / "replays").exists()


def test_a_record_without_a_signal_that_its_blocks_write_is_refused(rigloop_here, copied, tmp_path):
    path = copied / "estimation.npy"
    data = path.read_bytes()
    assert data.count(b"'guard/torque_nm'") == 1
    path.write_bytes(data.replace(b"'guard/torque_nm'", b"'guard/torque_nn'"))
    done = rigloop_here("replay", copied, "--runs", tmp_path / "replays")
    assert done.returncode == 2
    assert "the record of estimation has no signal guard/torque_nm" in done.stderr
    assert not (tmp_path / "replays").exists()


def test_a_missing_or_broken_record_is_refused(rigloop_here, copied, tmp_path):
    path = copied / "estimation.npy"
    path.write_bytes(b"no record")
    code, outcome = replay(rigloop_here, copied, tmp_path)
    assert code == 2
    assert "estimation.npy: is not a record" in outcome["mistakes"][0]
    path.unlink()
    code, outcome = replay(rigloop_here, copied, tmp_path)
    assert code == 2
    assert "estimation.npy" in outcome["mistakes"][0]


def test_a_rig_that_was_changed_since_the_run_is_refused(rigloop_here, copied, tmp_path):
    rig = copied / "rig.toml"
    rig.write_text(rig.read_text().replace("limit_nm = 12.0", "limit_nm = 11.0"))
    code, outcome = replay(rigloop_here, copied, tmp_path)
    assert code == 2
    assert "rig.toml: not the rig of the run" in outcome["mistakes"][0]


def test_a_replay_is_no_live_run(rigloop_here, good_run, tmp_path):
    _, outcome = replay(rigloop_here, good_run.folder, tmp_path)
    code, refused = replay(rigloop_here, outcome["folder"], tmp_path)
    assert code == 2
    assert "only a live run can be replayed" in refused["mistakes"][0]


def test_a_run_from_before_there_were_axes_opens_and_replays(rigloop_here, copied, tmp_path):
    path = copied / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["format"] = 1
    del manifest["axes"]
    path.write_text(json.dumps(manifest))
    shown = rigloop_here("report", copied)
    assert shown.returncode == 0, shown.stderr
    assert "guard" in (copied / "report.html").read_text()
    code, outcome = replay(rigloop_here, copied, tmp_path)
    assert code == 0, outcome
    assert outcome["reasons"][0].startswith("bit-equal to the live run")


@pytest.mark.parametrize(
    ("task", "column", "spoil"),
    [
        ("simulation", "loop/estimation/cycle", lambda values: values[::-1]),
        ("simulation", "loop/estimation/cycle", lambda values: values * np.nan),
        ("estimation", "t_ns", lambda values: np.repeat(values[:1], len(values))),
    ],
)
def test_records_of_two_runs_are_no_run(rigloop_here, copied, tmp_path, task, column, spoil):
    path = copied / f"{task}.npy"
    record = np.array(open_record(path))
    record[column] = spoil(record[column])
    head = path.read_bytes()[: open_record(path).offset]
    path.write_bytes(head + record.tobytes())
    done = rigloop_here("replay", copied, "--runs", tmp_path / "replays")
    assert done.returncode != 0
    assert "Traceback" not in done.stderr
    assert "it is not the record of this run" in done.stderr
