"""The equations of a mechanism as every formulation needs them: scaled, sparse, bound to arrays.

Everything is divided by the force unit a0 and every row i scaled by w_i, with penalties alpha_i =
a0 w_i^2, so that no penalty appears in the code: phi' = w phi, lam' = lam/(a0 w), mass' = M/a0,
force' = Q/a0. Variables of the graph stand for stored values: `phi r`, `phi_q r c`, `force i`, …
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from codegen.description.mechanism import Mechanism
from codegen.equations.forces import hold, settle
from codegen.equations.precomputed import parameter_only, trigonometric
from codegen.equations.presolve import Presolved, presolve
from codegen.equations.program import Program, Routine
from codegen.expressions.dag import Expr, Graph
from codegen.expressions.elimination import Entries
from codegen.expressions.emit import Assign
from codegen.expressions.folding import folded
from codegen.options.options import KernelOptions
from codegen.pose.penalty import penalties
from codegen.system.system import System

LARGE = 64  # coordinates; from here on routines are rolled into loops

Terms = list[tuple[float, Expr]]


@dataclass
class Equations:
    """Constraints with their derivatives, mass and forces, and where each lives.

    Attributes
    ----------
    phi, phi_dot, phi_ddot : list of Expr
        Scaled rows and their time derivatives, over q, qd, `qdd` and the guide inputs.
    sliding : dict of int to Expr
        Of rows of rates alone, whose phi is zero: the same as phi_dot, as it is written.
    phi_q : dict of (row, coordinate) to Expr
        Jacobian: constants, and variables of the stored nonzeros `slots`.
    columns, rows : list of list of int
        Rows of each coordinate, coordinates of each row.
    mass : dict of (coordinate, coordinate) to Expr
        Nonzeros of mass' over parameters, upper triangle; `in_mass` has those of each coordinate's
        row, each with the coordinate that it multiplies.
    force : list of Expr
        A stored variable or zero per coordinate; `exact_force` has their expressions.
    wanted_rows : list of int
        Rows of the whole mechanism whose multipliers outputs show, `w->row_lam`.
    bind, known, arrays
        See `codegen.equations.program.Program`.
    """

    mechanism: Mechanism
    options: KernelOptions
    presolved: Presolved
    system: System
    graph: Graph
    names: list[str]
    scale: list[float]
    full_scale: list[float]
    unit: float
    is_large: bool
    q: list[Expr]
    qd: list[Expr]
    qdd: list[Expr]
    lam: list[Expr]
    phi_var: list[Expr]
    phi: list[Expr]
    sliding: dict[int, Expr] = field(default_factory=dict)
    phi_dot: list[Expr] = field(default_factory=list)
    phi_ddot: list[Expr] = field(default_factory=list)
    phi_q: Entries = field(default_factory=dict)
    slots: list[tuple[tuple[int, int], Expr]] = field(default_factory=list)
    columns: list[list[int]] = field(default_factory=list)
    rows: list[list[int]] = field(default_factory=list)
    mass: Entries = field(default_factory=dict)
    in_mass: list[list[tuple[tuple[int, int], int]]] = field(default_factory=list)
    force: list[Expr] = field(default_factory=list)
    exact_force: dict[int, Expr] = field(default_factory=dict)
    moving: dict[Expr, Expr] = field(default_factory=dict)
    guided: dict[Expr, Expr] = field(default_factory=dict)
    shown: list[str] = field(default_factory=list)
    wanted_rows: list[int] = field(default_factory=list)
    bind: dict[Expr, str] = field(default_factory=dict)
    known: dict[Expr, str] = field(default_factory=dict)
    arrays: dict[str, int] = field(default_factory=dict)

    def family(self, array: str, count: int) -> list[Expr]:
        """Variables of an array, one an element."""
        return [self.graph.var(f"{array} {i}") for i in range(count)]

    def coordinate_array(self, array: str, where: str) -> list[Expr]:
        """Variables of an array with one element a coordinate, bound to `where`."""
        values = self.family(array, len(self.q))
        self.bind |= {e: f"{where}[Q_{n}]" for e, n in zip(values, self.names, strict=True)}
        return values

    def transposed(self, i: int, y: Sequence[Expr], sign: float = 1.0) -> Terms:
        """Terms of (phi_q^T y)_i."""
        return [(sign, self.phi_q[r, i] * y[r]) for r in self.columns[i]]

    def stored_mass(self, array: str, where: Callable[[int, tuple[int, int]], str]) -> Entries:
        """Variables for multiples of the mass matrix's nonzeros, bound to `where(number, key)`."""
        entries = {key: self.graph.var(f"{array} {key[0]} {key[1]}") for key in self.mass}
        for number, (key, e) in enumerate(entries.items()):
            self.bind[e] = where(number, key)
        return entries

    def times_mass(self, entries: Entries, i: int, values: Sequence[Expr]) -> Terms:
        """Terms of (entries values)_i, with `entries` on the pattern of the mass matrix."""
        return [(1.0, entries[key] * values[j]) for key, j in self.in_mass[i]]

    def each(self, terms: Callable[[int], Terms]) -> list[Expr]:
        """A sum of terms for each coordinate."""
        return [self.graph.total(terms(i)) for i in range(len(self.q))]

    def per_coordinate(self, array: str, values: list[Expr]) -> list[Assign]:
        return [Assign(f"{array}[Q_{self.names[i]}]", value) for i, value in enumerate(values)]

    def row_first(
        self,
        array: str,
        values: list[Expr],
        more: Callable[[int], Terms] | None = None,
        *,
        is_kept: bool = False,
    ) -> list[Assign]:
        """rhs = -phi_q^T of a value per row, and `more` terms of a coordinate. The values are stored
        where another routine reads them (`is_kept`), and between in a large mechanism.
        """
        is_stored = is_kept or self.is_large
        y, stored = self.family(array, len(values)), []
        if is_stored:
            self.bind |= {e: f"w->{array}[{r}]" for r, e in enumerate(y)}
            stored = [Assign(f"w->{array}[{r}]", e, f"row {r}") for r, e in enumerate(values)]
        self.arrays[array] = len(values) if is_stored else 0
        y = y if self.is_large else values
        rhs = self.each(lambda i: [*(more(i) if more else []), *self.transposed(i, y, -1.0)])
        return [*stored, *self.per_coordinate("w->rhs", rhs)]

    @property
    def moves(self) -> bool:
        """Return whether the mass matrix depends on the pose, as over joint coordinates."""
        return mass_moves(self.system)

    def evaluate_routine(self, weights: Sequence[Assign] = ()) -> Routine:
        """phi and phi_q at q, and weights with a mass matrix that depends on q."""
        labels = [row.label for row in self.system.rows]
        assigns = [
            Assign(where, e, f"of {e.args[0].name or 'an angle'}")
            for e, where in self.known.items()
            if where.startswith("w->trig")
        ]
        by_row: list[list[Assign]] = [[] for _ in self.phi]
        for number, ((r, _), entry) in enumerate(self.slots):
            by_row[r].append(Assign(f"w->phi_q[{number}]", entry, f"row {r}: {labels[r]}"))
        for r, value in enumerate(self.phi):
            assigns.append(Assign(f"w->phi[{r}]", value, f"row {r}: {labels[r]}"))
            assigns += by_row[r]
        title = "phi and phi_q at q" + (", and the mass there" if weights else "")
        return Routine("evaluate", title, [*assigns, *weights])

    def velocity_routine(self) -> Routine:
        """Right side of the projection of rates."""
        assigns = self.row_first("phi_dot", self.phi_dot)
        return Routine("velocity_rhs", "rhs = -phi_q^T phi_dot", assigns, self.is_large)

    def store_derived(self, routines: list[Routine]) -> None:
        """Compute values that depend on parameters alone when those change, in the first routine
        (`prepare`), and not in the step.
        """
        derived = parameter_only(routines, {p.var for p in self.system.parameters})
        prepare = next(routine for routine in routines if routine.name == "prepare")
        for number, e in enumerate(derived):
            self.known[e] = f"w->derived[{number}]"
            prepare.assigns.append(Assign(self.known[e], e, "shared by the routines below"))
        self.arrays["derived"] = len(derived)

    def force_assigns(self) -> list[Assign]:
        return [
            Assign(f"w->force[{n}]", e, f"on {self.names[i]}")
            for n, (i, e) in enumerate(self.exact_force.items())
        ]

    def hold_routine(self) -> Routine:
        title = "internal states of forces, and what they hold for the step"
        return Routine("hold", title, hold(self.system))

    def settle_assigns(self) -> list[Assign]:
        """States that forces follow through the step, at its end."""
        return settle(self.system)

    def since(self, value: str) -> list[str]:
        """Line of C that sets the time since the held values were computed; none if nobody asks."""
        return [f"w->since[0] = {value};"] if self.system.followed else []

    def observe_assigns(
        self, *, is_late: bool | None = None, moved: Mapping[Expr, Expr] | None = None
    ) -> list[Assign]:
        """Outputs that are expressions; only those that `waits` is about (True), or only the others
        (False). `moved` has other accelerations for them.
        """
        values, graph = self.system.values, self.graph
        return [
            Assign(
                f"w->observed[{n}]",
                folded(graph.substitute(values[path], moved) if moved else values[path]),
                path,
            )
            for n, path in enumerate(self.shown)
            if is_late is None or is_late == self.waits(path)
        ]

    def waits(self, path: str) -> bool:
        """Return whether an output follows from multipliers of rows, or from accelerations, of the step's end."""
        value = self.system.values[path]
        is_moving = self.moves and not set(self.qdd).isdisjoint(self.graph.variables(value))
        return is_moving or bool(_rows_in(self.graph, value))

    @property
    def has_late(self) -> bool:
        """Return whether outputs wait for the multipliers of the step's end."""
        return bool(self.wanted_rows) or any(self.waits(path) for path in self.shown)

    def reaction_cells(self) -> dict[str, str]:
        """Return the places of outputs that contain multipliers of rows, by their paths."""
        values, found = self.system.values, {}
        rows = {self.system.row_multiplier(r): n for n, r in enumerate(self.wanted_rows)}
        for path in _paths(self.mechanism):
            if values[path] in rows:
                found[path] = f"w->row_lam[{rows[values[path]]}]"
            elif _rows_in(self.graph, values[path]):
                found[path] = f"w->observed[{self.shown.index(path)}]"
        return found

    def program(self, routines: list[Routine], **rest: Any) -> Program:
        """Return the program of these routines, with what every formulation takes from the equations."""
        return Program(
            mechanism=self.mechanism,
            options=self.options,
            presolved=self.presolved,
            routines=routines,
            bind=self.bind,
            known=self.known,
            observed=self.observed(),
            arrays=self.arrays,
            scale=self.scale,
            full_scale=self.full_scale,
            unit=self.unit,
            phi_q=self.phi_q,
            is_large=self.is_large,
            reactions=self.reaction_cells(),
            **rest,
        )

    def observed(self) -> dict[Expr, str]:
        values = self.system.values
        return {values[path]: f"w->observed[{n}]" for n, path in enumerate(self.shown)}


