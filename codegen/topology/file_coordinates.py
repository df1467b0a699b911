"""The coordinates of a mechanism's file from those that its kernel steps: pictures know the file's alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from codegen.system.system import System
from codegen.topology.motion import keep_guided, topology


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
        if list(names) != [c.name for c in system.coordinates]:
            self._motion = topology(system)
            keep_guided(self._motion)

    def at(self, q: ArrayLike) -> NDArray[np.float64]:
        """Values of the file's coordinates, in their order."""
        z = np.asarray(q, np.float64)
        if self._motion is None:
            return z
        found = self._motion.natural(z)
        first = len(self._motion.tree.coordinates)
        found |= {c.q: z[first + k] for k, c in enumerate(self._motion.loose)}
        return np.array([found[var] for var in self._owners], np.float64)
