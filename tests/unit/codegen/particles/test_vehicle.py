"""The vehicle of the paper on equivalent particles comes to the same rest by three derivations of its motion."""

from pathlib import Path

import numpy as np
import pytest

from codegen.description.mechanism import load, parse
from codegen.kernels.trial import Motion, Trial
from codegen.options.options import KernelOptions
from codegen.topology.motion import topology

VEHICLE = Path(__file__).parents[4] / "examples" / "dropped_vehicle.toml"
SETTLED_S = 5.0
AS_PARTICLES = ("mass_kg", 'mass = "particles"\nmass_kg')


def rest(mechanism, formulation):
    """Heights, pitch and lengths of struts, by port, after some seconds."""
    # not optimised, so that compiling takes a second; the fastest pole, a wheel between dampers, is at some 1100 rad/s
    options = KernelOptions(formulation=formulation, step_s=2e-3, cflags=("-O0",))
    motion = Motion({}, 0.5, round(SETTLED_S / 0.5))
    tried = Trial(mechanism, options).run(motion, is_timed=False)
    assert not tried.problem
    shown = tried.rows[:, -len(mechanism.outputs) :]
    # it rests: half a second before it was there already
    assert np.max(np.abs(shown[-1] - shown[-2])[:-1]) < 1e-8
    return dict(zip([o.port for o in mechanism.outputs], shown[-1], strict=True))


@pytest.mark.slow
def test_it_has_sixteen_freedoms_and_two_loops():
    tree = topology(load(VEHICLE).system).tree
    cuts = [cut.element for cut in tree.cuts]
    assert cuts == ["point/front_left_u", "point/front_right_u"]
    # a ball that is cut takes three
    assert sum(link.freedoms for link in tree.links) - 3 * len(cuts) == 16


@pytest.mark.slow
def test_it_settles_to_the_same_rest_in_natural_and_joint_coordinates_and_over_particles():
    text = VEHICLE.read_text()
    found = {
        "particles": rest(load(VEHICLE), "particles"),
        "natural": rest(parse(text.replace(*AS_PARTICLES), VEHICLE.name), "ali3p"),
        "joints": rest(load(VEHICLE), "composite"),
    }
    weight = (800.0 + 4 * 0.5 + 2 * 5.0 + 2 * 20.0 + 2 * 0.5 + 2 * 30.0) * 9.81
    for name, shown in found.items():
        tyres = [1.5e5 * (0.35 - shown[port]) for port in shown if port.endswith("wheel_z_m")]
        assert sum(tyres) == pytest.approx(weight, rel=1e-7), name
    for port, value in found["particles"].items():
        if port != "vehicle/energy_j":
            assert found["natural"][port] == pytest.approx(value, abs=1e-8), port
            assert found["joints"][port] == pytest.approx(value, abs=1e-8), port
