"""Equations of motion as a mechanism's file has them, in numbers, and a tree's accelerations beside them."""

import numpy as np

from codegen.closed_trees.closed import closed_tree
from codegen.expressions.dag import evaluate
from codegen.tree.places import Coordinates, Places

CLOSED = 1e-13


class Equations:
    """Mass, forces and rows of a system as numbers."""

    def __init__(self, system):
        self.system, graph = system, system.graph
        moving = {c.q: c.qd for c in system.coordinates}
        for guide in system.guides:
            moving |= dict(zip(guide.inputs, guide.inputs[1:], strict=False))
        self._rates = [graph.tangent(row.phi, moving) for row in system.rows]
        self._bends = [graph.tangent(e, moving) for e in self._rates]
        self._slopes = [[graph.diff(row.phi, c.q) for c in system.coordinates] for row in system.rows]  # fmt: skip

    def at(self, q, qd):
        system = self.system
        at = {
            p.var.name: p.default for p in (*system.parameters, *system.signals, *system.internals)
        }
        at |= {system.step_s.name: 1e-3, system.since_s.name: 0.0}
        for c, value, rate in zip(system.coordinates, q, qd, strict=True):
            at |= {c.q.name: float(value), c.qd.name: float(rate)}
        for guide in system.guides:
            given = (q[guide.coordinate.index], qd[guide.coordinate.index], 0.3)
            at |= {var.name: float(x) for var, x in zip(guide.inputs, given, strict=True)}
        return at | {held.var.name: evaluate(held.value, at) for held in system.held}

    def rows(self, q):
        at = self.at(q, np.zeros(len(q)))
        jac = [[evaluate(e, at) for e in row] for row in self._slopes]
        phi = [evaluate(row.phi, at) for row in self.system.rows]
        return np.array(phi), np.reshape(jac, (len(phi), len(q)))

    def accelerations(self, q, qd):
        at, n = self.at(q, qd), len(q)
        mass, force = np.zeros((n, n)), np.zeros(n)
        for (i, j), e in self.system.mass.items():
            mass[i, j] = mass[j, i] = evaluate(e, at)
        for i, e in self.system.force.items():
            force[i] = evaluate(e, at)
        jac = self.rows(q)[1]
        rest = [evaluate(e, at) for e in self._bends]
        block = np.block([[mass, jac.T], [jac, np.zeros((len(jac), len(jac)))]])
        return np.linalg.lstsq(block, np.concatenate([force, -np.array(rest)]), rcond=1e-12)[0][:n]


def moved(equations, seed):
    """A closed pose away from that of the file, and rates that the rows allow."""
    rng, system = np.random.default_rng(seed), equations.system
    z = np.array([c.initial for c in system.coordinates])
    jac = equations.rows(z)[1]
    guided = [guide.row for guide in system.guides]
    free = [r for r in range(len(system.rows)) if r not in guided]
    wish = rng.normal(size=len(z))
    z = z + 0.1 * (wish - np.linalg.lstsq(jac[free], jac[free] @ wish, rcond=1e-10)[0])
    for _ in range(30):
        phi, jac = equations.rows(z)
        if np.max(np.abs(phi), initial=0.0) < CLOSED:
            break
        z = z - np.linalg.lstsq(jac, phi, rcond=1e-10)[0]
    zd = rng.normal(size=len(z))
    return z, zd - np.linalg.lstsq(jac[free], jac[free] @ zd, rcond=1e-10)[0]


def difference(mechanism, seed=1):
    """Largest gap between accelerations of the file's coordinates, relative to the largest one."""
    tree = closed_tree(mechanism)
    system, source = tree.made.system, mechanism.system
    equations = Equations(system)
    z, zd = moved(equations, seed)
    zdd = equations.accelerations(z, zd)
    first = len(tree.motion.tree.coordinates)
    own = {c.q: system.coordinates[first + k] for k, c in enumerate(tree.motion.loose)}
    over = Coordinates(tree.motion, tree.chain, Places(tree.chain), own)
    at = equations.at(z, zd) | {f"qdd {i}": float(a) for i, a in enumerate(zdd)}
    q, qd, qdd = (
        np.array([evaluate(over.of(c.q, part), at) for c in source.coordinates])
        for part in range(3)
    )
    exact = Equations(source).accelerations(q, qd)
    return np.max(np.abs(qdd - exact)) / max(1.0, np.max(np.abs(exact)))
