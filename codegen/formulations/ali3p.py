"""Index-3 augmented Lagrangian with mass-orthogonal projections (ALI3-P), generalised-alpha or
trapezoidal Newmark.

Everything is divided by the force unit a0 and every row i scaled by w_i, with penalties alpha_i =
a0 w_i^2, so that no penalty appears in the code (phi' = w phi, lam' = lam/(a0 w), mass' = M/a0,
force' = Q/a0):

    residual    r = ((1-dm) mass' qdd + hist)/(1-df) + phi_q'^T (lam' + phi') - force'
    tangent     T = (1-dm)/((1-df) b h^2) mass' + g/(b h) C' + K' + phi_q'^T phi_q'
    projection  T_p = (1-dm)/s mass' + phi_q'^T phi_q'
    F1          T_p d = -((1-dm)/s) (mass' qdd + weighted) - phi_q'^T phidd',
                lam_F1' = lam' + s/(1-dm) phidd'(qdd + d),      weighted = phi_q'^T lam' - force'

Source: Bayo and Ledesma 1996; Cuadrado et al. 2000; Dopico et al. 2014; Chung and Hulbert 1993.
"""

from __future__ import annotations

import math

import numpy as np

from codegen.dag import Expr
from codegen.elimination import Entries, factorise, order_pattern, substitute
from codegen.emit import Assign
from codegen.mechanism import Mechanism
from codegen.options import KernelOptions
from codegen.pose import built_pose
from codegen.program import Program, Routine
from codegen.system import System


