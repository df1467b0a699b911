"""`rigloop safety` as a user calls it: faults injected in live runs, and the axes that see them."""

import json

import pytest
from fifo_priority import may_be_fifo

pytestmark = pytest.mark.slow


def test_reaction_times_are_measured_for_each_axis(rigloop, tmp_path):
    if not may_be_fifo():
        pytest.skip("no right to FIFO priorities: bounds in cycles of a task mean nothing")
    runs = tmp_path / "runs"
    twice = ("--repeats", "2", "--only", "link-down")
    done = rigloop("safety", "pedals_and_wheel", *twice, "--runs", runs, "--json")
    message = json.loads(done.stdout)
    assert message["repeats"] == 2
    rows = {row["guard"]: row["measured"] for row in message["reactions"] if row["measured"]}
    # one run shows all three, and is armed again after the first time
    assert "each fault 2 times, in 1 run\n" in done.stderr
    assert set(rows) == {"wheel_guard", "brake_guard", "gas_guard"}
    # a host that takes the machine away may spoil a run, and no bound in time is asserted here
    seen = [row for row in rows.values() if row["repeats"]]
    assert seen, message["reasons"]
    assert done.returncode == (0 if message["good"] else 1), done.stderr
