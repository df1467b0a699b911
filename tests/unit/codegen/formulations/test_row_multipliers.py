"""Multipliers of single rows as outputs: second order, with rows that were solved when generating
too, and right after a start.
"""

import csv
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from codegen.description.mechanism import load, parse
from codegen.description.outputs import Output
from codegen.kernels import build
from codegen.kernels.build import load_reference
from codegen.options.options import KernelOptions

REFERENCES = Path(__file__).parents[3] / "data" / "references"
# the slider's height as a linear row instead of a guide
CRANK = (
    (REFERENCES / "crank_free.toml")
    .read_text()
    .replace(
        '[guide.height]\ncoordinate = "B_y"',
        '[point_on_plane.rail]\npoint = "B"\nstart_m = [0, 0, 0]\nnormal = [0, 1, 0]',
    )
    .replace('"slider/guide_n" = "guide.height.reaction"\n', "")
)


def exact(name, column):
    with (REFERENCES / f"{name}.csv").open() as file:
        head, *rows = csv.reader(file)
    found = dict(zip(head, np.array(rows, dtype=float).T, strict=True))
    return found["t"], found[column]


def showing(mechanism, label):
    """The mechanism with an output `row`, the multiplier of the row of that label."""
    system = mechanism.system
    number = [row.label for row in system.rows].index(label)
    # an expression, so that it is evaluated after the multiplier, not only copied
    system.values["shown"] = 2.0 * system.row_multiplier(number)
    return replace(mechanism, outputs=(*mechanism.outputs, Output("row", "path", 0, "shown")))


def compiled(mechanism, folder, **options):
    """Kernel and NumPy twin of a mechanism that is in no file."""
    chosen = KernelOptions(**options)
    by = build._compiling(chosen)
    build._build(build._Kernel(), mechanism, chosen, by, folder, lambda stage: None)
    return build.load(folder / f"{build.MODULE}.so"), load_reference(folder / "reference.py")


def errors(module, times, wanted, seconds, *guide):
    stepper, worst, at = module.Kernel(), 0.0, 0
    assert stepper.reset(*guide) == 0
    step_s = module.model_info()["step_s"]
    first = abs(stepper.outputs["row"] / 2.0 - wanted[0])
    for k in range(1, np.searchsorted(times, seconds + 1e-9)):
        while at < round(times[k] / step_s):
            at += 1
            assert stepper.step(*guide) == 0
        worst = max(worst, abs(stepper.outputs["row"] / 2.0 - wanted[k]))
    return first, worst


@pytest.mark.parametrize("reaction", ["F1", "paper"])
@pytest.mark.slow
def test_rod_force_of_the_pendulum_is_second_order(tmp_path, reaction):
    times, tension = exact("pendulum", "tension")
    found = []
    for step_s in (4e-3, 2e-3):
        mechanism = showing(load(REFERENCES / "pendulum.toml"), "length/rod")
        folder = tmp_path / f"{step_s}"
        module, _ = compiled(mechanism, folder, step_s=step_s, reaction=reaction)
        first, worst = errors(module, times, tension, 3.0, 1.0, 0.0, 0.0)
        assert first < 1e-9
        found.append(worst)
    assert 1.9 < math.log2(found[0] / found[1]) < 2.6
    assert found[1] < 3e-3  # of 29 N


@pytest.mark.parametrize("projection", ["A", "none"])
@pytest.mark.parametrize("presolve", [True, False])
@pytest.mark.slow
def test_rail_force_of_the_slider_is_second_order_presolved_or_not(tmp_path, presolve, projection):
    times, force = exact("slider_crank_free", "N_guide")
    found = []
    for step_s in (5e-4, 2.5e-4):
        mechanism = showing(parse(CRANK, "crank_free.toml"), "point_on_plane/rail plane")
        module, twin = compiled(
            mechanism,
            tmp_path / f"{step_s}",
            step_s=step_s,
            presolve=presolve,
            projection=projection,
        )
        assert (len(module.model_info()["stepped"]) < module.model_info()["n_q"]) == presolve
        # the force on the mechanism is -phi_q^T lam
        first, worst = errors(module, times, -force, 1.0)
        assert first < 1e-6  # 1/kappa of some 100 N
        found.append(worst)
    assert 1.9 < math.log2(found[0] / found[1]) < 2.6
    assert found[1] < 0.5  # of 95 N; most of it is the phase, some 1e-3 rad
    # both in the same state one step later, whatever the path of the elimination
    fast, slow = module.Kernel(), twin.Kernel()
    fast.reset()
    slow.reset()
    for _ in range(20):
        fast.step()
        slow.step()
        assert fast.outputs["row"] == pytest.approx(slow.outputs["row"], abs=1e-4)


def test_nothing_is_computed_for_multipliers_that_nobody_shows(kernel):
    work = kernel("steering_26").model_info()["routines"]["react"]
    assert work["slots"] == 0
