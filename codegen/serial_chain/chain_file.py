"""A serial chain as a file: joints by their Denavit-Hartenberg frames, and the link behind each."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from pydantic import Field, ValidationError

from codegen.serial_chain.chain import Joint, link
from rig_configs.bounded import UnreadableError, parse_toml, read_text
from rig_configs.mistakes import ConfigError, Mistake, from_validation
from rig_configs.names import Name
from rig_configs.numbers import NonNegative, Real
from rig_configs.section import Section

MOST_JOINTS = 7  # each general joint makes the equations about eight times as long
SMALLEST_MOMENT = -1e-12  # of the largest one: round-off

Vector = Annotated[list[Real], Field(min_length=3, max_length=3)]


class LinkTable(Section):
    """The link behind a joint; a joint without one carries no mass."""

    mass_kg: NonNegative
    """The mass."""
    centre_m: Vector
    """The centre of mass, in the frame at the far end of the link."""
    inertia_kg_m2: Annotated[list[Real], Field(min_length=6, max_length=6)]
    """Moments and products of inertia about the centre of mass: xx, yy, zz, xy, xz, yz."""


class JointTable(Section):
    """One joint; its frame follows from the one before: turn theta about z, move the offset along z, the length along
    the new x, twist about that x."""

    kind: Literal["hinge", "slide"]
    """The motion of a hinge adds to theta, that of a slide to the offset."""
    length_m: Real = 0.0
    """The distance along x."""
    twist_deg: Real = 0.0
    """The turn about x."""
    offset_m: Real = 0.0
    """The distance along z."""
    theta_deg: Real = 0.0
    """The turn about z."""
    link: LinkTable | None = None
    """Mass, centre and inertia of the link."""


class ChainTable(Section):
    """The file."""

    name: Name
    """The name of the chain, and of what is generated."""
    gravity_m_s2: Vector
    """Gravity in the frame of the ground, whose z is the axis of the first joint."""
    joints: Annotated[list[JointTable], Field(min_length=1, max_length=MOST_JOINTS)]
    """The joints, from the ground on."""


@dataclass(frozen=True)
class Chain:
    """A validated chain; `p` has ten parameters a link, see `chain.link`."""

    name: str
    gravity_m_s2: tuple[float, ...]
    joints: tuple[Joint, ...]
    p: np.ndarray


def load_chain(path: Path) -> Chain:
    """Read and check a chain file.

    Raises
    ------
    ConfigError
        With every mistake of the file.
    """
    file = str(path)
    try:
        data = parse_toml(read_text(path))
    except UnreadableError as error:
        remedy = "docs/models/mechanisms.md shows a file of a serial chain"
        raise ConfigError([Mistake(file, "(file)", str(error), remedy)]) from None
    try:
        table = ChainTable.model_validate(data)
    except ValidationError as error:
        raise ConfigError(from_validation(file, error, ChainTable, data)) from None
    mistakes = [
        Mistake(file, f"joints.{n}.link.inertia_kg_m2", *problem, joint.link.inertia_kg_m2)
        for n, joint in enumerate(table.joints)
        if joint.link is not None and (problem := _inertia_problem(joint.link))
    ]
    if mistakes:
        raise ConfigError(mistakes)
    joints = tuple(
        Joint(
            joint.kind,
            length_m=joint.length_m,
            twist_rad=float(np.radians(joint.twist_deg)),
            offset_m=joint.offset_m,
            theta_rad=float(np.radians(joint.theta_deg)),
        )
        for joint in table.joints
    )
    p = np.concatenate([_parameters(joint.link) for joint in table.joints])
    return Chain(table.name, tuple(table.gravity_m_s2), joints, p)


def _matrix(table: LinkTable) -> np.ndarray:
    xx, yy, zz, xy, xz, yz = table.inertia_kg_m2
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def _parameters(table: LinkTable | None) -> np.ndarray:
    if table is None:
        return np.zeros(10)
    return link(table.mass_kg, table.centre_m, _matrix(table))


def _inertia_problem(table: LinkTable) -> tuple[str, str] | None:
    # a body's second moments are not negative: that is also the triangle inequality of its principal inertias
    inertia = _matrix(table)
    second = np.trace(inertia) / 2.0 * np.eye(3) - inertia
    moments = np.linalg.eigvalsh(second)
    if moments[0] < SMALLEST_MOMENT * np.max(np.abs(moments)):
        return (
            "no body has this inertia: a principal moment is negative, or larger than the sum of the other two",
            "the order is xx, yy, zz, xy, xz, yz; products have the sign of the matrix",
        )
    if table.mass_kg == 0.0 and np.any(inertia):
        return "a link without mass has no inertia", "give its mass_kg"
    return None
