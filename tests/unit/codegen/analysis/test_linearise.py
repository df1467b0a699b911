"""Linearised steps beside exact mechanics, and beside what the kernel itself makes of motions."""

import numpy as np
import pytest

from codegen.analysis.linearise import LinearisationError, linearise_step

pytestmark = pytest.mark.slow

TORQUE = "guide/torque_nm"
FORCE = "guide/force_n"


def shaken(module, lin, guide0, inputs):
    """Outputs of a kernel about its rest, for small guide triples, shape (n, 3)."""
    kernel = module.Kernel()
    kernel.reset(*guide0)
    kernel.memory = lin.at.tolist()
    kernel.step(*guide0)
    rest = kernel.outputs[TORQUE]
    kernel.memory = lin.at.tolist()
    given = np.ascontiguousarray(np.array(guide0) + inputs)
    seen = np.zeros((len(given), len(kernel.outputs)))
    assert kernel.run(given, seen, len(given)) == len(given)
    return seen[:, list(kernel.outputs).index(TORQUE)] - rest


def predicted(lin, inputs):
    """The same by the linear system."""
    s, found = np.zeros(len(lin.a)), []
    for u in inputs:
        found.append(float((lin.c @ s + lin.d @ u)[0]))
        s = lin.a @ s + lin.b @ u
    return np.array(found)


def triple(t, hz, amplitude):
    w = 2 * np.pi * hz
    return amplitude * np.column_stack([np.sin(w * t), w * np.cos(w * t), -(w**2) * np.sin(w * t)])


def test_a_guided_rod_shows_its_inertia_and_damping(kernel):
    lin = linearise_step(kernel("guided_rod"), [TORQUE])
    hz = np.array([0.5, 5.0, 30.0])
    w = 2 * np.pi * hz
    g = lin.response(hz)[:, 0, :]
    impedance = g[:, 0] + 1j * w * g[:, 1] - w**2 * g[:, 2]
    # rod 0.3 m, 2 kg about its end, 0.05 kg m^2 on the angle; 0.2 Nms/rad
    exact = -(w**2) * (2.0 * 0.3**2 / 3 + 0.05) + 0.2j * w
    assert np.allclose(impedance, exact, rtol=1e-3)
    assert lin.settled


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"substeps": 2},
        {"integrator": "newmark"},
        {"formulation": "index1", "integrator": "rk4"},
        {"formulation": "independent", "integrator": "rk4"},
    ],
    ids=str,
)
def test_the_step_answers_random_guides_as_its_linear_system_says(kernel, options):
    module = kernel("steering_26", **options)
    guide = (0.4, 0.0, 0.0)
    lin = linearise_step(module, [TORQUE], guide=guide)
    noise = np.random.default_rng(3).normal(size=(300, 3)) * [1e-7, 1e-5, 1e-3]
    seen = shaken(module, lin, guide, noise)
    assert np.ptp(seen) > 1e-4
    assert np.max(np.abs(seen - predicted(lin, noise))) < 2e-3 * np.max(np.abs(seen))


def test_the_response_is_that_of_a_sine_through_the_kernel(kernel):
    module = kernel("steering_26")
    lin = linearise_step(module, [TORQUE])
    hz, t = 7.0, np.arange(1, 4001) * 1e-3
    seen = shaken(module, lin, (0.0, 0.0, 0.0), triple(t, hz, 1e-4))[2000:]
    turning = np.exp(2j * np.pi * hz * t[2000:])
    design = np.column_stack([turning.real, turning.imag, np.ones(2000), t[2000:]])
    a, b, *_ = np.linalg.lstsq(design, seen, rcond=None)[0]
    w = 2 * np.pi * hz
    # sin is the imaginary part of the turning pointer
    measured = (a * 1j + b) / 1e-4
    g = lin.response(np.array([hz]))[0, 0]
    assert abs((g @ [1, 1j * w, -(w**2)]) / measured - 1) < 1e-3


CARTS = """
name = "carts"
[point.A]
position_m = [0, 0, 0]
[point.B]
position_m = [1, 0, 0]
[distance.first]
[distance.second]
[slide.first]
point = "A"
start_m = [0, 0, 0]
along = [1, 0, 0]
by = "first"
[slide.second]
point = "B"
start_m = [1, 0, 0]
along = [1, 0, 0]
by = "second"
[guide.first]
coordinate = "first"
[mass.first]
distance = "first"
mass_kg = 0.01
[mass.second]
distance = "second"
mass_kg = 0.02
[spring_between.coupling]
points = ["A", "B"]
stiffness_n_per_m = 50.0
damping_ns_per_m = 0.05
[outputs]
"guide/force_n" = "guide.first.reaction"
"""


def test_bodies_beside_the_guide_are_states(kernel, tmp_path):
    # a second cart hangs on the guided one by a spring; its resonance is a pole
    path = tmp_path / "carts.toml"
    path.write_text(CARTS)
    lin = linearise_step(kernel(str(path), integrator="newmark"), [FORCE])
    hz = np.array([2.0, 6.0, 8.0, 15.0])
    s = 2j * np.pi * hz
    coupling = 50.0 + 0.05 * s
    exact = 0.01 * s**2 + coupling * 0.02 * s**2 / (0.02 * s**2 + coupling)
    g = lin.response(hz)[:, 0, :]
    assert np.allclose(g[:, 0] + s * g[:, 1] + s**2 * g[:, 2], exact, rtol=2e-2)
    a_pole = np.roots([0.02, 0.05, 50.0])[0]
    poles = np.linalg.eigvals(lin.a).astype(complex)
    assert np.min(np.abs(poles - np.exp(1e-3 * a_pole))) < 1e-4


def test_the_memory_of_a_kernel_goes_on_bit_for_bit(kernel):
    module = kernel("steering_26", substeps=2)
    t = np.arange(1, 101) * 1e-3
    guide = triple(t, 3.0, 0.3)
    first, second = module.Kernel(), module.Kernel()
    first.reset(0, 0, 0)
    for row in guide[:60]:
        first.step(*row)
    second.reset(0, 0, 0)
    second.memory = first.memory
    for row in guide[60:]:
        first.step(*row)
        second.step(*row)
        assert first.outputs == second.outputs
    with pytest.raises(ValueError, match="values given"):
        second.memory = [1.0]


def test_no_inputs_and_a_pose_that_cannot_be_put_together_are_refused(kernel):
    with pytest.raises(LinearisationError, match="nothing goes into it"):
        linearise_step(kernel("four_bar"), ["crank/angle_rad"])
    with pytest.raises(LinearisationError, match="cannot be assembled"):
        linearise_step(kernel("steering_26"), [TORQUE], guide=(float("nan"), 0, 0))
