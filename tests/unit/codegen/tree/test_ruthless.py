"""Bodies linearised ruthlessly: constants where the full equations follow the deformation."""

import numpy as np
import pytest
from mechanisms.exact_solutions import exact
from mechanisms.flexible_chains import laden_tree, plane_chain, space_chain
from mechanisms.flexible_mechanisms import spin_up
from mechanisms.tree_accelerations import somewhere, values

from codegen.expressions.dag import evaluate
from codegen.kernels.costs import operations
from codegen.options.options import KernelOptions
from codegen.tree.mechanism import in_joint_coordinates
from codegen.tree.recursion import accelerations
from rt_core.settings import SettingsError

SPUN_UP_S, FIRST_RAD_S = 15.0, 3.8  # first frequency of the beam that is spun up


def gap(mechanism, bent_m):
    """Largest difference of accelerations from those of the full equations, relative to the largest one."""
    found = []
    for is_ruthless in (False, True):
        tree = in_joint_coordinates(mechanism, is_ruthless=is_ruthless)
        z, zd = somewhere(tree, 5, bent_m)
        at, by_joint = values(tree.made.system, z, zd), accelerations(tree.chain, tree.loads)
        found.append(np.array([evaluate(by_joint[i], at) for i in range(len(z))]))
    return np.max(np.abs(found[0] - found[1])) / np.max(np.abs(found[0]))


@pytest.mark.slow
@pytest.mark.parametrize(
    "made",
    [plane_chain(2), laden_tree(), space_chain(2, modes=3, kind="spherical")],
    ids=["plane", "laden", "balls"],
)
def test_the_error_is_of_the_first_order_in_the_deformation(made):
    mechanism = made.build()
    assert gap(mechanism, 0.0) < 1e-12
    errors = [gap(mechanism, size) for size in (1e-4, 5e-5, 2.5e-5)]
    # at these sizes the second order is a hundredth of the first or less, but in the plane chain a tenth
    assert errors[0] / errors[1] == pytest.approx(2.0, rel=0.1)
    assert errors[1] / errors[2] == pytest.approx(2.0, rel=0.1)


@pytest.fixture
def deflected(kernel, tmp_path):
    """deflected(speed, bending): deflection of a beam's tip, m, while its hub is spun up to a speed in 15 s."""
    path = spin_up().save(tmp_path)

    def found(speed_rad_s, bending):
        stepper = kernel(
            path, formulation="articulated", integrator="rk4", step_s=4e-3, bending=bending
        ).Kernel()
        a, w = 2.0 * np.pi / SPUN_UP_S, speed_rad_s / SPUN_UP_S
        shown = []
        for t in 4e-3 * np.arange(round(SPUN_UP_S / 4e-3)):
            turned = w * (t * t / 2.0 - (1.0 - np.cos(a * t)) / a**2)
            guide = turned, w * (t - np.sin(a * t) / a), w * (1.0 - np.cos(a * t))
            assert (stepper.step(*guide) if shown else stepper.reset(*guide)) == 0
            shown.append(stepper.outputs["tip/w_m"])
        return np.array(shown)

    return found


@pytest.mark.slow
def test_a_beam_that_spins_slowly_is_right_and_one_that_spins_fast_is_not(deflected):
    errors = []
    for speed in (0.1, 0.2):
        full, ruthless = deflected(speed, "full"), deflected(speed, "ruthless")
        errors.append(np.max(np.abs(ruthless - full)) / np.max(np.abs(full)))
        # what stiffens is the square of the spin over that of the first frequency: measured 0.105 of it
        assert errors[-1] < 0.2 * (speed / FIRST_RAD_S) ** 2
    assert errors[1] / errors[0] == pytest.approx(4.0, rel=0.05)
    # beyond its first frequency: measured 0.114 m of 0.574
    reference = exact("spin_up_fast")
    shown = deflected(6.0, "ruthless")
    t = reference["t"][reference["t"] < SPUN_UP_S - 0.1]
    missed = np.interp(t, 4e-3 * np.arange(len(shown)), shown) - reference["w_tip"][: len(t)]
    assert np.max(np.abs(missed)) > 0.1


@pytest.mark.slow
@pytest.mark.parametrize("formulation", ["articulated", "composite"])
def test_its_kernels_are_proved_and_cost_less(formulation, kernel, tmp_path):
    made = plane_chain(2, modes=1)
    rules = {"formulation": formulation, "integrator": "rk4", "step_s": 5e-5}
    module = kernel(made.save(tmp_path), **rules, bending="ruthless")
    full = operations(made.build(), KernelOptions(**rules))["slots"]
    assert module.model_info()["operations"]["slots"] < 0.9 * full


def test_it_is_refused_where_it_means_nothing():
    with pytest.raises(
        SettingsError, match=r"bending.*'articulated', 'composite', 'semi_recursive'"
    ):
        KernelOptions(formulation="index1", bending="ruthless")
