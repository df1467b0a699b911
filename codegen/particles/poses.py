"""Poses of links in numbers, from coordinates of particles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from codegen.particles.four import Array, Four
from codegen.topology.motion import Motion


def poses_of(
    motion: Motion, fours: Sequence[Four], spots: Mapping[tuple[int, int], int], q: Array
) -> list[Array]:
    """Poses of all links, 4 x 4, (1, x) with the 1 in front.

    Parameters
    ----------
    spots : mapping of (int, int) to int
        The first of the three coordinates of particle k of link n.
    """
    found: list[Array] = []
    for n, (link, four) in enumerate(zip(motion.tree.links, fours, strict=True)):
        before = motion.frames[n]
        if link.parent >= 0:
            before = found[link.parent] @ motion.inverse[link.parent] @ motion.frames[n]
        here: list[Array] = []
        for k in (0, 1, 3):
            if (n, k) in spots:
                here.append(np.asarray(q[spots[n, k] : spots[n, k] + 3], float))
            elif link.kind == "slide":
                here.append(here[0] + before[1:, 1:] @ (four.places[k] - four.places[0]))
            else:
                here.append((before @ np.array([1.0, *four.places[k]]))[1:])
        first, second = here[1] - here[0], here[2] - here[0]
        now = np.column_stack([first, second, np.cross(first, second)])
        pose = np.eye(4)
        pose[1:, 1:] = now @ np.linalg.inv(four.edges)
        pose[1:, 0] = here[0] - pose[1:, 1:] @ four.places[0]
        found.append(pose)
    return found
