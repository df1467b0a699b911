"""Index-3 augmented Lagrangian with mass-orthogonal projections (ALI3-P), generalised-alpha or
trapezoidal Newmark.

Everything is divided by the force unit a0 and every row i scaled by w_i, with penalties alpha_i =
a0 w_i^2, so that no penalty appears in the code (phi' = w phi, lam' = lam/(a0 w), mass' = M/a0,
force' = Q/a0):

    residual    r = hist + phi_q'^T (lam' + phi') - force',  with hist = (mass' qdd_k + df
                weighted_k)/(1-df) at the predictor, and hist += inertia x after each correction
    tangent     T = inertia + g/(b h) C' + K' + phi_q'^T phi_q',
                inertia = (1-dm)/((1-df) b h^2) mass'
    projection  T_p = (1-dm)/s mass' + phi_q'^T phi_q'
    F1          T_p d = -(1-dm)/s (mass' qdd* + weighted),
                lam_F1' = lam' + s/(1-dm) phi_ddot'(qdd + d),    weighted = phi_q'^T lam' - force'

with qdd* the acceleration before its projection x. (F1 is T_p d = -(1-dm)/s (mass' qdd + weighted)
- phi_q'^T phi_ddot'(qdd) at the projected qdd = qdd* + x; T_p x = -phi_q'^T phi_ddot'(qdd*) makes
its last term -(1-dm)/s mass' x, so the constraints need not be evaluated again.)

Source: Bayo and Ledesma 1996; Cuadrado et al. 2000; Dopico et al. 2014; Chung and Hulbert 1993.
"""

from __future__ import annotations

from codegen.dag import Expr
from codegen.elimination import Entries, factorise, order_pattern, substitute
from codegen.emit import Assign
from codegen.forces import force_tangent, hold
from codegen.mechanism import Mechanism
from codegen.options import KernelOptions
from codegen.penalty import penalties
from codegen.precomputed import parameter_only, trigonometric
from codegen.presolve import presolve
from codegen.program import Program, Routine, Sweep

LARGE = 64  # coordinates; from here on routines are rolled into loops


