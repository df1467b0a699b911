"""Parameters of compiled blocks that a cell of the table holds: read before each step, and only where they may be."""

import numpy as np
import pytest

from rigloop.blocks.compiled.kind import library, may_be_live
from rt_core.loop.offline import Offline
from rt_core.plan import Task, plan_table

KINDS = library()


def test_a_parameter_follows_its_cell_from_step_to_step():
    reads = {"gain": "in/gain", "u": "in/u"}
    block = KINDS["gain"].make("b", {"gain": 3.0, "unit": "1"}, reads, period_s=1e-3)
    offline = Offline(plan_table([Task("t", [block], 1_000_000, inputs=("in/gain", "in/u"))]))
    gain, u = np.array([1.0, 2.0, 0.5]), np.array([10.0, 10.0, 20.0])
    images = offline.run("t", np.arange(3) * 1_000_000, forced={"in/gain": gain, "in/u": u})["t"]
    assert np.array_equal(images[:, offline.paths("t").index("b/y")], gain * u)


def test_two_of_one_block_do_not_mix():
    reads = {"u": "in/u", "after": "in/after", "before": "in/before"}
    with pytest.raises(ValueError, match="no such port"):
        KINDS["step"].make("b", {"unit": "1"}, reads, period_s=1e-3)
    del reads["u"]
    block = KINDS["step"].make("b", {"unit": "1", "at_s": 0.001}, reads, period_s=1e-3)
    offline = Offline(plan_table([Task("t", [block], 1_000_000, inputs=tuple(reads.values()))]))
    forced = {"in/after": np.array([1.0, 2.0]), "in/before": np.array([3.0, 4.0])}
    images = offline.run("t", np.arange(2) * 1_000_000, forced=forced)["t"]
    assert images[:, offline.paths("t").index("b/y")].tolist() == [3.0, 2.0]


def test_only_numbers_of_blocks_that_prepare_nothing_may_be():
    said = {
        name: [
            p
            for p in kind.declared.declaration.parameters
            if may_be_live(kind.declared.declaration, p)
        ]
        for name, kind in KINDS.items()
    }
    assert (said["gain"], said["offset"]) == (["gain"], ["offset"])
    assert (said["sweep"], said["limiter"]) == ([], [])
    assert said["noise"] == ["std"]
