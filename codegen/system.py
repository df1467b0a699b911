"""The equations of one mechanism, as its elements add them.

    mass(par) qdd + phi_q(q)^T lam = force(q, qd, held, par),   phi(q, guide) = 0

Every quantity is an expression over these variables: coordinates `q`, rates `qd`, guide inputs,
run-time parameters, input signals, internal states of forces, and `held` values that are computed
once a step from its start.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from codegen.affine import affine
from codegen.arithmetic import ArithmeticMistake, Value, evaluate
from codegen.body import GROUND, Body
from codegen.dag import Expr, Graph
from codegen.dag import evaluate as evaluate_expr
from codegen.fields import Input, Number, Tunable, VectorValue
from codegen.vectors import Vector
from rig_configs.mistakes import Mistake, near


@dataclass(frozen=True)
class Coordinate:
    """One dependent coordinate: unit "rad", "m" or "1" (component of a unit vector), value and rate
    when built.
    """

    index: int
    name: str
    unit: str
    initial: float
    initial_rate: float
    q: Expr
    qd: Expr


@dataclass(frozen=True)
class Row:
    """One scalar constraint, scaled so that its gradient is of order one."""

    label: str
    phi: Expr


@dataclass(frozen=True)
class Guide:
    """A rheonomic constraint: `row` makes a coordinate follow position, rate and acceleration
    inputs.
    """

    name: str
    coordinate: Coordinate
    row: int
    inputs: tuple[Expr, Expr, Expr]


@dataclass(frozen=True)
class Quantity:
    """A named scalar beside the coordinates: parameter, input signal or internal state; value when
    built.
    """

    path: str
    default: float
    var: Expr


@dataclass(frozen=True)
class Held:
    """A value computed once a step from its start, such as a tyre torque with its own state."""

    path: str
    var: Expr
    value: Expr


@dataclass
class System:
    """What elements write into; read-only once `codegen.mechanism.load` has returned it."""

    file: str
    names: dict[str, Value]
    gravity: tuple[float, float, float]
    graph: Graph = field(default_factory=Graph)
    at: tuple[str, ...] = ()
    mistakes: list[Mistake] = field(default_factory=list)
    failed: set[str] = field(default_factory=set)
    coordinates: list[Coordinate] = field(default_factory=list)
    scalars: dict[str, Coordinate] = field(default_factory=dict)
    points: dict[str, Vector] = field(default_factory=dict)
    vectors: dict[str, Vector] = field(default_factory=dict)
    unit_vectors: dict[Vector, Row] = field(default_factory=dict)
    bodies: dict[str, Body] = field(default_factory=dict)
    carriers: dict[Vector, set[str]] = field(default_factory=dict)  # bodies that it is fixed on
    rows: list[Row] = field(default_factory=list)
    guides: list[Guide] = field(default_factory=list)
    mass: dict[tuple[int, int], Expr] = field(default_factory=dict)
    force: dict[int, Expr] = field(default_factory=dict)
    potential: Expr | None = None
    parameters: list[Quantity] = field(default_factory=list)
    signals: list[Quantity] = field(default_factory=list)
    internals: list[Quantity] = field(default_factory=list)
    updates: dict[Expr, Expr] = field(default_factory=dict)
    held: list[Held] = field(default_factory=list)
    values: dict[str, Expr] = field(default_factory=dict)
    value_units: dict[str, str] = field(default_factory=dict)
    _owners: dict[Expr, Coordinate] = field(default_factory=dict)
    _at_start: dict[str, float] = field(default_factory=lambda: {"unknown": 0.0})

    # what the file says -> what it means; a mistake is noted and a harmless value returned; names
    # of tables that have a mistake themselves are taken without another one

    def is_excused(self, name: str) -> bool:
        """Whether a name, or what it is part of (`P` of `P_x`), failed already."""
        return name in self.failed or name.rpartition("_")[0] in self.failed

    def mistake(self, key: str, value: object, problem: str, remedy: str) -> None:
        path = ".".join([*self.at, key]) if key else ".".join(self.at)
        given = {} if value is None else {"value": value}
        self.mistakes.append(Mistake(self.file, path, problem, remedy, **given))

    def number(self, key: str, value: Number) -> float:
        """A constant of the mechanism, from a number or arithmetic text."""
        result = self._arithmetic(key, value, 1.0)
        if isinstance(result, tuple):
            self.mistake(key, value, "is a vector", "write a number")
            return 1.0
        if not math.isfinite(result):
            self.mistake(key, value, "is not finite", "write a number")
            return 1.0
        return result

    def vector(self, key: str, value: VectorValue) -> tuple[float, float, float]:
        """A constant 3-vector, from three numbers or arithmetic text."""
        if isinstance(value, str):
            result = self._arithmetic(key, value, (1.0, 0.0, 0.0))
            if not isinstance(result, tuple):
                self.mistake(key, value, "is a number", "write a vector")
                return (1.0, 0.0, 0.0)
            return result
        x, y, z = (self.number(key, part) for part in value)
        return (x, y, z)

    def _arithmetic(self, key: str, value: Number, fallback: Value) -> Value:
        if not isinstance(value, str):
            return float(value)
        try:
            return evaluate(value, self.names)
        except ArithmeticMistake as error:
            if not any(self.is_excused(word) for word in re.findall(r"[A-Za-z_]\w*", value)):
                self.mistake(key, value, str(error), "correct the expression")
            return fallback

    def point(self, key: str, value: VectorValue) -> Vector:
        """A moving point by name, or a ground point by arithmetic."""
        if isinstance(value, str):
            if value in self.points:
                return self.points[value]
            if value.isidentifier() and value not in self.names:
                known = [*self.points, *self.names]
                if not self.is_excused(value):
                    self.mistake(key, value, "unknown point", near(value, known))
                return self._somewhere(value)
        return self.vector(key, value)

    def _somewhere(self, name: str) -> Vector:
        """A point for one that failed; no two of them in one place, so that nothing else fails."""
        axes = [self.graph.var(f"unknown {name} {axis}") for axis in "xyz"]
        for k, axis in enumerate(axes):
            self._at_start.setdefault(axis.name, math.sin(1.0 + k + len(self._at_start)))
        return (axes[0], axes[1], axes[2])

    def direction(self, key: str, value: VectorValue) -> Vector:
        """A moving unit vector by name, or a fixed direction by arithmetic."""
        if isinstance(value, str):
            if value in self.vectors:
                return self.vectors[value]
            if value.isidentifier() and value not in self.names:
                known = [*self.vectors, *self.names]
                if not self.is_excused(value):
                    self.mistake(key, value, "unknown vector", near(value, known))
                return (1.0, 0.0, 0.0)
        return self.vector(key, value)

    def unit(self, key: str, value: VectorValue) -> tuple[float, float, float]:
        """A constant direction, which must be of length 1."""
        x, y, z = self.vector(key, value)
        if abs(math.sqrt(x * x + y * y + z * z) - 1.0) > 1e-9:
            self.mistake(key, value, "is not of length 1", "write unit(...)")
            return (1.0, 0.0, 0.0)
        return (x, y, z)

    def scalar(self, key: str, value: str, unit: str | None = None) -> Coordinate:
        """An angle or distance coordinate by name."""
        found = self.scalars.get(value)
        kind = {"rad": "angle", "m": "distance", None: "angle or distance"}[unit]
        if found is None:
            if not self.is_excused(value):
                self.mistake(key, value, f"unknown {kind}", near(value, self.scalars))
        elif unit is not None and found.unit != unit:
            known = [name for name, c in self.scalars.items() if c.unit == unit]
            self.mistake(key, value, f"is not an {kind}", near(value, known))
        else:
            return found
        dummy = self.graph.var("unknown")
        return Coordinate(0, value, unit or "rad", 0.0, 0.0, dummy, dummy)

    def any_coordinate(self, key: str, value: str) -> Coordinate:
        """An angle, a distance or a point's coordinate (`B_y`) by name."""
        found = next((c for c in self.coordinates if c.name == value and c.unit != "1"), None)
        return self.scalar(key, value) if found is None else found

    def body(self, key: str, value: str) -> Body:
        """A rigid body by name, or `ground`."""
        if value in self.bodies:
            return self.bodies[value]
        if value != "ground" and not self.is_excused(value):
            self.mistake(key, value, "unknown body", near(value, [*self.bodies, "ground"]))
        return GROUND

    def on_body(self, key: str, name: str, value: VectorValue, *, is_point: bool) -> Vector:
        """A point or direction fixed on a body, given as it is in the file's pose."""
        fixed = self.vector(key, value) if is_point else self.unit(key, value)
        body = self.body("body", name)
        try:
            return (body.point if is_point else body.direction)(self.graph, fixed)
        except ValueError as error:
            self.mistake(key, value, str(error), "give the body another vector")
            return fixed

    def carry(self, body: str, vectors: Iterable[Vector]) -> None:
        """Note points and directions that are fixed on a body."""
        for vector in vectors:
            self.carriers.setdefault(vector, set()).add(body)

    def inertial(self, key: str, value: Tunable) -> Expr:
        """A mass or moment of inertia: a run-time parameter, not below zero, and never a signal."""
        if isinstance(value, Input):
            remedy = "give a number; kernels take new masses as parameters"
            self.mistake(key, None, "a mass cannot be an input signal", remedy)
            value = 1.0
        return self.tunable(key, value, least=0.0)

    def tunable(
        self, key: str, value: Tunable, *, least: float | None = None, above: float | None = None
    ) -> Expr:
        """A run-time parameter with a default, or an input signal when the file says `{ input = ...
        }`; the default must keep to the bounds.
        """
        path = "/".join([*self.at, key])
        is_signal = isinstance(value, Input)
        default = self.number(key, value.input if isinstance(value, Input) else value)
        if least is not None and default < least:
            self.mistake(key, default, f"is below {least:g}", f"give {least:g} or more")
        if above is not None and default <= above:
            self.mistake(key, default, f"is not above {above:g}", f"give more than {above:g}")
        quantity = Quantity(path, default, self.graph.var(path))
        (self.signals if is_signal else self.parameters).append(quantity)
        return quantity.var

    # what elements add

    def coordinate(self, name: str, unit: str, initial: float, rate: float = 0.0) -> Coordinate:
        index = len(self.coordinates)
        q, qd = self.graph.var(f"q {name}"), self.graph.var(f"qd {name}")
        made = Coordinate(index, name, unit, initial, rate, q, qd)
        self.coordinates.append(made)
        self._owners[q] = made
        self._at_start[q.name] = initial
        return made

    def row(self, label: str, phi: Expr) -> int:
        """Add a constraint `phi = 0`; its gradient should be of order one. Returns its number."""
        self.rows.append(Row("/".join(self.at) + (f" {label}" if label else ""), phi))
        return len(self.rows) - 1

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
        slope = self.graph.diff(self.rows[number].phi, coordinate.q)
        return -slope * self.row_multiplier(number)

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
        index = coordinate.index
        self.force[index] = self.force.get(index, self.graph.zero) + force

    def add_weight(self, point: Vector, mass: Expr) -> None:
        """Gravity on a point mass: force on its moving components, and potential energy."""
        for component, gravity in zip(point, self.gravity, strict=True):
            if gravity == 0.0 or not isinstance(component, Expr):
                continue
            for coordinate, coef in self._affine(component).items():
                self.add_force(coordinate, (gravity * coef) * mass)
            if not component.is_const:
                self.add_potential(-gravity * (mass * component))

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

    def hold(self, key: str, value: Expr) -> Expr:
        """Compute once a step from its start; the result counts as constant inside the step."""
        path = "/".join([*self.at, key])
        var = self.graph.var(path)
        self.held.append(Held(path, var, value))
        self.values[path] = var
        return var

    @property
    def step_s(self) -> Expr:
        """The step as a symbol; the formulation puts its number in."""
        return self.graph.var("step_s")
