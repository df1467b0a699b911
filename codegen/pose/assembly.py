"""The initial position, made exact: Newton from the file's values, with a check that the branch
was kept; rates made consistent; freedoms counted; redundant and conflicting rows found by name.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from codegen.expressions.dag import Expr, evaluate
from codegen.pose.redundancy import Redundancy, row_space
from codegen.pose.sparse import least
from codegen.system.body import is_moving
from codegen.system.system import System
from rig_configs.mistakes import Mistake

ITERATIONS = 30
CLOSED = 1e-12  # m or rad: as exact as the rows can be evaluated
OPEN = 1e-8  # residual that newton must reach at least
MOVED_LIMIT = {"m": 0.05, "rad": 0.2, "1": 0.2}
SIZE_LIMIT = 0.2  # of the mechanism's size, where that is less than 0.05 m
NEARBY = 1e-3  # how far along a free motion redundancy is looked at again


@dataclass(frozen=True)
class Assembled:
    """A mechanism put together.

    Attributes
    ----------
    q, qd : ndarray, shape (n_q,)
        In the order of the coordinates; within `CLOSED` of the constraints where possible.
    dof : int
        Freedoms that the guides leave.
    redundant : tuple of Redundancy
        Rows that follow from others, here and nearby.
    is_singular : bool
        More rows depend on each other here than nearby.
    moved : dict of str to float
        How far each coordinate that moved at all has moved from the file's value.
    """

    q: np.ndarray
    qd: np.ndarray
    dof: int
    redundant: tuple[Redundancy, ...]
    is_singular: bool
    moved: dict[str, float]


class Rows:
    """The constraints of a system as numbers; guides stand at the values given."""

    def __init__(self, system: System) -> None:
        self.system = system
        graph = system.graph
        self.n_q = len(system.coordinates)
        self._names = [c.q.name for c in system.coordinates]
        self._fixed = {p.var.name: p.default for p in [*system.parameters, *system.signals]}
        self.guide: dict[str, float] = {}
        self.hold_guides(np.array([c.initial for c in system.coordinates]))
        by_var = {c.q: c.index for c in system.coordinates}
        self._entries: list[tuple[int, int, Expr]] = []
        self.of_places = [r for r, row in enumerate(system.rows) if row.sliding is None]
        for r, row in enumerate(system.rows):
            self._entries += [(r, i, e) for i, e in system.slopes_of_rates(row).items()]
            for var in graph.variables(row.phi):
                if var in by_var:
                    self._entries.append((r, by_var[var], graph.diff(row.phi, var)))

    def hold_guides(self, q: np.ndarray) -> None:
        for guide in self.system.guides:
            position, rate, acceleration = guide.inputs
            self.guide[position.name] = float(q[guide.coordinate.index])
            self.guide |= {rate.name: 0.0, acceleration.name: 0.0}

    def _at(self, q: np.ndarray) -> dict[str, float]:
        return dict(zip(self._names, map(float, q), strict=True)) | self.guide | self._fixed

    def phi(self, q: np.ndarray) -> np.ndarray:
        at = self._at(q)
        return np.array([evaluate(row.phi, at) for row in self.system.rows])

    def phi_q(self, q: np.ndarray) -> np.ndarray:
        at = self._at(q)
        jac = np.zeros((len(self.system.rows), self.n_q))
        for r, i, entry in self._entries:
            jac[r, i] = entry.value if entry.is_const else evaluate(entry, at)
        return jac


def assemble(system: System, report: Callable[[Mistake], None] | None = None) -> Assembled:
    """Put a system together, from the values that its file gives.

    Parameters
    ----------
    system : System
        Or a `Mechanism`, whose system is taken. Read only.
    report : callable, optional
        Called with each mistake; without it the first one is raised.

    Raises
    ------
    ValueError
        Rows conflict, or the closed position is not the one of the file: with names and distances.
    """
    system = getattr(system, "system", system)
    report = report or _raise
    rows = Rows(system)
    start = np.array([c.initial for c in system.coordinates])
    q, jac = _close(rows, start)
    labels = [row.label for row in system.rows]
    space = row_space(jac)
    violation = rows.phi(q)
    if np.max(np.abs(violation), initial=0.0) > OPEN:
        report(Mistake(system.file, "file", *_conflict(space.dependent, violation, labels)))
        return Assembled(q, np.zeros(len(q)), 0, (), False, {})
    _check_branch(system, start, q, report)
    qd = np.array([c.initial_rate for c in system.coordinates])
    guided = {guide.row for guide in system.guides}
    free_rows = [r for r in range(len(labels)) if r not in guided]
    if free_rows and np.max(np.abs(jac[free_rows] @ qd), initial=0.0) > CLOSED:
        qd = _consistent(jac[free_rows], qd)

    redundant, is_singular = [], False
    rank = space.rank
    if space.dependent:
        nearby = row_space(rows.phi_q(_moved_on(rows, q, jac)))
        is_singular = nearby.rank > space.rank
        rank = max(space.rank, nearby.rank)
        redundant = (nearby if is_singular else space).named(labels)
    moved = {
        c.name: float(q[c.index] - start[c.index])
        for c in system.coordinates
        if abs(q[c.index] - start[c.index]) > CLOSED
    }
    return Assembled(q, qd, rows.n_q - rank, tuple(redundant), is_singular, moved)


def _raise(mistake: Mistake) -> None:
    raise ValueError(str(mistake))


def _consistent(jac: np.ndarray, qd: np.ndarray) -> np.ndarray:
    """Rates that the rows allow: those that the file gives, and their consequences; where they
    contradict each other, the nearest ones.
    """
    open_rate = jac @ qd
    follows = qd == 0.0
    made = qd.copy()
    made[follows] -= least(jac[:, follows], open_rate)
    made[np.abs(made) < 1e-14 * np.max(np.abs(made))] = 0.0  # round-off
    if np.max(np.abs(jac @ made), initial=0.0) <= CLOSED * max(1.0, float(np.max(np.abs(qd)))):
        return made
    return qd - least(jac, open_rate)


def _close(rows: Rows, start: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Newton, least change; the file's values stay when they are exact already."""
    q = start.copy()
    jac = rows.phi_q(q)
    for _ in range(ITERATIONS):
        violation = rows.phi(q)
        if np.max(np.abs(violation), initial=0.0) <= CLOSED:
            break
        # rows of rates alone say nothing of places
        step = least(jac[rows.of_places], violation[rows.of_places])
        if not np.all(np.isfinite(step)):
            break
        q = q - step
        jac = rows.phi_q(q)
        if np.max(np.abs(step)) < 1e-15:
            break
    return q, jac


