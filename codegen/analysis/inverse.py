"""Inverse dynamics of any tree: what its joints have to give at a motion, by one sweep out and one back.

Each link is ten inertial parameters p about its own frame, in which all joint forces are linear:

    p = [xx yy zz xy xz yz  x y z  m] a link:  inertia about the origin, integral of x dm, mass

A turn, screw or slide has one force, a ball the moment about its point, a free body moment and force, in its own
axes. What springs, dampers, weights and constant inputs of the file do is taken off: the rest is what drives have to
give.

Source: Luh, Walker and Paul 1980; Atkeson, An and Hollerbach 1986 (linear in inertial parameters).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from codegen.description.mechanism import Mechanism, MechanismError
from codegen.expressions.dag import Expr, evaluate
from codegen.expressions.emit import NUMPY, Assign, Cost, Emitter, Syntax
from codegen.expressions.evaluated import Evaluated
from codegen.expressions.standalone import C99, Function, Numbers, c_files, numpy_file
from codegen.kernels.frozen import frozen
from codegen.topology.joints import SINGLE
from codegen.tree.mechanism import TreeMechanism, flexible, in_joint_coordinates
from codegen.tree.transmission import transmitted

PARAMETERS = ("xx", "yy", "zz", "xy", "xz", "yz", "x", "y", "z", "m")


@dataclass(frozen=True)
class JointForce:
    """One force or moment: `coordinate` is that of a turn, screw or slide, None of a part of a ball or free body."""

    name: str
    kind: str
    unit: str
    coordinate: int | None
    value: Expr


@dataclass(frozen=True)
class TreeInverse:
    """Joint forces over `q_i`, `qd_i`, `qdd_i` and `p_i`.

    Attributes
    ----------
    names : list of str
        Of the parameters, `<link>.<moment>`; `p` has their values in the file.
    """

    tree: TreeMechanism
    forces: list[JointForce]
    names: list[str]
    p: np.ndarray

    @cached_property
    def _evaluated(self) -> Evaluated:
        return Evaluated([force.value for force in self.forces])

    def at(
        self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, p: ArrayLike | None = None
    ) -> NDArray[np.float64]:
        """Forces at a motion, with the parameters of the file or others, shape (n,)."""
        values: dict[str, float] = {}
        motion = zip(self.tree.made.system.coordinates, *map(np.asarray, (q, qd, qdd)), strict=True)
        for c, value, rate, acceleration in motion:
            values |= {c.q.name: float(value), c.qd.name: float(rate)}
            values[f"qdd {c.index}"] = float(acceleration)
        given = self.p if p is None else np.asarray(p)
        return self._evaluated(values | {f"p {j}": float(v) for j, v in enumerate(given)})

    def lines(self, syntax: Syntax) -> tuple[list[str], Cost]:
        """Text that fills `tau`, and its operations."""
        system = self.tree.made.system
        bind = {c.q: f"q[{c.index}]" for c in system.coordinates}
        bind |= {c.qd: f"qd[{c.index}]" for c in system.coordinates}
        graph = system.graph
        bind |= {graph.var(f"qdd {c.index}"): f"qdd[{c.index}]" for c in system.coordinates}
        bind |= {graph.var(f"p {j}"): f"p[{j}]" for j in range(len(self.p))}
        assigns = [Assign(f"tau[{n}]", f.value, f.name) for n, f in enumerate(self.forces)]
        return Emitter(syntax, bind).run(assigns)


def inverse_dynamics(mechanism: Mechanism) -> TreeInverse:
    """Inverse dynamics of a mechanism that is a tree; run-time parameters and inputs as in its file.

    Raises
    ------
    MechanismError
        It is no tree, or has something that joint coordinates do not carry: each by name.
    """
    made = frozen(mechanism)
    signals = {s.var: mechanism.system.graph.const(s.default) for s in made.system.signals}
    if signals:
        graph = made.system.graph
        pushes = {
            i: [graph.substitute(e, signals) for e in terms]
            for i, terms in made.system.pushes.items()
        }
        made = replace(made, system=replace(made.system, pushes=pushes, signals=[]))
    tree = in_joint_coordinates(replace(made, outputs=()))
    if tree.source.system.flexible:
        raise MechanismError(flexible(tree.source.system, "inverse dynamics"))
    chain, graph = tree.chain, tree.made.system.graph
    names: list[str] = []
    values: list[float] = []
    for link in chain.links:
        assert link.inertia is not None
        turning, first = link.inertia.turning, link.first
        exact = [turning[i][j] for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))]
        numbers = [_number(e) for e in (*exact, *first, link.mass)]
        if not any(numbers):
            continue
        p = [graph.var(f"p {len(values) + j}") for j in range(10)]
        names += [f"{link.name}.{key}" for key in PARAMETERS]
        values += numbers
        xx, yy, zz, xy, xz, yz = p[:6]
        link.weigh(p[9], (p[6], p[7], p[8]), [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    handed = transmitted(chain, tree.loads)
    forces = []
    for link, wrench in zip(chain.links, handed, strict=True):
        if link.kind in SINGLE:
            i = link.coordinates[0]
            along = link.along(wrench.moment[2], wrench.force[2])
            value = graph.lift(along + link.rotor * link.qdd[0])
            value = value - tree.loads.forces.get(i, graph.zero)
            unit = "N" if link.kind == "slide" else "Nm"
            name = tree.made.system.coordinates[i].name
            forces.append(JointForce(name, link.kind, unit, i, value))
            continue
        for axis, e in zip("xyz", wrench.moment, strict=True):
            forces.append(JointForce(f"{link.name}_t{axis}", link.kind, "Nm", None, graph.lift(e)))
        for axis, e in zip("xyz", wrench.force if link.kind == "free" else (), strict=False):
            forces.append(JointForce(f"{link.name}_f{axis}", link.kind, "N", None, graph.lift(e)))
    return TreeInverse(tree, forces, names, np.array(values))


def numpy_source(made: TreeInverse, name: str) -> str:
    """Source of a module with `P` and `torques(q, qd, qdd, p)`."""
    lines, cost = made.lines(NUMPY)
    n = len(made.forces)
    about = f"Forces of the joints, shape ({n},): {cost}."
    return numpy_file(
        f"Inverse dynamics of the tree {name}: {n} forces, linear in {len(made.p)} parameters p.",
        f"P = np.array({[float(v) for v in made.p]!r})",
        [Function("torques(q, qd, qdd, p=P)", about, "tau", n, lines)],
    )


def c_sources(made: TreeInverse, name: str) -> dict[str, str]:
    """Sources `<name>.h` and `<name>.c`: C99, no state, no allocation."""
    lines, cost = made.lines(C99)
    word = re.sub(r"\W", "_", name)
    n = len(made.forces)
    call = (
        f"void {word}_torques(const double *q, const double *qd, const double *qdd, "
        "const double *p, double *tau)"
    )
    about = f"forces of the joints: {cost}; no allocation, no branch"
    moments = Numbers(
        "P", "ten moments of mass a link, as the file has them", made.p.reshape(-1, 10).tolist()
    )
    return c_files(
        word,
        f"inverse dynamics of the tree {word}: {n} forces of joints",
        {"N_Q": len(made.tree.made.system.coordinates), "N": n, "N_P": len(made.p)},
        moments,
        [Function(call, about, "tau", n, lines)],
    )


def _number(value: Expr | float) -> float:
    return evaluate(value, {}) if isinstance(value, Expr) else float(value)