def equations(mechanism: Mechanism, options: KernelOptions) -> Equations:
    """Scale and differentiate the equations of a mechanism."""
    # linear rows of a mass matrix that depends on the pose stay
    moves = mass_moves(mechanism.system)
    presolved = presolve(mechanism.system, wanted=options.presolve and not moves)
    system = presolved.system
    graph = system.graph
    coordinates = system.coordinates
    n_q, n_phi = len(coordinates), len(system.rows)
    full_scale, unit = penalties(mechanism.system, options)
    scale = [full_scale[r] for r in presolved.kept]
    eq = Equations(
        mechanism=mechanism,
        options=options,
        presolved=presolved,
        system=system,
        graph=graph,
        names=[c.name for c in coordinates],
        scale=scale,
        full_scale=full_scale,
        unit=unit,
        is_large=n_q > LARGE,
        q=[c.q for c in coordinates],
        qd=[c.qd for c in coordinates],
        qdd=[graph.var(f"qdd {i}") for i in range(n_q)],
        lam=[graph.var(f"lam {r}") for r in range(n_phi)],
        phi_var=[graph.var(f"phi {r}") for r in range(n_phi)],
        phi=[
            folded(row.phi, w, with_gradient=True)
            for w, row in zip(scale, system.rows, strict=True)
        ],
        sliding={
            r: folded(row.sliding, w)
            for r, (w, row) in enumerate(zip(scale, system.rows, strict=True))
            if row.sliding is not None
        },
    )
    _differentiate(eq)
    _add_dynamics(eq)
    _bind(eq)
    return eq


