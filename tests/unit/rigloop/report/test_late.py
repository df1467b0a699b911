"""What a report says of each late cycle, whatever its cause."""

import numpy as np
import pytest
from run_manifests import run_manifest

from rigloop.report.late import SENTENCES, late_pages
from rigloop.run_folder.late import write_events
from rigloop.run_folder.manifest import TaskFacts
from rt_core.lateness.cause import WORDS, Cause
from rt_core.lateness.trace import RECORD

PERIOD_NS = 250_000


def manifest(**facts):
    tasks = {"fast": TaskFacts(PERIOD_NS, "fast.npy", 2000, blocks=("bus", "wheel"), **facts)}
    return run_manifest(tasks=tasks)


def events(cause, **values):
    rows = np.zeros(9, RECORD)
    rows["cycle"] = np.arange(1000, 1009)
    rows["wall_ns"] = rows["cpu_ns"] = 3000
    rows["cause"][4] = cause
    rows["wall_ns"][4], rows["cpu_ns"][4] = 400_000, 100_000
    for name, value in values.items():
        rows[name][4] = value
    return [(4, rows)]


@pytest.mark.parametrize("cause", [cause for cause in Cause if cause])
def test_a_late_cycle_of_any_cause_is_told_in_a_sentence_of_its_own(tmp_path, cause):
    write_events(tmp_path, "fast", events(cause))
    (page,) = late_pages(tmp_path, manifest(late_events=1))["pages"]
    assert page["title"] == f"fast, cycle 1,004 at 0.0000 s: {WORDS[cause]}"
    assert page["words"].startswith(SENTENCES[cause])
    assert "400 µs from begin to end, of that 300 µs off the core; 150 µs beyond" in page["words"]
    assert "<svg" in page["svg"]


def test_each_cause_has_its_own_sentence():
    assert set(SENTENCES) == {cause for cause in Cause if cause}
    assert len(set(SENTENCES.values())) == len(SENTENCES)
