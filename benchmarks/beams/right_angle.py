"""Frequencies of a frame in its plane by exact dynamic stiffness, beside those of a body that bends, of elements.

Two slender legs at a right angle, the first clamped, with a mass on the end of the second. Stretch and bending of a leg
obey their differential equations without any approximation, so that a frequency is a root of a determinant of size six.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from codegen.description.builder import MechanismBuilder

Array = NDArray[np.float64]

LEGS_M, TIP_KG = (0.62, 0.41), 0.35
BEAM: dict[str, Any] = {
    "density_kg_m3": 7850.0, "youngs_pa": 2.1e11, "area_m2": 1.6e-4, "second_moment_m4": 2.9e-9,
}  # fmt: skip
COMPARED = 6
SCANNED_HZ, STEP_HZ = 1500.0, 0.5


def ours() -> Array:
    """The lowest frequencies of the frame as a body that bends, with the elements that it has by default, Hz."""
    first, second = LEGS_M
    made = MechanismBuilder("right_angle", gravity_m_s2=(0.0, 0.0, 0.0))
    made.point("P", position_m=(1.0, 0.0, 0.0), moves="xy").angle("turn")
    made.rotation("turn", angle="turn", axis=(0, 0, 1), zero=(1, 0, 0), point="P", centre_m=(0, 0, 0))  # fmt: skip
    made.flexible_body(
        "frame", points=[(0, 0, 0), "P"], axis=(0, 0, 1), frame="root", modes=COMPARED,
        beam=BEAM | {
            "line_m": [(0, 0, 0), (first, 0, 0), (first, second, 0)], "nodes": {"root": 0.0, "tip": 1.0},
            "masses": {"tip": {"mass_kg": TIP_KG}},
        },
    )  # fmt: skip
    return np.array(made.build().system.flexible["frame"].modes.frequency_hz)


def exact() -> Array:
    """The same without elements."""
    found: list[float] = []
    grid = np.arange(STEP_HZ, SCANNED_HZ, STEP_HZ)
    values = [_determinant(hz) for hz in grid]
    for low, high, a, b in zip(grid, grid[1:], values, values[1:], strict=False):
        if a * b > 0.0:
            continue
        root = brentq(_determinant, low, high, xtol=1e-10)
        # where a clamped leg resonates the determinant has a pole, and changes its sign without a root
        if abs(_determinant(root)) < 1e-3 * min(abs(a), abs(b)):
            found.append(root)
    return np.array(found[:COMPARED])


def _determinant(hz: float) -> float:
    omega = 2.0 * math.pi * hz
    whole = np.zeros((6, 6))
    whole[:3, :3] = _leg(LEGS_M[0], omega)[3:, 3:]
    turn = np.kron(np.eye(2), np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]))
    whole += turn.T @ _leg(LEGS_M[1], omega) @ turn
    whole[3, 3] -= TIP_KG * omega**2
    whole[4, 4] -= TIP_KG * omega**2
    # of the same size at every frequency: a pole is large beside what is near it, and a root is small
    stretch, bend = (
        BEAM["youngs_pa"] * BEAM["area_m2"],
        BEAM["youngs_pa"] * BEAM["second_moment_m4"],
    )
    size = np.sqrt([stretch, stretch, bend, stretch, stretch, bend])
    return float(np.linalg.det(whole / np.outer(size, size)))


def _leg(length: float, omega: float) -> Array:
    """Forces on both ends by their displacements (along, across, turn), 6 x 6."""
    mass, youngs = BEAM["density_kg_m3"] * BEAM["area_m2"], BEAM["youngs_pa"]
    a = omega * math.sqrt(BEAM["density_kg_m3"] / youngs)
    b = (mass * omega**2 / (youngs * BEAM["second_moment_m4"])) ** 0.25
    s, c, sh, ch = math.sin(b * length), math.cos(b * length), math.sinh(b * length), math.cosh(b * length)  # fmt: skip
    stretch = youngs * BEAM["area_m2"] * a
    bend = youngs * BEAM["second_moment_m4"] / (1.0 - c * ch)
    near, far = stretch / math.tan(a * length), -stretch / math.sin(a * length)
    f, g = bend * b**3 * (c * sh + s * ch), bend * b**3 * (s + sh)
    p, q = bend * b**2 * s * sh, bend * b**2 * (ch - c)
    m, n = bend * b * (s * ch - c * sh), bend * b * (sh - s)
    return np.array(
        [
            [near, 0, 0, far, 0, 0],
            [0, f, p, 0, -g, q],
            [0, p, m, 0, -q, n],
            [far, 0, 0, near, 0, 0],
            [0, -g, -q, 0, f, -p],
            [0, q, n, 0, -p, m],
        ]
    )


def worst_percent() -> float:
    """The largest difference of ours to the exact ones."""
    return 100.0 * float(np.max(np.abs(ours() / exact() - 1.0)))
