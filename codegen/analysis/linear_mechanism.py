"""A mechanism about its equilibrium as a linear system in continuous time, exact except for rounding.

    x' = A x + B u,   y = C x + D u

u are small changes of the guides (position, rate, acceleration each) and of input signals, y those of outputs, x
changes of as many coordinates as there are freedoms, of their rates, and of internal states of forces. All slopes are
derivatives of the expressions from which kernels are made; `linearise` has the same of a kernel's step, integrator
included.

Small motions q = N z + G guide obey  N^T (mass qdd + damping qd + stiffness q) = N^T (slopes by states and signals),
where the stiffness has the part of the rows' own curvature, sum of lam d2phi/dq2: it carries a pendulum.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from codegen.analysis.continuous import Array, Continuous, Moment, Slopes
from codegen.analysis.equilibrium import RANK, Equilibrium, find_equilibrium, free_motions
from codegen.analysis.linear_system import LinearSystem
from codegen.description.mechanism import Mechanism, ports
from codegen.description.outputs import Output
from codegen.expressions.dag import Expr
from codegen.pose.assembly import assemble

SIDE = 1e-30  # rate on either side of rest: forces with a kink there show both slopes
KINK = 1e-6  # of the larger of two slopes: more is a kink
UNLIKED = 0.3  # how much a coordinate that nobody named counts when states are chosen


@dataclass(frozen=True)
class LinearMechanism(LinearSystem):
    """A mechanism, linearised where it rests.

    Attributes
    ----------
    states : tuple of str
        Of the columns of `a`.
    shape : ndarray of float64, shape (n_q, n)
        Changes of all coordinates for those of the states.
    equilibrium : Equilibrium
    at : dict of str to float
        Outputs at the equilibrium.
    kinks : tuple of str
        Coordinates with a force whose slope jumps at rest; the mean of both sides is taken.
    """

    states: tuple[str, ...]
    shape: Array
    equilibrium: Equilibrium
    at: dict[str, float]
    kinks: tuple[str, ...]

    def response(self, frequency_hz: Array) -> NDArray[np.complex128]:
        """Outputs over inputs of slow sines, shape (n_frequencies, p, m).

        Parameters
        ----------
        frequency_hz : ndarray of float64, shape (n_frequencies,)
        """
        return self.transfer(2j * np.pi * np.asarray(frequency_hz, float))


def linearise_mechanism(
    mechanism: Mechanism,
    inputs: Mapping[str, float] | None = None,
    parameters: Mapping[str, float] | None = None,
) -> LinearMechanism:
    """Find where a mechanism rests, and linearise it there.

    Parameters
    ----------
    mechanism : Mechanism
    inputs, parameters : mapping of str to float, optional
        As `find_equilibrium` takes them.

    Raises
    ------
    LinearisationError
        As `find_equilibrium`.
    """
    model = Continuous(mechanism)
    rest = find_equilibrium(model, inputs, parameters)
    small = _small_motion(model, rest)
    c, d, at = _outputs(model, rest, small)
    system = mechanism.system
    names = [system.coordinates[i].name for i in small.chosen]
    return LinearMechanism(
        a=small.xd_x,
        b=small.xd_u,
        c=c,
        d=d,
        states=(*names, *(f"{n} rate" for n in names), *(s.path for s in system.internals)),
        inputs=ports(mechanism)[0],
        outputs=tuple(output.port for output in mechanism.outputs),
        shape=small.q_x,
        equilibrium=rest,
        at=at,
        kinks=small.kinks,
    )


def local_poles(mechanism: Mechanism) -> NDArray[np.complex128]:
    """Poles in the file's pose, whether it rests there or not: how fast the mechanism can move.

    Raises
    ------
    LinearisationError
        The pose is singular.
    """
    model = Continuous(mechanism)
    system = mechanism.system
    moment = Moment(
        q=np.array([c.initial for c in system.coordinates]),
        qd=np.zeros(model.n_q),
        guide=np.array([g.coordinate.initial for g in system.guides]),
        signal=np.array([s.default for s in system.signals]),
        state=np.array([s.default for s in system.internals]),
        parameter=np.array([p.default for p in system.parameters]),
    )
    at = model.values(moment)
    (jac,) = model.rows.slopes(at)
    moment.lam = np.zeros(len(jac))
    if len(jac):
        moment.lam[:] = np.linalg.lstsq(jac.T, model.force.values(at), rcond=RANK)[0]
    small = _small_motion(model, Equilibrium(moment, assemble(system).dof, 0.0, 0))
    return np.asarray(np.linalg.eigvals(small.xd_x), complex)


@dataclass(frozen=True)
class _Small:
    """Changes of everything for small ones of the states x and the inputs u."""

    chosen: list[int]
    xd_x: Array
    xd_u: Array
    q_x: Array
    q_u: Array
    qd_x: Array
    qd_u: Array
    qdd_x: Array
    qdd_u: Array
    lam_x: Array
    lam_u: Array
    kinks: tuple[str, ...]


def _small_motion(model: Continuous, rest: Equilibrium) -> _Small:
    moment, dof = rest.moment, rest.dof
    at = model.values(moment)
    (jac,) = model.rows.slopes(at)
    chosen, motions = _chosen(model, free_motions(jac, dof))
    n_q, n_state, n_signal = model.n_q, len(moment.state), len(moment.signal)
    n_guide = len(moment.guide)
    n, m = 2 * dof + n_state, 3 * n_guide + n_signal

    # where guides take the mechanism while the chosen coordinates stand
    drawn = np.zeros((len(jac), n_guide))
    for number, guide in enumerate(model.system.guides):
        drawn[guide.row, number] = 1.0
    by_guide = np.linalg.lstsq(jac, drawn, rcond=RANK)[0] if len(jac) else np.zeros((n_q, 0))
    by_guide = by_guide - motions @ by_guide[chosen]

    def spread(by_state: Array, part: int, offset: int) -> tuple[Array, Array]:
        found_x, found_u = np.zeros((n_q, n)), np.zeros((n_q, m))
        found_x[:, offset : offset + dof] = by_state
        found_u[:, part : 3 * n_guide : 3] = by_guide
        return found_x, found_u

    q_x, q_u = spread(motions, 0, 0)
    qd_x, qd_u = spread(motions, 1, dof)
    (stiff, damp, of_state, of_signal), force_kinks = _both_sides(model, rest, model.force)
    rates, _ = _both_sides(model, rest, model.rate)
    mass = model.mass(at)
    bend = model.bend(at, moment.lam)

    state_x, state_u = np.zeros((n_state, n)), np.zeros((n_state, m))
    state_x[:, 2 * dof :] = np.eye(n_state)
    signal_u = np.zeros((n_signal, m))
    signal_u[:, 3 * n_guide :] = np.eye(n_signal)
    # slopes of the driving forces: of the forces, minus the turning of the rows' multipliers with the pose
    push_x = (stiff - bend) @ q_x + damp @ qd_x + of_state @ state_x
    push_u = (stiff - bend) @ q_u + damp @ qd_u + of_state @ state_u + of_signal @ signal_u
    qdd_u = np.zeros((n_q, m))
    qdd_u[:, 2 : 3 * n_guide : 3] = by_guide
    reduced = motions.T @ mass @ motions
    zdd_x = np.linalg.solve(reduced, motions.T @ push_x)
    zdd_u = np.linalg.solve(reduced, motions.T @ (push_u - mass @ qdd_u))
    qdd_x, qdd_u = motions @ zdd_x, qdd_u + motions @ zdd_u

    xd_x, xd_u = np.zeros((n, n)), np.zeros((n, m))
    xd_x[:dof, dof : 2 * dof] = np.eye(dof)
    xd_x[dof : 2 * dof], xd_u[dof : 2 * dof] = zdd_x, zdd_u
    xd_x[2 * dof :] = rates[0] @ q_x + rates[1] @ qd_x + rates[2] @ state_x
    xd_u[2 * dof :] = rates[0] @ q_u + rates[1] @ qd_u + rates[3] @ signal_u
    held = np.linalg.pinv(jac.T, rcond=RANK) if len(jac) else np.zeros((0, n_q))
    names = tuple(model.system.coordinates[i].name for i in force_kinks)
    return _Small(
        chosen, xd_x, xd_u, q_x, q_u, qd_x, qd_u, qdd_x, qdd_u,
        held @ (push_x - mass @ qdd_x), held @ (push_u - mass @ qdd_u), names,
    )  # fmt: skip


def _chosen(model: Continuous, motions: Array) -> tuple[list[int], Array]:
    """As many coordinates as there are freedoms, those with a name of their own first, and all motions for theirs."""
    system = model.system
    shown = {o.index for o in model.mechanism.outputs if o.kind == "value"}
    liked = np.array(
        [
            1.0 if c.index in shown or c.name in system.scalars else UNLIKED
            for c in system.coordinates
        ]
    )
    left = motions * liked[:, None]
    chosen: list[int] = []
    for _ in range(motions.shape[1]):
        pivot, column = np.unravel_index(int(np.argmax(np.abs(left))), left.shape)
        chosen.append(int(pivot))
        left = left - np.outer(left[:, column], left[pivot] / left[pivot, column])
    return chosen, motions @ np.linalg.inv(motions[chosen]) if chosen else motions


def _both_sides(
    model: Continuous, rest: Equilibrium, what: Slopes
) -> tuple[list[Array], list[int]]:
    """Slopes at rest, the mean of those with rates just above and just below zero; rows where they differ."""
    sides = []
    for rate in (SIDE, -SIDE):
        at = model.values(rest.moment) | {v.name: rate for v in model.qd}
        sides.append(what.slopes(at))
    kinks = set()
    for up, down in zip(*sides, strict=True):
        apart = np.abs(up - down) > KINK * np.maximum(np.abs(up), np.abs(down))
        kinks |= {int(r) for r in np.flatnonzero(apart.any(axis=1))}
    return [(up + down) / 2.0 for up, down in zip(*sides, strict=True)], sorted(kinks)


def _outputs(
    model: Continuous, rest: Equilibrium, small: _Small
) -> tuple[Array, Array, dict[str, float]]:
    """C, D and the outputs' values."""
    outputs = model.mechanism.outputs
    n_phi, n_q = len(model.system.rows), model.n_q
    lam = [model.system.row_multiplier(r) for r in range(n_phi)]
    shown = Slopes([_shown(model, output, lam) for output in outputs], [*model.groups, lam])
    values = shown.values(model.values(rest.moment))
    slopes, _ = _both_sides(model, rest, shown)
    n_state, m = len(rest.moment.state), small.xd_u.shape[1]
    n = len(small.xd_x)
    state_x, signal_u = np.zeros((n_state, n)), np.zeros((len(rest.moment.signal), m))
    state_x[:, n - n_state :] = np.eye(n_state)
    signal_u[:, m - len(signal_u) :] = np.eye(len(signal_u))
    by_q, by_qd, by_state, by_signal, by_lam = slopes
    by_qdd = np.zeros((len(outputs), n_q))
    for row, output in enumerate(outputs):
        if output.kind == "acceleration":
            by_qdd[row, output.index] = 1.0
    c = by_q @ small.q_x + by_qd @ small.qd_x + by_qdd @ small.qdd_x
    d = by_q @ small.q_u + by_qd @ small.qd_u + by_qdd @ small.qdd_u
    c = c + by_lam @ small.lam_x + by_state @ state_x
    d = d + by_lam @ small.lam_u + by_signal @ signal_u
    return c, d, {o.port: float(v) for o, v in zip(outputs, values, strict=True)}


def _shown(model: Continuous, output: Output, lam: list[Expr]) -> Expr:
    system = model.system
    if output.kind == "value":
        return system.coordinates[output.index].q
    if output.kind == "rate":
        return system.coordinates[output.index].qd
    if output.kind == "acceleration":
        return system.graph.zero
    if output.kind == "reaction":
        return -lam[system.guides[output.index].row]
    return model.now(system.values[output.path])
