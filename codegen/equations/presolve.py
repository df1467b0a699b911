"""Linear constraints solved when the kernel is generated: their coordinates follow from the others.

A row whose coefficients are constant, sum_i a_i q_i = c, makes one coordinate an affine function of
the rest. With q = B z + c the equations keep their form,

    B^T mass B zdd + (phi_q B)^T lam = B^T force,   phi(B z + c, guide) = 0,

so the result is a `System` again. Nothing is approximated: the removed rows hold to round-off,
and their multipliers follow from the equations of the coordinates that they removed (`recovered`).
Guided rows stay: their reaction is wanted.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from codegen.expressions.dag import Expr
from codegen.system.affine import affine
from codegen.system.system import Coordinate, System

Affine = tuple[dict[Expr, float], float]  # coefficients of coordinates, and the constant

SMALL = 0.1  # of a row's largest coefficient: below, a coordinate is not a pivot


@dataclass(frozen=True)
class Presolved:
    """A system in fewer coordinates, and the way back.

    Attributes
    ----------
    system : System
        The same mechanism without the removed coordinates and rows.
    full : System
        The mechanism given.
    q, qd : list of Expr
        Every coordinate and rate of `full`, over those of `system`.
    kept, removed : list of int
        Rows of `full`.
    dependent : list of int
        Coordinates of `full` that were removed, one a removed row.
    """

    system: System
    full: System
    q: list[Expr]
    qd: list[Expr]
    kept: list[int]
    removed: list[int]
    dependent: list[int]

    def spread(self, values: list[Expr]) -> list[Expr]:
        """Any rate of `system`'s coordinates (B times it) as one of `full`'s."""
        seeds = dict(zip([c.q for c in self.system.coordinates], values, strict=True))
        return [self.full.graph.tangent(e, seeds) for e in self.q]

    def recovered(self, rest: list[Expr]) -> list[Expr]:
        """Multipliers of the removed rows; `rest` is force - mass qdd - (kept phi_q)^T lam of every
        coordinate of `full`.
        """
        graph = self.full.graph
        n = len(self.removed)
        square = np.zeros((n, n))
        place = {self.full.coordinates[i].q: m for m, i in enumerate(self.dependent)}
        for k, r in enumerate(self.removed):
            phi = self.full.rows[r].phi
            for var in graph.variables(phi):
                if var in place:
                    square[place[var], k] = graph.diff(phi, var).value
        inverse = np.linalg.inv(square)
        # exact zeros of the inverse come out as round-off
        inverse[np.abs(inverse) < 1e-14 * np.abs(inverse).max(initial=1.0)] = 0.0
        return [
            graph.total((float(c), rest[i]) for c, i in zip(row, self.dependent, strict=True) if c)
            for row in inverse
        ]


def presolve(system: System, *, wanted: bool = True) -> Presolved:
    """Remove coordinates that linear rows determine; with `wanted` false, only take the form of it."""
    graph = system.graph
    if not (system.rows or system.mass or system.force):
        q, qd = [c.q for c in system.coordinates], [c.qd for c in system.coordinates]
        return Presolved(system, system, q, qd, [], [], [])
    by_var = {c.q: c for c in system.coordinates}
    guided = {guide.coordinate.index for guide in system.guides}
    guide_rows = {guide.row for guide in system.guides}
    busy = _nonlinear_uses(system)
    solved: dict[Expr, Affine] = {}
    users: dict[Expr, set[Expr]] = {}  # coordinate -> removed ones that follow it
    removed: list[int] = []
    dependent: list[int] = []
    linear = [
        (len(form[0]), r, form)
        for r, row in enumerate(system.rows)
        if wanted and r not in guide_rows and (form := _linear(row.phi, by_var)) is not None
    ]
    for _, r, form in sorted(linear, key=lambda item: item[:2]):
        weights, offset = _substituted(form, solved)
        if not weights:
            continue  # redundant or contradictory: stays, and is handled as any other row
        largest = max(abs(a) for a in weights.values())
        free = [v for v, a in weights.items() if abs(a) >= SMALL * largest]
        free = [v for v in free if by_var[v].index not in guided]
        if not free:
            continue
        pivot = min(free, key=lambda v: (busy[by_var[v].index], by_var[v].index))
        scale = -1.0 / weights.pop(pivot)
        now = {pivot: ({v: scale * a for v, a in weights.items()}, scale * offset)}
        for other in sorted(users.pop(pivot, ()), key=lambda v: v.serial):
            now[other] = _substituted(solved[other], now)
        solved |= now
        for v, (follows, _) in now.items():
            for followed in follows:
                users.setdefault(followed, set()).add(v)
        removed.append(r)
        dependent.append(by_var[pivot].index)
    values = {
        v: graph.total([*((a, u) for u, a in weights.items()), (offset, graph.one)])
        for v, (weights, offset) in solved.items()
    }
    return _reduced(system, values, removed, dependent)


def _linear(phi: Expr, by_var: dict[Expr, Coordinate]) -> Affine | None:
    """Coefficients of an affine expression of coordinates alone, None for any other."""
    found = affine(phi)
    if found is None or any(v not in by_var for v in found[0]):
        return None
    return {v: a for v, a in found[0].items() if a != 0.0}, found[1]


def _substituted(form: Affine, solved: dict[Expr, Affine]) -> Affine:
    """`form` over the coordinates that are left, in creation order."""
    weights: dict[Expr, float] = {}
    offset = form[1]
    for v, a in form[0].items():
        inner, constant = solved.get(v, ({v: 1.0}, 0.0))
        offset += a * constant
        for u, b in inner.items():
            weights[u] = weights.get(u, 0.0) + a * b
    kept = sorted((v for v, a in weights.items() if a != 0.0), key=lambda v: v.serial)
    return {v: weights[v] for v in kept}, offset


def _nonlinear_uses(system: System) -> list[int]:
    """Return the number of uses of each coordinate in nonlinear rows; arguments of functions count most."""
    graph = system.graph
    uses = [0] * len(system.coordinates)
    index = {c.q: c.index for c in system.coordinates}
    for row in system.rows:
        if row.sliding is not None:
            for i in system.slopes_of_rates(row):
                uses[i] += 1
        elif affine(row.phi) is None:
            for var in graph.variables(row.phi):
                if var in index:
                    uses[index[var]] += 1
    return uses


def _reduced(
    system: System, values: dict[Expr, Expr], removed: list[int], dependent: list[int]
) -> Presolved:
    graph = system.graph
    gone = set(dependent)
    kept_coordinates = [c for c in system.coordinates if c.index not in gone]
    made = [replace(c, index=n) for n, c in enumerate(kept_coordinates)]
    number = {c.q: c for c in made}
    rate = {c.q: c.qd for c in made}
    q = [values.get(c.q, c.q) for c in system.coordinates]
    qd = [graph.tangent(e, rate) for e in q]
    moves = dict(values)
    for c, e in zip(system.coordinates, qd, strict=True):
        if c.index in gone:
            moves[c.qd] = e

    def moved(e: Expr) -> Expr:
        return graph.substitute(e, moves) if moves else e

    gone_rows = set(removed)
    kept = [r for r in range(len(system.rows)) if r not in gone_rows]
    rows = [
        replace(
            row, phi=moved(row.phi), sliding=None if row.sliding is None else moved(row.sliding)
        )
        for row in (system.rows[r] for r in kept)
    ]
    guides = [
        replace(
            g, coordinate=number[g.coordinate.q], row=kept.index(g.row) if g.row in kept else g.row
        )
        for g in system.guides
    ]
    # q = B z + c by columns: which z each q follows, and how much
    follows: list[dict[int, float]] = []
    for e in q:
        form = affine(e)
        assert form is not None
        follows.append({number[v].index: a for v, a in form[0].items()})
    mass: dict[tuple[int, int], Expr] = {}
    for (i, j), entry in system.mass.items():
        for a, b in sorted({(i, j), (j, i)}):
            for m, share in follows[a].items():
                for n, other in follows[b].items():
                    if m <= n:
                        mass[m, n] = mass.get((m, n), graph.zero) + (share * other) * entry
    force: dict[int, Expr] = {}
    for i, entry in system.force.items():
        for m, share in follows[i].items():
            force[m] = force.get(m, graph.zero) + share * moved(entry)
    small = replace(
        system,
        coordinates=made,
        rows=rows,
        guides=guides,
        mass={key: e for key, e in mass.items() if not e.is_zero},
        force=force,
        updates={var: moved(e) for var, e in system.updates.items()},
        followed={var: moved(e) for var, e in system.followed.items()},
        held=[replace(h, value=moved(h.value)) for h in system.held],
        values={path: moved(e) for path, e in system.values.items()},
    )
    return Presolved(small, system, q, qd, kept, removed, dependent)
