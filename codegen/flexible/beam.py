"""A beam along a polyline as a structure: Euler-Bernoulli, or Timoshenko where a shear stiffness is given.

Between two nodes, at x of length l with Phi = 12 EI / (shear stiffness l^2), the deflection is cubic and exact for
forces at the nodes; stretch and twist are linear. The mass stands at Gauss points of these shapes, and where
cross-sections have rotary inertia at four points around each, at the radii of gyration: mass matrix and all other
integrals over the mass come from the same points. Foreshortening of the line by its slopes makes the geometric
stiffness: an axial force T adds T w'^2 / 2.

Source: Przemieniecki 1968, chapter 5 (shapes with shear) and 15 (geometric stiffness).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from codegen.flexible.structure import NO_FREEDOM, Node, Structure, rigid_motions

GAUSS, GAUSS_WEIGHTS = np.polynomial.legendre.leggauss(5)
_Force = Callable[[int, float], np.ndarray]  # of an element and a place on it
PLANE = (0, 1, 5)  # freedoms of a node that lies in a plane across z


@dataclass(frozen=True)
class Section:
    """A cross-section: mass and stiffnesses of a unit length; (y, z) are across the line, shear zero for rigid."""

    mass: float
    axial: float
    bending: tuple[float, float]  # in the plane of y: EI_z, and of z: EI_y
    torsion: float = 0.0
    shear: tuple[float, float] = (0.0, 0.0)
    gyration: tuple[float, float] = (0.0, 0.0)  # square root of second moment of area / area
    only_twists: bool = False  # rotary inertia about the line alone


@dataclass(frozen=True)
class Lump:
    """A rigid mass on a node, its inertia about the node along the structure's axes."""

    node: str
    mass: float
    inertia: np.ndarray


@dataclass(frozen=True)
class Gauge:
    """Strain at a fraction of the length, beside the line by `offset`: along it, or in shear by twist."""

    at: float
    offset: np.ndarray
    shear: bool = False


@dataclass(frozen=True)
class Line:
    """The mesh of a polyline: positions of nodes, and the piece of the polyline that each element lies on."""

    positions: np.ndarray
    along: np.ndarray  # fraction of the length at each node
    pieces: list[int]


def mesh(vertices: np.ndarray, at: list[float], n_elements: int) -> Line:
    """Nodes at the vertices, at fractions of the length, and in between, about `n_elements` in all."""
    lengths = np.linalg.norm(np.diff(vertices, axis=0), axis=1)
    corners = np.concatenate([[0.0], np.cumsum(lengths)]) / lengths.sum()
    corners[-1] = 1.0
    keys = sorted({*corners, *at})
    keys = [k for n, k in enumerate(keys) if n == 0 or k - keys[n - 1] > 1e-9]
    along: list[float] = [0.0]
    for a, b in itertools.pairwise(keys):
        count = max(1, int(np.ceil((b - a) * n_elements - 1e-9)))
        along += [a + (b - a) * (k + 1) / count for k in range(count)]
    fractions = np.array(along)
    positions = np.array([np.interp(fractions, corners, vertices[:, k]) for k in range(3)]).T
    middles = (fractions[1:] + fractions[:-1]) / 2.0
    pieces = [int(p) for p in np.searchsorted(corners[1:-1], middles)]
    return Line(positions, fractions, pieces)


