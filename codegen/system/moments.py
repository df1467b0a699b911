"""A moment on a body, by its axes e: forces m x e / 2 on them, whose power is m . omega."""

from __future__ import annotations

from collections.abc import Iterable

from codegen.system.system import System
from codegen.system.vectors import Vector, cross, times


def add_moment(system: System, moment: Vector, axes: Iterable[Vector]) -> None:
    """Add a moment in global axes on the body that three perpendicular unit vectors turn with."""
    for axis in axes:
        for push, component in zip(times(0.5, cross(moment, axis)), axis, strict=True):
            system.add_power(push, component)
