"""Canonical augmented Lagrangian: rates from momenta, constraints on rates.

    (M + J^T a J) qd = p - J^T a (Phi_t + 2 xi w Phi + w^2 int Phi dt) - J^T sigma
    pd = f + Jdot^T sigma,    sigma += a (Phi_dot + 2 xi w Phi + w^2 int Phi dt)

with sigma, the impulse of the constraints, repeated `iterations` times an evaluation (once within
the trapezoidal rule). Momenta, not rates, are integrated, so rates obey the constraints at every
evaluation, a singular position jolts less, and reactions are not needed to move on; they and the
accelerations follow once a step from the index-1 equations at its end.

Adding a constant to sigma and J^T times it to p changes nothing: at the end of a step sigma goes
back to zero and p to M qd, else both would grow with the impulse of the weight and take its
round-off and truncation along.

Source: Bayo and Avello 1994.
"""

from __future__ import annotations

from codegen.description.mechanism import Mechanism
from codegen.equations.program import Program, Routine
from codegen.expressions.emit import Assign
from codegen.formulations.acceleration import accelerated
from codegen.formulations.order import Call, Repeat, Step, factorise, lines, solved
from codegen.formulations.stepping import Derivative, Ground, ground, stepped
from codegen.options.options import KernelOptions


def build(mechanism: Mechanism, options: KernelOptions) -> Program:
    """Discretise `mechanism`: the routines of one step as expressions."""
    on = ground(mechanism, options)
    n_q, n_phi = len(on.eq.q), len(on.eq.phi)
    once: list[Step] = [Call("momentum_rhs"), *solved("s->qd"), Call("refresh_sigma")]
    derivative = Derivative(
        routines=_routines(on),
        derive=[
            lines(
                "// rates from momenta, with sigma as the multipliers; then the rates of the momenta"
            ),
            Call("evaluate"),
            factorise("project"),
            Repeat("pass", on.passes, str(on.passes), once),
            Call("forces"),
            Call("momentum_rate"),
        ],
        conclude=[
            accelerated(1),
            lines("for (int i = 0; i < N_PHI; i++)", "    s->sigma[i] = 0.0;"),
            Call("momentum"),
            Call("momentum_rate"),
        ],
        set_out=[
            lines("for (int i = 0; i < N_PHI; i++)", "    s->sigma[i] = s->integral[i] = 0.0;"),
            Call("momentum"),
        ],
        twin=("formulations/acceleration.py.in", "formulations/hamiltonian.py.in"),
        integrated={
            "q": ("s->qd", "q"),
            "p": ("s->p_dot", "q"),
            "integral": ("s->open", "phi"),
        },
        state={
            "p": (n_q, "momenta / force unit"),
            "p_dot": (n_q, "their rates"),
            "integral": (n_phi, "of phi over time"),
            "open": (n_phi, "phi, its rate"),
            "sigma": (n_phi, "impulses of the rows / (force unit * row scale)"),
        },
        fill={"augments": "True"},
        resettled="    set_out(w, s);\n    momentum_rate(w, s);\n",
    )
    return stepped(on, derivative)


def _routines(on: Ground) -> list[Routine]:
    eq, made = on.eq, on.made
    graph = eq.graph
    n_phi = len(eq.phi)
    p = eq.coordinate_array("p", "s->p")
    sigma, integral = eq.family("sigma", n_phi), eq.family("integral", n_phi)
    eq.bind |= {e: f"s->sigma[{r}]" for r, e in enumerate(sigma)}
    eq.bind |= {e: f"s->integral[{r}]" for r, e in enumerate(integral)}
    push = [
        graph.total(
            [
                (1.0, sigma[r]),
                (1.0, eq.phi_dot[r]),
                (made.rate, eq.phi_var[r]),
                (made.place, integral[r]),
            ]
        )
        for r in range(n_phi)
    ]
    for r, e in enumerate(push):
        graph.stem(e, f"impulse_{r}")
    rhs = eq.row_first(
        "impulse",
        push,
        lambda i: [(1.0, p[i]), *((-c, e) for c, e in eq.times_mass(on.weigh, i, eq.qd))],
    )
    # d/dt phi_q, where it is not constant
    turning = {key: graph.tangent(entry, eq.moving) for key, entry in eq.slots}
    rate = eq.each(
        lambda i: [
            (1.0, eq.force[i]),
            *((1.0, turning[r, i] * sigma[r]) for r in eq.columns[i] if (r, i) in turning),
        ]
    )
    momentum = eq.each(lambda i: eq.times_mass(on.weigh, i, eq.qd))
    return [
        Routine(
            "momentum_rhs",
            "rhs = p - mass qd - phi_q^T (phi_dot + 2 xi omega phi + omega^2 integral + sigma)",
            rhs,
            eq.is_large,
        ),
        Routine(
            "refresh_sigma",
            "sigma from the violation that is left",
            [Assign(f"s->sigma[{r}]", e, f"row {r}") for r, e in enumerate(push)],
        ),
        Routine(
            "momentum_rate",
            "p_dot = force + (d phi_q/dt)^T sigma; phi as the rate of its integral",
            [
                *eq.per_coordinate("s->p_dot", rate),
                *(Assign(f"s->open[{r}]", e) for r, e in enumerate(eq.phi_var)),
            ],
        ),
        Routine("momentum", "p = mass qd", eq.per_coordinate("s->p", momentum)),
    ]
