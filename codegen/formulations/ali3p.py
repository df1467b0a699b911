"""Index-3 augmented Lagrangian with mass-orthogonal projections (ALI3-P), integrated with the
Newmark family.

In the scaled quantities of `equations`:

    residual    r = hist + phi_q'^T (lam' + phi') - force',  with hist = (mass' qdd_k + df
                weighted_k)/(1-df) at the predictor, and hist += inertia x after each correction
    tangent     T = inertia + g/(b h) C' + K' + phi_q'^T phi_q',
                inertia = (1-dm)/((1-df) b h^2) mass'
    multipliers lam' += phi' + phi_q' x, after each correction x
    projection  T_p = (1-dm)/s mass' + phi_q'^T phi_q' ("A"), or T ("B")
    F1          T_p d = -(1-dm)/s (mass' qdd* + weighted),
                lam_F1' = lam' + s/(1-dm) phi_ddot'(qdd + d),    weighted = phi_q'^T lam' - force'

with qdd* the acceleration before its projection x. (F1 is T_p d = -(1-dm)/s (mass' qdd + weighted)
- phi_q'^T phi_ddot'(qdd) at the projected qdd = qdd* + x; T_p x = -phi_q'^T phi_ddot'(qdd*) makes
its last term -(1-dm)/s mass' x, so the constraints need not be evaluated again.) The multipliers of
all rows follow from the same d. Without projections qdd stays qdd*, and x goes into d.

The routines are expressions; the order in which a step calls them is in `ali3p_order`.

Source: Bayo and Ledesma 1996; Cuadrado et al. 2000; Dopico et al. 2014; Chung and Hulbert 1993.
"""

from __future__ import annotations

from codegen.description.mechanism import Mechanism
from codegen.equations.equations import Equations, Terms, equations
from codegen.equations.factor import Factored, factored
from codegen.equations.gain import gain
from codegen.equations.program import Program, Routine
from codegen.equations.singular import pivot_limits
from codegen.equations.unfold import row_multipliers, unfold_routine
from codegen.expressions.dag import Expr
from codegen.expressions.elimination import Entries
from codegen.expressions.emit import Assign
from codegen.formulations import ali3p_order
from codegen.formulations.order import counted
from codegen.options.options import KernelOptions
from codegen.pose.assembly import assemble


