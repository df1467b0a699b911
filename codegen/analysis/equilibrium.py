"""The rest pose of a mechanism: found from the pose of its file, with guides and input signals at given values.

The pose moves by Newton's method within the constraints, stiffness step = unbalanced force, with a bounded
step along each principal stiffness. Where one is negative its size is taken, so that the step still goes downhill: a
hill top is an equilibrium only for a mechanism that starts on it.

Source: Nocedal and Wright, Numerical Optimization, 2006, chapter 3.4: Newton's method with a modified Hessian.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from codegen.analysis.continuous import Array, Continuous, Moment
from codegen.analysis.linearise import LinearisationError
from codegen.description.mechanism import ports
from codegen.pose.assembly import assemble

BALANCED = 1e-11  # of the largest force inside: the error of rounding
MOST_STEPS = 400
STRIDE = 0.05  # rad or m that a pose moves at a time, at first
LONGEST = 0.2
FLAT = 1e-12  # of the largest stiffness: without any, nothing is divided by it
RANK = 1e-9  # of the largest singular value of the jacobian
CLOSED = 1e-10
CLOSINGS = 20


@dataclass(frozen=True)
class Equilibrium:
    """A pose at rest in which all forces are balanced.

    Attributes
    ----------
    moment : Moment
        Coordinates, inputs, internal states, and the multipliers that hold the mechanism together.
    dof : int
        Freedoms that the guides leave.
    unbalanced : float
        Largest force along a freedom, of the largest force inside.
    steps : int
        That the search took; zero where the file's pose is one.
    """

    moment: Moment
    dof: int
    unbalanced: float
    steps: int


def find_equilibrium(
    model: Continuous,
    inputs: Mapping[str, float] | None = None,
    parameters: Mapping[str, float] | None = None,
) -> Equilibrium:
    """Search the pose in which a mechanism rests.

    Parameters
    ----------
    model : Continuous
    inputs : mapping of str to float, optional
        Read ports: position of guides, input signals. Ports not given keep the file's values; guides stand still.
    parameters : mapping of str to float, optional
        Run-time parameters by path.

    Raises
    ------
    LinearisationError
        A name is unknown, guides cannot stand there, nothing holds the mechanism, or it rests in a singular pose.
    """
    if model.system.sliding:
        raise LinearisationError(
            f"{', '.join(model.system.sliding)}: rows of rates hold no place, so no rest is the only one nearby",
            "leave them out, or replace them by a guide",
        )
    moment = _given(model, dict(inputs or {}), dict(parameters or {}))
    dof = assemble(model.system).dof
    try:
        return _search(model, moment, inputs or {}, dof)
    except LinearisationError:
        raise
    except (ArithmeticError, ValueError, np.linalg.LinAlgError) as error:
        raise LinearisationError(
            f"the equations have no finite value on the way to rest ({error})",
            "start nearer to where it rests",
        ) from None


def _search(
    model: Continuous, moment: Moment, inputs: Mapping[str, float], dof: int
) -> Equilibrium:
    _move_guides(model, moment, inputs, dof)
    stride, before = STRIDE, np.zeros(model.n_q)
    for step in range(MOST_STEPS):
        now = _balance(model, moment, dof)
        if now.unbalanced <= BALANCED:
            return Equilibrium(moment, dof, now.unbalanced, step)
        if not np.isfinite(now.unbalanced):
            break
        move = _move(now, stride)
        if float(move @ before) < 0.0:
            # back where it came from: it went too far
            stride /= 2.0
            move = _move(now, stride)
        else:
            stride = min(1.5 * stride, LONGEST)
        moment.q = _closed(model, moment, moment.q + move, dof)
        before = move
    worst = _balance(model, moment, dof)
    along = int(np.argmax(np.abs(worst.motions @ worst.push)))
    raise LinearisationError(
        f"no equilibrium was found in {MOST_STEPS} steps: '{model.system.coordinates[along].name}' is pushed on at "
        f"{moment.q[along]:.4g}",
        "hold the mechanism by a spring or a guide, or give inputs at which it can rest",
    )


def _move(now: _Balance, stride: float) -> Array:
    """A change of the pose, along each principal stiffness no further than a stride."""
    curved, along = np.linalg.eigh((now.stiffness + now.stiffness.T) / 2.0)
    size = np.abs(curved)
    steps = (along.T @ now.push) / np.maximum(size, max(FLAT * float(np.max(size)), 1e-300))
    most = stride / np.max(np.abs(now.motions @ along), axis=0)
    held = np.clip(steps, -most, most)
    if curved[0] > 0.0 and np.array_equal(held, steps):
        # near rest forces that have no potential count too
        return np.asarray(now.motions @ np.linalg.solve(now.stiffness, now.push))
    return np.asarray(now.motions @ (along @ held))


@dataclass(frozen=True)
class _Balance:
    """Forces along the freedoms, in coordinates in which the inertia is one."""

    motions: Array
    push: Array
    stiffness: Array
    unbalanced: float


def _balance(model: Continuous, moment: Moment, dof: int) -> _Balance:
    moment.state = _rested(model, moment)
    at = model.values(moment)
    (jac,) = model.rows.slopes(at)
    force = model.force.values(at)
    motions = free_motions(jac, dof)
    moment.lam = np.zeros(len(jac))
    if len(jac):
        moment.lam[:] = np.linalg.lstsq(jac.T, force, rcond=RANK)[0]
    root = np.linalg.cholesky(motions.T @ model.mass(at) @ motions)
    motions = np.linalg.solve(root, motions.T).T
    slope = model.bend(at, moment.lam) - model.force.slopes(at)[0]
    push = motions.T @ force
    inside = np.abs(jac.T) @ np.abs(moment.lam) + np.abs(force)
    largest = float(np.max(np.abs(motions), initial=0.0) * np.max(inside, initial=0.0))
    unbalanced = float(np.max(np.abs(push), initial=0.0))
    return _Balance(
        motions,
        push,
        motions.T @ slope @ motions,
        unbalanced / largest if unbalanced > 0.0 else 0.0,
    )


def free_motions(jac: Array, dof: int) -> Array:
    """Return an orthonormal basis of the directions that the rows leave open, shape (n_q, dof).

    Raises
    ------
    LinearisationError
        They leave more open than the mechanism has freedoms: the pose is singular.
    """
    if not len(jac):
        return np.eye(jac.shape[1])
    _, sizes, right = np.linalg.svd(jac)
    rank = int(np.sum(sizes > RANK * max(1.0, float(sizes[0]))))
    if rank < jac.shape[1] - dof:
        raise LinearisationError(
            f"the pose is singular: {jac.shape[1] - rank} motions are open there to first order, the mechanism has "
            f"{dof} freedom(s)",
            "give inputs that lead to another pose",
        )
    return np.asarray(right[jac.shape[1] - dof :].T)


def _rested(model: Continuous, moment: Moment) -> Array:
    """Internal states that have settled; a state that rests at any value, like a bristle, keeps its own."""
    state = moment.state
    for _ in range(10 if len(state) else 0):
        at = model.values(moment)
        rate = model.rate.values(at)
        if np.max(np.abs(rate)) == 0.0:
            break
        slope = model.rate.slopes(at)[2]
        state = state - np.linalg.lstsq(slope, rate, rcond=1e-12)[0]
        moment.state = state
    return state


def _closed(model: Continuous, moment: Moment, q: Array, dof: int) -> Array:
    """The nearest pose that the rows allow."""
    start = moment.q
    for _ in range(CLOSINGS):
        moment.q = q
        at = model.values(moment)
        phi = model.rows.values(at)
        if np.max(np.abs(phi), initial=0.0) < CLOSED * 1e-3:
            break
        (jac,) = model.rows.slopes(at)
        # beside a closed pose redundant rows disagree, and seem to hold a free direction
        left, sizes, right = np.linalg.svd(jac, full_matrices=False)
        rank = model.n_q - dof
        q = q - right[:rank].T @ ((left[:, :rank].T @ phi) / sizes[:rank])
    moment.q = q
    gap = np.max(np.abs(model.rows.values(model.values(moment))), initial=0.0)
    moment.q = start
    if not gap < CLOSED:
        raise LinearisationError(
            f"the mechanism cannot be closed on its way to rest: {gap:.2g} m or rad stay open",
            "start nearer to where it rests, or give other inputs",
        )
    return q


def _given(model: Continuous, inputs: dict[str, float], parameters: dict[str, float]) -> Moment:
    """The file's pose at rest with the given values."""
    system = model.system
    reads = ports(model.mechanism)[0]
    guides = [reads[3 * n] for n in range(len(system.guides))]
    signals = list(reads[3 * len(system.guides) :])
    for port, value in inputs.items():
        if port not in (*guides, *signals):
            known = ", ".join([*guides, *signals]) or "none"
            raise LinearisationError(f"'{port}' is no input to rest at: there are {known}")
        if not np.isfinite(value):
            raise LinearisationError(f"'{port}' = {value}: must be a finite number")
    paths = [p.path for p in system.parameters]
    for path, value in parameters.items():
        if path not in paths:
            raise LinearisationError(
                f"'{path}' is no parameter: there are {', '.join(paths) or 'none'}"
            )
        problem = system.parameters[paths.index(path)].problem(value)
        if problem or not np.isfinite(value):
            raise LinearisationError(f"'{path}' = {value}: {problem or 'must be a finite number'}")
    return Moment(
        q=np.array([c.initial for c in system.coordinates]),
        qd=np.zeros(model.n_q),
        guide=np.array([g.coordinate.initial for g in system.guides]),
        signal=np.array([inputs.get(s, p.default) for s, p in zip(signals, system.signals, strict=True)]),
        state=np.array([s.default for s in system.internals]),
        parameter=np.array([parameters.get(p.path, p.default) for p in system.parameters]),
        lam=np.zeros(len(system.rows)),
    )  # fmt: skip


def _move_guides(model: Continuous, moment: Moment, inputs: Mapping[str, float], dof: int) -> None:
    """Take the guides from where the file has them to where they are wanted, a stride at a time."""
    reads = ports(model.mechanism)[0]
    begin = moment.guide.copy()
    wanted = np.array([inputs.get(reads[3 * n], begin[n]) for n in range(len(begin))])
    far = float(np.max(np.abs(wanted - begin), initial=0.0))
    parts = int(np.ceil(far / STRIDE))
    if parts > 10000:
        raise LinearisationError(
            f"a guide is to stand {far:.3g} m or rad away from the file's pose: {STRIDE * 10000:g} is the most"
        )
    for part in range(1, parts + 1):
        moment.guide = begin + (wanted - begin) * part / parts
        moment.q = _closed(model, moment, moment.q, dof)