def build(mechanism: Mechanism, options: KernelOptions) -> Program:
    """Discretise `mechanism`: the routines of one step as expressions."""
    system = mechanism.system
    graph = system.graph
    dm, df, beta, gamma = options.newmark
    h = options.step_s
    n_q, n_phi = len(system.coordinates), len(system.rows)
    coordinates, labels = system.coordinates, [row.label for row in system.rows]
    names = [c.name for c in coordinates]
    q, qd = [c.q for c in coordinates], [c.qd for c in coordinates]

    def family(array: str, count: int) -> list[Expr]:
        return [graph.var(f"{array} {i}") for i in range(count)]

    scale, unit = _penalties(system, options)
    s = (1.0 - dm) if options.alpha is not None else (1.0 - df) * beta * h * h

    # constraints, scaled, with their Jacobian as stored nonzeros or constants
    phi = [w * row.phi for w, row in zip(scale, system.rows, strict=True)]
    exact_phi_q: Entries = {}
    phi_q: Entries = {}
    slots: list[tuple[tuple[int, int], Expr]] = []
    for r, value in enumerate(phi):
        inside = set(graph.variables(value))
        for c in coordinates:
            if c.q not in inside:
                continue
            entry = graph.diff(value, c.q)
            if entry.is_zero:
                continue
            exact_phi_q[r, c.index] = entry
            if entry.is_const:
                phi_q[r, c.index] = entry
            else:
                slots.append(((r, c.index), entry))
                phi_q[r, c.index] = graph.var(f"phi_q {r} {c.name}")
    columns = {i: [r for r in range(n_phi) if (r, i) in phi_q] for i in range(n_q)}
    rows = {r: [i for i in range(n_q) if (r, i) in phi_q] for r in range(n_phi)}

    def transposed(i: int, y: list[Expr]) -> list[tuple[float, Expr]]:
        """Terms of (phi_q^T y)_i."""
        return [(1.0, phi_q[r, i] * y[r]) for r in columns[i]]

    # time derivatives of the constraints; guide inputs move too
    moving = dict(zip(q, qd, strict=True))
    guided: dict[Expr, Expr] = {}
    for guide in system.guides:
        position, rate, acceleration = guide.inputs
        guided |= {position: rate, rate: acceleration}
    phi_t = [graph.tangent(value, guided) for value in phi]
    phi_dot = [
        graph.total([(1.0, phi_q[r, i] * qd[i]) for i in rows[r]] + [(1.0, phi_t[r])])
        for r in range(n_phi)
    ]
    gamma_exact = [
        graph.tangent(graph.tangent(value, moving | guided), moving | guided) for value in phi
    ]
    gamma_var = [e if e.is_const else graph.var(f"gamma {r}") for r, e in enumerate(gamma_exact)]
    qdd, lam = family("qdd", n_q), family("lam", n_phi)
    phi_var = family("phi", n_phi)
    phi_ddot = [
        graph.total([(1.0, phi_q[r, i] * qdd[i]) for i in rows[r]] + [(1.0, gamma_var[r])])
        for r in range(n_phi)
    ]
    for r in range(n_phi):
        graph.stem(phi_dot[r], f"phi_dot_{r}")
        graph.stem(phi_ddot[r], f"phi_ddot_{r}")

    # mass' and force', and what they give at qdd
    mass_keys = sorted(system.mass)
    mass_exact = {key: system.mass[key] / unit for key in mass_keys}
    mass_var = {key: graph.var(f"mass {key[0]} {key[1]}") for key in mass_keys}
    mass_qdd: list[Expr] = []
    for i in range(n_q):
        terms = []
        for a, b in mass_keys:
            if i in (a, b):
                terms.append((1.0, mass_var[a, b] * qdd[b if i == a else a]))
        mass_qdd.append(graph.total(terms))
    force_keys = sorted(i for i, e in system.force.items() if not e.is_zero)
    force = [graph.var(f"force {i}") if i in force_keys else graph.zero for i in range(n_q)]

    # tangent: weights of newton and projection on one pattern
    weight_newton = _weights(system, mass_exact, (1.0 - dm) / ((1.0 - df) * beta * h * h))
    for i, j, damping, stiffness in _force_tangent(system):
        entry = (gamma / (beta * h) * damping + stiffness) / unit
        weight_newton[i, j] = weight_newton.get((i, j), graph.zero) + entry
    weight_project = _weights(system, mass_exact, (1.0 - dm) / s)
    weight_keys = sorted(weight_newton)
    weight_var = {key: graph.var(f"weight {key[0]} {key[1]}") for key in weight_keys}
    matrix: Entries = {}
    for r in range(n_phi):
        for i in rows[r]:
            for j in rows[r]:
                if i <= j:
                    matrix.setdefault((i, j), graph.zero)
    matrix |= {key: graph.zero for key in weight_keys if key not in matrix}
    for i, j in sorted(matrix):
        shared = [(1.0, phi_q[r, i] * phi_q[r, j]) for r in columns[i] if (r, j) in phi_q]
        weight = [(1.0, weight_var[i, j])] if (i, j) in weight_var else []
        matrix[i, j] = graph.stem(graph.total(weight + shared), f"t_{names[i]}_{names[j]}")

    last = [guide.coordinate.index for guide in system.guides]
    order = order_pattern(n_q, set(matrix), last)
    factor = factorise(graph, matrix, order, names)
    lower_keys = sorted(factor.lower, key=lambda key: (order.index(key[1]), order.index(key[0])))
    lower_var, lower_assigns = {}, []
    for number, key in enumerate(lower_keys):
        entry = factor.lower[key]
        lower_var[key] = entry if entry.is_const else graph.var(f"lower {key[0]} {key[1]}")
        lower_assigns.append(Assign(f"w.lower[{number}]", entry, f"column {names[key[1]]}"))
    inverse_var = {
        k: e if e.is_const else graph.var(f"inverse {k}") for k, e in factor.inverse.items()
    }
    rhs = family("rhs", n_q)
    solution = substitute(graph, factor, lower_var, inverse_var, dict(enumerate(rhs)))

    # where everything lives
    bind: dict[Expr, str] = {}
    for c in coordinates:
        bind |= {c.q: f"s.q[Q_{c.name}]", c.qd: f"s.qd[Q_{c.name}]"}
        bind[qdd[c.index]] = f"s.qdd[Q_{c.name}]"
        bind[rhs[c.index]] = f"w.rhs[Q_{c.name}]"
    for r in range(n_phi):
        bind |= {lam[r]: f"s.lam[{r}]", phi_var[r]: f"w.phi[{r}]"}
        bind[graph.var(f"gamma {r}")] = f"w.gamma[{r}]"
    for number, (key, _) in enumerate(slots):
        bind[phi_q[key]] = f"w.phi_q[{number}]"
    for number, i in enumerate(force_keys):
        bind[force[i]] = f"w.force[{number}]"
    for number, (i, j) in enumerate(mass_keys):
        bind[mass_var[i, j]] = f"w.mass[{number}]"
    for number, (i, j) in enumerate(weight_keys):
        bind[weight_var[i, j]] = f"weight[{number}]"
    for number, key in enumerate(lower_keys):
        bind[graph.var(f"lower {key[0]} {key[1]}")] = f"w.lower[{number}]"
    for k in range(n_q):
        bind[graph.var(f"inverse {k}")] = f"w.inverse[Q_{names[k]}]"
    for number, guide in enumerate(system.guides):
        for part, var in enumerate(guide.inputs):
            bind[var] = f"w.guide[{3 * number + part}]"
    for array, quantities in (("par", system.parameters), ("signal", system.signals)):
        for number, quantity in enumerate(quantities):
            bind[quantity.var] = f"w.{array}[{number}]"
    for number, quantity in enumerate(system.internals):
        bind[quantity.var] = f"s.internal[{number}]"
    for number, held in enumerate(system.held):
        bind[held.var] = f"w.held[{number}]"
    bind[system.step_s] = repr(h)
    trig = _trigonometric([*phi, *(e for _, e in slots)])
    known = {e: f"w.trig[{number}]" for number, e in enumerate(trig)}

    # routines, in the order of the equations
    constant = {bind[p.var] for p in system.parameters}
    prepare = [
        Assign(f"w.mass[{n}]", mass_exact[key], "mass / unit") for n, key in enumerate(mass_keys)
    ]
    forces = [
        Assign(f"w.force[{n}]", system.force[i] / unit, f"on {names[i]}")
        for n, i in enumerate(force_keys)
    ]
    for number, key in enumerate(weight_keys):
        label = f"weight of newton: {names[key[0]]}, {names[key[1]]}"
        fixed = all(bind[v] in constant for v in graph.variables(weight_newton[key]))
        target = prepare if fixed else forces
        target.append(Assign(f"w.weight_newton[{number}]", weight_newton[key], label))
    for number, key in enumerate(weight_keys):
        value = weight_project.get(key, graph.zero)
        prepare.append(Assign(f"w.weight_project[{number}]", value, "weight of the projection"))

    evaluate_rows = [
        Assign(f"w.trig[{number}]", e, "sines and cosines") for number, e in enumerate(trig)
    ]
    for r in range(n_phi):
        label = f"row {r}: {labels[r]}"
        evaluate_rows.append(Assign(f"w.phi[{r}]", phi[r], label))
        for number, ((row, _), entry) in enumerate(slots):
            if row == r:
                evaluate_rows.append(Assign(f"w.phi_q[{number}]", entry, label))

    def per_coordinate(array: str, values: list[Expr]) -> list[Assign]:
        return [Assign(f"{array}[Q_{names[i]}]", value) for i, value in enumerate(values)]

    pushed = [graph.stem(lam[r] + phi_var[r], f"push_{r}") for r in range(n_phi)]
    hist = family("hist", n_q)
    bind |= {hist[i]: f"w.hist[Q_{names[i]}]" for i in range(n_q)}
    weighted = family("weighted", n_q)
    bind |= {weighted[i]: f"s.weighted[Q_{names[i]}]" for i in range(n_q)}
    ratio = (1.0 - dm) / (1.0 - df)
    residual = [
        graph.total(
            [(-ratio, mass_qdd[i]), (-1.0, hist[i]), (1.0, force[i])]
            + [(-c, e) for c, e in transposed(i, pushed)]
        )
        for i in range(n_q)
    ]
    history = [
        (dm / (1.0 - df)) * mass_qdd[i] + (df / (1.0 - df)) * weighted[i] for i in range(n_q)
    ]
    velocity = [graph.total((-c, e) for c, e in transposed(i, phi_dot)) for i in range(n_q)]
    acceleration_error = [
        graph.total((-c, e) for c, e in transposed(i, phi_ddot)) for i in range(n_q)
    ]
    position_error = [graph.total((-c, e) for c, e in transposed(i, phi_var)) for i in range(n_q)]
    weigh = [graph.total([*transposed(i, lam), (-1.0, force[i])]) for i in range(n_q)]
    reaction_rhs = [
        graph.total(
            [(-(1.0 - dm) / s, graph.total([(1.0, mass_qdd[i]), (1.0, weighted[i])]))]
            + [(-c, e) for c, e in transposed(i, phi_ddot)]
        )
        for i in range(n_q)
    ]
    refresh = [Assign(f"s.lam[{r}]", lam[r] + (s / (1.0 - dm)) * phi_ddot[r]) for r in range(n_phi)]

    shown = [
        o.path for o in mechanism.outputs if o.kind == "path" and system.values[o.path] not in bind
    ]
    observe = [
        Assign(f"w.observed[{n}]", system.values[path], path) for n, path in enumerate(shown)
    ]
    bind |= {system.values[path]: f"w.observed[{n}]" for n, path in enumerate(shown)}

    routines = [
        Routine("prepare", "what depends on parameters only", prepare),
        Routine(
            "hold", "internal states of forces, and what they hold for the step", _hold(system)
        ),
        Routine(
            "history", "what the step start adds to the residual", per_coordinate("w.hist", history)
        ),
        Routine("evaluate", "phi and phi_q at q", evaluate_rows),
        Routine("forces", "force at q, qd, and what of the tangent depends on the state", forces),
        Routine("residual", "rhs = -r", per_coordinate("w.rhs", residual)),
        Routine(
            "factorise",
            "L D L^T of weight + phi_q^T phi_q",
            [
                *lower_assigns,
                *(Assign(f"w.inverse[Q_{names[k]}]", factor.inverse[k], "pivots") for k in order),
            ],
        ),
        Routine("solve", "x = T^-1 rhs", per_coordinate("w.x", [solution[i] for i in range(n_q)])),
        Routine(
            "solve_guides",
            "the guided coordinates of T^-1 rhs alone",
            [Assign(f"w.x[Q_{names[i]}]", solution[i]) for i in last],
        ),
        Routine("position_rhs", "rhs = -phi_q^T phi", per_coordinate("w.rhs", position_error)),
        Routine("velocity_rhs", "rhs = -phi_q^T phi_dot", per_coordinate("w.rhs", velocity)),
        Routine(
            "gamma",
            "phi_q_dot qd + phi_tt",
            [
                Assign(f"w.gamma[{r}]", e, f"row {r}: {labels[r]}")
                for r, e in enumerate(gamma_exact)
                if not e.is_const
            ],
        ),
        Routine(
            "acceleration_rhs",
            "rhs = -phi_q^T phi_ddot",
            per_coordinate("w.rhs", acceleration_error),
        ),
        Routine("weigh", "weighted = phi_q^T lam - force", per_coordinate("s.weighted", weigh)),
        Routine(
            "reaction_rhs",
            "rhs of the index-1 correction F1",
            per_coordinate("w.rhs", reaction_rhs),
        ),
        Routine("observe", "outputs that are expressions", observe),
        Routine("refresh_lam", "index-1 update of lam", refresh),
    ]
    # what depends on parameters alone is computed when they change, not in the step
    derived = _parameter_only(routines, {p.var for p in system.parameters})
    routines[0].assigns += [
        Assign(f"w.derived[{n}]", e, "shared by the routines below") for n, e in enumerate(derived)
    ]
    known |= {e: f"w.derived[{n}]" for n, e in enumerate(derived)}
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
        "gamma": n_phi,
        "mass": len(mass_keys),
        "weight_newton": len(weight_keys),
        "weight_project": len(weight_keys),
        "hist": n_q,
        "lower": len(lower_keys),
        "inverse": n_q,
        "rhs": n_q,
        "x": n_q,
    }
    n = options.iterations
    calls = [
        ("hold", 1),
        ("history", 1),
        ("evaluate", n + 1),
        ("forces", n + 1),
        ("residual", n),
        ("factorise", n + 1),
        ("solve", n + 2),
        ("velocity_rhs", 1),
        ("gamma", 1),
        ("acceleration_rhs", 1),
        ("weigh", 1),
        ("observe", 1),
    ]
    if options.reaction == "F1" and system.guides:
        calls += [("reaction_rhs", 1), ("solve_guides", 1)]
    return Program(
        mechanism,
        options,
        routines,
        bind,
        known,
        arrays,
        scale,
        unit,
        s,
        factor,
        exact_phi_q,
        calls,
    )


