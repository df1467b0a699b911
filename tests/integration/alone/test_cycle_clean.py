"""Nothing in the cycle faults a page, blocks but to wait, allocates, or calls Python: by counters, on the steering rig.

The proof at its full length is the same command with --seconds 60.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from script_paths import beside_its_parts

pytestmark = pytest.mark.slow

COMMAND = Path(__file__).parents[3] / "benchmarks" / "clean_cycle.py"


@pytest.fixture(scope="module")
def seen(tmp_path_factory):
    answer = tmp_path_factory.mktemp("clean") / "answer.json"
    done = subprocess.run(
        [sys.executable, COMMAND, "--seconds", "3", "--json", answer],
        capture_output=True,
        text=True,
        timeout=300,
        env=beside_its_parts(),
    )
    assert answer.exists(), done.stderr
    return json.loads(answer.read_text())


def test_the_cycles_ran(seen):
    assert set(seen["tasks"]) == {"estimation", "simulation"}
    assert all(counts["cycles"] > 500 for counts in seen["tasks"].values())


def test_no_page_is_faulted_in(seen):
    if not seen["memory_lock"]:
        pytest.skip("memory cannot be locked here")
    for name, counts in seen["tasks"].items():
        assert (counts["minor_faults"], counts["major_faults"]) == (0, 0), name


def test_nothing_is_allocated(seen):
    assert seen["allocations"] == 0
    # the counter does count, of ordinary threads and of a cycle
    assert seen["elsewhere"]["allocations"] > 1000
    assert seen["control"]["allocations"] >= 2 * seen["control"]["cycles"] > 0


def test_python_is_not_called(seen):
    if seen["jumps"] < 0:
        pytest.skip("calls cannot be watched on this processor")
    assert seen["python_calls"] == 0, seen["functions"]
    assert seen["elsewhere"]["python_calls"] > 100
    # the control takes the lock and gives it back
    assert seen["control"]["python_calls"] == 2 * seen["control"]["cycles"] > 0


def test_a_cycle_blocks_once_at_most_and_that_is_its_wait(seen):
    # counters are read while cycles go on
    for name, counts in seen["tasks"].items():
        assert counts["waits"] <= counts["cycles"] + 3, name


def test_cycles_go_on_while_python_is_locked(seen):
    for cycles, seconds in seen["locked"]:
        assert cycles > 0.1 * seconds / 200e-6
