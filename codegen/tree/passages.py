"""The passage of a link to its parent as a row of numbers, and the same over what its joint does.

Links whose rows have zeros and ones in the same places can share one text.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from codegen.expressions.dag import Expr
from codegen.spatial.algebra import Matrix, Passage, Rotation, Shift, Turn, Value
from codegen.system import body
from codegen.system.vectors import Vector, plus
from codegen.topology.frames import placing
from codegen.topology.motion import Motion

COUNT = {
    "turn": 10,
    "screw": 11,
    "slide": 9,
    "ball": 12,
    "free": 12,
}  # numbers of each kind of joint
QUARTERS = ((1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0))


def numbers_of(motion: Motion, n: int) -> list[float]:
    """Numbers that `passage` wants of a link: of a turn also by which angle the joint is ahead of its coordinate, of
    a screw then its lead.
    """
    link, frames = motion.tree.links[n], motion.frames
    here = frames[n]
    outer = frames[link.parent] if link.parent >= 0 else np.eye(4)
    if link.kind == "node":
        return []
    built = [motion.tree.coordinates[i].initial for i in link.coordinates]
    if link.kind in ("ball", "free"):
        relative = body.tidy(np.linalg.inv(outer) @ here)
        at = relative[1:, 0]
        if link.kind == "free":
            at = body.tidy(at - np.array(built[:3]))
        return [*map(float, relative[1:, 1:].ravel()), *map(float, at)]
    p = placing(outer, here)
    fixed = [p.d, *p.alpha, p.b, *p.gamma]
    if link.kind in ("slide", "fixed"):
        start = built[0] if built else 0.0
        return [*fixed, float(body.tidy(np.array(p.h - start))), *p.beta]
    offset = math.atan2(p.beta[1], p.beta[0]) - built[0]
    quarters = round(offset / (math.pi / 2.0))
    rest = offset - quarters * (math.pi / 2.0)
    turn = [*QUARTERS[quarters % 4], rest if abs(rest) > 1e-13 else 0.0]
    if link.kind == "turn":
        return [*fixed, p.h, *turn]
    lead = link.single.lead
    return [*fixed, float(body.tidy(np.array(p.h - lead * built[0]))), *turn, lead]


def angle(q: Expr, numbers: Sequence[Value]) -> Expr:
    """The angle of a turn but for whole quarters, which cost nothing."""
    return q + numbers[9]


def passage(kind: str, numbers: Sequence[Value], moved: Sequence[Value]) -> Passage:
    """To the parent's axes and origin.

    Parameters
    ----------
    numbers : sequence of Value
        As `numbers_of` returns them.
    moved : sequence of Value
        Cosine and sine of the `angle` of a turn, of a screw with its coordinate; the coordinate of a slide; the nine
        entries of a quaternion's matrix, by rows, and before them the place of a free body.
    """
    if kind in ("ball", "free"):
        turn = Rotation(_matrix(numbers[:9]))
        at: Vector = (numbers[9], numbers[10], numbers[11])
        if kind == "free":
            at = plus(at, (moved[0], moved[1], moved[2]))
        return Passage([Rotation(_matrix(moved[-9:])), turn, Shift(at)])
    d, *angles, h = numbers[:7]
    alpha, b, gamma = angles[:2], angles[2], angles[3:]
    if kind in ("slide", "fixed"):
        h = h + sum(moved)
        last = Turn(2, numbers[7], numbers[8])
    else:
        (c, s, *turned), (a, across) = moved, numbers[7:9]
        if kind == "screw":
            h = h + numbers[10] * turned[0]
        last = Turn(2, a * c - across * s, a * s + across * c)
    return Passage([
        Shift((0.0, 0.0, h)),
        last,
        Shift((d, 0.0, 0.0)),
        Turn(0, *alpha),
        Shift((0.0, 0.0, b)),
        Turn(2, *gamma),
    ])  # fmt: skip


def _matrix(entries: Sequence[Value]) -> Matrix:
    return [list(entries[k : k + 3]) for k in (0, 3, 6)]
