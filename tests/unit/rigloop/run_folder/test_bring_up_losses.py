"""How a bus came to OP, by what the cycle process reported."""

import pytest

from rigloop.run_folder.bring_up_losses import brought_up
from rigloop.run_folder.messages import Report


def test_without_a_bus_nothing_was_brought_up():
    assert brought_up(Report()) is None


def test_losses_are_named_and_so_is_that_there_were_none():
    found = brought_up(Report(to_op_s=0.5, bringup={"lost": 2, "foreign": 1, "cycles": 500}))
    assert found.losses == "2 frames lost, 1 foreign before OP, not part of the verdict"
    none = brought_up(Report(bringup={"lost": 0}))
    assert none.losses == "nothing lost before OP, not part of the verdict"


@pytest.mark.parametrize("seconds", [-1.0, float("nan"), float("inf"), 1e300])
def test_numbers_that_cannot_be_are_none(seconds):
    found = brought_up(Report(to_op_s=seconds, bringup={"lost": -5, "late": 1 << 62}))
    assert (found.to_op_s, found.lost, found.late) == (0.0, 0, 2**53)
