"""A record that lacks what a replay reads is refused by name."""

from pathlib import Path

import numpy as np
import pytest

from rigloop.replay.records_again import cut_to_each_other, require_signals
from rigloop.run_folder.manifest import ManifestError

RECORD = np.zeros(3, [("t_ns", "<i8"), ("loop/fast/cycle", "<f8")])


def test_a_record_without_a_signal_is_refused_by_name():
    require_signals(Path("run"), "fast", RECORD, ["t_ns", "loop/fast/cycle"])
    with pytest.raises(
        ManifestError, match=r"run: the record of fast has no signal a/b and 1 more"
    ):
        require_signals(Path("run"), "fast", RECORD, ["a/b", "c/d", "t_ns"])


def test_a_task_that_saw_nothing_of_the_other_is_not_cut():
    records = {"fast": RECORD, "slow": RECORD[:1]}
    assert cut_to_each_other(Path("run"), records) == []
