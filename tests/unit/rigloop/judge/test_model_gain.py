"""A model that gains energy by its own steps is told beside the verdict."""

import numpy as np
import pytest

from codegen.description.builder import MechanismBuilder
from codegen.kernels.build import build_kernel
from rigloop.judge.model_gain import UNGUARDED_J, gains


def falling(stiffness):
    made = MechanismBuilder("falling").distance("x", initial_m=0.1)
    made.mass("x", distance="x", mass_kg=1.0).force("weight", distance="x", force_n=-9.81)
    made.expression_force("stop", coordinate="x", force=f"{stiffness} * (abs(x) - x)")
    return made.output("gain_j", "energy.gain")


def recorded(path):
    """One second of the kernel as a task's record has it."""
    stepper = build_kernel(path).module.Kernel()
    assert stepper.reset() == 0
    found = np.zeros(1000, dtype=[("model/gain_j", "f8")])
    for row in found:
        assert stepper.step() == 0
        row["model/gain_j"] = stepper.outputs["gain_j"]
    return {"simulation": found}


class Unguarded:
    """What of a rig is looked at: its blocks."""

    def __init__(self, block):
        self.blocks = {"model": block}


@pytest.mark.parametrize(("stiffness", "lines"), [(5e5, 1), (500.0, 0)])
def test_a_stop_too_stiff_for_the_step_is_told(rigs, tmp_path, stiffness, lines):
    path = falling(stiffness).save(tmp_path)
    block = rigs("steering_wheel").rig.blocks["steering"]
    rig = Unguarded(block.model_copy(update={"mechanism": str(path), "writes": {}}))
    records = recorded(path)
    assert (np.max(records["simulation"]["model/gain_j"]) > UNGUARDED_J) == bool(lines)
    found = gains(rig, records)
    assert len(found) == lines
    assert all("model/gain_j: the model's own steps gained" in line for line in found)
