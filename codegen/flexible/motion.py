"""The motion of a flexible body in natural coordinates, with a constant mass matrix.

With the frame at r_O and its axes e_k, a point of the body is

    r = r_O + sum_k X_k e_k + sum_ik Phi_ki(X) p_ik,    p_ik = eta_i e_k

where eta_i is the amplitude of a mode. Products p_ik become coordinates of their own, by rows that define them: then
every velocity is linear in the rates of coordinates, and the kinetic energy is a constant quadratic form, with the
integrals of products of 1, X_k and Phi_ki over the mass. No coupling of deformation and turning is left out. Directions
on a node turn by the small rotations of the modes, so they are linear in the same products.

Geometric stiffening of first order: the second-order displacement by foreshortening, -eta^T K_cl eta / 2 along e_l and
weighted by the mass (c = 0) or by its moment (c = 1, 2, 3), is one vector a weight, with rows that define it too:

    zeta_c = - sum_l e_l (eta^T K_cl eta) / 2,    kinetic energy + r_O' . zeta_0' + sum_k e_k' . zeta_k'

K_cl are geometric stiffnesses by unit loads of the mass (`structure.py`). What is left out is of the fourth order in
eta, and the stiffening by forces at nodes.

Source: Vermaut, Naets and Desmet 2018, A flexible natural coordinates formulation; the vectors of foreshortening are
ours.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from codegen.expressions.dag import Expr
from codegen.flexible.reduced import AXES, Reduced, ReducedNode
from codegen.system.affine import affine
from codegen.system.body import Body, is_moving, make
from codegen.system.frame import Frame
from codegen.system.system import Coordinate, System
from codegen.system.vectors import Vector, cross, times

SMALL = (
    1e-10  # of a field beside the largest one, and of an integral beside those of its two fields
)


@dataclass
class Bending:
    """A flexible body of a system.

    Attributes
    ----------
    frame : Frame
    origin : Vector
        The frame's first point; `shift` is the structure's origin beside it, along the axes.
    axes : tuple of Vector
        The structure's axes, as they move.
    turn : ndarray, shape (3, 3)
        The same as columns, in the pose of the file.
    amplitudes : list of Coordinate
    products : dict of (mode, axis) to Vector
        Those p_ik that are coordinates, or linear in them.
    stiffens : bool
        Whether foreshortening counts.
    """

    name: str
    system: System
    frame: Frame
    origin: Vector
    shift: np.ndarray
    axes: tuple[Vector, Vector, Vector]
    turn: np.ndarray
    modes: Reduced
    amplitudes: list[Coordinate]
    products: dict[tuple[int, int], Vector]
    stiffens: bool = False

    def product(self, mode: int, k: int) -> Vector:
        """Product of an amplitude and an axis; an expression where the mass does not need it."""
        found = self.products.get((mode, k))
        return times(self.amplitudes[mode].q, self.axes[k]) if found is None else found

    def place(self, node: ReducedNode) -> Vector:
        """A node, deflected."""
        fixed = node.position + self.shift
        moved = node.shape[:3]
        parts = [(1.0, self.origin), *zip(map(float, fixed), self.axes, strict=True)]
        parts += self._by_modes(moved)
        return _combined(self.system, parts)

    def direction(self, node: ReducedNode, built: np.ndarray) -> Vector:
        """A direction on a node, turned by the deflection; `built` is along the structure's axes."""
        turned = np.cross(node.shape[3:], built, axisa=0, axisb=0, axisc=0)
        parts = [*zip(map(float, built), self.axes, strict=True), *self._by_modes(turned)]
        return _combined(self.system, parts)

    def deflection(self, node: ReducedNode, k: int) -> Expr:
        """Displacement of a node along an axis of the structure, beside the frame."""
        return self.amount(node.shape[k])

    def amount(self, of_modes: np.ndarray) -> Expr:
        """Sum of amplitudes with a weight each."""
        graph = self.system.graph
        size = float(np.max(np.abs(of_modes), initial=0.0))
        pairs = zip(of_modes, self.amplitudes, strict=True)
        return graph.total((float(w), c.q) for w, c in pairs if abs(w) > SMALL * size)

    def _by_modes(self, fields: np.ndarray) -> list[tuple[float, Vector]]:
        size = float(np.max(np.abs(fields), initial=0.0))
        return [
            (float(fields[k, mode]), self.product(mode, k))
            for k in range(3)
            for mode in range(fields.shape[1])
            if abs(fields[k, mode]) > SMALL * size
        ]

    def body_of(self, node: ReducedNode) -> Body:
        """A node as a body, for joints and forces: its point and, where it has rotations, its directions."""
        built = self.frame.body.built[1:, 0] + self.turn @ (node.position + self.shift)
        generators, as_built = [self.place(node)], [(1.0, *map(float, built))]
        if node.has_rotations:
            for axis in np.eye(3):
                generators.append(self.direction(node, self.turn.T @ axis))
                as_built.append((0.0, *map(float, axis)))
        return make(generators, as_built)


