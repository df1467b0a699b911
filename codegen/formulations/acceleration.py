"""Accelerations and multipliers at given positions and rates, with the augmented leading matrix.

In the scaled quantities of `equations`, with T = mass' + phi_q'^T phi_q', as increments, so that
round-off is that of the increment:

    stabilise    drive = gamma' + 2 xi omega phi_dot' + omega^2 phi'
    force_rhs    T x = force' - mass' qdd - phi_q'^T (phi_q' qdd + drive + lam'),    qdd += x
    refresh_lam  lam' += phi_q' qdd + drive

T is positive definite whatever the rank of phi_q. The penalty formulation has no lam' in its right
side: there lam' = phi_q' qdd + drive is the penalty on the violation.
"""

from __future__ import annotations

from dataclasses import dataclass

from codegen.equations.equations import Equations
from codegen.equations.program import Routine
from codegen.expressions.dag import Expr
from codegen.expressions.emit import Assign
from codegen.formulations.order import Call, Repeat, Step, lines, solved
from codegen.options.options import KernelOptions


@dataclass(frozen=True)
class Stabilisation:
    """A violation obeys phi_ddot + rate phi_dot + place phi = 0."""

    rate: float
    place: float


# xi, omega in rad/s: a violation decays within tenths of a second, and one on rates (hamiltonian)
# within 5 ms. They do not follow the step: with omega near 1/h the stages of a step, which are open
# by h^2, push with multipliers that no smaller step makes better
DEFAULT = {
    "penalty": (1.0, 20.0),
    "index1": (1.0, 20.0),
    "composite": (1.0, 20.0),
    "hamiltonian": (1000.0, 0.1),
}


def stabilisation(options: KernelOptions) -> Stabilisation:
    """From `xi` and `omega_rad_s`, or their defaults; "independent" needs none."""
    xi, omega = DEFAULT.get(options.formulation, (0.0, 0.0))
    if options.integrator == "semi_implicit_euler":
        # has one stage and order one: a violation ends in two steps
        xi, omega = 0.5, 1.0 / options.inner_step_s
    xi = options.xi if options.xi is not None else xi
    omega = options.omega_rad_s if options.omega_rad_s is not None else omega
    return Stabilisation(2.0 * xi * omega, omega * omega)


def acceleration_routines(
    eq: Equations, weigh: dict[tuple[int, int], Expr], made: Stabilisation, *, augments: bool
) -> list[Routine]:
    """`stabilise`, `force_rhs` and `refresh_lam`; `weigh` has the stored entries of mass'."""
    graph, n_phi = eq.graph, len(eq.phi)
    still = dict.fromkeys(eq.qdd, graph.zero)
    drive = eq.family("drive", n_phi)
    eq.bind |= {e: f"w->drive[{r}]" for r, e in enumerate(drive)}
    eq.arrays["drive"] = n_phi
    driven = [
        graph.total(
            [
                (1.0, graph.substitute(eq.phi_ddot[r], still)),
                (made.rate, eq.phi_dot[r]),
                (made.place, eq.phi_var[r]),
            ]
        )
        for r in range(n_phi)
    ]
    push = [
        [(1.0, drive[r]), *((1.0, eq.phi_q[r, i] * eq.qdd[i]) for i in eq.rows[r])]
        for r in range(n_phi)
    ]
    kept = [[(1.0, eq.lam[r])] if augments else [] for r in range(n_phi)]
    values = [graph.total([*push[r], *kept[r]]) for r in range(n_phi)]
    for r, e in enumerate(values):
        graph.stem(e, f"push_{r}")
    rhs = eq.row_first("push", values, lambda i: unbalanced(eq, weigh, i))
    return [
        Routine(
            "stabilise",
            "drive = gamma + 2 xi omega phi_dot + omega^2 phi",
            [Assign(f"w->drive[{r}]", e, f"row {r}") for r, e in enumerate(driven)],
        ),
        Routine(
            "force_rhs",
            "rhs = force - mass qdd - phi_q^T (phi_q qdd + drive"
            + (" + lam)" if augments else ")"),
            rhs,
            eq.is_large,
        ),
        Routine(
            "refresh_lam",
            "lam from the violation that is left",
            [Assign(f"s->lam[{r}]", e, f"row {r}") for r, e in enumerate(values)],
        ),
    ]


def near_routines(
    eq: Equations, weigh: dict[tuple[int, int], Expr], made: Stabilisation, less: float
) -> list[Routine]:
    """`near_rhs` and `near_lam`: the same with a penalty that is 1 / `less` times as hard, beside a singular pose; and
    `close_rhs`: accelerations of the rows alone, whatever forces there are.

    (less mass' + phi_q'^T phi_q') x = less (force' - mass' qdd - phi_q'^T lam') - phi_q'^T (phi_q' qdd + drive)
    lam' += (phi_q' qdd + drive) / less
    """
    graph, n_phi = eq.graph, len(eq.phi)
    drive = eq.family("drive", n_phi)
    left_open = [
        graph.total([(1.0, drive[r]), *((1.0, eq.phi_q[r, i] * eq.qdd[i]) for i in eq.rows[r])])
        for r in range(n_phi)
    ]
    push = [graph.total([(1.0, left_open[r]), (less, eq.lam[r])]) for r in range(n_phi)]
    rhs = eq.row_first("push", push, lambda i: [(less * c, e) for c, e in unbalanced(eq, weigh, i)])
    return [
        Routine(
            "close_rhs",
            "rhs = -phi_q^T (phi_q qdd + drive)",
            eq.row_first("push", left_open),
            eq.is_large,
        ),
        Routine(
            "near_rhs",
            "rhs = less (force - mass qdd - phi_q^T lam) - phi_q^T (phi_q qdd + drive)",
            rhs,
            eq.is_large,
        ),
        Routine(
            "near_lam",
            "lam from what is left open, harder",
            [
                Assign(
                    f"s->lam[{r}]",
                    graph.total([(1.0, eq.lam[r]), (1.0 / less, left_open[r])]),
                    f"row {r}",
                )
                for r in range(n_phi)
            ],
        ),
    ]


def unbalanced(
    eq: Equations, weigh: dict[tuple[int, int], Expr], i: int
) -> list[tuple[float, Expr]]:
    """Terms of (force' - mass' qdd)_i."""
    return [(1.0, eq.force[i]), *((-c, e) for c, e in eq.times_mass(weigh, i, eq.qdd))]


def accelerate(passes: int | str) -> list[Step]:
    """The order of `accelerate`: qdd and lam at q and qd, with the factor of q.

    A number of passes is counted; the C function takes it as an argument of that name.
    """
    times = passes if isinstance(passes, int) else 0
    once: list[Step] = [Call("force_rhs"), *solved("s->qdd"), Call("refresh_lam")]
    return [
        lines("// accelerations and multipliers at q and qd, with the factor of q"),
        Call("forces"),
        Call("stabilise"),
        Repeat("pass", times, "passes", once),
    ]


def accelerated(passes: int) -> Call:
    """The call of it."""
    return Call("accelerate", f"w, s, {passes}", body=accelerate(passes))
