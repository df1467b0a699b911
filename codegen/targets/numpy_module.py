"""Program to a plain NumPy module: the equations as functions, the step with dense linear algebra.

Slow and obvious, for teaching and for checking kernels; it shares the expressions with the kernel,
not the factorisation, the scaling of rows or the sine.
"""

from __future__ import annotations

from pathlib import Path
from string import Template

from codegen.description.outputs import Output
from codegen.equations.program import Program
from codegen.expressions.dag import Expr
from codegen.expressions.emit import NUMPY, Assign, Cost, Emitter
from codegen.system.system import System
from codegen.targets.describe import VERSION, literal, model_info
from rig_configs.plain import comment

CODEGEN = Path(__file__).parents[1]


def text(program: Program) -> str:
    """The .py source: reproducible, without dates or paths."""
    mechanism, options = program.natural or program.mechanism, program.options
    system, graph = mechanism.system, mechanism.system.graph
    q, qd = [c.q for c in system.coordinates], [c.qd for c in system.coordinates]
    moving = dict(zip(q, qd, strict=True))
    guided: dict[Expr, Expr] = {}
    for guide in system.guides:
        position, rate, acceleration = guide.inputs
        guided |= {position: rate, rate: acceleration}
    phi = [row.phi for row in system.rows]
    gamma = [graph.tangent(graph.tangent(e, moving | guided), moving | guided) for e in phi]

    def rows(values: list[Expr]) -> list[Assign]:
        return [
            Assign(f"out[{r}]", e, f"row {r}: {system.rows[r].label}")
            for r, e in enumerate(values)
            if not e.is_zero
        ]

    sliding = {r: row.sliding for r, row in enumerate(system.rows) if row.sliding is not None}
    jacobian = []
    for r, e in sliding.items():
        gamma[r] = graph.tangent(e, moving)
        for i, entry in system.slopes_of_rates(system.rows[r]).items():
            jacobian.append(Assign(f"out[{r}, {i}]", entry, f"row {r}: {system.rows[r].label}"))
    for r, e in enumerate(phi):
        inside = set(graph.variables(e))
        for c in (c for c in system.coordinates if c.q in inside):
            entry = graph.diff(e, c.q)
            if not entry.is_zero:
                label = f"row {r}: {system.rows[r].label}"
                jacobian.append(Assign(f"out[{r}, {c.index}]", entry, label))
    mass = []
    for (i, j), e in sorted(system.mass.items()):
        mass += [Assign(f"out[{a}, {b}]", e) for a, b in sorted({(i, j), (j, i)})]
    damping, stiffness = [], []
    for i, e in sorted(system.force.items()):
        inside = set(graph.variables(e))
        for c in system.coordinates:
            if c.qd in inside:
                damping.append(Assign(f"out[{i}, {c.index}]", -graph.diff(e, c.qd)))
            if c.q in inside:
                stiffness.append(Assign(f"out[{i}, {c.index}]", -graph.diff(e, c.q)))
    force = [Assign(f"out[{i}]", e) for i, e in sorted(system.force.items())]
    hold = [
        Assign(f"after[{n}]", system.updates.get(p.var, p.var), p.path)
        for n, p in enumerate(system.internals)
    ]
    hold += [Assign(f"held[{n}]", h.value, h.path) for n, h in enumerate(system.held)]
    settled = [
        Assign(f"out[{n}]", system.followed[p.var], p.path)
        for n, p in enumerate(system.internals)
        if p.var in system.followed
    ]
    # the energy gain of a kernel's own steps is not the twin's
    compared = [output for output in mechanism.outputs if output.kind != "gain"]
    shown = [
        Assign(f"out[{n}]", _output(system, output), output.port)
        for n, output in enumerate(compared)
    ]
    potential = (
        [Assign("energy", graph.flat(system.potential))] if system.potential is not None else []
    )
    bind = bound(system)

    def body(assigns: list[Assign]) -> str:
        kept = [a for a in assigns if not a.expr.is_zero]
        lines = Emitter(NUMPY, bind).run(kept)[0]
        return "\n".join(f"    {line}" for line in lines) or "    pass"

    dm, df, beta, gamma_n = options.newmark
    parts = ("equations/equations.py.in", *program.twin)
    whole = "\n\n".join((CODEGEN / part).read_text() for part in parts)
    return Template(whole).substitute(
        program.twin_fill,
        version=VERSION,
        name=comment(mechanism.name),
        sha256=mechanism.sha256,
        options=comment(options.text()),
        n_q=len(q),
        n_phi=len(phi),
        n_held=len(system.held),
        n_internal=len(system.internals),
        derives=not system.holds_only_starts,
        n_outputs=len(compared),
        phi=body(rows(phi)),
        phi_q=body(jacobian),
        rate_rows=repr(list(sliding)),
        sliding=body(
            [
                Assign(f"out[{n}]", e, system.rows[r].label)
                for n, (r, e) in enumerate(sliding.items())
            ]
        ),
        gamma=body(rows(gamma)),
        mass=body(mass),
        force=body(force),
        damping=body(damping),
        stiffness=body(stiffness),
        hold=body(hold),
        settled=body(settled),
        outputs=body(shown),
        potential=body(potential),
        dm=repr(dm),
        df=repr(df),
        beta=repr(beta),
        gamma_newmark=repr(gamma_n),
        step_s=repr(options.inner_step_s),
        substeps=options.substeps,
        alpha=literal([program.unit * w * w for w in program.full_scale]),
        projection_scale=repr(program.projection_scale),
        penalty_share=repr(program.projection_scale / (1.0 - dm)),
        iterations=options.iterations,
        tolerance=repr(options.tolerance or 0.0),
        projection=repr(options.projection),
        reuse=repr(options.reuse),
        reaction=repr(options.reaction),
        guides=literal([(g.row, g.coordinate.index) for g in system.guides]),
        parameters=literal([(p.path, p.default) for p in system.parameters]),
        signals_0=literal([p.default for p in system.signals]),
        internal_0=literal([p.default for p in system.internals]),
        q_0=literal([c.initial for c in system.coordinates]),
        qd_0=literal([c.initial_rate for c in system.coordinates]),
        write_ports=literal([o.port for o in compared]),
        model_info=literal(model_info(program, Cost())),
    )


