"""The coordinates of a mechanism's file from those that its kernel steps: pictures know the file's alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from codegen.particles.mechanism import Layout, layout
from codegen.particles.poses import poses_of
from codegen.system.system import System
from codegen.topology.closing import closing
from codegen.topology.following import follow
from codegen.topology.motion import Motion, keep_guided, topology


class FileCoordinates:
    """The place of a mechanism, whatever its kernel steps.

    Parameters
    ----------
    system : System
        As the file has it.
    names : sequence of str
        Coordinates of the kernel.
    """

    def __init__(self, system: System, names: Sequence[str]) -> None:
        self._owners = [c.q for c in system.coordinates]
        self._motion = None
        self._layout: Layout | None = None
        if list(names) != [c.name for c in system.coordinates]:
            self._motion = topology(system)
            keep_guided(self._motion)
            follow(self._motion, closing(self._motion), kept=names)
            known = {c.name for c in self._motion.tree.coordinates}
            known |= {c.name for c in self._motion.loose}
            if names and names[0] not in known:
                self._layout = layout(self._motion)

    def at(self, q: ArrayLike) -> NDArray[np.float64]:
        """Values of the file's coordinates, in their order."""
        z = np.asarray(q, np.float64)
        if self._motion is None:
            return z
        if self._layout is not None:
            return self._by_particles(self._motion, self._layout, z)
        found = self._motion.natural(z)
        first = len(self._motion.tree.coordinates)
        found |= {c.q: z[first + k] for k, c in enumerate(self._motion.loose)}
        return np.array([found[var] for var in self._owners], np.float64)

    def _by_particles(
        self, motion: Motion, there: Layout, q: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        poses = [*poses_of(motion, there.fours, there.spots, q), np.eye(4)]
        found = {
            var: (poses[link] @ place)[1 + axis]
            for var, (link, place, axis) in motion.on_links.items()
        }
        for var, (weights, offset) in motion.tree.scalars.items():
            found[var] = offset + sum(k * q[there.measured[i].index] for i, k in weights.items())
        return np.array([found[var] for var in self._owners], np.float64)
