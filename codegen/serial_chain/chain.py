"""Serial chains of hinges and slides: inverse dynamics in generalised inertial parameters.

In frames after Denavit and Hartenberg every entry of the inertia matrix and the gravity potential
is a sum of products, one factor a joint out of `1 cos sin cos2 sin2` (hinge) or `1 q q^2` (slide).
Their coefficients are constants, linear in the classical parameters p of the links:

    inertia_ki = sum_l mu_ki^l basis_l(q),   potential = sum_l mu_0^l basis_l(q),   mu = C p

and differentiation maps the basis to itself. So torques need nothing but mu and the basis,

    tau_k = inertia_ki qdd_i + (d_j inertia_ki - d_k inertia_ij / 2) qd_i qd_j + d_k potential

and rows of C that depend on others drop out: the rest is the minimal set of parameters that the
torques depend on (and that measured torques determine). Links are given by moments of their mass in
the frame at their far end, so that C has no products of parameters:

    p = [xx yy zz xy xz yz  x y z  m] a link:  integral of x x dm, ..., of x dm, ..., of dm

Source: Denavit and Hartenberg 1955; Paul 1981 (pseudo-inertia); Gautier and Khalil 1990 (least set).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from codegen.serial_chain.basis import (
    COS,
    ONE,
    SIN,
    SLOPES,
    SMALL,
    Key,
    Matrix,
    Q,
    Sum,
    constant,
    plus,
    product,
    tidy,
    times,
    values,
)  # fmt: skip
from codegen.system.body import tidy as rounded

PARAMETERS = ("xx", "yy", "zz", "xy", "xz", "yz", "x", "y", "z", "m")
_PLACES = {(0, 0): 0, (1, 1): 1, (2, 2): 2, (0, 1): 3, (0, 2): 4, (1, 2): 5, (0, 3): 6, (1, 3): 7,
           (2, 3): 8, (3, 3): 9}  # fmt: skip
DEPENDENT = 1e-9


Entry = tuple[int, int] | None  # of the inertia matrix, upper triangle; None: the potential
Rows = dict[Key, np.ndarray]  # product of the basis -> coefficients over p


@dataclass(frozen=True)
class Joint:
    """One joint and the link that follows it: turn `theta` about z, move `offset` along z, `length`
    along the new x, twist `alpha` about it. The joint moves theta (hinge) or the offset (slide).
    """

    kind: Literal["hinge", "slide"]
    length_m: float = 0.0
    twist_rad: float = 0.0
    offset_m: float = 0.0
    theta_rad: float = 0.0


@dataclass(frozen=True)
class Term:
    """`factor` times one row of C, times a product of the basis, times rates: of `qdd[i]`,
    `qd[i] qd[j]`, or of nothing.
    """

    factor: float
    row: int
    key: Key
    rates: tuple[int, ...]
    is_acceleration: bool = False


@dataclass(frozen=True)
class Dynamics:
    """Inverse dynamics of a chain.

    Attributes
    ----------
    joints : tuple of Joint
    C : ndarray, shape (n_mu, 10 n)
        mu = C p; its rows are independent, in the order in which the basis meets them.
    share : ndarray, shape (n_rows, n_mu)
        Every coefficient of inertia matrix and potential as a combination of mu.
    torques : tuple of tuple of Term
        Of each joint; `row` counts the rows of `share`.
    """

    joints: tuple[Joint, ...]
    C: np.ndarray
    share: np.ndarray
    torques: tuple[tuple[Term, ...], ...]

    def mu(self, p: Sequence[float]) -> np.ndarray:
        """Generalised inertial parameters of the classical ones, shape (10 n,), see `link`."""
        return self.C @ np.asarray(p, dtype=float)


@dataclass(frozen=True)
class Least:
    """Classical parameters that the torques determine: `p[kept] + share @ p[grouped]`; those in
    `without_effect` do nothing.
    """

    kept: tuple[int, ...]
    grouped: tuple[int, ...]
    without_effect: tuple[int, ...]
    share: np.ndarray


def link(mass_kg: float, centre_m: Sequence[float], inertia_kg_m2: np.ndarray) -> np.ndarray:
    """Ten parameters of a link: its centre and its inertia about it, shape (3, 3), in the frame at
    its far end.
    """
    inertia, c = np.asarray(inertia_kg_m2, dtype=float), np.asarray(centre_m, dtype=float)
    second = np.trace(inertia) / 2.0 * np.eye(3) - inertia + mass_kg * np.outer(c, c)
    pairs = [(0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)]
    return np.array([*(second[pair] for pair in pairs), *(mass_kg * c), mass_kg])


def dynamics(joints: Iterable[Joint], gravity_m_s2: Sequence[float]) -> Dynamics:
    """Inverse dynamics of a chain whose first joint stands on the ground.

    Parameters
    ----------
    joints : iterable of Joint
    gravity_m_s2 : sequence of float, shape (3,)
        In the frame of the ground, whose z is the first joint's axis.

    Raises
    ------
    ValueError
        No joint, or a number that is not finite.
    """
    chain = tuple(joints)
    numbers = [v for j in chain for v in (j.length_m, j.twist_rad, j.offset_m, j.theta_rad)]
    if not chain or not np.all(np.isfinite([*numbers, *gravity_m_s2])):
        raise ValueError("a chain needs one joint or more, and finite numbers")
    inertia, potential = _inertia(chain), _potential(chain, gravity_m_s2)
    # rows of C: products of the basis in order, and for each the entries of the inertia matrix
    groups: list[dict[Entry, Rows]] = [inertia, {None: potential}]
    table: list[np.ndarray] = []
    number: dict[tuple[Entry, Key], int] = {}
    for group in groups:
        for key in sorted({key for sums in group.values() for key in sums}):
            for entry in sorted(group, key=str):
                if key in group[entry]:
                    number[entry, key] = len(table)
                    table.append(group[entry][key])
    rows = np.array(table) if table else np.zeros((0, 10 * len(chain)))
    kept = _independent(rows)
    least = rows[kept]
    size = np.linalg.norm(rows, axis=1, keepdims=True)
    share = np.linalg.lstsq((least / size[kept]).T, (rows / size).T, rcond=None)[0].T
    share = rounded(np.where(np.abs(share) < SMALL, 0.0, share) * size / size[kept].T)
    share[kept] = np.eye(len(kept))
    torques = tuple(_torque(k, len(chain), number) for k in range(len(chain)))
    return Dynamics(chain, least, share, torques)


def torques_at(
    made: Dynamics, mu: np.ndarray, q: Sequence[float], qd: Sequence[float], qdd: Sequence[float]
) -> list[float]:
    """Evaluate the torques at one motion; programs that need many take the generated text."""
    row = made.share @ mu
    basis = [values(angle) for angle in q]
    found = []
    for terms in made.torques:
        tau = 0.0
        for term in terms:
            size = term.factor * row[term.row]
            for joint, kind in enumerate(term.key):
                size *= basis[joint][kind]
            rates = qdd if term.is_acceleration else qd
            for joint in term.rates:
                size *= rates[joint]
            tau += size
        found.append(float(tau))
    return found


def identifiable(made: Dynamics) -> Least:
    """Classical parameters that have an effect, each with those that it cannot be told from."""
    size = np.max(np.abs(made.C), axis=0, initial=0.0)
    # outer links first, masses last: moments of other links can replace them
    active = [j for j in range(made.C.shape[1]) if size[j] > 0.0]
    active.sort(key=lambda j: (j % 10 == 9, -(j // 10), j))
    kept = sorted(active[k] for k in _independent(made.C.T[active]))
    grouped = sorted(set(active) - set(kept))
    share = np.linalg.lstsq(made.C[:, kept], made.C[:, grouped], rcond=None)[0]
    share = np.where(np.abs(share) < SMALL, 0.0, share)
    idle = [j for j in range(made.C.shape[1]) if size[j] == 0.0]
    return Least(tuple(kept), tuple(grouped), tuple(idle), share)


def _moved(joint: Joint, k: int, n: int, *, at_rest: bool = False) -> Matrix:
    """4 x 4 transform of joint k; `at_rest` leaves its motion out."""

    def factor(kind: int) -> Key:
        return (*(ONE for _ in range(k)), kind, *(ONE for _ in range(n - k - 1)))

    c0, s0 = _exact(math.cos(joint.theta_rad)), _exact(math.sin(joint.theta_rad))
    ca, sa = _exact(math.cos(joint.twist_rad)), _exact(math.sin(joint.twist_rad))
    one: Sum = {factor(ONE): 1.0}
    cosine: Sum = {factor(ONE): c0}
    sine: Sum = {factor(ONE): s0}
    offset: Sum = {factor(ONE): joint.offset_m}
    if joint.kind == "slide" and not at_rest:
        offset = {factor(ONE): joint.offset_m, factor(Q): 1.0}
    elif joint.kind == "hinge" and not at_rest:
        cosine = {factor(COS): c0, factor(SIN): -s0}
        sine = {factor(COS): s0, factor(SIN): c0}

    def scaled(size: float, of: Sum) -> Sum:
        return tidy({key: size * coef for key, coef in of.items()})

    a = joint.length_m
    return [
        [tidy(cosine), scaled(-ca, sine), scaled(sa, sine), scaled(a, cosine)],
        [tidy(sine), scaled(ca, cosine), scaled(-sa, cosine), scaled(a, sine)],
        [{}, scaled(sa, one), scaled(ca, one), tidy(offset)],
        [{}, {}, {}, one],
    ]


def _exact(value: float) -> float:
    """Sines of right angles without their round-off."""
    return float(round(value)) if abs(value - round(value)) < 1e-15 else value


_TURN = np.array([[0, -1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]])
_MOVE = np.array([[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 1], [0, 0, 0, 0]])


def _inertia(chain: tuple[Joint, ...]) -> dict[Entry, Rows]:
    """Inertia matrix, upper triangle: products of the basis -> rows over p."""
    n = len(chain)
    rate = [constant(_TURN if joint.kind == "hinge" else _MOVE, n) for joint in chain]
    found: dict[Entry, Rows] = {}
    for k in range(n):
        # seen from the frame before joint k, whose own motion cancels; `moved[i]` is the transform
        # up to some link with joint i differentiated
        before = _moved(chain[k], k, n, at_rest=True)
        moved = {k: product(rate[k], before)}
        for last in range(k, n):
            if last > k:
                here = _moved(chain[last], last, n)
                moved = {i: product(matrix, here) for i, matrix in moved.items()}
                moved[last] = product(product(before, rate[last]), here)
                before = product(before, here)
            for i in range(k, last + 1):
                _add_energy(found.setdefault((k, i), {}), moved[k], moved[i], last, n)
    return {entry: _cleaned(sums) for entry, sums in found.items()}


def _add_energy(into: Rows, left: Matrix, right: Matrix, body: int, n: int) -> None:
    """trace(left J right^T), J the body's pseudo-inertia."""
    for a in range(4):
        for b in range(4):
            place = 10 * body + _PLACES[min(a, b), max(a, b)]
            for key, coef in plus(times(left[r][a], right[r][b]) for r in range(3)).items():
                into.setdefault(key, np.zeros(10 * n))[place] += coef


