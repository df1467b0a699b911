"""Rates at the start of a mechanism with loops whose bodies bend: joints keep loops closed, amplitudes rest.

Of bodies that do not bend a kernel's start finds the rates that are left open; here it would take those of the
amplitudes for it, since these have the least inertia.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from codegen.topology.closing import Closing
from codegen.topology.motion import Motion


def closed_rates(motion: Motion, closes: Closing, rates: Sequence[float]) -> list[float]:
    """Rates of the tree's coordinates, with those of joints that the file does not name put right."""
    tree, found = motion.tree, np.array(rates, dtype=float)
    rows = _slopes(motion, closes)
    bending = {i for link in tree.links for i in link.amplitudes}
    free = [i for i, c in enumerate(tree.coordinates) if c.scalar is None and i not in bending]
    if not rows or not free:
        return list(rates)
    jac = np.array(rows)
    found[free] -= np.linalg.pinv(jac[:, free], rcond=1e-9) @ (jac @ found)
    return [float(f"{rate:.14g}") for rate in found]


def _slopes(motion: Motion, closes: Closing) -> list[np.ndarray]:
    """Return the slopes of the rows that close loops over the tree's coordinates, without rows that are on no link."""
    tree, start = motion.tree, motion.start
    natural, found = motion.jacobian(start), []
    guided = {guide.row for guide in tree.system.guides}
    for r in closes.rows:
        slopes = tree.graph.slopes(r)
        if r not in guided and slopes and all(var in natural for var in slopes):
            found.append(np.sum([k * natural[var] for var, k in slopes.items()], axis=0))
    for part in closes.parted:
        if not all(var in natural for var in part.weights):
            continue
        here = np.sum([k * natural[var] for var, k in part.weights.items()], axis=0)
        there = np.zeros(len(start))
        for i in range(len(start) if part.link >= 0 else 0):
            step = np.zeros(len(start), dtype=complex)
            step[i] = 1e-30j
            place = motion.poses(start + step)[part.link] @ part.place
            there[i] = np.imag(place[1 + part.axis]) / 1e-30
        found.append(here - there)
    return found