def bend(
    name: str,
    system: System,
    frame: Frame,
    origin: np.ndarray,
    turn: np.ndarray,
    modes: Reduced,
    *,
    starts: list[float],
) -> Bending:
    """Add coordinates, rows, mass, and weight of a flexible body whose structure has its origin and axes (columns of
    `turn`) there, in the pose of the file.

    Raises
    ------
    ValueError
        The frame does not span an axis of the structure.
    """
    body, graph = frame.body, system.graph
    first = body.built[1:, 0]
    axes = [body.direction(graph, [float(x) for x in turn[:, k]]) for k in range(3)]
    amplitudes = []
    for i, start in enumerate(starts):
        label = f"{name}_mode{i + 1}"
        system.scalars[label] = system.coordinate(label, "m", start)
        amplitudes.append(system.scalars[label])
    made = Bending(
        name=name,
        system=system,
        frame=frame,
        origin=body.generators[0],
        shift=turn.T @ (origin - first),
        axes=(axes[0], axes[1], axes[2]),
        turn=turn,
        modes=modes,
        amplitudes=amplitudes,
        products={},
    )
    gram = modes.moved_by(made.shift)
    _make_products(made, gram)
    _make_mass(made, gram)
    return made


def _combined(system: System, parts: list[tuple[float, Vector]]) -> Vector:
    x, y, z = (system.graph.total((c, v[axis]) for c, v in parts if c) for axis in range(3))
    return (x, y, z)


def _make_products(made: Bending, gram: np.ndarray) -> None:
    system, axis = made.system, made.frame.axis
    sizes = np.sqrt(np.maximum(np.diag(gram)[AXES:], 0.0)).reshape(3, -1)
    largest = sizes.max(axis=0)
    moving = [k for k in range(3) if is_moving(made.axes[k])]
    basis: tuple[np.ndarray, Vector] | None = None
    if axis is not None and moving:
        flat = made.turn[:, moving[0]] - np.dot(made.turn[:, moving[0]], axis) * np.array(axis)
        flat = flat / np.linalg.norm(flat)
        basis = flat, made.frame.body.direction(system.graph, [float(x) for x in flat])
    for i, amplitude in enumerate(made.amplitudes):
        flat_product: Vector | None = None
        for k in range(3):
            if sizes[k, i] <= SMALL * largest[i]:
                continue
            if k not in moving:
                made.products[i, k] = times(amplitude.q, made.axes[k])
            elif basis is None or axis is None:
                made.products[i, k] = _product(made, amplitude, made.axes[k], f"_along{k + 1}")
            else:  # the other directions of a frame that turns about one axis are linear in this one
                if flat_product is None:
                    flat_product = _product(made, amplitude, basis[1], "_turned")
                side = np.cross(axis, basis[0])
                shares = [float(made.turn[:, k] @ d) for d in (basis[0], side, np.array(axis))]
                parts = [flat_product, cross(axis, flat_product), times(amplitude.q, axis)]
                made.products[i, k] = _combined(system, list(zip(shares, parts, strict=True)))


def _product(made: Bending, amplitude: Coordinate, direction: Vector, label: str) -> Vector:
    """Coordinates for an amplitude times a direction that moves."""
    return defined(made, f"{amplitude.name}{label}", "m", times(amplitude.q, direction))


def defined(made: Bending, label: str, unit: str, value: Vector) -> Vector:
    """Coordinates that equal three expressions, where these move: one row each."""
    system, found = made.system, []
    for letter, component in zip("xyz", value, strict=True):
        component = system.graph.lift(component)
        if component.is_const or affine(component) is not None:
            found.append(component)
            continue
        coordinate = system.coordinate(f"{label}_{letter}", unit, system.initial(component))
        number = system.row(f"{label} {letter}", coordinate.q - component)
        system.defined[coordinate.q] = component, number
        found.append(coordinate.q)
    return (found[0], found[1], found[2])


def _make_mass(made: Bending, gram: np.ndarray) -> None:
    """Kinetic energy and weight: generators with the fields that they carry."""
    system, graph, count = made.system, made.system.graph, made.modes.count
    generators: list[Vector] = [made.origin, *made.axes]
    numbers = list(range(AXES))
    for (i, k), product in made.products.items():
        generators.append(product)
        numbers.append(AXES + k * count + i)
    integrals = gram[np.ix_(numbers, numbers)]
    size = np.sqrt(np.maximum(np.diag(integrals), 0.0))
    integrals = np.where(np.abs(integrals) > SMALL * np.outer(size, size), integrals, 0.0)
    for a in range(len(generators)):
        for b in range(a, len(generators)):
            share = float(f"{integrals[a, b]:.14g}")
            if share == 0.0:
                continue
            for one, other in zip(generators[a], generators[b], strict=True):
                is_same = a != b and one is other
                system.add_kinetic(one, other, graph.const(2.0 * share if is_same else share))
    for generator, weight in zip(generators, integrals[0], strict=True):
        if weight:
            system.add_weight(generator, graph.const(float(weight)))