def _potential(chain: tuple[Joint, ...], gravity: Sequence[float]) -> Rows:
    n = len(chain)
    found: Rows = {}
    place = constant(np.eye(4), n)
    for body, joint in enumerate(chain):
        place = product(place, _moved(joint, body, n))
        for r in range(3):
            for c in range(4):
                for key, coef in place[r][c].items():
                    row = found.setdefault(key, np.zeros(10 * n))
                    row[10 * body + _PLACES[c, 3]] -= gravity[r] * coef
    # a joint that does not move has no torque
    return {key: row for key, row in _cleaned(found).items() if any(key)}


def _cleaned(sums: Rows) -> Rows:
    size = max((float(np.max(np.abs(row))) for row in sums.values()), default=1.0)
    tidied = {key: np.where(np.abs(row) < SMALL * size, 0.0, row) for key, row in sums.items()}
    return {key: row for key, row in tidied.items() if row.any()}


def _independent(rows: np.ndarray) -> list[int]:
    """The first rows that are independent."""
    kept: list[int] = []
    basis = np.zeros((0, rows.shape[1]))
    for k, row in enumerate(rows):
        size = float(np.linalg.norm(row))
        if size == 0.0:
            continue
        rest = row / size
        for _ in range(2):
            rest = rest - basis.T @ (basis @ rest)
        left = float(np.linalg.norm(rest))
        if left > DEPENDENT:
            kept.append(k)
            basis = np.vstack([basis, rest / left])
    return kept


def _torque(k: int, n: int, number: dict[tuple[Entry, Key], int]) -> tuple[Term, ...]:
    """Lagrange's equation of joint k, coefficient by coefficient."""
    terms: list[Term] = []

    def slopes(entry, j: int, factor: float, rates: tuple[int, ...]) -> None:
        for (of, key), row in number.items():
            if of == entry and key[j] in SLOPES:
                slope, kind = SLOPES[key[j]]
                terms.append(Term(factor * slope, row, (*key[:j], kind, *key[j + 1 :]), rates))

    for i in range(n):
        entry = (min(k, i), max(k, i))
        for (of, key), row in number.items():
            if of == entry:
                terms.append(Term(1.0, row, key, (i,), is_acceleration=True))
        slopes(entry, i, 1.0, (i, i))
        slopes((i, i), k, -0.5, (i, i))
        for j in range(i + 1, n):
            slopes(entry, j, 1.0, (i, j))
            slopes((min(k, j), max(k, j)), i, 1.0, (i, j))
            slopes((i, j), k, -1.0, (i, j))
    slopes(None, k, 1.0, ())
    return tuple(terms)