def build(mechanism: Mechanism, options: KernelOptions) -> Program:
    """Discretise `mechanism`: the routines of one step as expressions."""
    presolved = presolve(mechanism.system, wanted=options.presolve)
    system = presolved.system
    graph = system.graph
    dm, df, beta, gamma = options.newmark
    h = options.step_s
    n_q, n_phi = len(system.coordinates), len(system.rows)
    is_large = n_q > LARGE
    coordinates, labels = system.coordinates, [row.label for row in system.rows]
    names = [c.name for c in coordinates]
    q, qd = [c.q for c in coordinates], [c.qd for c in coordinates]
    index_of = {c.q: c.index for c in coordinates}

    def family(array: str, count: int) -> list[Expr]:
        return [graph.var(f"{array} {i}") for i in range(count)]

    full_scale, unit = penalties(mechanism.system, options)
    scale = [full_scale[r] for r in presolved.kept]
    s = (1.0 - dm) if options.alpha is not None else (1.0 - df) * beta * h * h
    share = (1.0 - dm) / s

    # constraints, scaled, with their Jacobian as stored nonzeros or constants
    phi = [graph.folded(row.phi, w) for w, row in zip(scale, system.rows, strict=True)]
    phi_q: Entries = {}
    slots: list[tuple[tuple[int, int], Expr]] = []
    columns: list[list[int]] = [[] for _ in range(n_q)]
    rows: list[list[int]] = [[] for _ in range(n_phi)]
    for r, value in enumerate(phi):
        for i in sorted(index_of[v] for v in graph.variables(value) if v in index_of):
            entry = graph.folded(graph.diff(value, q[i]))
            if entry.is_zero:
                continue
            columns[i].append(r)
            rows[r].append(i)
            if entry.is_const:
                phi_q[r, i] = entry
            else:
                slots.append(((r, i), entry))
                phi_q[r, i] = graph.var(f"phi_q {r} {names[i]}")

    def transposed(i: int, y: list[Expr], sign: float = 1.0) -> list[tuple[float, Expr]]:
        """Terms of (phi_q^T y)_i."""
        return [(sign, phi_q[r, i] * y[r]) for r in columns[i]]

    # time derivatives of the constraints; guide inputs move too
    moving = dict(zip(q, qd, strict=True))
    guided: dict[Expr, Expr] = {}
    for guide in system.guides:
        position, rate, acceleration = guide.inputs
        guided |= {position: rate, rate: acceleration}
    qdd, lam = family("qdd", n_q), family("lam", n_phi)
    phi_var = family("phi", n_phi)
    phi_dot, phi_ddot = [], []
    for r, value in enumerate(phi):
        terms = [(1.0, phi_q[r, i] * qd[i]) for i in rows[r]]
        phi_dot.append(graph.total([*terms, (1.0, graph.tangent(value, guided))]))
        rest = graph.folded(graph.tangent(graph.tangent(value, moving | guided), moving | guided))
        terms = [(1.0, phi_q[r, i] * qdd[i]) for i in rows[r]]
        phi_ddot.append(graph.total([*terms, (1.0, rest)]))
        graph.stem(phi_dot[r], f"phi_dot_{r}")
        graph.stem(phi_ddot[r], f"phi_ddot_{r}")

    # mass' and force', and what they give at qdd
    mass_keys = sorted(system.mass)
    mass_exact = {key: system.mass[key] / unit for key in mass_keys}

    def mass_family(array: str) -> Entries:
        return {key: graph.var(f"{array} {key[0]} {key[1]}") for key in mass_keys}

    in_mass: list[list[tuple[tuple[int, int], int]]] = [[] for _ in range(n_q)]
    for a, b in mass_keys:
        in_mass[a].append(((a, b), b))
        if a != b:
            in_mass[b].append(((a, b), a))

    def times_mass(entries: Entries, i: int, values: list[Expr]) -> list[tuple[float, Expr]]:
        return [(1.0, entries[key] * values[j]) for key, j in in_mass[i]]

    force_keys = sorted(i for i, e in system.force.items() if not e.is_zero)
    force = [graph.var(f"force {i}") if i in system.force else graph.zero for i in range(n_q)]
    exact_force = {i: graph.folded(system.force[i], 1.0 / unit) for i in force_keys}
    force = [force[i] if i in exact_force else graph.zero for i in range(n_q)]

    # tangent: weights of newton and projection on one pattern
    inertia = (1.0 - dm) / ((1.0 - df) * beta * h * h)
    weight_newton = {key: inertia * entry for key, entry in mass_exact.items()}
    for i, j, damping, stiffness in force_tangent(system):
        entry = graph.folded(gamma / (beta * h) * damping + stiffness, 1.0 / unit)
        weight_newton[i, j] = weight_newton.get((i, j), graph.zero) + entry
    weight_project = {key: share * entry for key, entry in mass_exact.items()}
    weight_keys = sorted(weight_newton)
    weight_var = {key: graph.var(f"weight {key[0]} {key[1]}") for key in weight_keys}
    pattern = {(i, j) for r in range(n_phi) for i in rows[r] for j in rows[r] if i <= j}
    pattern |= set(weight_keys) | {(i, i) for i in range(n_q)}
    matrix: Entries = {}
    for i, j in sorted(pattern):
        shared = [(1.0, phi_q[r, i] * phi_q[r, j]) for r in columns[i] if (r, j) in phi_q]
        weight = [(1.0, weight_var[i, j])] if (i, j) in weight_var else []
        matrix[i, j] = graph.stem(graph.total(weight + shared), f"t_{names[i]}_{names[j]}")

    last = [guide.coordinate.index for guide in system.guides]
    order = order_pattern(n_q, pattern, last, is_large=is_large)
    upper_bind: dict[Expr, str] = {}
    factor = factorise(graph, matrix, order, names, cut=is_large)
    lower_keys = list(factor.lower)
    lower_var = {
        key: e if e.is_const and not is_large else graph.var(f"lower {key[0]} {key[1]}")
        for key, e in factor.lower.items()
    }
    inverse_var = {
        k: e if e.is_const and not is_large else graph.var(f"inverse {k}")
        for k, e in factor.inverse.items()
    }
    lower_at = {key: f"w->lower[{number}]" for number, key in enumerate(lower_keys)}
    factor_assigns = []
    below: dict[int, list[int]] = {k: [] for k in order}
    for i, k in lower_keys:
        below[k].append(i)
    for k in order:
        title = f"column {names[k]}"
        for i in below[k]:
            if is_large:
                at = lower_at[i, k].replace("lower", "upper")
                upper_bind[graph.var(f"upper {k} {i}")] = at
                factor_assigns.append(Assign(at, factor.upper[k, i], title))
        factor_assigns.append(Assign(f"w->inverse[Q_{names[k]}]", factor.inverse[k], title))
        factor_assigns += [Assign(lower_at[i, k], factor.lower[i, k], title) for i in below[k]]
    rhs = family("rhs", n_q)
    y, solution = substitute(graph, factor, lower_var, inverse_var, rhs, cut=is_large)
    forward = [Assign(f"w->y[Q_{names[i]}]", y[i], f"y {i}") for i in order] if is_large else []

    # where everything lives
    bind: dict[Expr, str] = dict(upper_bind)
    bind |= {e: lower_at[key] for key, e in lower_var.items() if e.op == "var"}
    x = family("x", n_q)
    hist, weighted = family("hist", n_q), family("weighted", n_q)
    for c in coordinates:
        bind |= {c.q: f"s->q[Q_{c.name}]", c.qd: f"s->qd[Q_{c.name}]"}
        for values, array in (
            (qdd, "s->qdd"), (rhs, "w->rhs"), (x, "w->x"), (hist, "w->hist"),
            (weighted, "s->weighted"),
        ):  # fmt: skip
            bind[values[c.index]] = f"{array}[Q_{c.name}]"
        bind[graph.var(f"inverse {c.index}")] = f"w->inverse[Q_{c.name}]"
        bind[graph.var(f"y {c.index}")] = f"w->y[Q_{c.name}]"
    for r in range(n_phi):
        bind |= {lam[r]: f"s->lam[{r}]", phi_var[r]: f"w->phi[{r}]"}
    for number, (key, _) in enumerate(slots):
        bind[phi_q[key]] = f"w->phi_q[{number}]"
    for number, i in enumerate(force_keys):
        bind[force[i]] = f"w->force[{number}]"
    mass_hist, mass_newton, mass_project = (
        mass_family(array) for array in ("mass_hist", "inertia", "mass_project")
    )
    for number, key in enumerate(mass_keys):
        bind[mass_hist[key]] = f"w->mass_hist[{number}]"
        bind[mass_newton[key]] = f"w->inertia[{number}]"
        bind[mass_project[key]] = f"w->weight_project[{weight_keys.index(key)}]"
    for number, key in enumerate(weight_keys):
        bind[weight_var[key]] = f"weight[{number}]"
    for number, guide in enumerate(system.guides):
        for part, var in enumerate(guide.inputs):
            bind[var] = f"w->guide[{3 * number + part}]"
    for array, quantities in (("par", system.parameters), ("signal", system.signals)):
        for number, quantity in enumerate(quantities):
            bind[quantity.var] = f"w->{array}[{number}]"
    for number, quantity in enumerate(system.internals):
        bind[quantity.var] = f"s->internal[{number}]"
    for number, held in enumerate(system.held):
        bind[held.var] = f"w->held[{number}]"
    bind[system.step_s] = repr(h)
    trig = trigonometric([*phi, *(e for _, e in slots)])
    known = {e: f"w->trig[{number}]" for number, e in enumerate(trig)}

    # routines, in the order of the equations
    constant = {p.var for p in system.parameters}
    prepare = []
    for number, key in enumerate(mass_keys):
        prepare.append(
            Assign(f"w->mass_hist[{number}]", mass_exact[key] / (1.0 - df), "mass in hist")
        )
    for number, key in enumerate(mass_keys):
        prepare.append(Assign(f"w->inertia[{number}]", inertia * mass_exact[key], "inertia"))
    forces = [
        Assign(f"w->force[{n}]", exact_force[i], f"on {names[i]}") for n, i in enumerate(force_keys)
    ]
    for number, key in enumerate(weight_keys):
        label = f"weight of newton: {names[key[0]]}, {names[key[1]]}"
        fixed = set(graph.variables(weight_newton[key])) <= constant
        target = prepare if fixed else forces
        target.append(Assign(f"w->weight_newton[{number}]", weight_newton[key], label))
    for number, key in enumerate(weight_keys):
        value = weight_project.get(key, graph.zero)
        prepare.append(Assign(f"w->weight_project[{number}]", value, "weight of the projection"))

    evaluate_rows = [
        Assign(f"w->trig[{number}]", e, f"of {e.args[0].name or 'an angle'}")
        for number, e in enumerate(trig)
    ]
    by_row: list[list[Assign]] = [[] for _ in range(n_phi)]
    for number, ((r, _), entry) in enumerate(slots):
        by_row[r].append(Assign(f"w->phi_q[{number}]", entry, f"row {r}: {labels[r]}"))
    for r in range(n_phi):
        evaluate_rows.append(Assign(f"w->phi[{r}]", phi[r], f"row {r}: {labels[r]}"))
        evaluate_rows += by_row[r]

    def per_coordinate(array: str, values: list[Expr]) -> list[Assign]:
        return [Assign(f"{array}[Q_{names[i]}]", value) for i, value in enumerate(values)]

    def each(terms) -> list[Expr]:
        return [graph.total(terms(i)) for i in range(n_q)]

    pushed = [graph.stem(lam[r] + phi_var[r], f"push_{r}") for r in range(n_phi)]
    history = each(lambda i: [*times_mass(mass_hist, i, qdd), (df / (1.0 - df), weighted[i])])
    carried = each(lambda i: [(1.0, hist[i]), *times_mass(mass_newton, i, x)])
    residual = each(lambda i: [(-1.0, hist[i]), (1.0, force[i]), *transposed(i, pushed, -1.0)])
    exact = [exact_force.get(i, graph.zero) for i in range(n_q)]
    weigh = each(lambda i: [*transposed(i, lam), (-1.0, exact[i])])
    weigh = [graph.stem(e, f"weighted_{names[i]}") for i, e in enumerate(weigh)]
    reaction_rhs = each(
        lambda i: [
            *((-1.0, e) for _, e in times_mass(mass_project, i, qdd)),
            (-share, weigh[i]),
        ]
    )

    shown = [
        o.path for o in mechanism.outputs if o.kind == "path" and system.values[o.path] not in bind
    ]
    observe = [
        Assign(f"w->observed[{n}]", graph.folded(system.values[path]), path)
        for n, path in enumerate(shown)
    ]
    observed = {system.values[path]: f"w->observed[{n}]" for n, path in enumerate(shown)}

    # every coordinate and multiplier of the mechanism, on demand
    parts = (presolved.q, presolved.qd, presolved.spread(qdd))
    whole = [
        Assign(f"w->all_{array}[{i}]", graph.folded(e), array)
        for array, values in zip(("q", "qd", "qdd"), parts, strict=True)
        for i, e in enumerate(values)
    ]
    for n, e in enumerate(_multipliers(presolved, lam, [unit * w for w in scale], qdd)):
        whole.append(Assign(f"w->all_lam[{n}]", e, "lam"))

    routines = [
        Routine("prepare", "what depends on parameters only", prepare, is_split=True),
        Routine("hold", "internal states of forces, and what they hold for the step", hold(system)),
        Routine(
            "history",
            "what the step start adds to the residual",
            per_coordinate("w->hist", history),
        ),
        Routine("evaluate", "phi and phi_q at q", evaluate_rows),
        Routine("forces", "force at q, qd, and what of the tangent depends on the state", forces),
        Routine("residual", "rhs = -r", per_coordinate("w->rhs", residual)),
        Routine("factorise", "L D L^T of weight + phi_q^T phi_q", factor_assigns, True),
        Routine(
            "solve",
            "x = T^-1 rhs",
            [*forward, *(Assign(f"w->x[Q_{names[i]}]", solution[i], f"x {i}") for i in order[::-1])]
            if is_large
            else per_coordinate("w->x", solution),
            True,
        ),
        Routine(
            "solve_guides",
            "the guided coordinates of T^-1 rhs alone",
            [*forward, *(Assign(f"w->x[Q_{names[i]}]", solution[i]) for i in reversed(last))]
            if last
            else [],
            True,
        ),
        Routine(
            "carry", "hist follows the corrected acceleration", per_coordinate("w->hist", carried)
        ),
        Routine(
            "position_rhs",
            "rhs = -phi_q^T phi",
            per_coordinate("w->rhs", each(lambda i: transposed(i, phi_var, -1.0))),
        ),
        Routine(
            "velocity_rhs",
            "rhs = -phi_q^T phi_dot",
            _row_first(graph, "phi_dot", phi_dot, transposed, names, bind, is_large),
            is_large,
        ),
        Routine(
            "acceleration_rhs",
            "rhs = -phi_q^T phi_ddot",
            _row_first(graph, "phi_ddot", phi_ddot, transposed, names, bind, is_large),
            is_large,
        ),
        Routine(
            "finish",
            "weighted = phi_q^T lam - force; rhs of the index-1 correction F1, from qdd before its"
            " projection; outputs that are expressions",
            [
                *(
                    pair
                    for i in range(n_q)
                    for pair in (
                        Assign(f"s->weighted[Q_{names[i]}]", weigh[i], f"on {names[i]}"),
                        Assign(f"w->rhs[Q_{names[i]}]", reaction_rhs[i], f"on {names[i]}"),
                    )
                ),
                *observe,
            ],
        ),
        Routine(
            "refresh_lam",
            "index-1 update of lam",
            [Assign(f"s->lam[{r}]", lam[r] + phi_ddot[r] / share) for r in range(n_phi)],
        ),
        Routine("unfold", "every coordinate and multiplier of the mechanism", whole, is_split=True),
    ]
    # what depends on parameters alone is computed when they change, not in the step
    derived = parameter_only(routines, {p.var for p in system.parameters})
    routines[0].assigns += [
        Assign(f"w->derived[{n}]", e, "shared by the routines below") for n, e in enumerate(derived)
    ]
    known |= {e: f"w->derived[{n}]" for n, e in enumerate(derived)}
    n_all = len(mechanism.system.coordinates)
    arrays = {
        "guide": 3 * len(system.guides),
        "signal": len(system.signals),
        "par": len(system.parameters),
        "derived": len(derived),
        "held": len(system.held),
        "force": len(force_keys),
        "observed": len(shown),
        "trig": len(trig),
        "phi": n_phi,
        "phi_q": len(slots),
        "phi_dot": n_phi if is_large else 0,
        "phi_ddot": n_phi if is_large else 0,
        "mass_hist": len(mass_keys),
        "inertia": len(mass_keys),
        "weight_newton": len(weight_keys),
        "weight_project": len(weight_keys),
        "hist": n_q,
        "upper": len(lower_keys) if is_large else 0,
        "lower": len(lower_keys),
        "inverse": n_q,
        "rhs": n_q,
        "y": n_q if is_large else 0,
        "x": n_q,
        "all_q": n_all,
        "all_qd": n_all,
        "all_qdd": n_all,
        "all_lam": len(mechanism.system.rows),
    }
    return Program(
        mechanism=mechanism,
        options=options,
        presolved=presolved,
        routines=routines,
        bind=bind,
        known=known,
        observed=observed,
        arrays=arrays,
        scale=scale,
        full_scale=full_scale,
        unit=unit,
        projection_scale=s,
        phi_q=phi_q,
        weight_keys=weight_keys,
        calls=_calls(options, bool(system.guides)),
        is_large=is_large,
    )


