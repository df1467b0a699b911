"""Poles and modes of a linearised mechanism, in names and units that a person knows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from codegen.analysis.linear_mechanism import LinearMechanism
from codegen.description.mechanism import Mechanism

FREE = 3e-7  # of the largest pole: a double pole at zero is known to the root of rounding
ROUNDING = 1e-11  # of a pole's size
SHOWN = 0.02  # of the largest part of a shape: less is left out


@dataclass(frozen=True)
class Part:
    """The motion of one signal in a mode: for 1 rad or 1 m of the signal that moves most."""

    signal: str
    unit: str
    amplitude: float
    phase_deg: float


@dataclass(frozen=True)
class Mode:
    """A pole, or a pair of them.

    Attributes
    ----------
    pole_rad_s : tuple of float
        Real and imaginary part; of a pair the one above.
    frequency_hz : float
        Natural frequency, |pole| / 2 pi.
    damping_ratio : float
        Share of critical damping; 1 for a pole that decays without swinging, negative for a growing pole.
    kind : str
        "oscillates", "decays", "grows", or "free": nothing drives it back or slows it down.
    shape : tuple of Part
        Largest first.
    """

    pole_rad_s: tuple[float, float]
    frequency_hz: float
    damping_ratio: float
    kind: str
    shape: tuple[Part, ...]


def modes(mechanism: Mechanism, linear: LinearMechanism) -> tuple[Mode, ...]:
    """All modes, slowest first."""
    poles, vectors = np.linalg.eig(linear.a)
    largest = float(np.max(np.abs(poles), initial=0.0))
    found = []
    for value, vector in zip(poles, vectors.T, strict=True):
        pole = complex(value)
        size = abs(pole)
        # a rate that only rounding damps or drives has no meaning
        if abs(pole.real) < ROUNDING * size:
            pole = complex(0.0, pole.imag)
        is_free = size <= FREE * largest or size == 0.0
        if pole.imag < 0.0 and not is_free:
            continue
        kind = "free" if is_free else "grows" if pole.real > FREE * size else "decays"
        if kind == "decays" and pole.imag > 0.0:
            kind = "oscillates"
        found.append(
            Mode(
                (0.0, 0.0) if is_free else (float(pole.real), float(pole.imag)),
                0.0 if is_free else float(size / (2.0 * np.pi)),
                0.0 if is_free else float(-pole.real / size) + 0.0,
                kind,
                _shape(mechanism, linear, vector),
            )
        )
    return tuple(sorted(found, key=lambda mode: (mode.frequency_hz, mode.pole_rad_s)))


def _shape(mechanism: Mechanism, linear: LinearMechanism, vector: np.ndarray) -> tuple[Part, ...]:
    moved = linear.shape @ vector
    names = {o.index: o.port for o in mechanism.outputs if o.kind == "value"}
    system = mechanism.system
    parts = [
        (names.get(c.index, c.name), "" if c.unit == "1" else c.unit, moved[c.index])
        for c in system.coordinates
    ]
    internal = vector[len(vector) - len(system.internals) :]
    if np.max(np.abs(moved), initial=0.0) == 0.0:
        parts = [(s.path, "", v) for s, v in zip(system.internals, internal, strict=True)]
    if not parts:
        return ()
    # a named signal is the measure of the others
    largest = max((value for _, _, value in parts), key=abs)
    if largest == 0.0:
        return ()
    shape = [(name, unit, value / largest) for name, unit, value in parts]
    return tuple(
        Part(name, unit, float(abs(value)), float(np.degrees(np.angle(value))) + 0.0)
        for name, unit, value in sorted(shape, key=lambda part: -abs(part[2]))
        if abs(value) >= SHOWN
    )