def _hold(system: System) -> list[Assign]:
    assigns = []
    for number, internal in enumerate(system.internals):
        value = system.updates[internal.var]
        assigns.append(Assign(f"after.internal[{number}]", value, internal.path))
    for number, held in enumerate(system.held):
        assigns.append(Assign(f"w.held[{number}]", held.value, held.path))
    return assigns


def _weights(system: System, mass: dict[tuple[int, int], Expr], factor: float) -> Entries:
    return {key: factor * entry for key, entry in mass.items()}


def _force_tangent(system: System) -> list[tuple[int, int, Expr, Expr]]:
    """Symmetrised damping -dQ/dqd and stiffness -dQ/dq, upper triangle."""
    graph = system.graph
    damping: Entries = {}
    stiffness: Entries = {}
    for i, value in system.force.items():
        inside = set(graph.variables(value))
        for c in system.coordinates:
            key = (min(i, c.index), max(i, c.index))
            share = 1.0 if i == c.index else 0.5
            for entries, var in ((damping, c.qd), (stiffness, c.q)):
                if var in inside:
                    entry = -share * graph.diff(value, var)
                    entries[key] = entries.get(key, graph.zero) + entry
    keys = sorted(damping.keys() | stiffness.keys())
    zero = graph.zero
    found = [(i, j, damping.get((i, j), zero), stiffness.get((i, j), zero)) for i, j in keys]
    return [entry for entry in found if not (entry[2].is_zero and entry[3].is_zero)]


