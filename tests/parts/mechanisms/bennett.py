"""Bennett's linkage: four bars in space that move although six rows of their pins count them as rigid."""

import math

import numpy as np

from codegen.description.builder import MechanismBuilder

TWISTS = (0.7, 1.2)  # rad, between the pins of a bar; equal in opposite bars
LENGTH_M = 0.5  # of the bars with the first twist; lengths are as the sines of the twists
START = 0.9  # rad, at the first pin


def bennett():
    """The linkage with a body for each moving bar, and its first bar's point and direction as outputs."""
    places, axes = _pins()
    made = MechanismBuilder("bennett", gravity_m_s2=(1.0, 2.0, -9.81))
    for k in range(3):
        made.point(f"bar_{k}_p", position_m=places[k])
        for letter, way in zip("uvw", np.eye(3).tolist(), strict=True):
            made.unit_vector(f"bar_{k}_{letter}", direction=way)
        made.rigid_body(
            f"bar_{k}", points=[f"bar_{k}_p"], vectors=[f"bar_{k}_{letter}" for letter in "uvw"], mass_kg=1.0 + k,
            centre_m=[0.5 * (a + b) for a, b in zip(places[k], places[k + 1], strict=True)],
            inertia_kg_m2=(0.1, 0.12, 0.15),
        )  # fmt: skip
    pairs = [("bar_0", "ground"), ("bar_1", "bar_0"), ("bar_2", "bar_1"), ("bar_2", "ground")]
    for k, pair in enumerate(pairs):
        made.revolute(f"pin_{k}", bodies=list(pair), point_m=places[k], axis=axes[k])
    for axis in "xyz":
        made.output(f"far/{axis}_m", f"bar_2_p_{axis}").output(f"near/{axis}", f"bar_0_u_{axis}")
    return made.output("total_j", "energy")


def _pins():
    """Places and axes of the pins: frames by Denavit and Hartenberg, which close."""
    first, second = TWISTS
    ratio = math.sin((first + second) / 2.0) / math.sin((second - first) / 2.0)
    other = 2.0 * math.atan(ratio / math.tan(START / 2.0))
    far = LENGTH_M * math.sin(second) / math.sin(first)
    here, places, axes = np.eye(4), [], []
    for turn, twist, length in (
        (START, first, LENGTH_M), (other, second, far), (-START, first, LENGTH_M), (-other, second, far)
    ):  # fmt: skip
        places.append(here[:3, 3].tolist())
        axes.append(here[:3, 2].tolist())
        c, s, cc, ss = math.cos(turn), math.sin(turn), math.cos(twist), math.sin(twist)
        here = here @ [
            [c, -s * cc, s * ss, length * c],
            [s, c * cc, -c * ss, length * s],
            [0, ss, cc, 0],
            [0, 0, 0, 1],
        ]
    assert np.max(np.abs(here - np.eye(4))) < 1e-14
    return places, axes
