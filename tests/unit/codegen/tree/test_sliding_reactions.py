"""Moments of joints that slide are about the point of the first body, whichever of the two hangs on the other."""

import numpy as np
import pytest

from codegen.description.builder import MechanismBuilder
from codegen.kernels.build import build_kernel
from codegen.options.options import KernelOptions

RATE_M_S = 1.0
WEIGHT_N = 10.0


def cart(first, second):
    """A body of 1 kg that slides along x, its centre 0.1 m ahead of its point, at 1 m/s beside the ground."""
    made = MechanismBuilder("cart", gravity_m_s2=(0, -WEIGHT_N, 0))
    made.point("at", position_m=(0.3, 0, 0))
    ways = ["along", "up", "out"]
    for name, way in zip(ways, np.eye(3), strict=True):
        made.unit_vector(name, direction=way.tolist())
    made.rigid_body(
        "cart", points=["at"], vectors=ways, mass_kg=1.0, centre_m=(0.4, 0, 0), inertia_kg_m2=(0.01, 0.01, 0.01)
    )  # fmt: skip
    rate = RATE_M_S if first == "cart" else -RATE_M_S
    made.distance("travel", initial_rate_m_s=rate)
    made.prismatic(
        "rail", bodies=[first, second], point_m=(0.3, 0, 0), axis=(1, 0, 0), travel="travel"
    )
    return made.output("rail/fy_n", "prismatic.rail.fy_n").output(
        "rail/tz_nm", "prismatic.rail.tz_nm"
    )


@pytest.mark.slow
@pytest.mark.parametrize("formulation", ["articulated", "riccati", "composite"])
@pytest.mark.parametrize(
    ("bodies", "force_n", "arm_m"),
    [(("cart", "ground"), 10.0, 0.1), (("ground", "cart"), -10.0, 0.2)],
)
def test_the_moment_of_a_rail_is_about_the_point_of_its_first_body(
    tmp_path, formulation, bodies, force_n, arm_m
):
    path = cart(*bodies).save(tmp_path)
    stepper = build_kernel(path, KernelOptions(formulation=formulation)).module.Kernel()
    assert stepper.reset() == 0
    for _ in range(100):
        assert stepper.step() == 0
    # after 0.1 s at 1 m/s the centre is 0.1 m ahead of the cart's point, and 0.2 m ahead of the ground's
    shown = stepper.outputs
    assert shown["rail/fy_n"] == pytest.approx(force_n, rel=1e-12)
    assert shown["rail/tz_nm"] == pytest.approx(force_n * arm_m, rel=1e-12)