def mass_moves(system: System) -> bool:
    """Return whether a mass matrix depends on the pose."""
    coordinates = {c.q for c in system.coordinates}
    return any(v in coordinates for e in system.mass.values() for v in system.graph.variables(e))


def _differentiate(eq: Equations) -> None:
    graph, index_of = eq.graph, {v: i for i, v in enumerate(eq.q)}
    eq.columns = [[] for _ in eq.q]
    eq.rows = [[] for _ in eq.phi]
    rate_of = {v: i for i, v in enumerate(eq.qd)}
    for r, value in enumerate(eq.phi):
        if r in eq.sliding:
            value, over, index = eq.sliding[r], eq.qd, rate_of
        else:
            over, index = eq.q, index_of
        for i in sorted(index[v] for v in graph.variables(value) if v in index):
            entry = folded(graph.diff(value, over[i]))
            if entry.is_zero:
                continue
            eq.columns[i].append(r)
            eq.rows[r].append(i)
            if entry.is_const:
                eq.phi_q[r, i] = entry
            else:
                eq.slots.append(((r, i), entry))
                eq.phi_q[r, i] = graph.var(f"phi_q {r} {eq.names[i]}")
    # guide inputs move too
    eq.moving = dict(zip(eq.q, eq.qd, strict=True))
    for guide in eq.system.guides:
        position, rate, acceleration = guide.inputs
        eq.guided |= {position: rate, rate: acceleration}
    both = eq.moving | eq.guided
    for r, value in enumerate(eq.phi):
        terms = [(1.0, eq.phi_q[r, i] * eq.qd[i]) for i in eq.rows[r]]
        eq.phi_dot.append(graph.total([*terms, (1.0, graph.tangent(value, eq.guided))]))
        if r in eq.sliding:
            rest = folded(graph.tangent(eq.sliding[r], eq.moving))
        else:
            rest = folded(_second_rate(eq, r, both))
        terms = [(1.0, eq.phi_q[r, i] * eq.qdd[i]) for i in eq.rows[r]]
        eq.phi_ddot.append(graph.total([*terms, (1.0, rest)]))
        graph.stem(eq.phi_dot[r], f"phi_dot_{r}")
        graph.stem(eq.phi_ddot[r], f"phi_ddot_{r}")