def _trigonometric(exprs: list[Expr]) -> list[Expr]:
    found: set[Expr] = set()
    seen: set[Expr] = set()
    stack = list(exprs)
    while stack:
        e = stack.pop()
        if e not in seen:
            seen.add(e)
            stack.extend(e.args)
            if e.op in ("sin", "cos"):
                found.add(e)
    return sorted(found, key=lambda e: e.serial)


def _parameter_only(routines: list[Routine], parameters: set[Expr]) -> list[Expr]:
    """The largest parts of all routines but `prepare` that contain parameters and nothing that
    moves.
    """
    fixed: dict[Expr, bool] = {}
    found: set[Expr] = set()

    def is_fixed(e: Expr) -> bool:
        if e not in fixed:
            fixed[e] = e.op == "const" or e in parameters
            if e.args:
                fixed[e] = all(is_fixed(arg) for arg in e.args)
        return fixed[e]

    seen: set[Expr] = set()
    stack = [a.expr for routine in routines if routine.name != "prepare" for a in routine.assigns]
    while stack:
        e = stack.pop()
        if e in seen:
            continue
        seen.add(e)
        if not is_fixed(e):
            stack.extend(e.args)
        elif e.op not in ("const", "var"):
            found.add(e)
    return sorted(found, key=lambda e: e.serial)


