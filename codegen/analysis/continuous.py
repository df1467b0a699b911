"""A mechanism in continuous time, in numbers: rows, mass, forces, rates of internal states, and their exact slopes.

    mass qdd + phi_q^T lam = force(q, qd, state, input),   phi(q, guide) = 0,   state' = rate(q, qd, state, input)

Elements write the held values of forces, and the update of their states, with a step in it. Here the step is zero: held
values are those of the moment, and the rate of a state is the slope of its advance over the step at its start.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from codegen.description.mechanism import Mechanism
from codegen.expressions.dag import Expr
from codegen.expressions.evaluated import Evaluated

Array = NDArray[np.float64]


class Slopes:
    """Expressions and their derivatives by groups of variables, as dense matrices.

    Parameters
    ----------
    expressions : list of Expr
    groups : list of list of Expr
        Variables of each matrix's columns.
    """

    def __init__(self, expressions: list[Expr], groups: list[list[Expr]]) -> None:
        self._n = len(expressions)
        self._shapes = [len(group) for group in groups]
        column = {v: (g, c) for g, group in enumerate(groups) for c, v in enumerate(group)}
        self._places: list[tuple[int, int, int]] = []
        slopes: list[Expr] = []
        for r, e in enumerate(expressions):
            graph = e.graph
            for var in graph.variables(e):
                if var in column:
                    slope = graph.diff(e, var)
                    if not slope.is_zero:
                        g, c = column[var]
                        self._places.append((g, r, c))
                        slopes.append(slope)
        self._values = Evaluated(expressions)
        self._slopes = Evaluated(slopes)

    def values(self, at: dict[str, float]) -> Array:
        """Return the values of the expressions, shape (n,)."""
        return self._values(at)

    def slopes(self, at: dict[str, float]) -> list[Array]:
        """One matrix a group, shape (n, variables of the group)."""
        found = [np.zeros((self._n, m)) for m in self._shapes]
        for (g, r, c), value in zip(self._places, self._slopes(at), strict=True):
            found[g][r, c] = value
        return found


@dataclass
class Moment:
    """The state at which a mechanism is evaluated: arrays in the order of coordinates, guides (position each), signals,
    internal states.
    """

    q: Array
    qd: Array
    guide: Array
    signal: Array
    state: Array
    parameter: Array
    lam: Array = field(default_factory=lambda: np.zeros(0))


class Continuous:
    """Equations of a mechanism without a step.

    Parameters
    ----------
    mechanism : Mechanism

    Attributes
    ----------
    rows, force, rate : Slopes
        Of phi by q; of the force on each coordinate, and of each internal state's rate, by q, qd, state, signal.
    """

    def __init__(self, mechanism: Mechanism) -> None:
        system = mechanism.system
        self.system, self.mechanism = system, mechanism
        graph = system.graph
        self.n_q = len(system.coordinates)
        self.q = [c.q for c in system.coordinates]
        self.qd = [c.qd for c in system.coordinates]
        self.state = [s.var for s in system.internals]
        self.signal = [s.var for s in system.signals]
        self.groups = [self.q, self.qd, self.state, self.signal]
        self._at_start = {system.since_s: graph.zero, system.step_s: graph.zero}
        self._held: dict[Expr, Expr] = {}
        for held in system.held:
            self._held[held.var] = self.now(held.value)
        force = [self.now(system.force.get(i, graph.zero)) for i in range(self.n_q)]
        self.force = Slopes(force, self.groups)
        self.rate = Slopes([self.now(self._rate(v)) for v in self.state], self.groups)
        self.rows = Slopes([row.phi for row in system.rows], [self.q])
        self._mass = Evaluated(list(system.mass.values()))
        self._bends = list(self._second_slopes())
        self._bend_values = Evaluated([e for *_, e in self._bends])

    def now(self, e: Expr) -> Expr:
        """An expression of held values and of a step as one of the moment."""
        return self.system.graph.substitute(e, self._at_start | self._held)

    def _rate(self, state: Expr) -> Expr:
        system = self.system
        if state in system.followed:
            return system.graph.diff(system.followed[state], system.since_s)
        return system.graph.diff(system.updates.get(state, state), system.step_s)

    def _second_slopes(self) -> Iterable[tuple[int, int, int, Expr]]:
        graph = self.system.graph
        index = {q: i for i, q in enumerate(self.q)}
        for r, row in enumerate(self.system.rows):
            inside = [v for v in graph.variables(row.phi) if v in index]
            for v in inside:
                slope = graph.diff(row.phi, v)
                for w in inside:
                    if index[w] <= index[v]:
                        bend = graph.diff(slope, w)
                        if not bend.is_zero:
                            yield r, index[v], index[w], bend

    def values(self, moment: Moment) -> dict[str, float]:
        """Variables by name."""
        system = self.system
        at = {v.name: float(x) for v, x in zip(self.q, moment.q, strict=True)}
        at |= {v.name: float(x) for v, x in zip(self.qd, moment.qd, strict=True)}
        at |= {v.name: float(x) for v, x in zip(self.state, moment.state, strict=True)}
        at |= {v.name: float(x) for v, x in zip(self.signal, moment.signal, strict=True)}
        parameters = zip(system.parameters, moment.parameter, strict=True)
        at |= {p.var.name: float(x) for p, x in parameters}
        for guide, x in zip(system.guides, moment.guide, strict=True):
            at |= dict.fromkeys((v.name for v in guide.inputs), 0.0)
            at[guide.inputs[0].name] = float(x)
        for r, x in enumerate(moment.lam):
            at[system.row_multiplier(r).name] = float(x)
        return at

    def mass(self, at: dict[str, float]) -> Array:
        """Mass matrix, shape (n_q, n_q)."""
        found = np.zeros((self.n_q, self.n_q))
        for (i, j), value in zip(self.system.mass, self._mass(at), strict=True):
            found[i, j] = found[j, i] = value
        return found

    def bend(self, at: dict[str, float], lam: Array) -> Array:
        """Sum over rows of multiplier times second derivative, shape (n_q, n_q)."""
        found = np.zeros((self.n_q, self.n_q))
        for (r, i, j, _), value in zip(self._bends, self._bend_values(at), strict=True):
            found[i, j] += lam[r] * value
            if i != j:
                found[j, i] += lam[r] * value
        return found