def _second_rate(eq: Equations, r: int, moving: dict[Expr, Expr]) -> Expr:
    """Second time derivative of row `r` minus phi_q qdd."""
    graph, value = eq.graph, eq.phi[r]
    for i in eq.rows[r]:
        slope = graph.diff(value, eq.q[i])
        # a row that measures an angle is a sum of its sines and cosines: d2 phi / d angle2 = -phi
        if folded(graph.total([(1.0, graph.diff(slope, eq.q[i])), (1.0, value)])).is_zero:
            others = {var: rate for var, rate in moving.items() if var is not eq.q[i]}
            across = graph.tangent(slope, others) * eq.qd[i]
            own = (eq.qd[i] * eq.qd[i]) * eq.phi_var[r]
            rest = graph.tangent(graph.tangent(value, others), others)
            return graph.total([(1.0, rest), (2.0, across), (-1.0, own)])
    return graph.tangent(graph.tangent(value, moving), moving)


def _add_dynamics(eq: Equations) -> None:
    system, graph = eq.system, eq.graph
    eq.mass = {key: system.mass[key] / eq.unit for key in sorted(system.mass)}
    eq.in_mass = [[] for _ in eq.q]
    for a, b in eq.mass:
        eq.in_mass[a].append(((a, b), b))
        if a != b:
            eq.in_mass[b].append(((a, b), a))
    keys = sorted(i for i, e in system.force.items() if not e.is_zero)
    eq.exact_force = {i: folded(system.force[i], 1.0 / eq.unit) for i in keys}
    eq.force = [
        graph.var(f"force {i}") if i in eq.exact_force else graph.zero for i in range(len(eq.q))
    ]


def _bind(eq: Equations) -> None:
    """Bind everything that is common to formulations to its place."""
    system, bind = eq.system, eq.bind
    for c in system.coordinates:
        bind |= {c.q: f"s->q[Q_{c.name}]", c.qd: f"s->qd[Q_{c.name}]"}
        bind[eq.qdd[c.index]] = f"s->qdd[Q_{c.name}]"
    for r in range(len(eq.phi)):
        bind |= {eq.lam[r]: f"s->lam[{r}]", eq.phi_var[r]: f"w->phi[{r}]"}
    for number, (key, _) in enumerate(eq.slots):
        bind[eq.phi_q[key]] = f"w->phi_q[{number}]"
    for number, i in enumerate(eq.exact_force):
        bind[eq.force[i]] = f"w->force[{number}]"
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
    bind[system.step_s] = repr(eq.options.inner_step_s)
    if system.followed:
        bind[system.since_s] = "w->since[0]"
        eq.arrays["since"] = 1
    paths = _paths(eq.mechanism)
    eq.wanted_rows = sorted({r for p in paths for r in _rows_in(eq.graph, system.values[p])})
    for number, r in enumerate(eq.wanted_rows):
        bind[system.row_multiplier(r)] = f"w->row_lam[{number}]"
    eq.shown = [path for path in paths if system.values[path] not in bind]
    both = [*eq.mass.values(), *eq.exact_force.values()] if eq.moves else []
    trig = trigonometric([*eq.phi, *(e for _, e in eq.slots), *both])
    eq.known |= {e: f"w->trig[{number}]" for number, e in enumerate(trig)}
    eq.arrays |= {
        "guide": 3 * len(system.guides),
        "signal": len(system.signals),
        "par": len(system.parameters),
        "held": len(system.held),
        "force": len(eq.exact_force),
        "observed": len(eq.shown),
        "row_lam": len(eq.wanted_rows),
        "trig": len(trig),
        "phi": len(eq.phi),
        "phi_q": len(eq.slots),
    }


def _paths(mechanism: Mechanism) -> list[str]:
    """Return the paths of values that outputs show, or whose determinacy they show."""
    return list(dict.fromkeys(o.path for o in mechanism.outputs if o.path))


def _rows_in(graph: Graph, expr: Expr) -> list[int]:
    """Rows whose multipliers an expression contains."""
    names = [var.name.split(" ") for var in graph.variables(expr)]
    return [int(name[1]) for name in names if name[0] == "row_lam"]
