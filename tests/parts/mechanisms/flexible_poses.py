"""Poses, twists and amplitudes of a flexible body, as values of its coordinates."""

import numpy as np


def moved(system, rng, turn, spin, velocity, amplitudes, rates):
    """Values of all coordinates and rates of a body with a frame at a pose and twist."""
    at = {}
    body = next(iter(system.flexible.values()))
    axes = turn @ body.turn
    axis_rates = np.cross(spin, axes, axisa=0, axisb=0, axisc=0)
    for c in system.coordinates:
        kind, _, letter = c.name.rpartition("_")
        k = "xyz".find(letter)
        if kind == "O":
            at[c.q.name], at[c.qd.name] = 0.1 * k, velocity[k]
        elif kind in ("ex", "ey", "ez"):
            built = np.eye(3)["xyz".index(kind[1])]
            at[c.q.name], at[c.qd.name] = (turn @ built)[k], np.cross(spin, turn @ built)[k]
    for i, c in enumerate(body.amplitudes):
        at[c.q.name], at[c.qd.name] = amplitudes[i], rates[i]
        for j in range(3):
            for k, letter in enumerate("xyz"):
                name = f"{c.name}_along{j + 1}_{letter}"
                at[f"q {name}"] = amplitudes[i] * axes[k, j]
                at[f"qd {name}"] = rates[i] * axes[k, j] + amplitudes[i] * axis_rates[k, j]
    return at, axes, axis_rates


def rotation(rng):
    q, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    return q * np.sign(np.linalg.det(q))
