"""Linear constraints solved when generating: the same motion, reactions and multipliers as with all
coordinates.
"""

import math

import numpy as np
import pytest

from codegen.description.mechanism import find, load
from codegen.equations.presolve import presolve
from codegen.expressions.folding import folded


def test_steering_loses_its_linear_rows_and_one_coordinate_for_each():
    made = presolve(load(find("steering_26")).system)
    assert len(made.system.coordinates) == 16
    assert len(made.removed) == len(made.dependent) == 10
    assert {guide.coordinate.name for guide in made.system.guides} == {"wheel"}


def test_positions_satisfy_the_removed_rows_whatever_the_free_coordinates_are():
    full = load(find("steering_26")).system
    made = presolve(full)
    graph = full.graph
    moves = {c.q: e for c, e in zip(full.coordinates, made.q, strict=True)}
    for r in made.removed:
        left = folded(graph.substitute(full.rows[r].phi, moves))
        # round-off of the row's own constants
        coefs = left.coefs if left.op == "sum" else (left.value,)
        assert max(abs(c) for c in coefs) < 1e-15


def test_presolved_kernel_moves_and_reacts_as_the_one_in_all_coordinates(kernel):
    made, whole = (kernel("steering_26", presolve=p).Kernel() for p in (True, False))
    rate = 2.0 * math.pi
    for k in range(1001):
        s, c = math.sin(1e-3 * rate * k), math.cos(1e-3 * rate * k)
        guide = (1.5 * s, 1.5 * rate * c, -1.5 * rate * rate * s)
        for stepper in (made, whole):
            assert (stepper.step(*guide) if k else stepper.reset(*guide)) == 0
    np.testing.assert_allclose(made.q, whole.q, atol=1e-11)
    np.testing.assert_allclose(made.qd, whole.qd, atol=1e-8)
    # a finite penalty leaves 1e-7 of the forces in the kernel that has all rows
    assert made.reaction[0] == pytest.approx(whole.reaction[0], abs=1e-6 * 50.0)


@pytest.mark.slow
def test_multipliers_of_removed_rows_balance_the_forces(kernel, twin):
    module, reference = kernel("steering_26"), twin("steering_26")
    stepper = module.Kernel()
    stepper.reset(0.4, 1.0, 3.0)
    par = np.array([value for _, value in reference.PARAMETERS])
    q, qd, qdd = (np.array(values) for values in (stepper.q, stepper.qd, stepper.qdd))
    held = reference.hold(q, qd, np.array(stepper.internal), par, [])[1]
    rest = (
        reference.mass(par) @ qdd
        + reference.phi_q(q).T @ np.array(stepper.lam)
        - reference.force(q, qd, held, par, [])
    )
    # at the start lam is consistent with qdd; forces are up to some 100 N
    assert np.max(np.abs(rest)) < 1e-6
