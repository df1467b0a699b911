"""Rows of rates alone: a sleigh and a rolling coin on their exact motions, in natural and in joint coordinates."""

import math

import numpy as np
import pytest
from scipy.integrate import quad

from codegen.description.builder import MechanismBuilder
from codegen.description.mechanism import MechanismError
from codegen.kernels.build import build_kernel
from codegen.kernels.generate import program
from codegen.options.options import KernelOptions

MASS, SPIN, AHEAD = (
    2.0,
    0.3,
    0.4,
)  # sleigh: kg, kg m2 about its centre, m from the edge to the centre
SPEED, BEGIN = 1.5, -0.7  # m/s of its energy, and where on the curve it starts
SIZE = math.sqrt(SPIN / MASS + AHEAD**2)
PACE = AHEAD * SPEED / SIZE**2
RADIUS, LEAN, TURNING, COIN_KG = 0.3, 1.1, 1.7, 0.8  # coin: m, rad from the vertical, rad/s, kg
GRAVITY = 9.81
METHODS = [
    {"formulation": "ali3p"},
    {"formulation": "index1", "integrator": "rk4"},
    {"formulation": "penalty", "integrator": "rk4"},
    {"formulation": "semi_recursive"},
    {"formulation": "composite", "integrator": "rk4"},
]


def sleigh():
    """A plate on a blade, seen from above; forward speed and turn as the exact motion has them at the start."""
    forward, turn = SPEED * math.tanh(BEGIN), SPEED / SIZE / math.cosh(BEGIN)
    made = MechanismBuilder("sleigh", gravity_m_s2=(0, 0, 0))
    made.point("A", position_m=(0, 0, 0), moves="xy", velocity_m_s=(forward, 0, 0))
    made.point("B", position_m=(1, 0, 0), moves="xy", velocity_m_s=(forward, turn, 0))
    made.rigid_body(
        "plate", points=["A", "B"], axis=(0, 0, 1), mass_kg=MASS, centre_m=(AHEAD, 0, 0), inertia_kg_m2=SPIN
    )  # fmt: skip
    made.knife_edge("blade", body="plate", point_m=(0, 0, 0), edge=(1, 0, 0))
    made.output("A/x_m", "A_x").output("A/y_m", "A_y")
    made.output("B/x_m", "B_x").output("B/y_m", "B_y")
    return made.output("side_n", "knife_edge.blade.fy_n").output("total_j", "energy")


def exact_sleigh(t):
    """Place of the edge and heading of Chaplygin's sleigh: v = V tanh, w = (V / b) sech of the same argument."""

    def heading(at):
        return (
            SIZE
            / AHEAD
            * 2.0
            * (math.atan(math.tanh(at / 2.0)) - math.atan(math.tanh(BEGIN / 2.0)))
        )

    def along(at, part):
        return SPEED * math.tanh(at) * part(heading(at)) / PACE

    end = BEGIN + PACE * t
    x, y = (quad(along, BEGIN, end, args=(part,), epsabs=1e-13)[0] for part in (math.cos, math.sin))
    return x, y, heading(end)


