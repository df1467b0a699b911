"""The routines of an observer model, beside those of independent coordinates (`independent.py`).

With x = [z, zd, f], f unknown inputs, every exact slope is a directional one. Along a state k

    z_j    dq = vel_map e_j,   T dqd = -phi_q^T (phi_dot)_q dq
    zd_j   dq = 0,             dqd = vel_map e_j
    f_j    dq = dqd = 0

and then, at fixed qdd and lam,

    rest = (phi_ddot)_(q,qd) (dq, dqd),   left = (force - mass qdd - phi_q^T lam)_(q,qd,f) (dq, dqd, df)
    T s = -phi_q^T rest,   (R^T M R) dzdd = R^T (left - M s),   dqdd = s + R dzdd
    T x = left - M dqdd,   dlam = phi_q x

with T, R = vel_map and M as in `codegen.formulations.independent`. Nothing is neglected. A sensor's
slope is that of its reading along (dq, dqd, dqdd, dlam, df).

A correction dz moves positions by dq = vel_map dz, which leaves constraints open by curve = phi_qq(dq, dq) / 2 and what
is of third order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from codegen.closed_trees.over_joints import with_twin
from codegen.description.mechanism import Mechanism
from codegen.equations.program import Program, Routine
from codegen.expressions.dag import Expr
from codegen.expressions.emit import Assign
from codegen.expressions.folding import folded
from codegen.formulations import independent
from codegen.observers.resolve import Resolved, resolve
from codegen.observers.spec import ObserverSpec
from codegen.options.options import KernelOptions


@dataclass(frozen=True)
class ObserverProgram:
    """Independent coordinates with the routines of an observer; what the sensors need."""

    program: Program
    resolved: Resolved


def build(mechanism: Mechanism, spec: ObserverSpec, options: KernelOptions) -> ObserverProgram:
    """Program of an observer model, over the coordinates that a kernel of these options has.

    Raises
    ------
    MechanismError
        With every mistake of the specification.
    """
    resolved = resolve(mechanism, spec, options.formulation)
    own = KernelOptions(step_s=options.step_s, formulation="independent", presolve=False)
    base = independent.build(resolved.observed.made, own)
    if resolved.observed.tree is not None:
        base = with_twin(base, resolved.observed.tree)
    of = _Slopes(base)
    multipliers = {of.graph.var(f"row_lam {r}"): e for r, e in enumerate(of.row_lam)}
    readings = [of.graph.substitute(sensor.reading, multipliers) for sensor in resolved.sensors]
    program = replace(base, routines=[*base.routines, *of.routines(readings)])
    return ObserverProgram(program, resolved)


class _Slopes:
    """Variables of a direction, bound to arrays of the work space, and derivatives along it."""

    def __init__(self, base: Program) -> None:
        self.base = base
        system = base.presolved.system
        graph = self.graph = system.graph
        self.q = [c.q for c in system.coordinates]
        self.qd = [c.qd for c in system.coordinates]
        names = [c.name for c in system.coordinates]
        self.qdd = [graph.var(f"qdd {i}") for i in range(len(names))]
        self.lam = [graph.var(f"lam {r}") for r in range(len(system.rows))]
        self.row_lam = [base.unit * w * e for w, e in zip(base.scale, self.lam, strict=True)]
        self.names = names

        def direction(array: str, cells: Sequence[str]) -> list[Expr]:
            found = [graph.var(f"{array} {i}") for i in range(len(cells))]
            base.bind.update({e: f"w->{array}[{at}]" for e, at in zip(found, cells, strict=True)})
            base.arrays[array] = len(cells)
            return found

        places = [f"Q_{name}" for name in names]
        self.dq, self.dqd, self.dqdd = (direction(a, places) for a in ("dq", "dqd", "dqdd"))
        self.dlam = direction("dlam", [str(r) for r in range(len(self.lam))])
        self.dsignal = direction("dsignal", [str(n) for n in range(len(system.signals))])
        self.signal = [signal.var for signal in system.signals]

    def routines(self, readings: Sequence[Expr]) -> list[Routine]:
        graph, base = self.graph, self.base
        system = base.presolved.system
        phi = [
            folded(row.phi, w) for w, row in zip(base.scale, system.rows, strict=True)
        ]  # fmt: skip
        guided: dict[Expr, Expr] = {}
        for guide in system.guides:
            position, rate, acceleration = guide.inputs
            guided |= {position: rate, rate: acceleration}
        moving = dict(zip(self.q, self.qd, strict=True)) | guided
        turning = moving | dict(zip(self.qd, self.qdd, strict=True))
        phi_dot = [graph.tangent(e, moving) for e in phi]
        phi_ddot = [graph.tangent(e, turning) for e in phi_dot]
        along_q = dict(zip(self.q, self.dq, strict=True))
        along = along_q | dict(zip(self.qd, self.dqd, strict=True))
        pushed = along | dict(zip(self.signal, self.dsignal, strict=True))
        felt = pushed | dict(zip([*self.qdd, *self.lam], [*self.dqdd, *self.dlam], strict=True))
        rate_slope = [graph.tangent(e, along_q) for e in phi_dot]
        rest = [graph.tangent(e, along) for e in phi_ddot]
        curve = [graph.tangent(graph.tangent(e, along_q), along_q) / 2.0 for e in phi]
        work = graph.total(
            (1.0, lam * graph.tangent(e, along_q)) for lam, e in zip(self.lam, phi, strict=True)
        )
        swung = self._swung(along_q)
        left = [
            graph.tangent(system.force.get(i, graph.zero), pushed) / base.unit
            - graph.diff(work, q)
            - graph.total(swung[i]) / base.unit
            for i, q in enumerate(self.q)
        ]
        rows = [
            graph.total([(1.0, base.phi_q[key] * x) for key, x in self._row(r)])
            for r in range(len(phi))
        ]
        self.base.arrays.update({
            "slope": len(phi), "pushed": len(self.q), "row_x": len(phi),
            "reading": len(readings), "reading_slope": len(readings),
        })  # fmt: skip
        return [
            Routine("rate_slope", "phi_dot along dq", _stored("slope", rate_slope)),
            Routine("phi_curve", "what dq opens phi by, to second order", _stored("slope", curve)),
            Routine("rest_slope", "phi_ddot along (dq, dqd)", _stored("slope", rest)),
            Routine("slope_rhs", "rhs = -phi_q^T slope", self._transposed()),
            Routine("push_slope", "force - phi_q^T lam along (dq, dqd, dsignal)", self._by_name("pushed", left)),
            Routine("phi_slope", "phi along dq", _stored("slope", [graph.tangent(e, along_q) for e in phi])),
            Routine("rate_rows", "phi_dot", _stored("slope", phi_dot)),
            Routine("rows_of_x", "row_x = phi_q x", _stored("row_x", rows)),
            Routine("sense_readings", "readings of the sensors", _stored("reading", readings)),
            Routine(
                "sense_slope", "readings along a direction",
                _stored("reading_slope", [graph.tangent(e, felt) for e in readings]),
            ),
        ]  # fmt: skip

    def _swung(self, along_q: Mapping[Expr, Expr]) -> list[list[tuple[float, Expr]]]:
        """Terms of mass_q dq qdd, of a mass matrix that depends on the pose."""
        found: list[list[tuple[float, Expr]]] = [[] for _ in self.q]
        for (i, j), mass in sorted(self.base.presolved.system.mass.items()):
            slope = self.graph.tangent(mass, along_q)
            if not slope.is_zero:
                found[i].append((1.0, slope * self.qdd[j]))
                if i != j:
                    found[j].append((1.0, slope * self.qdd[i]))
        return found

    def _row(self, r: int) -> list[tuple[tuple[int, int], Expr]]:
        x = [self.graph.var(f"x {i}") for i in range(len(self.q))]
        return [(key, x[key[1]]) for key in sorted(self.base.phi_q) if key[0] == r]

    def _transposed(self) -> list[Assign]:
        graph = self.graph
        slope = [graph.var(f"slope {r}") for r in range(len(self.lam))]
        self.base.bind.update({e: f"w->slope[{r}]" for r, e in enumerate(slope)})
        sums: list[list[tuple[float, Expr]]] = [[] for _ in self.q]
        for (r, i), entry in sorted(self.base.phi_q.items()):
            sums[i].append((-1.0, entry * slope[r]))
        return self._by_name("rhs", [graph.total(terms) for terms in sums])

    def _by_name(self, array: str, values: Sequence[Expr]) -> list[Assign]:
        return [Assign(f"w->{array}[Q_{n}]", e) for n, e in zip(self.names, values, strict=True)]


def _stored(array: str, values: Sequence[Expr]) -> list[Assign]:
    return [Assign(f"w->{array}[{n}]", e) for n, e in enumerate(values)]
