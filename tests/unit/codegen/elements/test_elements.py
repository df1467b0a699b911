"""Elements one by one: rows, masses and forces against what one writes by hand."""

import math

import numpy as np
import pytest

from codegen.description.mechanism import MECHANISMS, MechanismError, load
from codegen.kernels.build import build_kernel, load_reference


def mechanism(tmp_path, text):
    path = tmp_path / "made.toml"
    path.write_text(text)
    return path


def twin_of(tmp_path, text):
    from codegen.kernels.generate import generate
    from codegen.options.options import KernelOptions

    path = tmp_path / "reference.py"
    path.write_text(generate(mechanism(tmp_path, text), KernelOptions()).reference)
    return load_reference(path)


def test_slide_keeps_a_point_on_its_line(tmp_path):
    module = twin_of(
        tmp_path,
        """
[point.P]
position_m = [1, 2, 3]
[distance.s]
[slide.P]
point = "P"
start_m = [1, 2, 3]
along = "unit((1, 1, 0))"
by = "s"
[mass.s]
distance = "s"
mass_kg = 1
""",
    )
    on = np.array([1 + 0.5 / math.sqrt(2), 2 + 0.5 / math.sqrt(2), 3, 0.5])
    np.testing.assert_allclose(module.phi(on, []), 0.0, atol=1e-15)
    off = on + np.array([0.0, 0.0, 0.25, 0.0])
    np.testing.assert_allclose(module.phi(off, []), [0, 0, 0.25])


def test_distance_rows_are_normalised_and_take_a_given_length(tmp_path):
    module = twin_of(
        tmp_path,
        """
[point.P]
position_m = [1.52, 0, 0]
[constant_distance.rod]
points = [[0, 0, 0], "P"]
length_m = 1.5
[mass.P]
point = "P"
mass_kg = 1
""",
    )
    assert module.phi(np.array([2.0, 0.0, 0.0]), [])[0] == pytest.approx((4 - 2.25) / 3.0)
    np.testing.assert_allclose(module.phi_q(np.array([1.5, 0.0, 0.0])), [[1.0, 0.0, 0.0]])


def test_rotation_gear_and_perpendicular_rows(tmp_path):
    module = twin_of(
        tmp_path,
        """
[unit_vector.v]
direction = [1, 0, 0]
[angle.a]
[angle.b]
[rotation.a]
angle = "a"
vector = "v"
axis = [0, 0, 1]
zero = [1, 0, 0]
[perpendicular.v]
vectors = ["v", [0, 0, 1]]
[gear.ab]
first = "a"
second = "b"
ratio = 3
[inertia.b]
angle = "b"
inertia_kg_m2 = 1
""",
    )
    turn = 2.5
    q = np.array([math.cos(turn), math.sin(turn), 0.0, turn, turn / 3.0])
    np.testing.assert_allclose(module.phi(q, []), 0.0, atol=1e-15)
    rotation = module.model_info()["constraints"].index("rotation/a")
    assert module.phi_q(q)[rotation, 3] == pytest.approx(-1.0)


def test_masses_weights_and_dampers(tmp_path):
    module = twin_of(
        tmp_path,
        """
gravity_m_s2 = [0, -10, 0]
[point.P]
position_m = [1, 0, 0]
moves = "xy"
[point.R]
position_m = [2, 0, 0]
moves = "xy"
[distance.s]
[uniform_rod.rod]
points = ["P", "R"]
mass_kg = 6
[mass.ball]
point = "R"
mass_kg = 1
[mass.cart]
distance = "s"
mass_kg = 4
[damper.cart]
distance = "s"
damping_ns_per_m = 7
""",
    )
    par = np.array([value for _, value in module.PARAMETERS])
    expected = np.array([
        [2, 0, 1, 0, 0], [0, 2, 0, 1, 0], [1, 0, 3, 0, 0], [0, 1, 0, 3, 0], [0, 0, 0, 0, 4],
    ])  # fmt: skip
    np.testing.assert_allclose(module.mass(par), expected)
    force = module.force(np.zeros(5), np.full(5, 2.0), [], par, [])
    np.testing.assert_allclose(force, [0, -30, 0, -40, -14])
    # 7 kg at an average height: 6 * 10 * (1 + 2)/2 + 10 * 2
    assert module.potential_energy(np.array([0, 1, 0, 2, 0.0]), par) == pytest.approx(110.0)


@pytest.mark.slow
def test_an_input_takes_the_place_of_a_parameter(tmp_path):
    text = (MECHANISMS / "guided_rod.toml").read_text().replace('name = "guided_rod"\n', "")
    text = text.replace("damping_nms_per_rad = 0.2", "damping_nms_per_rad = { input = 0.5 }")
    module = build_kernel(mechanism(tmp_path, text)).module
    stepper = module.Kernel()
    port = "input/damper/bearing/damping_nms_per_rad"
    assert list(stepper.reads)[-1] == port
    torques = []
    for damping in (0.5, 1.5):
        stepper.signals = {port: damping}
        stepper.reset(0.0, 2.0, 0.0)
        assert stepper.step(2e-3, 2.0, 0.0) == 0
        torques.append(stepper.reaction[0])
    assert torques[1] - torques[0] == pytest.approx(2.0, abs=1e-5)


def test_a_motion_without_mass_is_a_mistake(tmp_path):
    with pytest.raises(MechanismError, match="can move without mass: a"):
        load(mechanism(tmp_path, "[angle.a]\n[angle.b]\n[inertia.b]\nangle='b'\ninertia_kg_m2=1"))


@pytest.mark.parametrize("entry", [
    '[mass.m]\nmass_kg = 1',
    '[damper.d]\nangle = "a"',
    '[rotation.r]\nangle = "a"\naxis = [0,0,1]\nzero = [1,0,0]',
    '[unit_vector.v]\ndirection = [1, 1, 0]',
    '[guide.a]\ncoordinate = "a"\n[guide.b]\ncoordinate = "a"',
    '[gear.g]\nfirst = "a"\nsecond = "a"\nratio = 0',
    '[vector_inertia.i]\nvector = "a"\ninertia_kg_m2 = 1',
])  # fmt: skip
def test_an_incomplete_element_is_a_mistake(tmp_path, entry):
    with pytest.raises(MechanismError):
        load(mechanism(tmp_path, "[angle.a]\n" + entry))
