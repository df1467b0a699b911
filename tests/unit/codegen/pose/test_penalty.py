"""Penalties of rows: as large as the inertia that they feel, and no larger where a slope is only round-off."""

from pathlib import Path

import pytest

from codegen.closed_trees.over_joints import over_joints
from codegen.importers.robot_file import import_file
from codegen.options.options import KernelOptions
from codegen.pose.penalty import penalties

pytest.importorskip("mujoco")
EXCAVATOR = Path(__file__).parents[3] / "data" / "robots" / "excavator.xml"


def test_a_row_that_follows_from_others_up_to_round_off_takes_the_penalty_of_these():
    # the cylinder closes a loop in a plane that the cab turns: its row across that plane moves nothing
    options = KernelOptions(formulation="semi_recursive", integrator="trapezoidal")
    tree = over_joints(import_file(EXCAVATOR).mechanism, options)
    scales, _ = penalties(tree.made.system, options)
    assert len(scales) == 3
    assert max(scales) < 2.0 * min(scales)