def _calls(options: KernelOptions, has_guides: bool) -> list[str | Sweep]:
    """One step in order, as `ali3p.h.in` has it: routines and loops over whole arrays."""
    calls: list[str | Sweep] = [
        "hold", "history",
        Sweep("q", ["s->q", "s->qd", "s->qdd"], ["s->q"], 2),
        Sweep("q", ["s->qd", "s->qdd"], ["s->qd"], 1),
    ]  # fmt: skip
    for iteration in range(options.iterations):
        calls.append("evaluate")
        if iteration > 0:
            calls.append(Sweep("phi", ["s->lam", "w->phi"], ["s->lam"], 1))
        calls += ["forces", "residual", "factorise newton", "solve"]
        for array in ("s->q", "s->qd", "s->qdd"):
            calls.append(Sweep("q", [array, "w->x"], [array], 1))
        if options.tolerance is not None:
            calls.append(Sweep("q", ["w->x"], [], 1))
        if iteration + 1 < options.iterations:
            calls.append("carry")
    calls += [
        "evaluate",
        Sweep("phi", ["s->lam", "w->phi"], ["s->lam"], 1),
        "factorise project", "velocity_rhs", "solve",
        Sweep("q", ["s->qd", "w->x"], ["s->qd"], 1),
        "acceleration_rhs", "solve", "finish",
        Sweep("q", ["s->qdd", "w->x"], ["s->qdd"], 1),
    ]  # fmt: skip
    return [*calls, "solve_guides"] if options.reaction == "F1" and has_guides else calls


