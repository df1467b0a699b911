"""The equations of one mechanism, as its elements add them.

    mass(par) qdd + phi_q(q)^T lam = force(q, qd, held, par),   phi(q, guide) = 0

Every quantity is an expression over these variables: coordinates `q`, rates `qd`, guide inputs,
run-time parameters, input signals, internal states of forces, and `held` values that are computed
once a step from its start.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from codegen.expressions.dag import Expr
from codegen.expressions.dag import evaluate as evaluate_expr
from codegen.system.affine import affine
from codegen.system.masses import Masses
from codegen.system.quantities import (
    Coordinate,
    Guide,
    Held,
    JointPlace,
    LongRow,
    Quantity,
    Row,
    RowSlopes,
)
from codegen.system.reading import Reading
from codegen.system.vectors import Vector

__all__ = ["Coordinate", "Guide", "Held", "Quantity", "Row", "System"]


@dataclass
class System(Reading):
    """The equations that elements write; read-only once `codegen.description.mechanism.load` has returned it."""

    unit_vectors: dict[Vector, Row] = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)
    guides: list[Guide] = field(default_factory=list)
    mass: dict[tuple[int, int], Expr] = field(default_factory=dict)
    masses: Masses = field(default_factory=Masses)
    force: dict[int, Expr] = field(default_factory=dict)
    # the same without weights, term by term
    pushes: dict[int, list[Expr]] = field(default_factory=dict)
    potential: Expr | None = None
    internals: list[Quantity] = field(default_factory=list)
    updates: dict[Expr, Expr] = field(default_factory=dict)
    followed: dict[Expr, Expr] = field(default_factory=dict)
    held: list[Held] = field(default_factory=list)
    rods: dict[str, tuple[Vector, Vector]] = field(default_factory=dict)  # lines of constant length
    cuts: tuple[str, ...] = ()  # elements that a tree is to cut, as row labels name them
    # rates of the file that the rows do not allow, and what is left of them, by coordinate
    contradicted: dict[str, tuple[float, float]] = field(default_factory=dict)
    longer: list[LongRow] = field(default_factory=list)  # rows that are not written out
    joints: dict[str, JointPlace] = field(default_factory=dict)  # by table/name
    flexible: dict[str, Any] = field(
        default_factory=dict
    )  # `codegen.flexible.motion.Bending` by body
    # coordinates that rows define as expressions of others, with the rows' numbers
    defined: dict[Expr, tuple[Expr, int]] = field(default_factory=dict)
    values: dict[str, Expr] = field(default_factory=dict)
    value_units: dict[str, str] = field(default_factory=dict)
    kinks: list[tuple[str, str, float]] = field(
        default_factory=list
    )  # key, coordinate, jump of stiffness
    written_forces: list[tuple[str, str, Expr]] = field(default_factory=list)  # key, coordinate
    # slopes of all forces over places, and over rates times a weight, where they have a form of their own
    tangent: Callable[[float], dict[tuple[int, int], Expr]] | None = None
    row_slopes: Callable[[], dict[int, RowSlopes]] | None = None  # of rows, likewise
    _owners: dict[Expr, Coordinate] = field(default_factory=dict)

    def coordinate(self, name: str, unit: str, initial: float, rate: float = 0.0) -> Coordinate:
        index = len(self.coordinates)
        q_name = f"q {name}"
        here = ".".join(self.at)
        if q_name in self._at_start and all(m.key != here for m in self.mistakes):
            self.mistake("", None, f"its coordinate {name} is there already", "rename one")
        q, qd = self.graph.var(q_name), self.graph.var(f"qd {name}")
        made = Coordinate(index, name, unit, initial, rate, q, qd)
        self.coordinates.append(made)
        self._owners[q] = made
        self._at_start[q.name] = initial
        return made

    def row(self, label: str, phi: Expr) -> int:
        """Add a constraint `phi = 0`; its gradient should be of order one. Returns its number."""
        self.rows.append(Row("/".join(self.at) + (f" {label}" if label else ""), phi))
        return len(self.rows) - 1

    def rate_row(self, label: str, sliding: Expr) -> int:
        """Add a constraint on rates alone, `sliding = 0`, linear in them. Returns its number."""
        number = self.row(label, self.graph.zero)
        self.rows[number] = replace(self.rows[number], sliding=sliding)
        return number

    @property
    def sliding(self) -> list[str]:
        """Elements that have rows of rates alone, as the file names them."""
        labels = [row.label for row in self.rows if row.sliding is not None]
        return list(dict.fromkeys(label.partition(" ")[0].replace("/", ".") for label in labels))

    def slope(self, row: Row, coordinate: Coordinate) -> Expr:
        """Return the derivative of a row with respect to a coordinate, or to its rate if the row has rates alone."""
        if row.sliding is None:
            return self.graph.diff(row.phi, coordinate.q)
        return self.graph.diff(row.sliding, coordinate.qd)

    def slopes_of_rates(self, row: Row) -> dict[int, Expr]:
        """Gradient of a row of rates alone, by numbers of coordinates; of any other row none."""
        if row.sliding is None:
            return {}
        inside = set(self.graph.variables(row.sliding))
        return {c.index: self.slope(row, c) for c in self.coordinates if c.qd in inside}

    def row_if_moving(self, label: str, phi: Expr | float) -> int | None:
        """Add a row unless nothing in it moves or another element has added the same one already:
        the rows that keep a shape are shared by bodies that share points. Returns its number if it
        was added.
        """
        phi = self.graph.lift(phi)
        if phi.is_const:
            if abs(phi.value) > 1e-9:
                remedy = "correct the fixed points or directions"
                self.mistake("", None, f"{label}: cannot hold, nothing in it moves", remedy)
            return None
        if any(row.phi is phi for row in self.rows):
            return None
        return self.row(label, phi)

    def row_multiplier(self, number: int) -> Expr:
        """Multiplier of a row after the step, in the row's own units: the row's force on the
        mechanism is -phi_q^T of it. For values that outputs show only, never for forces.
        """
        return self.graph.var(f"row_lam {number}")

    def reaction(self, number: int, coordinate: Coordinate) -> Expr:
        """Force or torque of a row on a coordinate, in its positive direction."""
        return -self.slope(self.rows[number], coordinate) * self.row_multiplier(number)

    def show_reactions(self, number: int) -> None:
        """The reaction of a row on each angle, distance or point's coordinate becomes a value for outputs."""
        for var in self.graph.variables(self.rows[number].phi):
            coordinate = self._owners.get(var)
            if coordinate is not None and coordinate.unit != "1":
                ending = "nm" if coordinate.unit == "rad" else "n"
                key = f"{coordinate.name}_{ending}"
                self.value(key, self.reaction(number, coordinate), f"_{ending}")

    def add_mass(self, a: Coordinate, b: Coordinate, mass: Expr) -> None:
        """Add to the symmetric mass matrix; an off-diagonal entry is given once."""
        key = (min(a.index, b.index), max(a.index, b.index))
        self.mass[key] = self.mass.get(key, self.graph.zero) + mass

    def add_kinetic(self, a: Expr | float, b: Expr | float, mass: Expr) -> None:
        """Kinetic energy of an entry `mass` that couples the rates of two affine expressions: half
        mass a' a', or mass a' b' for two different ones.
        """
        left, right = self._affine(a), self._affine(b)
        for i, c in left.items():
            for j, d in right.items():
                if a is b and i.index > j.index:
                    continue
                doubled = 2.0 if a is not b and i is j else 1.0
                self.add_mass(i, j, (doubled * c * d) * mass)

    def _affine(self, expr: Expr | float) -> dict[Coordinate, float]:
        found = affine(expr)
        if found is None:
            self.mistake("", None, "is not linear in the coordinates", "take points of bodies")
            return {}
        return {self._owners[var]: coef for var, coef in found[0].items() if var in self._owners}

    def add_power(self, force: Expr | float, along: Expr | float) -> None:
        """A force whose power is force times the rate of `along`, any expression of coordinates."""
        along = self.graph.lift(along)
        for var in self.graph.variables(along):
            if var in self._owners:
                self.add_force(self._owners[var], self.graph.diff(along, var) * force)

    def add_force(self, coordinate: Coordinate, force: Expr) -> None:
        """Add a generalised force in the positive direction of the coordinate."""
        self.pushes.setdefault(coordinate.index, []).append(self.graph.lift(force))
        self._add_to_force(coordinate, force)

    def _add_to_force(self, coordinate: Coordinate, force: Expr) -> None:
        index = coordinate.index
        self.force[index] = self.force.get(index, self.graph.zero) + force

    def add_weight(self, point: Vector, mass: Expr) -> None:
        """Gravity on a point mass: force on its moving components, and potential energy."""
        for component, gravity in zip(point, self.gravity, strict=True):
            if gravity == 0.0 or not isinstance(component, Expr):
                continue
            for coordinate, coef in self._affine(component).items():
                self._add_to_force(coordinate, (gravity * coef) * mass)
            if not component.is_const:
                self.add_potential(-gravity * (mass * component))

    def add_fall(self, weight: float, along: Expr | float) -> None:
        """Add a weight along any expression of coordinates; it is none of `pushes`."""
        along = self.graph.lift(along)
        for var in self.graph.variables(along):
            if var in self._owners:
                self._add_to_force(
                    self._owners[var], self.graph.diff(along, var) * self.graph.const(weight)
                )

    def add_potential(self, energy: Expr) -> None:
        self.potential = energy if self.potential is None else self.potential + energy

    def owner(self, component: object) -> Coordinate | None:
        """The coordinate that a point's or vector's component is, None for a constant one."""
        return self._owners.get(component) if isinstance(component, Expr) else None

    def initial(self, expr: Expr | float) -> float:
        """Value of an expression of coordinates in the pose that the file gives."""
        if not isinstance(expr, Expr):
            return float(expr)
        return evaluate_expr(expr, self._at_start)

    def rate(self, expr: Expr | float) -> Expr:
        """Time derivative of an expression of coordinates."""
        expr = self.graph.lift(expr)
        owned = [self._owners[v] for v in self.graph.variables(expr) if v in self._owners]
        return self.graph.tangent(expr, {c.q: c.qd for c in owned})

    def value(self, key: str, expr: Expr | float, unit: str) -> None:
        """Name a quantity of this element, so that `[outputs]` can show it."""
        path = "/".join([*self.at, key])
        self.values[path] = self.graph.lift(expr)
        self.value_units[path] = unit

    def restart(self, initial: dict[str, float], rates: dict[str, float]) -> None:
        """Replace the coordinates' values and rates when built, once the mechanism is assembled."""
        for old in list(self.coordinates):
            new = replace(old, initial=initial[old.name], initial_rate=rates[old.name])
            self.coordinates[old.index] = self._owners[old.q] = new
            self._at_start[old.q.name] = new.initial
        by_name = {c.name: c for c in self.coordinates}
        self.scalars = {name: by_name[name] for name in self.scalars}
        self.guides = [replace(g, coordinate=by_name[g.coordinate.name]) for g in self.guides]

    def internal(self, key: str, initial: float) -> Expr:
        """A state of a force element, advanced once a step; say how with `update`."""
        path = "/".join([*self.at, key])
        quantity = Quantity(path, initial, self.graph.var(path))
        self.internals.append(quantity)
        self.values[path] = quantity.var
        return quantity.var

    def update(self, internal: Expr, value: Expr) -> None:
        """The state after the step, from values at its start and `step_s`."""
        self.updates[internal] = value

    def follow(self, internal: Expr, value: Expr) -> None:
        """The state at any time within the step: an expression of what is held from its start, of
        `since_s` and of the present rates. Forces take that expression itself, so that their slopes
        are known; its value at the step's end is kept.
        """
        self.followed[internal] = value
        path = next(q.path for q in self.internals if q.var is internal)
        self.values[path] = value

    def hold(self, key: str, value: Expr, *, is_start: bool = False) -> Expr:
        """Compute once a step from its start; the result counts as constant inside the step.
        `is_start`: it is only where a followed state begins.
        """
        path = "/".join([*self.at, key])
        var = self.graph.var(path)
        self.held.append(Held(path, var, value, is_start))
        if not is_start:
            self.values[path] = var
        return var

    @property
    def since_s(self) -> Expr:
        """Time since the held values were computed: zero at a start, the step at its end."""
        return self.graph.var("since_s")

    @property
    def holds_only_starts(self) -> bool:
        """True if a force at the start of a step equals the force at the end of the previous one: only
        the initial values of followed states are held.
        """
        return not self.updates and len(self.held) == sum(h.is_start for h in self.held)

    @property
    def step_s(self) -> Expr:
        """The step as a symbol; the formulation puts its number in."""
        return self.graph.var("step_s")
