"""Coordinates on no link that follow linearly from others: ends of a rack, a rack on its pinion.

The rows that say so hold exactly then, and neither is stepped.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from codegen.expressions.dag import Expr
from codegen.system.affine import affine
from codegen.topology.closing import Closing
from codegen.topology.motion import Motion

Key = Expr | int  # a coordinate of the file on no link, or the number of one of a joint
Sums = tuple[dict[Key, float], float]

LEAST = 0.1  # of a row's largest coefficient: below, a coordinate is not solved for
NOTHING = 1e-12


def follow(
    motion: Motion, closes: Closing, shown: Collection[int] = (), kept: Collection[str] = ()
) -> Closing:
    """Let coordinates of `motion.loose` follow where rows are linear; returns the conditions that are left.

    Parameters
    ----------
    shown : collection of int
        Rows that stay, since outputs show their multipliers.
    kept : collection of str
        Names of coordinates that stay.
    """
    tree = motion.tree
    system = tree.system
    measured = {c.q for c in system.scalars.values()}
    staying = {guide.coordinate.q for guide in system.guides}
    staying |= {c.q for c in motion.loose if c.name in kept}
    fixed = {guide.row for guide in system.guides} | set(shown)
    loose = {c.q for c in motion.loose}
    solved: dict[Expr, Sums] = {}
    rows = []
    for r in closes.rows:
        row = system.rows[r]
        sums = None if row.sliding is not None or r in fixed else _sums(motion, row.phi, loose)
        if sums is None:
            rows.append(r)
            continue
        weights, offset = _put(sums, solved)
        most = max(map(abs, weights.values()), default=0.0)
        able = [
            v
            for v, k in weights.items()
            if isinstance(v, Expr) and v not in staying and abs(k) >= LEAST * most
        ]
        if not able:
            rows.append(r)
            continue
        # what a distance places follows the distance
        chosen = max(able, key=lambda v: (v not in measured, -v.serial))
        size = weights.pop(chosen)
        solved[chosen] = ({v: -k / size for v, k in weights.items()}, -offset / size)
        for v, other in solved.items():
            if v is not chosen:
                solved[v] = _put(other, {chosen: solved[chosen]})
    motion.loose = [c for c in motion.loose if c.q not in solved]
    first = len(tree.coordinates)
    number = {c.q: first + k for k, c in enumerate(motion.loose)}
    for v, (weights, offset) in solved.items():
        shares = {w if isinstance(w, int) else number[w]: k for w, k in weights.items()}
        tree.scalars[v] = (shares, offset)
    return replace(closes, rows=rows)


def _sums(motion: Motion, phi: Expr, loose: Collection[Expr]) -> Sums | None:
    """A row as a sum over coordinates on no link and joint coordinates; None if it is anything else."""
    form = affine(phi)
    if form is None:
        return None
    weights: dict[Key, float] = {}
    offset = form[1]
    for v, k in form[0].items():
        if v in loose:
            weights[v] = weights.get(v, 0.0) + k
        elif v in motion.tree.scalars:
            inside, at = motion.tree.scalars[v]
            offset += k * at
            for i, share in inside.items():
                weights[i] = weights.get(i, 0.0) + k * share
        else:
            return None
    return weights, offset


def _put(sums: Sums, solved: dict[Expr, Sums]) -> Sums:
    """A sum in which solved coordinates are replaced."""
    weights, offset = dict(sums[0]), sums[1]
    for v in [v for v in weights if v in solved]:
        k = weights.pop(v)
        inside, at = solved[v]
        offset += k * at
        for w, share in inside.items():
            weights[w] = weights.get(w, 0.0) + k * share
    return {v: k for v, k in weights.items() if abs(k) > NOTHING}, offset