def _row_first(graph, array, values, transposed, names, bind, is_large):
    """rhs = -phi_q^T of a value per row; a large mechanism stores the values between."""
    n_q = len(names)
    if not is_large:
        y, stored = values, []
    else:
        y = [graph.var(f"{array} {r}") for r in range(len(values))]
        bind |= {e: f"w->{array}[{r}]" for r, e in enumerate(y)}
        stored = [Assign(f"w->{array}[{r}]", e, f"row {r}") for r, e in enumerate(values)]
    rhs = [graph.total(transposed(i, y, -1.0)) for i in range(n_q)]
    return [*stored, *(Assign(f"w->rhs[Q_{names[i]}]", e) for i, e in enumerate(rhs))]


def _multipliers(presolved, lam: list[Expr], lam_unit: list[float], qdd: list[Expr]) -> list[Expr]:
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
        for i in presolved.dependent:
            terms = [(1.0, full.force.get(i, graph.zero))]
            for (a, b), e in full.mass.items():
                if i in (a, b):
                    terms.append((-1.0, e * spread[b if i == a else a]))
            for r in presolved.kept:
                slope = graph.diff(full.rows[r].phi, full.coordinates[i].q)
                terms.append((-1.0, slope * found[r]))
            rest[i] = graph.substitute(graph.total(terms), moves)
        for r, e in zip(presolved.removed, presolved.recovered(rest), strict=True):
            found[r] = e
    return [found[r] for r in range(len(full.rows))]
