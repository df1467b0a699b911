"""A tree of links as a mechanism in natural coordinates.

Each joint makes one *part*: the last joint of a link carries it, earlier ones massless parts.
Parts share the points and directions that their joint allows: the joint's point, the hinge's axis, or (slides) all
directions. Shared ones need no row. A part turns

    not at all (only slides below it): its directions are constants;
    about one fixed axis (hinges all along it): one moving vector and the constant `axis`;
    anyhow: three moving vectors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from codegen.description.builder import MechanismBuilder
from codegen.importers import loads
from codegen.importers.tree import GROUND, Joint, Link, Names, Tree, Triple
from codegen.system.joints import perpendiculars

NOTHING = 1e-30  # kg m^2
UNITS: tuple[Triple, Triple, Triple] = ((1, 0, 0), (0, 1, 0), (0, 0, 1))


@dataclass
class Part:
    """A rigid body in the making.

    Attributes
    ----------
    points, vectors : list
        Names of moving ones, or constants, as `rigid_body` takes them.
    axis : tuple of float, optional
        The only axis about which it ever turns.
    is_turning : bool
        False: its directions are constants.
    plane : tuple of float, optional
        Normal of the plane that all its points stay in.
    """

    name: str
    points: list[Any]
    vectors: list[Any] = field(default_factory=list)
    axis: Triple | None = None
    angle: str | None = None
    is_turning: bool = True
    plane: Triple | None = None
    mass: float = 0.0
    centre: Triple = (0.0, 0.0, 0.0)
    inertia: Triple = (0.0, 0.0, 0.0)
    axes: tuple[Triple, Triple] | None = None


def write(tree: Tree, name: str, drawing: str) -> MechanismBuilder:
    """The mechanism of a tree, ready to be checked and saved."""
    return _Writer(tree, name, drawing).made


class _Writer:
    def __init__(self, tree: Tree, name: str, drawing: str) -> None:
        self.tree = tree
        self.made = MechanismBuilder(name, gravity_m_s2=tree.gravity, drawing=drawing)
        self.names = Names()
        self.parts: dict[str, Part] = {}
        self.places: dict[str, Triple] = {}  # of moving points
        self.ways: dict[str, Triple] = {}  # of moving unit vectors
        self.last: dict[str, Part] = {GROUND: Part(GROUND, [], is_turning=False)}
        self.moved_by: dict[str, tuple[Part, Part]] = {}  # joint: its part, and the one below
        part_names = Names([GROUND, *(link.name for link in tree.links)])
        self.scalar: dict[str, str] = {
            j.name: self.names.new(j.name) for k in tree.links for j in k.joints if j.is_scalar
        }
        for link in tree.links:
            below = self.last[link.parent]
            for number, joint in enumerate(link.joints):
                is_last = number == len(link.joints) - 1
                part_name = link.name if is_last else part_names.new(f"{link.name}_{joint.name}")
                part = self._part(part_name, joint, below, link.axes)
                if is_last:
                    _give_mass(part, link)
                else:
                    part.centre = joint.at
                self.parts[part_name] = part
                self.moved_by[joint.name] = (part, below)
                below = part
            self.last[link.name] = below
        # leaves first: the part that has a shared vector beyond its own three keeps its length
        for part in reversed(self.parts.values()):
            self._body(part)
        for link in tree.links:
            for joint in link.joints:
                self._joint(joint)
        self._closures()
        loads.write_forces(tree, self.made, self.scalar)
        for site, owner, at in tree.sites:
            self.made.body_point(self.names.new(site), body=owner, position_m=at)
        loads.write_outputs(tree, self.made, self.scalar)

    # parts

    def _part(self, name: str, joint: Joint, below: Part, axes: tuple[Triple, Triple]) -> Part:
        if joint.kind == "free":
            return Part(name, [self._point(name, joint.at)], self._frame(name, axes))
        if joint.kind == "slide":
            return self._sliding(name, joint, below)
        if joint.kind == "ball" or not below.is_turning:
            at = self._shared_point(name, joint.at, below)
        else:  # `revolute` measures the angle and says that they meet: linear rows, no cost
            at = self._point(name, joint.at, below.plane)
        if joint.kind == "ball":
            return Part(name, [at], self._frame(name, axes))
        parallel = below.axis is not None and _are_parallel(below.axis, joint.axis)
        if not below.is_turning or parallel:
            axis = joint.axis if below.axis is None else below.axis
            in_plane = below.plane is None or _are_parallel(below.plane, axis)
            has_plane = below.name == GROUND or (in_plane and below.plane is not None)
            side = perpendiculars(axis)[0]
            vector = self._vector(f"{name}_u", side)
            return Part(name, [at], [vector], axis, plane=axis if has_plane and in_plane else None)
        shared = next((v for v in below.vectors if _are_parallel(self.ways[v], joint.axis)), None)
        if shared is None:
            shared = self._vector(f"{name}_axis", joint.axis)
            below.vectors.append(shared)
        return Part(name, [at], [shared, *self._vectors(name, perpendiculars(joint.axis))])

    def _sliding(self, name: str, joint: Joint, below: Part) -> Part:
        part = Part(name, [], list(below.vectors[: 1 if below.axis else 3]), below.axis)
        part.is_turning = below.is_turning
        part.plane = below.plane
        if below.plane is not None and abs(np.dot(below.plane, joint.axis)) > 1e-12:
            part.plane = None
        if not part.is_turning:
            part.vectors = list(UNITS)
        part.points = [self._point(name, joint.at, part.plane)]
        return part

    def _vector(self, wanted: str, direction: Triple) -> str:
        """A moving unit vector of its own."""
        name = self.names.new(wanted)
        self.made.unit_vector(name, direction=direction)
        self.ways[name] = direction
        return name

    def _vectors(self, name: str, directions: Sequence[Triple]) -> list[str]:
        return [self._vector(f"{name}_{k}", way) for k, way in zip("uvw", directions, strict=False)]

    def _frame(self, name: str, axes: tuple[Triple, Triple]) -> list[str]:
        """Three of them along the principal axes of inertia: hinges are often parallel to these."""
        x, y, z = (float(c) for c in np.cross(*axes))
        return self._vectors(name, (*axes, (x, y, z)))

    def _shared_point(self, name: str, at: Triple, below: Part) -> Any:
        if below.name == GROUND:
            return at
        for point in below.points:
            if np.max(np.abs(np.subtract(self.places.get(point, point), at))) < 1e-14:
                return point
        point = self._point(name, at, below.plane)
        below.points.append(point)
        return point

    def _point(self, name: str, at: Triple, plane: Triple | None = None) -> str:
        point = self.names.new(f"{name}_at")
        moves = None
        if plane is not None and max(map(abs, plane)) == 1.0:
            moves = "".join(a for a, n in zip("xyz", plane, strict=True) if n == 0.0)
        self.made.point(point, position_m=at, moves=moves)
        self.places[point] = at
        return point

    def _body(self, part: Part) -> None:
        given: dict[str, Any] = {"points": part.points, "vectors": part.vectors}
        if part.axis is not None:
            given["axis"] = part.axis
        scalar = next(
            (self.scalar[j] for j, (p, below) in self.moved_by.items()
             if p is part and below.name == GROUND and j in self.scalar and part.axis is not None
             and not isinstance(part.points[0], str)),
            None,
        )  # fmt: skip
        part.angle = scalar
        inertia: Triple | None = part.inertia
        if not any(part.inertia):
            # a massless part that turns anyhow still has to say some inertia
            inertia = (NOTHING,) * 3 if part.axis is None and part.is_turning else None
        self.made.rigid_body(
            part.name,
            **given,
            angle=scalar,
            mass_kg=part.mass,
            centre_m=part.centre,
            inertia_kg_m2=inertia,
            axes=part.axes if inertia else None,
        )

    # joints: conditions that sharing does not give already

    def _joint(self, joint: Joint) -> None:
        part, below = self.moved_by[joint.name]
        bodies = [part.name, below.name]
        if not joint.is_scalar:
            loads.write_ball(joint, bodies, self.made)
            return
        name = self.scalar[joint.name]
        if joint.kind == "hinge":
            self.made.angle(name, initial_rad=joint.value)
            if part.angle is not None:
                return
            if part.axis is not None and not below.is_turning:
                zero = _turned(perpendiculars(part.axis)[0], part.axis, -joint.value)
                self.made.rotation(
                    name, angle=name, axis=part.axis, zero=zero, vector=part.vectors[0]
                )
                return
            self.made.revolute(name, bodies=bodies, point_m=joint.at, axis=joint.axis, angle=name)
            return
        self.made.distance(name, initial_m=joint.value)
        if below.name == GROUND:
            start = tuple(p - joint.value * a for p, a in zip(joint.at, joint.axis, strict=True))
            self.made.slide(name, point=part.points[0], start_m=start, along=joint.axis, by=name)
        elif not below.is_turning:
            self.made.prismatic(name, bodies=bodies, point_m=joint.at, axis=joint.axis, travel=name)
        else:
            self.made.cylindrical(
                name, bodies=bodies, point_m=joint.at, axis=joint.axis, travel=name
            )

    def _closures(self) -> None:
        for loop in self.tree.loops:
            table = self.made.spherical if loop.kind == "connect" else self.made.rigid
            table(loop.name, bodies=self._bodies(*loop.links), point_m=loop.at)
        for coupling in self.tree.couplings:
            if coupling.second is None:
                part, below = self.moved_by[coupling.first]
                at = self.tree.joint(coupling.first)[1].at
                self.made.rigid(coupling.name, bodies=[part.name, below.name], point_m=at)
            else:
                first, second = self.scalar[coupling.first], self.scalar[coupling.second]
                self.made.gear(coupling.name, first=first, second=second, ratio=coupling.ratio)
        for cord in self.tree.cords:
            self.scalar[cord.name] = name = self.names.new(cord.name)
            self.made.distance(name, initial_m=cord.length)
            terms = {self.scalar[joint]: factor for joint, factor in cord.factors}
            self.made.coupling(name, terms={**terms, name: -1.0}, constant=0.0)
        for strut in self.tree.struts:
            ends: list[Any] = []
            for number, (link, at) in enumerate(strut.ends):
                if link == GROUND:
                    ends.append(at)
                    continue
                ends.append(self.names.new(f"{strut.name}_{'ab'[number]}"))
                self.made.body_point(ends[-1], body=link, position_m=at)
            if strut.is_rigid:
                self.made.constant_distance(strut.name, points=ends, length_m=strut.length)
            else:
                self.made.spring_between(
                    strut.name, points=ends, stiffness_n_per_m=strut.stiffness,
                    damping_ns_per_m=strut.damping, rest_m=strut.length,
                )  # fmt: skip

    def _bodies(self, first: str, second: str) -> list[str]:
        return [first, second] if first != GROUND else [second, first]


def _give_mass(part: Part, link: Link) -> None:
    part.mass, part.centre = link.mass, link.centre
    part.inertia, part.axes = link.inertia, link.axes


def _are_parallel(a: Triple, b: Triple) -> bool:
    return bool(np.linalg.norm(np.cross(a, b)) < 1e-12)


def _turned(vector: Triple, axis: Triple, angle: float) -> Triple:
    v, n = np.array(vector), np.array(axis)
    x, y, z = (float(c) for c in np.cos(angle) * v + np.sin(angle) * np.cross(n, v))
    return (x, y, z)
