"""What steps gain by themselves is seen, and only that."""

import math

import numpy as np
import pytest

from codegen.description.builder import MechanismBuilder


def bouncing(stop, stiffness=1e6):
    """1 kg that falls on a stop; the stop as a table or as an expression."""
    made = MechanismBuilder("b").distance("x", initial_m=0.1).mass("x", distance="x", mass_kg=1.0)
    made.force("weight", distance="x", force_n=-9.81)
    if stop == "table":
        made.spring("stop", distance="x", table=[(-1.0, -stiffness), (0.0, 0.0), (1.0, 0.0)])
    else:
        made.expression_force("stop", coordinate="x", force=f"{0.5 * stiffness} * (abs(x) - x)")
    return made.output("gain_j", "energy.gain")


def energies(module, start_m, steps=1000):
    """The gain that is shown, and the energy of free flight above that of the start, after each step."""
    stepper = module.Kernel()
    assert stepper.reset(q=[start_m], qd=[0.0]) == 0
    assert stepper.outputs["gain_j"] == 0.0
    shown, exact = [], []
    for _ in range(steps):
        assert stepper.step() == 0
        x, v = stepper.q[0], stepper.qd[0]
        shown.append(stepper.outputs["gain_j"])
        exact.append(0.5 * v * v + 9.81 * (x - start_m) if x > 0.0 else math.nan)
    return np.array(shown), np.array(exact)


@pytest.mark.slow
@pytest.mark.parametrize("stop", ["table", "expression"])
@pytest.mark.parametrize("options", [(), (("formulation", "index1"), ("integrator", "rk4"))])
def test_a_contact_of_three_steps_shows_what_it_gains(kernel, tmp_path, stop, options):
    module = kernel(bouncing(stop).save(tmp_path), **dict(options))
    most = 0.0
    for start_m in np.linspace(0.09, 0.11, 5):
        shown, exact = energies(module, start_m)
        flying = np.isfinite(exact)
        # Lobatto's rule meets the corner of the force within a step
        assert np.max(np.abs(shown - exact)[flying]) < 0.05 * max(0.98, exact[flying].max())
        most = max(most, shown[flying].max())
    # average acceleration gains a twentieth here; what rk4 does is only required to be seen
    assert options or most > 0.05


def test_a_soft_stop_gains_nothing(kernel, tmp_path):
    shown, _ = energies(kernel(bouncing("table", 1e3).save(tmp_path)), 0.1)
    assert np.max(np.abs(shown)) < 2e-3


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, {"substeps": 3}])
def test_guides_dampers_and_drive_are_no_gain(kernel, tmp_path, options):
    made = MechanismBuilder("g").angle("a").inertia("a", angle="a", inertia_kg_m2=0.05)
    made.angle("b").inertia("b", angle="b", inertia_kg_m2=0.02)
    made.damper("b", angle="b", damping_nms_per_rad=0.3)
    made.expression_force("between", coordinate="b", force="5.0 * (a - b)")
    made.expression_force("back", coordinate="a", force="-5.0 * (a - b)")
    made.guide("a", coordinate="a").output("gain_j", "energy.gain")
    stepper = kernel(made.save(tmp_path), **options).Kernel()

    def swing(t):
        return math.sin(9 * t), 9 * math.cos(9 * t), -81 * math.sin(9 * t)

    assert stepper.reset(*swing(0.0)) == 0
    for k in range(1, 1001):
        assert stepper.step(*swing(k * 1e-3)) == 0
        # the kinetic energy swings by 2 J, and the guide gives as much
        assert abs(stepper.outputs["gain_j"]) < 4e-3


@pytest.mark.slow
def test_who_does_not_ask_pays_nothing(kernel, tmp_path):
    asked = kernel(bouncing("table").save(tmp_path)).model_info()["routines"]
    assert {"apply", "momenta"} <= asked.keys()
    assert not {"apply", "momenta"} & kernel("four_bar").model_info()["routines"].keys()
