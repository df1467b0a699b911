"""The findings of `rigloop model linearize` as plain data."""

from __future__ import annotations

import msgspec

from codegen.analysis.modes import Mode


class RestingCoordinate(msgspec.Struct, frozen=True):
    """One coordinate at the equilibrium, and how far the file's pose is from it."""

    name: str
    unit: str
    value: float
    moved: float


class Linearized(msgspec.Struct, frozen=True):
    """The findings that `rigloop model linearize` prints and writes; matrices as rows."""

    name: str
    sha256: str
    dof: int
    """Freedoms that the guides leave."""
    given: dict[str, float]
    """Inputs and parameters that are not those of the file."""
    coordinates: tuple[RestingCoordinate, ...]
    at: dict[str, float]
    """Outputs at the equilibrium."""
    search_steps: int
    """0: the file's pose is the equilibrium."""
    unbalanced: float
    """Largest force that is left along a freedom, of the largest inside."""
    stability: str
    """"stable", "unstable" (a mode grows) or "neutral" (a mode neither grows nor decays)."""
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    a: list[list[float]]
    b: list[list[float]]
    c: list[list[float]]
    d: list[list[float]]
    modes: tuple[Mode, ...]
    kinks: tuple[str, ...]
    """Coordinates with a force whose slope jumps at rest: the mean of both sides is taken."""
