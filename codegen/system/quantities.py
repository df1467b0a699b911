"""The named scalars that a mechanism's equations are made of."""

from __future__ import annotations

from dataclasses import dataclass

from codegen.expressions.dag import Expr


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
    """One scalar constraint, scaled so that its gradient is of order one.

    Of a row of rates alone (nonholonomic: a wheel that rolls, a blade that cuts) `sliding` is what stays zero, linear
    in the rates and zero without them, and `phi` is the constant zero.
    """

    label: str
    phi: Expr
    sliding: Expr | None = None


@dataclass(frozen=True)
class RowSlopes:
    """Gradient of a row over the coordinates, by their numbers, and its second derivative where none accelerates."""

    gradient: dict[int, Expr]
    bend: Expr


@dataclass(frozen=True)
class Guide:
    """A rheonomic constraint: `row` makes a coordinate follow position, rate and acceleration
    inputs; in joint coordinates, which have no rows, it is -1.
    """

    name: str
    coordinate: Coordinate
    row: int
    inputs: tuple[Expr, Expr, Expr]


@dataclass(frozen=True)
class Quantity:
    """A named scalar beside the coordinates: parameter, input signal or internal state; value when
    built, and the limits that it must reach (`least`) or exceed (`above`).
    """

    path: str
    default: float
    var: Expr
    least: float | None = None
    above: float | None = None

    def problem(self, value: float) -> str:
        """Return the problem of a value; empty if there is none."""
        if self.least is not None and value < self.least:
            return f"must be {self.least:g} or more"
        if self.above is not None and value <= self.above:
            return f"must be above {self.above:g}"
        return ""


@dataclass(frozen=True)
class LongRow:
    """A row of repetitions of which only the first and the last ones are written out, with the bodies of these."""

    name: str
    count: int
    bodies: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class JointPlace:
    """A joint whose reaction on its first body, at a point of the file's pose, is among the values of outputs; of a
    universal joint with the pins of both bodies.
    """

    first: str
    second: str
    point: tuple[float, float, float]
    pins: tuple[tuple[float, float, float], tuple[float, float, float]] | None = None


@dataclass(frozen=True)
class Held:
    """A value computed once a step from its start, such as a tyre torque with its own state."""

    path: str
    var: Expr
    value: Expr
    is_start: bool = False  # only where a state that is followed through the step begins