def _penalties(system: System, options: KernelOptions) -> tuple[list[float], float]:
    """Row scales w_i and force unit a0, so that alpha_i = a0 w_i^2.

    With kappa, alpha_i = kappa m_i / (beta h^2), where m_i is the inertia that row i feels at the
    built pose when all other rows hold, (S^+)_ii with S = phi_q mass^-1 phi_q^T, and at least what
    it feels alone, 1/S_ii. A row that feels none takes the largest of the rows that share its
    coordinates.
    """
    n_phi = len(system.rows)
    if options.alpha is not None:
        return [1.0] * n_phi, options.alpha
    _, _, beta, _ = options.newmark
    kappa = options.kappa if options.kappa is not None else 1e6
    unit = kappa / (beta * options.step_s**2)
    jac, mass = built_pose(system)
    diagonal = np.diag(mass)
    if n_phi == 0 or not diagonal.any():
        return [1.0] * n_phi, unit
    # a trace of mass on massless coordinates makes the inverse exist
    floor = 1e-6 * diagonal.max() * np.eye(len(mass))
    together = np.diag(np.linalg.pinv(jac @ np.linalg.solve(mass + floor, jac.T)))
    mobile = np.where(diagonal > 0.0, 1.0 / np.where(diagonal > 0.0, diagonal, 1.0), 0.0)
    mobility = (jac**2) @ mobile
    alone = np.where(mobility > 0.0, 1.0 / np.where(mobility > 0.0, mobility, 1.0), 0.0)
    shares = (np.abs(jac) @ np.abs(jac.T)) > 0.0
    while not alone.all():
        spread = np.where(alone > 0.0, alone, np.max(np.where(shares, alone, 0.0), axis=1))
        if np.array_equal(spread, alone):
            alone = np.where(alone > 0.0, alone, alone.max())
        else:
            alone = spread
    # three digits are plenty for a penalty, and hide what linear algebra libraries differ in
    return [float(f"{math.sqrt(m):.3g}") for m in np.maximum(together, alone)], unit
