"""Weight + phi_q^T phi_q: its pattern, elimination order, and the routines that factor and solve."""

from __future__ import annotations

from dataclasses import dataclass

from codegen.equations.equations import Equations
from codegen.equations.program import Routine
from codegen.expressions.dag import Expr
from codegen.expressions.elimination import Entries, bordered, factorise, order_pattern, substitute
from codegen.expressions.emit import Assign
from codegen.pose.built import massive


@dataclass(frozen=True)
class Factored:
    """The leading matrix of a formulation.

    Attributes
    ----------
    weight_keys : list of (coordinate, coordinate)
        Entries of the weight, in the order in which a weight array stores them.
    kept : list of int
        Rows that are unknowns of their own, the negative pivots `1 / w->inverse_row`.
    rhs, x : list of Expr
        Right-hand side and solution, `w->rhs` and `w->x`.
    x_row : dict of int to Expr
        (phi_q x)_r of the kept rows, which comes with the solution.
    routines : list of Routine
        `factorise(w, weight)`, `solve(w)`, and `solve_guides(w)`, which stops at the guided
        coordinates.
    """

    weight_keys: list[tuple[int, int]]
    kept: list[int]
    rhs: list[Expr]
    x: list[Expr]
    x_row: dict[int, Expr]
    routines: list[Routine]


def factored(
    eq: Equations, weight_keys: list[tuple[int, int]], *, weight_is_mass: bool = True
) -> Factored:
    """Plan the factorisation of weight + phi_q^T phi_q and bind its arrays.

    Where the weight contains the mass, some rows may be kept as unknowns of their own,
    `codegen.expressions.ordering.Bordered`; the solution is the same.
    """
    graph, is_large = eq.graph, eq.is_large
    n_q, n_phi = len(eq.q), len(eq.rows)
    names = [*eq.names, *(f"row_{r}" for r in range(n_phi))]
    weight_var = {key: graph.var(f"weight {key[0]} {key[1]}") for key in weight_keys}
    pattern = {(i, j) for row in eq.rows for i in row for j in row if i <= j}
    pattern |= set(weight_keys) | {(i, i) for i in range(n_q)}
    last = [guide.coordinate.index for guide in eq.system.guides]
    order = order_pattern(n_q, pattern, last, is_large=is_large)
    kept: list[int] = []
    if weight_is_mass and not is_large and not eq.moves:
        rows = [{i: eq.phi_q[r, i] for i in row} for r, row in enumerate(eq.rows)]
        plan = bordered(n_q, weight_keys, rows, massive(eq.system), order, last)
        kept, order = plan.kept, plan.order
    matrix: Entries = {}
    for i, j in sorted(pattern):
        shared = [
            (1.0, eq.phi_q[r, i] * eq.phi_q[r, j])
            for r in eq.columns[i]
            if (r, j) in eq.phi_q and r not in kept
        ]
        weight = [(1.0, weight_var[i, j])] if (i, j) in weight_var else []
        if i == j or shared or weight:
            matrix[i, j] = graph.stem(graph.total(weight + shared), f"t_{names[i]}_{names[j]}")
    for r in kept:
        matrix[n_q + r, n_q + r] = graph.const(-1.0)
        matrix |= {(i, n_q + r): eq.phi_q[r, i] for i in eq.rows[r]}

    factor = factorise(graph, matrix, order, names, cut=is_large)
    lower_keys = list(factor.lower)
    lower = {
        key: e if e.is_const and not is_large else graph.var(f"lower {key[0]} {key[1]}")
        for key, e in factor.lower.items()
    }
    inverse = {
        k: e if e.is_const and not is_large else graph.var(f"inverse {k}")
        for k, e in factor.inverse.items()
    }
    lower_at = {key: f"w->lower[{number}]" for number, key in enumerate(lower_keys)}
    inverse_at = {i: f"w->inverse[Q_{names[i]}]" for i in range(n_q)}
    inverse_at |= {n_q + r: f"w->inverse_row[{number}]" for number, r in enumerate(kept)}
    below: dict[int, list[int]] = {k: [] for k in order}
    for i, k in lower_keys:
        below[k].append(i)
    assigns = []
    for k in order:
        title = f"column {names[k]}"
        for i in below[k]:
            if is_large:
                at = lower_at[i, k].replace("lower", "upper")
                eq.bind[graph.var(f"upper {k} {i}")] = at
                assigns.append(Assign(at, factor.upper[k, i], title))
        assigns.append(Assign(inverse_at[k], factor.inverse[k], title))
        assigns += [Assign(lower_at[i, k], factor.lower[i, k], title) for i in below[k]]

    eq.bind |= {e: lower_at[key] for key, e in lower.items() if e.op == "var"}
    eq.bind |= {e: f"weight[{number}]" for number, e in enumerate(weight_var.values())}
    eq.bind |= {graph.var(f"inverse {k}"): at for k, at in inverse_at.items()}
    eq.coordinate_array("y", "w->y")
    rhs, x = eq.coordinate_array("rhs", "w->rhs"), eq.coordinate_array("x", "w->x")
    right = [*rhs, *[graph.zero] * n_phi]
    y, solution = substitute(graph, factor, lower, inverse, right, cut=is_large)
    if is_large:
        forward = [Assign(f"w->y[Q_{names[i]}]", y[i], f"y {i}") for i in order]
        back = [Assign(f"w->x[Q_{names[i]}]", solution[i], f"x {i}") for i in order[::-1]]
    else:
        forward, back = [], eq.per_coordinate("w->x", solution[:n_q])
    x_row = {r: graph.var(f"x_row {r}") for r in kept}
    for number, (r, e) in enumerate(x_row.items()):
        eq.bind[e] = f"w->x_row[{number}]"
        back.append(Assign(eq.bind[e], solution[n_q + r]))
    guided = [Assign(f"w->x[Q_{names[i]}]", solution[i]) for i in reversed(last)]
    eq.arrays |= {
        "upper": len(lower_keys) if is_large else 0,
        "lower": len(lower_keys),
        "inverse": n_q,
        "inverse_row": len(kept),
        "rhs": n_q,
        "y": n_q if is_large else 0,
        "x": n_q,
        "x_row": len(kept),
    }
    routines = [
        Routine("factorise", "L D L^T of weight + phi_q^T phi_q", assigns, True),
        Routine("solve", "x = T^-1 rhs", [*forward, *back], True),
        Routine(
            "solve_guides",
            "the guided coordinates of T^-1 rhs alone",
            [*forward, *guided] if last else [],
            True,
        ),
    ]
    return Factored(weight_keys, kept, rhs, x, x_row, routines)