def beam(
    line: Line,
    sections: list[Section],
    across: list[np.ndarray],
    *,
    names: dict[str, float],
    lumps: list[Lump],
    gauges: dict[str, Gauge],
    reference: str | None,
    plane: bool,
) -> Structure:
    """A beam as structure.

    Parameters
    ----------
    sections, across : list
        Of each piece of the polyline: its section, and the direction of y, a unit across the piece.
    names : dict of str to float
        Named nodes by their fraction of the length.
    reference : str or None
        Node from which foreshortening is measured, the first one if None.
    plane : bool
        The structure bends in the plane of x and y alone.
    """
    count = len(line.positions)
    held = np.arange(6 * count).reshape(count, 6)
    if plane:
        held = np.full((count, 6), NO_FREEDOM)
        held[:, PLANE] = np.arange(3 * count).reshape(count, 3)
    n = int(held.max()) + 1
    nodes = {
        name: Node(line.positions[k], tuple(int(f) for f in held[k]))
        for name, at in names.items()
        for k in [int(np.argmin(np.abs(line.along - at)))]
    }
    stiffness = np.zeros((n, n))
    points: list[np.ndarray] = []
    weights: list[float] = []
    shapes: list[np.ndarray] = []
    slopes: list[tuple[int, float, float, np.ndarray]] = []
    strains: dict[str, np.ndarray] = {}
    for e, piece in enumerate(line.pieces):
        element = _Element(line.positions[e], line.positions[e + 1], sections[piece], across[piece])
        numbers = [int(f) for f in (*held[e], *held[e + 1])]
        here = [k for k, f in enumerate(numbers) if f != NO_FREEDOM]
        into = [numbers[k] for k in here]
        stiffness[np.ix_(into, into)] += element.stiffness()[np.ix_(here, here)]

        def spread(rows: np.ndarray, here: list[int] = here, into: list[int] = into) -> np.ndarray:
            found = np.zeros((*rows.shape[:-1], n))
            found[..., into] = rows[..., here]
            return found

        for g, w in zip((GAUSS + 1.0) / 2.0, GAUSS_WEIGHTS / 2.0, strict=True):
            moved, turned, slope = (spread(rows) for rows in element.shapes(g))
            slopes.append((e, float(g), float(w * element.length), slope))
            for offset, twist_only in element.around():
                t = element.axes[0]
                turn = np.outer(t, t @ turned) if twist_only else turned
                points.append(element.at(g) + offset)
                weights.append(element.section.mass * element.length * w / len(element.around()))
                shapes.append(moved + _lever(offset) @ turn)
        for name, gauge in gauges.items():
            inside = line.along[e] <= gauge.at <= line.along[e + 1] + 1e-12
            if inside and name not in strains:
                xi = (gauge.at - line.along[e]) / (line.along[e + 1] - line.along[e])
                strains[name] = spread(element.strain(float(xi), gauge))
    for lump in lumps:
        node = nodes[lump.node]
        for offset, share in _lumped(lump):
            row = np.zeros((3, n))
            by_freedom = np.hstack([np.eye(3), _lever(offset)])
            for k, f in enumerate(node.freedoms):
                if f != NO_FREEDOM:
                    row[:, f] = by_freedom[:, k]
            points.append(node.position + offset)
            weights.append(share)
            shapes.append(row)
    field = np.array(shapes)
    mass = np.einsum("p,pki,pkj->ij", np.array(weights), field, field, optimize=True)
    number = {name: int(np.argmin(np.abs(line.along - at))) for name, at in names.items()}
    start = 0 if reference is None else number[reference]
    tension = _tension(line, sections, [(number[lump.node], lump.mass) for lump in lumps], start)
    load = np.zeros((4, 3, n, n))
    for e, g, size, slope in slopes:
        used = np.flatnonzero(np.any(slope != 0.0, axis=0))
        part = size * slope[:, used].T @ slope[:, used]
        load[:, :, used[:, None], used[None, :]] += tension(e, g)[:, :, None, None] * part
    return Structure(
        mass=mass,
        stiffness=stiffness,
        rigid=rigid_motions(line.positions, held, n),
        nodes=nodes,
        mass_points=np.array(points),
        weights=np.array(weights),
        displacement=field,
        gauges={name: strains[name] for name in gauges},
        load_stiffness=load,
    )


def _lever(offset: np.ndarray) -> np.ndarray:
    """Displacement of an offset by a small rotation: turn x offset, as a matrix on the turn."""
    x, y, z = offset
    return np.array([[0.0, z, -y], [-z, 0.0, x], [y, -x, 0.0]])