def build(mechanism: Mechanism, options: KernelOptions) -> Program:
    """Discretise `mechanism`: the routines of one step as expressions."""
    eq = equations(mechanism, options)
    graph, names, lam, qdd = eq.graph, eq.names, eq.lam, eq.qdd
    dm, df, beta, gamma = options.newmark
    h = options.inner_step_s
    n_q, n_phi = len(eq.q), len(eq.phi)
    s = options.projection_scale
    share = (1.0 - dm) / s

    # weights of newton and projection, on one pattern
    inertia = (1.0 - dm) / ((1.0 - df) * beta * h * h)
    moves = eq.moves
    mass_now = eq.stored_mass("mass", lambda n, key: f"w->mass[{n}]") if moves else eq.mass
    weight_newton = {key: inertia * entry for key, entry in mass_now.items()}
    for key, entry in eq.tangent(gamma / (beta * h)).items():
        weight_newton[key] = weight_newton.get(key, graph.zero) + entry
    weight_project = {key: share * entry for key, entry in eq.mass.items()}
    factor = factored(eq, sorted(weight_newton))
    weight_keys, x = factor.weight_keys, factor.x
    assembled = None if eq.is_large else assemble(mechanism.system)
    is_proved = assembled is not None and not assembled.redundant
    limits = pivot_limits(eq, share, factor.kept, is_proved=is_proved)

    weighed = gain(eq)

    hist = eq.coordinate_array("hist", "w->hist")
    weighted = eq.coordinate_array("weighted", "s->weighted")
    number_of = {key: number for number, key in enumerate(weight_keys)}
    mass_hist = eq.stored_mass("mass_hist", lambda n, key: f"w->mass_hist[{n}]")
    mass_newton = eq.stored_mass("inertia", lambda n, key: f"w->inertia[{n}]")
    mass_project = eq.stored_mass(
        "mass_project", lambda n, key: f"w->weight_project[{number_of[key]}]"
    )

    # routines, in the order of the equations
    constant = {p.var for p in eq.system.parameters}
    prepare: list[Assign] = []
    weights: list[Assign] = []  # that follow the pose
    for n, e in enumerate(eq.mass.values()):
        if moves:
            weights.append(Assign(f"w->mass[{n}]", e, "mass"))
            continue
        prepare.append(Assign(f"w->mass_hist[{n}]", e / (1.0 - df), "mass in hist"))
    for n, e in enumerate([] if moves else eq.mass.values()):
        prepare.append(Assign(f"w->inertia[{n}]", inertia * e, "inertia"))
    forces = eq.force_assigns()
    for number, key in enumerate(weight_keys):
        label = f"weight of newton: {names[key[0]]}, {names[key[1]]}"
        fixed = set(graph.variables(weight_newton[key])) <= constant
        target = prepare if fixed else forces
        target.append(Assign(f"w->weight_newton[{number}]", weight_newton[key], label))
    for number, key in enumerate(weight_keys):
        value = weight_project.get(key, graph.zero)
        project = Assign(f"w->weight_project[{number}]", value, "weight of the projection")
        (weights if moves else prepare).append(project)

    # a row of rates alone: what the step's end makes of a place moves its rate by gamma / (beta h)
    open_by = [
        (beta * h / gamma) * eq.phi_dot[r] if r in eq.sliding else eq.phi_var[r]
        for r in range(n_phi)
    ]
    pushed = [graph.stem(lam[r] + open_by[r], f"push_{r}") for r in range(n_phi)]
    history = eq.each(lambda i: [*eq.times_mass(mass_hist, i, qdd), (df / (1.0 - df), weighted[i])])

    def pulls(i: int) -> Terms:
        # where the mass follows the pose there is no history: its product with the acceleration of this time
        if moves:
            return [(1.0, eq.force[i]), *((-c, e) for c, e in eq.times_mass(mass_now, i, qdd))]
        return [(-1.0, hist[i]), (1.0, eq.force[i])]

    residual = eq.row_first("push", pushed, pulls, is_kept=True)
    carried = eq.each(lambda i: [(1.0, hist[i]), *eq.times_mass(mass_newton, i, x)])
    position = eq.each(lambda i: eq.transposed(i, eq.phi_var, -1.0))
    routines = [
        Routine("prepare", "what depends on parameters only", prepare, is_split=True),
        eq.hold_routine(),
        Routine(
            "history",
            "what the step start adds to the residual",
            [] if moves else eq.per_coordinate("w->hist", history),
        ),
        eq.evaluate_routine(weights),
        Routine("forces", "force at q, qd, and what of the tangent depends on the state", forces),
        Routine("residual", "rhs = -r; push = lam + phi", residual, eq.is_large),
        *factor.routines,
        Routine(
            "lift", "lam += phi + phi_q x, what the linear step makes of phi", _lift(eq, factor)
        ),
        Routine(
            "carry",
            "hist follows the corrected acceleration",
            [] if moves else eq.per_coordinate("w->hist", carried),
        ),
        Routine("position_rhs", "rhs = -phi_q^T phi", eq.per_coordinate("w->rhs", position)),
        eq.velocity_routine(),
        Routine(
            "acceleration_rhs",
            "rhs = -phi_q^T phi_ddot",
            eq.row_first("phi_ddot", eq.phi_ddot),
            eq.is_large,
        ),
        Routine(
            "finish",
            "weighted = phi_q^T lam - force; rhs of F1, from qdd before its projection; outputs",
            _finish(eq, mass_project, share),
        ),
        Routine(
            "refresh_lam",
            "index-1 update of lam",
            [Assign(f"s->lam[{r}]", lam[r] + eq.phi_ddot[r] / share) for r in range(n_phi)],
        ),
        Routine("react", "multipliers of the rows that outputs show", _react(eq, x, share), True),
        Routine(
            "bear",
            "the same of multipliers that are consistent as they are",
            [*row_multipliers(eq, eq.lam, eq.qdd), *eq.observe_assigns(is_late=True)],
            True,
        ),
        unfold_routine(eq),
        *weighed.routines,
    ]
    eq.store_derived(routines)
    eq.arrays |= {
        **({"mass": len(eq.mass)} if moves else {}),
        "mass_hist": 0 if moves else len(eq.mass),
        "inertia": 0 if moves else len(eq.mass),
        "weight_newton": len(weight_keys),
        "weight_project": len(weight_keys),
        "hist": n_q,
    }
    return eq.program(
        routines,
        projection_scale=s,
        weight_keys=weight_keys,
        calls=counted(ali3p_order.steps(eq)) * options.substeps,
        text=weighed.text + ali3p_order.text(eq, limits, len(weight_keys), weighed.line),
        state={"weighted": (n_q, "phi_q^T lam - force, of the step's end")},
        twin_fill={"moves": str(moves)},
        pivot_limit=limits.coordinates,
        row_pivot_limit=limits.rows,
        freedoms=assembled.dof if assembled else -1,
        redundant=len(assembled.redundant) if assembled else 0,
    )


def _lift(eq: Equations, factor: Factored) -> list[Assign]:
    assigns = []
    for r, push in enumerate(eq.family("push", len(eq.lam))):
        terms = [(1.0, eq.phi_q[r, i] * factor.x[i]) for i in eq.rows[r]]
        if r in factor.x_row:
            terms = [(1.0, factor.x_row[r])]
        assigns.append(Assign(f"s->lam[{r}]", eq.graph.total([(1.0, push), *terms])))
    return assigns


def _finish(eq: Equations, mass_project: Entries, share: float) -> list[Assign]:
    exact = [eq.exact_force.get(i, eq.graph.zero) for i in range(len(eq.q))]
    weigh = eq.each(lambda i: [*eq.transposed(i, eq.lam), (-1.0, exact[i])])
    weigh = [eq.graph.stem(e, f"weighted_{n}") for n, e in zip(eq.names, weigh, strict=True)]
    rhs = eq.each(
        lambda i: [
            *((-1.0, e) for _, e in eq.times_mass(mass_project, i, eq.qdd)),
            (-share, weigh[i]),
        ]
    )
    assigns = []
    for i, name in enumerate(eq.names):
        assigns += [
            Assign(f"s->weighted[Q_{name}]", weigh[i], f"on {name}"),
            Assign(f"w->rhs[Q_{name}]", rhs[i], f"on {name}"),
        ]
    return [*assigns, *eq.settle_assigns(), *eq.observe_assigns(is_late=False)]


def _react(eq: Equations, x: list[Expr], share: float) -> list[Assign]:
    """Consistent multipliers of the wanted rows, and outputs that contain them: F1 with d = x."""
    graph = eq.graph
    qdd = [a + d for a, d in zip(eq.qdd, x, strict=True)]
    moved = dict(zip(eq.qdd, qdd, strict=True))
    lam = [
        eq.lam[r] + graph.substitute(e, moved) / share for r, e in enumerate(eq.phi_ddot)
    ] if eq.wanted_rows else []  # fmt: skip
    late = eq.observe_assigns(is_late=True, moved=moved if eq.moves else {})
    return [*row_multipliers(eq, lam, qdd), *late]