def _output(system: System, output: Output) -> Expr:
    if output.kind == "undetermined":
        return system.graph.zero  # the twin settles no singular poses
    if output.kind == "path":
        return system.values[output.path]
    if output.kind == "reaction":
        return system.graph.var(f"reaction {output.index}")
    coordinate = system.coordinates[output.index]
    if output.kind == "acceleration":
        return system.graph.var(f"qdd {output.index}")
    return coordinate.q if output.kind == "value" else coordinate.qd


def bound(system: System) -> dict[Expr, str]:
    graph = system.graph
    bind: dict[Expr, str] = {system.step_s: "STEP_S", system.since_s: "held[-1]"}
    for c in system.coordinates:
        bind |= {c.q: f"q[{c.index}]", c.qd: f"qd[{c.index}]"}
        bind[graph.var(f"qdd {c.index}")] = f"qdd[{c.index}]"
    for r in range(len(system.rows)):
        bind[system.row_multiplier(r)] = f"row_lam[{r}]"
    for n, guide in enumerate(system.guides):
        bind |= {var: f"guide[{3 * n + part}]" for part, var in enumerate(guide.inputs)}
        bind[graph.var(f"reaction {n}")] = f"reaction[{n}]"
    for array, quantities in (
        ("par", system.parameters),
        ("signal", system.signals),
        ("internal", system.internals),
        ("held", system.held),
    ):
        bind |= {quantity.var: f"{array}[{n}]" for n, quantity in enumerate(quantities)}  # type: ignore[attr-defined]
    return bind
