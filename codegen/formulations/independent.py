"""Independent coordinates by velocity transformation (R-matrix, coordinate partitioning).

With B picking independent coordinates z out of q, and T = phi_q^T phi_q + B^T B, where guide rows
are rows as any:

    positions      T x = -phi_q^T phi                       newton with z held
    rates          T x = -phi_q^T phi_dot                   qd = vel_map zd + rates from guides
    velocity map   T vel_map = B^T                          vel_map is R, (n_q, n_z)
    accelerations  T s = -phi_q^T gamma,   (R^T M R) zdd = R^T (Q - M s),   qdd = s + R zdd
    multipliers    lam = phi_q T^-1 (Q - M qdd)

The stacked rows of phi_q and B have full column rank and independent ranges, so these least-squares
solutions are exact, also with redundant rows (multipliers of least norm); no penalty is in it. z is
chosen where the mechanism is assembled and again, at the end of a step, before a coordinate moves
`RATIO` times as fast as z does; where that cannot help, because phi_q itself loses rank, the step
ends with status 5.

All coordinates are integrated; the dependent ones only as the first guess of their closing.

Source: Serna, Aviles and Garcia de Jalon 1982; Wehage and Haug 1982.
"""

from __future__ import annotations

from string import Template

import numpy as np

from codegen.description.mechanism import Mechanism
from codegen.equations.program import Program, Routine, Sweep
from codegen.expressions.emit import Assign
from codegen.formulations.acceleration import unbalanced
from codegen.formulations.order import (
    Call,
    Each,
    Lines,
    Repeat,
    Step,
    Update,
    factorise,
    lines,
    solved,
)
from codegen.formulations.stepping import HERE, Derivative, Ground, ground, stepped
from codegen.options.options import KernelOptions
from codegen.pose.assembly import Rows, assemble
from codegen.system.system import System

RATIO = 2.0  # the truncation error grows with powers of it
PIVOT_LIMIT = 1e10  # 1e-5 from a dead centre; rows have gradients of order one
CLOSINGS = 2  # newton corrections of positions within the trapezoidal rule, which iterates already


def build(mechanism: Mechanism, options: KernelOptions) -> Program:
    """Discretise `mechanism`: the routines of one step as expressions."""
    on = ground(mechanism, options, diagonal_first=True)
    eq = on.eq
    n_q = len(eq.q)
    z = independent_coordinates(eq.system)
    n_z = len(z)
    closings = CLOSINGS if options.integrator == "trapezoidal" else options.iterations
    kept = {c.name: c.index for c in mechanism.system.coordinates}
    full = [kept[c.name] for c in eq.system.coordinates]
    routines = _routines(on)
    eq.arrays |= {
        "weight_z": len(on.factor.weight_keys),
        "left": n_q,
        "weighed": n_q,
        "vel_map": n_q * n_z,
        "reduced": n_z * n_z,
        "zdd": n_z,
    }
    text = Template((HERE / "independent.h.in").read_text()).substitute(
        n_z=n_z, pivot_limit=repr(PIVOT_LIMIT)
    )
    derivative = Derivative(
        routines=routines,
        derive=_derive(n_z, closings),
        conclude=[
            lines(
                "// multipliers from what the motion leaves unbalanced, of least norm where rows are redundant"
            ),
            Call("unbalance"),
            Call("solve", "w"),
            Call("recover_lam"),
            lines(
                "// other independent coordinates before these come near a dead centre",
                "double most = 0.0;",
                f"for (int i = 0; i < {n_z} * N_Q; i++)",
                "    most = __builtin_fabs(w->vel_map[i]) > most ? __builtin_fabs(w->vel_map[i]) : most;",
                f"if (most > {RATIO!r})",
                "    choose_independent(w, s);",
            ),
        ],
        set_out=[
            lines(
                f"static const int z[] = {{{', '.join(str(i + 1) for i in z) or '0'}}};",
                f"for (int j = 0; j < {n_z}; j++)",
                "    if (s->z[j] == 0.0)",
                "        s->z[j] = z[j];",
            )
        ],
        text=text,
        twin=("formulations/acceleration.py.in", "formulations/independent.py.in"),
        state={"z": (n_z, "the independent coordinates, counted from 1")},
        fill={
            "z_0": repr([full[i] for i in z]),
            "kept": repr(full),
            "ratio": repr(RATIO),
            "closings": str(closings),
            "augments": "True",
        },
        # no penalty is in its reactions; where phi_q loses rank the step ends with status 5
        sees_singular=False,
    )
    return stepped(on, derivative)


