"""The commands of benchmarks/ run to their end here and say what they could measure; no ratio is judged."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from fifo_priority import may_be_fifo
from script_paths import beside_its_parts

pytestmark = pytest.mark.slow

FOLDER = Path(__file__).parents[3] / "benchmarks"


needs_fifo = pytest.mark.skipif(not may_be_fifo(), reason="no FIFO priority here")


def lateness(tmp_path, *options, **environment):
    answer = tmp_path / "answer.json"
    done = subprocess.run(
        [sys.executable, FOLDER / "lateness.py", "--json", answer, "--rounds", "1", *options],
        capture_output=True,
        text=True,
        timeout=240,
        env=beside_its_parts() | environment,
    )
    assert answer.exists(), done.stderr
    assert "Traceback" not in done.stderr
    return done, json.loads(answer.read_text())["rows"]


@needs_fifo
def test_every_cycle_is_consumed_or_dropped_whatever_the_consumer_does(tmp_path):
    _, rows = lateness(tmp_path, "--only", "consumers", "--seconds", "1")
    if all(row["ours"] == "not measured" for row in rows):
        pytest.skip(f"this host: {rows[0]['remark']}")
    (exact,) = [row for row in rows if "consumed + dropped" in row["what"]]
    assert exact["holds"] is True, exact
    assert not exact["remark"].startswith("0 produced")
    assert " 0 dropped" not in exact["remark"]
    assert {row["what"].split(" /")[0] for row in rows} >= {"stopped", "killed"}


@needs_fifo
def test_what_is_missing_is_told_and_the_rest_is_measured(tmp_path):
    # a path with neither cyclictest nor stress-ng on it
    done, rows = lateness(
        tmp_path,
        "--only",
        "1ms",
        "--only",
        "instrumentation",
        "--seconds",
        "0.4",
        PATH=str(tmp_path),
    )
    missing = [row for row in rows if row["section"].startswith("1ms")]
    assert [row["section"] for row in missing] == ["1ms, quiet", "1ms, busy", "1ms, stress-ng"]
    assert all(row["ours"] == "not measured" for row in missing)
    assert "sudo apt install rt-tests" in missing[0]["remark"]
    assert "sudo apt install stress-ng" in missing[2]["remark"]
    assert "3 not measured" in done.stdout
    assert any(row["section"] == "instrumentation" for row in rows)
    assert done.returncode in (1, 2)


def test_without_the_right_to_a_priority_nothing_is_compared(tmp_path):
    for name in ("lateness.py", "causes.py"):
        done = subprocess.run(
            ["prlimit", "--rtprio=0", "--memlock=65536", *without_capabilities(),
             sys.executable, FOLDER / name],
            capture_output=True, text=True, timeout=60,
            env=beside_its_parts(),
        )  # fmt: skip
        assert done.returncode == 2, done
        assert "FIFO" in done.stdout


def without_capabilities():
    if os.geteuid() != 0:
        return []
    return ["setpriv", "--bounding-set=-sys_nice,-ipc_lock", "--inh-caps=-all"]


def test_frames_of_the_emulated_segment_are_measured_with_drives_that_run():
    done = subprocess.run(
        [sys.executable, FOLDER / "segment.py", "--rounds", "1", "--json"],
        capture_output=True,
        text=True,
        timeout=120,
    )
    # it gives up when a working counter or a drive's state is not what it should be
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)
    assert {"frame, 1 drive, every 200 us", "frame, 8 drives, every 1000 us"} <= set(rows)
    assert all(row["median_ns"] > 0 for name, row in rows.items() if name.startswith("frame"))