def _moved_on(rows: Rows, q: np.ndarray, jac: np.ndarray) -> np.ndarray:
    """A closed position nearby, along a motion that the constraints allow; guides let go."""
    guided = {guide.row for guide in rows.system.guides}
    free = [r for r in range(len(jac)) if r not in guided]
    wish = np.cos(1.0 + np.arange(len(q)))  # any direction will do, the same each time
    allowed = wish - least(jac[free], jac[free] @ wish) if free else wish
    size = float(np.max(np.abs(allowed), initial=0.0))
    if size < 1e-9:
        return q
    moved = q + NEARBY / size * allowed
    rows.hold_guides(moved)
    return _close(rows, moved)[0]


def _conflict(
    dependent: dict[int, np.ndarray], violation: np.ndarray, labels: list[str]
) -> tuple[str, str]:
    """Problem and remedy: the rows that contradict each other, or just do not close."""
    for row, combination in dependent.items():
        if abs(combination @ violation) > OPEN:
            names = [labels[int(i)] for i in np.flatnonzero(np.abs(combination) > 1e-6)]
            problem = f"row '{labels[row]}' conflicts with {', '.join(map(repr, names[:-1]))}"
            return problem, "remove one of them, or make their lengths and directions agree"
    worst = np.argsort(-np.abs(violation))[:3]
    names = [f"'{labels[i]}' by {abs(violation[i]):.3g}" for i in worst if abs(violation[i]) > OPEN]
    problem = f"cannot be assembled from these positions: {', '.join(names)} open"
    return problem, "correct lengths, or start nearer to a closed position"


def _check_branch(
    system: System, start: np.ndarray, q: np.ndarray, report: Callable[[Mistake], None]
) -> None:
    limits = MOVED_LIMIT | {"m": min(MOVED_LIMIT["m"], SIZE_LIMIT * _size(system))}
    far = [c for c in system.coordinates if abs(q - start)[c.index] > limits[c.unit]]
    if far:
        told = [f"{c.name} from {start[c.index]:.4g} to {q[c.index]:.4g}" for c in far[:4]]
        problem = f"assembly moves {', '.join(told)}: perhaps another branch"
        remedy = "start nearer: at most " + ", ".join(
            f"{limit:.3g} {unit if unit != '1' else 'of a vector'}"
            for unit, limit in limits.items()
        )
        report(Mistake(system.file, "file", problem, remedy))


def _size(system: System) -> float:
    """Return the extent of the moving points in the file's pose; infinite for fewer than two places."""
    moving = [point for point in system.points.values() if is_moving(point)]
    if not moving:
        return np.inf
    places = np.array([[system.initial(c) for c in point] for point in moving])
    return float(np.max(np.ptp(places, axis=0))) or np.inf
