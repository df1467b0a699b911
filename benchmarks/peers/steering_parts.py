"""The spatial steering as its mechanism file has it, for programs that build it from bodies; and how
it is driven.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from types import SimpleNamespace

import numpy as np

from codegen.description.entries import entries
from codegen.description.mechanism import load
from codegen.system.arithmetic import evaluate

MECHANISM = "steering_rack"
WORK = "steering, torque-driven"
TORQUE_NM, TORQUE_HZ = 6.0, 0.5


@dataclass(frozen=True)
class Part:
    """A body: mass, centre of mass, and inertia about its axis or about x, y, z."""

    mass_kg: float
    centre_m: np.ndarray
    inertia_kg_m2: float | np.ndarray


@dataclass(frozen=True)
class Side:
    """A knuckle with its tie rod: kingpin from `lower` along `axis`, rod from `inner` to `outer`."""

    name: str
    lower: np.ndarray
    axis: np.ndarray
    inner: np.ndarray
    outer: np.ndarray
    knuckle: Part

    @property
    def rod(self) -> tuple[np.ndarray, np.ndarray, float]:
        """Middle, direction and length."""
        along = self.outer - self.inner
        length = float(np.linalg.norm(along))
        return (self.inner + self.outer) / 2.0, along / length, length


@cache
def steering() -> SimpleNamespace:
    """Parameters of the file by their names there, and `column`, `intermediate`, `pinion`, `sides`,
    `rack_kg`, `rod_kg`, `stiffness`, `viscous`, `coulomb`, `transition_speed`.
    """
    names = load(MECHANISM).system.names
    written = {made.title: made.entry for made in entries(MECHANISM)}

    def vector(value) -> np.ndarray:
        return np.array(evaluate(value, names) if isinstance(value, str) else value, dtype=float)

    def part(name: str) -> Part:
        entry = written[f"rigid_body.{name}"]
        inertia = entry.inertia_kg_m2
        return Part(
            entry.mass_kg,
            vector(entry.centre_m),
            inertia if isinstance(inertia, float) else np.array(inertia, dtype=float),
        )

    points = {
        name: np.array(value) if isinstance(value, tuple) else value
        for name, value in names.items()
    }
    sides = [
        Side(
            side,
            *(points[key + letter] for key in ("Lo_", "k_")),
            *(points[f"{key}{letter}0"] for key in ("I", "E")),
            part(f"knuckle_{side}"),
        )
        for side, letter in (("left", "L"), ("right", "R"))
    ]
    spring, friction = written["spring.kingpin_left"], written["friction.kingpin_left"]
    return SimpleNamespace(
        **points,
        **{name: part(name) for name in ("column", "intermediate", "pinion")},
        sides=sides,
        rack_kg=written["mass.rack"].mass_kg,
        rod_kg=written["uniform_rod.tie_rod_left"].mass_kg,
        stiffness=spring.stiffness_nm_per_rad,
        viscous=friction.viscous,
        coulomb=friction.coulomb,
        transition_speed=friction.transition_speed,
    )