def coin():
    """A thin disc in steady precession: it leans, and its centre goes round in a circle."""
    disc, across = COIN_KG * RADIUS**2 / 2.0, COIN_KG * RADIUS**2 / 4.0
    s, c = math.sin(LEAN), math.cos(LEAN)
    # moments about the centre: n p s (C + m r^2) - A p^2 s c + m g r c = 0
    roll = (across * TURNING**2 * s * c - COIN_KG * GRAVITY * RADIUS * c) / (
        TURNING * s * (disc + COIN_KG * RADIUS**2)
    )
    e1, e2, e3 = np.array([-1.0, 0, 0]), np.array([0, -c, s]), np.array([0, s, c])
    spin = TURNING * s * e2 + roll * e3
    centre, velocity = RADIUS * e2, -RADIUS * roll * e1
    made = MechanismBuilder("coin", gravity_m_s2=(0, 0, -GRAVITY))
    made.point("C", position_m=tuple(centre), velocity_m_s=tuple(velocity))
    for name, way in (("u", e1), ("v", e2), ("w", e3)):
        made.unit_vector(name, direction=tuple(way), angular_velocity_rad_s=tuple(spin))
    made.rigid_body(
        "disc", points=["C"], vectors=["u", "v", "w"], mass_kg=COIN_KG, centre_m=tuple(centre),
        inertia_kg_m2=(across, across, disc), axes=(tuple(e1), tuple(e2)),
    )  # fmt: skip
    made.wheel("rim", body="disc", centre_m=tuple(centre), axis=tuple(e3), radius_m=RADIUS)
    for axis in "xyz":
        made.output(f"C/{axis}_m", f"C_{axis}")
    made.output("lift_n", "wheel.rim.fz_n").output("total_j", "energy")
    return made, roll, centre


def run(made, folder, seconds, step_s, **options):
    module = build_kernel(made.save(folder), KernelOptions(step_s=step_s, **options)).module
    stepper = module.Kernel()
    assert stepper.reset() == 0
    begin = stepper.outputs
    for _ in range(round(seconds / step_s)):
        assert stepper.step() == 0
    return begin, stepper.outputs


def off_sleigh(folder, step_s, options):
    """Largest error of the edge's place and of the heading after 2 s, and the change of the energy."""
    x, y, heading = exact_sleigh(2.0)
    begin, end = run(sleigh(), folder, 2.0, step_s, **options)
    turned = math.atan2(end["B/y_m"] - end["A/y_m"], end["B/x_m"] - end["A/x_m"])
    off = (turned - heading + math.pi) % (2.0 * math.pi) - math.pi
    error = max(abs(end["A/x_m"] - x), abs(end["A/y_m"] - y), abs(off))
    return error, abs(end["total_j"] - begin["total_j"])


@pytest.mark.parametrize("options", METHODS, ids=lambda o: o["formulation"])
def test_a_sleigh_follows_its_exact_motion(tmp_path, options):
    error, gained = off_sleigh(tmp_path, 2e-3, options)
    # twice what was seen: of 2 m and some radians, of order four with rk4
    assert error < (2e-9 if "integrator" in options else 2e-5)
    assert gained < 2e-5


def test_a_sleigh_is_followed_with_order_two(tmp_path):
    coarse, fine = (off_sleigh(tmp_path, step_s, METHODS[0])[0] for step_s in (4e-3, 2e-3))
    assert 1.9 < math.log2(coarse / fine) < 2.1


@pytest.mark.parametrize("options", METHODS, ids=lambda o: o["formulation"])
@pytest.mark.slow
def test_a_coin_rolls_round_its_exact_circle(tmp_path, options):
    made, roll, centre = coin()
    begin, end = run(made, tmp_path, 2.0, 2e-3, **options)
    side, angle = RADIUS * roll / TURNING, TURNING * 2.0
    far = max(
        abs(end["C/x_m"] - side * math.sin(angle)),
        abs(end["C/y_m"] - side * (1.0 - math.cos(angle)) - centre[1]),
        abs(end["C/z_m"] - RADIUS * math.sin(LEAN)),
    )
    # twice what was seen, of a path of 1.1 m
    assert far < (1e-7 if "integrator" in options else 6e-5)
    assert end["lift_n"] == pytest.approx(COIN_KG * GRAVITY, abs=1e-5)
    assert end["total_j"] == pytest.approx(begin["total_j"], abs=5e-6)


@pytest.mark.parametrize("formulation", ["hamiltonian", "independent", "articulated"])
def test_what_takes_no_rows_of_rates_says_so_by_the_element(formulation):
    with pytest.raises(MechanismError, match=r"knife_edge\.blade.*row of rates.*'semi_recursive'"):
        program(sleigh().build(), KernelOptions(formulation=formulation))
