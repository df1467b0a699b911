"""A rig whose live values a program changes while it runs: seen in the next cycles, kept, replayed to the bit."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from rig_configs.load import find_rig
from rigloop.live_values.journal import read_journal


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Run the example of the page; give its names."""
    folder = tmp_path_factory.mktemp("live")
    tolerant = find_rig("live_bench").read_text().replace("percent = 5.0", "percent = 100.0")
    (folder / "bench.toml").write_text(tolerant)
    page = (Path(__file__).parents[2] / "docs" / "live.md").read_text()
    (text,) = re.findall(r"<!-- live -->\n```python\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    names = {}
    rig, start = repr(str(folder / "bench.toml")), f".start(runs={str(folder)!r})"
    exec(text.replace('"live_bench"', rig).replace(".start()", start), names)
    return names["rig"], names["refused"]


def test_a_program_changes_values_and_is_refused_with_the_reason(run):
    rig, refused = run
    assert rig.verdict.good, rig.verdict.reasons
    (mistake,) = refused
    assert "above upper = 40 Nm/rad" in mistake.problem
    assert [entry.sequence for entry in read_journal(rig.folder)] == [1, 2, 0, 3, 4]


def test_a_group_changes_in_one_cycle_the_next_one_and_a_refused_value_never(run):
    rows = run[0].record.records["fast"]
    before = rows["live/changes"] < 2
    assert 0 < before.sum() < len(rows)
    # the rate of both is at once: from the cycle on that mirrors the change
    assert np.array_equal(rows["stiffness/value"], np.where(before, 10.0, 20.0))
    assert np.array_equal(rows["preload/value"], np.where(before, 0.0, 1.5))
    assert np.array_equal(rows["spring/y"], rows["stiffness/value"] * rows["push/value"])
    assert not rows["stiffness/refused"].any()


@pytest.mark.parametrize("task", ["fast", "slow"])
def test_every_cycle_that_begins_after_a_change_has_it(run, task):
    rig = run[0]
    period_ns = rig.record.manifest.tasks[task].period_ns
    rows = rig.record.records[task]
    late_ns = rows[f"loop/{task}/late_ns"].astype(np.int64) % period_ns
    began_ns = rig.record.manifest.first_cycle_ns + rows["t_ns"] + late_ns
    changes = [entry for entry in read_journal(rig.folder) if entry.sequence]
    assert len(changes) == 4
    for entry in changes:
        later = began_ns > entry.monotonic_ns
        assert np.all(rows["live/changes"][later] >= entry.sequence)
        earlier = rows[f"loop/{task}/cycle"] <= entry.cycles[task]
        assert np.all(rows["live/changes"][earlier] < entry.sequence)


def test_stimuli_act_for_a_while_and_the_input_is_theirs_and_its_own(run):
    rows = run[0].record.records["fast"]
    shaking = rows["shake/state"] == 2
    assert shaking.sum() > 0
    assert np.abs(rows["shake/added"]).max() <= 0.1
    assert not rows["shake/added"][~shaking].any()
    pushing = np.flatnonzero(rows["push/state"] == 2)
    assert rows["hands/y"][pushing[0]] > 0.25
    assert np.all(rows["hands/y"][rows["push/state"] == 1] <= 0.25)
    assert rows["hands/y"][pushing[-1] + 1] < -0.25
    assert set(rows["push/added"][pushing]) == {0.3}


def test_a_rate_limits_in_the_other_task(run):
    values = run[0].record.records["slow"]["assistance/value"]
    assert values[0] == 1.0
    assert values[-1] == pytest.approx(0.5)
    elapsed = run[0].record.records["slow"]["loop/slow/elapsed"][1:]
    assert np.all(np.abs(np.diff(values)) <= 0.005 * elapsed + 1e-12)


def test_events_and_journal_say_who_changed_what(run):
    rig = run[0]
    words = [event.words for event in rig.record.events if event.kind == "live"]
    assert len(words) == 5
    assert words[1].startswith("stiffness = 20, preload = 1.5 (")
    assert "Python" in words[1]
    assert "refused: stiffness = 50.0: is above upper" in words[2]
    assert "Live values" in (rig.folder / "report.html").read_text()


def test_the_run_replays_to_the_bit(run, tmp_path, rigloop):
    done = rigloop("replay", run[0].folder, "--runs", tmp_path, "--json", "--no-report")
    assert done.returncode == 0, done.stdout + done.stderr
    (reason,) = json.loads(done.stdout)["reasons"]
    assert reason.startswith("bit-equal to the live run: ")