def _derive(n_z: int, closings: int) -> list[Step]:
    partitioned = Call("factorise_partitioned", "w", body=[factorise("z")])
    return [
        lines(
            "for (int i = 0; i < N_Q; i++)",
            "    w->weight_z[i] = 0.0;",
            f"for (int j = 0; j < {n_z}; j++)",
            "    w->weight_z[(int)s->z[j] - 1] = 1.0;",
            "// positions, then rates, that belong to the independent ones and the guides: newton holds those",
        ),
        Repeat(
            "closing",
            closings,
            str(closings),
            [Call("evaluate"), partitioned, Call("position_rhs"), *solved("s->q")],
        ),
        Call("evaluate"),
        partitioned,
        Call("velocity_rhs"),
        *solved("s->qd"),
        lines("// accelerations of independent coordinates that do not accelerate"),
        Call("forces"),
        Call("gamma_rhs"),
        Call("solve", "w"),
        Each("q", (Update("s->qdd", (("", "w->x"),), adds=False),)),
        Call("unbalance"),
        Each("q", (Update("w->left", (("", "w->rhs"),), adds=False),)),
        lines("// qd = vel_map zd: (vel_map^T mass vel_map) zdd = vel_map^T (force - mass qdd)"),
        Repeat("j", n_z, str(n_z), _column(n_z)),
        lines("solve_independent(w);"),
        Lines(
            (
                f"for (int j = 0; j < {n_z}; j++)",
                "    for (int i = 0; i < N_Q; i++)",
                "        s->qdd[i] += w->zdd[j] * w->vel_map[j * N_Q + i];",
            ),
            (Sweep("q", ["s->qdd", "w->x"], ["s->qdd"], n_z),),
        ),
    ]


def _column(n_z: int) -> list[Step]:
    """A column of the velocity map, and its row of the reduced mass."""
    return [
        lines(
            "for (int i = 0; i < N_Q; i++)",
            "    w->rhs[i] = 0.0;",
            "w->rhs[(int)s->z[j] - 1] = 1.0;",
        ),
        Call("solve", "w"),
        Call("weigh_x"),
        Lines(
            (
                "w->zdd[j] = 0.0;",
                "for (int i = 0; i < N_Q; i++) {",
                "    w->vel_map[j * N_Q + i] = w->x[i];",
                "    w->zdd[j] += w->x[i] * w->left[i];",
                "}",
                "for (int k = 0; k <= j; k++) {",
                "    double sum = 0.0;",
                "    for (int i = 0; i < N_Q; i++)",
                "        sum += w->vel_map[k * N_Q + i] * w->weighed[i];",
                f"    w->reduced[j * {n_z} + k] = sum;",
                "}",
            ),
            (Sweep("q", ["w->x", "w->weighed"], [], 2 + n_z),),
        ),
    ]


def independent_coordinates(system: System) -> list[int]:
    """As many coordinates as there are freedoms: pivots of the motions that the constraints allow
    in the assembled position.
    """
    rows = Rows(system)
    jac = rows.phi_q(np.array([c.initial for c in system.coordinates]))
    _, sizes, right = np.linalg.svd(jac)
    rank = int(np.sum(sizes > 1e-9 * max(1.0, sizes.max(initial=0.0))))
    motions = right[rank:].T.copy()
    found: list[int] = []
    for _ in range(assemble(system).dof):
        pivot, column = np.unravel_index(np.argmax(np.abs(motions)), motions.shape)
        found.append(int(pivot))
        motions -= np.outer(motions[:, column], motions[pivot] / motions[pivot, column])
    return found


def _routines(on: Ground) -> list[Routine]:
    eq = on.eq
    graph, x = eq.graph, on.factor.x
    still = dict.fromkeys(eq.qdd, graph.zero)
    gamma = [graph.substitute(e, still) for e in eq.phi_ddot]
    left = eq.each(lambda i: unbalanced(eq, on.weigh, i))
    weighed = eq.each(lambda i: eq.times_mass(on.weigh, i, x))
    lam = [
        graph.total([(1.0, eq.phi_q[r, i] * x[i]) for i in eq.rows[r]]) for r in range(len(eq.phi))
    ]
    return [
        Routine("gamma_rhs", "rhs = -phi_q^T gamma", eq.row_first("gamma", gamma), eq.is_large),
        Routine("unbalance", "rhs = force - mass qdd", eq.per_coordinate("w->rhs", left)),
        Routine("weigh_x", "weighed = mass x", eq.per_coordinate("w->weighed", weighed)),
        Routine(
            "recover_lam",
            "lam = phi_q x",
            [Assign(f"s->lam[{r}]", e, f"row {r}") for r, e in enumerate(lam)],
        ),
    ]