class _Element:
    """An element between two nodes; its rows are over the twelve freedoms of both, along the structure's axes."""

    def __init__(self, a: np.ndarray, b: np.ndarray, section: Section, across: np.ndarray) -> None:
        self.a, self.b, self.section = a, b, section
        self.length = float(np.linalg.norm(b - a))
        t = (b - a) / self.length
        self.axes = np.array([t, across, np.cross(t, across)])  # local from global
        self._turn = np.kron(np.eye(4), self.axes)

    def at(self, g: float) -> np.ndarray:
        return (1.0 - g) * self.a + g * self.b

    def around(self) -> list[tuple[np.ndarray, bool]]:
        """Offsets of the points that carry a cross-section's mass, and whether they follow its twist alone."""
        y, z = self.section.gyration
        if y == z == 0.0:
            return [(np.zeros(3), False)]
        _, n, b = self.axes
        reach = 2.0**0.5
        return [
            (s * reach * r * d, self.section.only_twists)
            for r, d in ((y, n), (z, b))
            for s in (1.0, -1.0)
        ]

    def _phi(self, plane: int) -> float:
        shear = self.section.shear[plane]
        return 12.0 * self.section.bending[plane] / (shear * self.length**2) if shear else 0.0

    def stiffness(self) -> np.ndarray:
        length, found = self.length, np.zeros((12, 12))
        for k, value in ((0, self.section.axial), (3, self.section.torsion)):
            found[np.ix_([k, k + 6], [k, k + 6])] = value / length * np.array([[1, -1], [-1, 1]])
        for plane, (freedoms, sign) in enumerate(_PLANES):
            phi = self._phi(plane)
            a, b, c = 6.0 * length, (4.0 + phi) * length**2, (2.0 - phi) * length**2
            bent = np.array([[12, a, -12, a], [a, b, -a, c], [-12, -a, 12, -a], [a, c, -a, b]])
            s = np.array([1.0, sign, 1.0, sign])
            size = self.section.bending[plane] / ((1.0 + phi) * length**3)
            found[np.ix_(freedoms, freedoms)] = size * bent * np.outer(s, s)
        return self._turn.T @ found @ self._turn

    def shapes(self, g: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Displacement and rotation (3, 12), and slopes across the line (2, 12)."""
        moved, turned, slopes = np.zeros((3, 12)), np.zeros((3, 12)), np.zeros((2, 12))
        moved[0, [0, 6]] = turned[0, [3, 9]] = 1.0 - g, g
        for plane, (freedoms, sign) in enumerate(_PLANES):
            s = np.array([1.0, sign, 1.0, sign])
            w, slope, turn, _ = _bent(g, self.length, self._phi(plane))
            moved[1 + plane, freedoms] = w * s
            slopes[plane, freedoms] = slope * s
            turned[2 - plane, freedoms] = sign * turn * s
        return (
            self.axes.T @ moved @ self._turn,
            self.axes.T @ turned @ self._turn,
            slopes @ self._turn,
        )

    def strain(self, g: float, gauge: Gauge) -> np.ndarray:
        row = np.zeros(12)
        offset = self.axes @ gauge.offset
        if gauge.shear:
            row[[3, 9]] = np.array([-1.0, 1.0]) * float(np.hypot(*offset[1:])) / self.length
            return row @ self._turn
        row[[0, 6]] = -1.0 / self.length, 1.0 / self.length
        for plane, (freedoms, sign) in enumerate(_PLANES):
            curved = _bent(g, self.length, self._phi(plane))[3]
            row[freedoms] += -offset[1 + plane] * curved * np.array([1.0, sign, 1.0, sign])
        return row @ self._turn


# freedoms of bending in y and in z, and the sign of the rotation that goes with a positive slope
_PLANES: tuple[tuple[list[int], float], ...] = (([1, 5, 7, 11], 1.0), ([2, 4, 8, 10], -1.0))


def _bent(g: float, length: float, phi: float) -> tuple[np.ndarray, ...]:
    """Deflection, its slope, rotation of the section and curvature by the freedoms w1, turn1, w2, turn2."""
    m, f = 1.0 / (1.0 + phi), phi / 2.0
    w = [1 - 3 * g**2 + 2 * g**3 + phi * (1 - g), length * (g - 2 * g**2 + g**3 + f * (g - g**2)),
         3 * g**2 - 2 * g**3 + phi * g, length * (-(g**2) + g**3 - f * (g - g**2))]  # fmt: skip
    slope = [(-6 * g + 6 * g**2 - phi) / length, 1 - 4 * g + 3 * g**2 + f * (1 - 2 * g),
             (6 * g - 6 * g**2 + phi) / length, -2 * g + 3 * g**2 - f * (1 - 2 * g)]  # fmt: skip
    turn = [6 * (g**2 - g) / length, 1 - 4 * g + 3 * g**2 + phi * (1 - g),
            6 * (g - g**2) / length, -2 * g + 3 * g**2 + phi * g]  # fmt: skip
    curved = [6 * (2 * g - 1) / length**2, (-4 + 6 * g - phi) / length,
              6 * (1 - 2 * g) / length**2, (-2 + 6 * g + phi) / length]  # fmt: skip
    return tuple(m * np.array(row) for row in (w, slope, turn, curved))


def _lumped(lump: Lump) -> list[tuple[np.ndarray, float]]:
    """Points that have the mass and inertia of a lump."""
    moments = np.trace(lump.inertia) / 2.0 * np.eye(3) - lump.inertia
    sizes, directions = np.linalg.eigh(moments)
    if np.max(np.abs(sizes)) == 0.0:
        return [(np.zeros(3), lump.mass)]
    reach = np.sqrt(np.maximum(3.0 * sizes / lump.mass, 0.0))
    return [
        (s * r * d, lump.mass / 6.0)
        for r, d in zip(reach, directions.T, strict=True)
        for s in (1.0, -1.0)
    ]


def _tension(
    line: Line, sections: list[Section], lumps: list[tuple[int, float]], start: int
) -> _Force:
    """Axial force by the unit loads, (4, 3): the load on whatever lies beyond a place, seen from the node `start`."""
    ends = np.diff(line.positions, axis=0)
    lengths = np.linalg.norm(ends, axis=1)
    sizes = np.array([sections[p].mass for p in line.pieces]) * lengths

    def load(e: int, a: float, b: float) -> np.ndarray:
        middle = line.positions[e] + (a + b) / 2.0 * ends[e]
        return sizes[e] * (b - a) * np.array([1.0, *middle])

    whole = np.array([load(e, 0.0, 1.0) for e in range(len(ends))])
    single = np.zeros((len(line.positions), 4))
    for node, mass in lumps:
        single[node] += mass * np.array([1.0, *line.positions[node]])

    def force(e: int, g: float) -> np.ndarray:
        if e >= start:
            beyond = whole[e + 1 :].sum(axis=0) + single[e + 1 :].sum(axis=0) + load(e, g, 1.0)
        else:
            beyond = -(whole[:e].sum(axis=0) + single[: e + 1].sum(axis=0) + load(e, 0.0, g))
        return np.outer(beyond, ends[e] / lengths[e])

    return force
