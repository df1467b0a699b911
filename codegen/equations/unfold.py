"""From the coordinates that are stepped back to every coordinate and multiplier of the mechanism."""

from __future__ import annotations

from codegen.equations.equations import Equations
from codegen.equations.presolve import Presolved
from codegen.equations.program import Routine
from codegen.expressions.dag import Expr
from codegen.expressions.emit import Assign
from codegen.expressions.folding import folded


def unfold_routine(eq: Equations) -> Routine:
    """`unfold(w, s)` fills `all_q`, `all_qd`, `all_qdd` and `all_lam`, on demand."""
    presolved = eq.presolved
    parts = {"q": presolved.q, "qd": presolved.qd, "qdd": presolved.spread(eq.qdd)}
    assigns = [
        Assign(f"w->all_{array}[{i}]", folded(e), array)
        for array, values in parts.items()
        for i, e in enumerate(values)
    ]
    found = multipliers(presolved, eq.lam, [eq.unit * w for w in eq.scale], eq.qdd)
    assigns += [Assign(f"w->all_lam[{n}]", e, "lam") for n, e in enumerate(found)]
    eq.arrays |= {f"all_{array}": len(values) for array, values in parts.items()}
    eq.arrays["all_lam"] = len(found)
    return Routine(
        "unfold", "every coordinate and multiplier of the mechanism", assigns, False, True
    )


def row_multipliers(eq: Equations, lam: list[Expr], qdd: list[Expr]) -> list[Assign]:
    """Multipliers of the rows that outputs show, from those of the stepped rows (as `eq.lam`,
    scaled) and the accelerations that belong to them.
    """
    if not eq.wanted_rows:
        return []
    found = multipliers(eq.presolved, lam, [eq.unit * w for w in eq.scale], qdd)
    rows = eq.presolved.full.rows
    return [
        Assign(f"w->row_lam[{n}]", folded(found[r]), f"multiplier of {rows[r].label}")
        for n, r in enumerate(eq.wanted_rows)
    ]


def multipliers(
    presolved: Presolved, lam: list[Expr], lam_unit: list[float], qdd: list[Expr]
) -> list[Expr]:
    """Multipliers of all rows, in the units of their rows."""
    full, graph = presolved.full, presolved.full.graph
    found: dict[int, Expr] = {
        r: u * e for r, e, u in zip(presolved.kept, lam, lam_unit, strict=True)
    }
    if presolved.removed:
        # expressions of the full mechanism hold at the coordinates that the others determine
        moves = {c.q: e for c, e in zip(full.coordinates, presolved.q, strict=True) if e is not c.q}
        moves |= {
            c.qd: e for c, e in zip(full.coordinates, presolved.qd, strict=True) if e is not c.qd
        }
        spread = presolved.spread(qdd)
        rest = [graph.zero] * len(full.coordinates)
        coupled: dict[int, list[tuple[int, Expr]]] = {i: [] for i in presolved.dependent}
        for (a, b), e in full.mass.items():
            for i, other in {(a, b), (b, a)}:
                if i in coupled:
                    coupled[i].append((other, e))
        index = {full.coordinates[i].q: i for i in presolved.dependent}
        rows: dict[int, list[int]] = {i: [] for i in presolved.dependent}
        for r in presolved.kept:
            row = full.rows[r]
            for var in graph.variables(row.phi):
                if var in index:
                    rows[index[var]].append(r)
            for i in full.slopes_of_rates(row):
                if i in rows:
                    rows[i].append(r)
        for i in presolved.dependent:
            terms = [(1.0, full.force.get(i, graph.zero))]
            terms += [(-1.0, e * spread[other]) for other, e in coupled[i]]
            for r in rows[i]:
                slope = full.slope(full.rows[r], full.coordinates[i])
                terms.append((-1.0, slope * found[r]))
            rest[i] = graph.substitute(graph.total(terms), moves)
        for r, e in zip(presolved.removed, presolved.recovered(rest), strict=True):
            found[r] = e
    return [found[r] for r in range(len(full.rows))]
