"""Loads on the joints of a tree, and the outputs of a mechanism."""

from __future__ import annotations

from collections.abc import Mapping

from codegen.description.builder import MechanismBuilder
from codegen.importers.tree import Drive, Joint, Names, Tree

TRANSITION_SPEED = 1e-2  # rad/s or m/s: where the smooth friction has 76 % of its level
UNITS = {  # of damping, stiffness and coordinate
    "hinge": ("nms_per_rad", "nm_per_rad", "rad"),
    "slide": ("ns_per_m", "n_per_m", "m"),
}


def write_forces(tree: Tree, made: MechanismBuilder, scalar: Mapping[str, str]) -> None:
    """Springs, dampers, friction, rotors and drives; `scalar` names the coordinate of each joint."""
    for link in tree.links:
        for joint in link.joints:
            if joint.is_scalar:
                _joint(joint, scalar[joint.name], made)
    for cord in tree.cords:
        name = scalar[cord.name]
        if cord.stiffness:
            made.spring(name, distance=name, stiffness_n_per_m=cord.stiffness, rest_m=cord.rest)
        if cord.damping:
            made.damper(name, distance=name, damping_ns_per_m=cord.damping)
    cords = {cord.name for cord in tree.cords}
    names = Names([*scalar.values(), *(drive.name for drive in tree.drives)])
    for drive in tree.drives:
        bias = names.new(f"{drive.name}_bias")
        kind = "slide" if drive.joint in cords else tree.joint(drive.joint)[1].kind
        _drive(drive, kind, scalar[drive.joint], bias, made)


def write_ball(joint: Joint, bodies: list[str], made: MechanismBuilder) -> None:
    """Spring and damper of a ball, by its rotation vector and its angular velocity."""
    if not joint.stiffness and not joint.damping:
        return
    made.bushing(
        joint.name, bodies=bodies, point_m=joint.at,
        stiffness=(0.0, 0.0, 0.0, *3 * (joint.stiffness,)), damping=(0.0, 0.0, 0.0, *3 * (joint.damping,)),
        turn="vector", initial_turn_rad=joint.turn,
    )  # fmt: skip


def _on(kind: str, name: str) -> dict[str, str]:
    return {"angle" if kind == "hinge" else "distance": name}


def _joint(joint: Joint, name: str, made: MechanismBuilder) -> None:
    damping, stiffness, unit = UNITS[joint.kind]
    on = _on(joint.kind, name)
    if joint.stiffness:
        keys = {f"stiffness_{stiffness}": joint.stiffness, f"rest_{unit}": joint.rest}
        made.spring(name, **on, **keys)
    if joint.damping:
        made.damper(name, **on, **{f"damping_{damping}": joint.damping})
    if joint.friction:
        made.friction(name, **on, coulomb=joint.friction, transition_speed=TRANSITION_SPEED)
    if joint.inertia and joint.kind == "hinge":
        made.inertia(name, angle=name, inertia_kg_m2=joint.inertia)
    elif joint.inertia:
        made.mass(name, distance=name, mass_kg=joint.inertia)


def _drive(drive: Drive, kind: str, name: str, bias: str, made: MechanismBuilder) -> None:
    damping, stiffness, unit = UNITS[kind]
    on = _on(kind, name)
    force = "torque_nm" if kind == "hinge" else "force_n"
    made.force(drive.name, **on, **{force: {"input": 0.0}})
    if drive.offset:
        made.force(bias, **on, **{force: drive.offset})
    if drive.stiffness:
        keys = {f"stiffness_{stiffness}": drive.stiffness, f"rest_{unit}": 0.0}
        made.spring(bias, **on, **keys)
    if drive.damping:
        made.damper(bias, **on, **{f"damping_{damping}": drive.damping})


def write_outputs(tree: Tree, made: MechanismBuilder, scalar: Mapping[str, str]) -> None:
    """Every joint's coordinate and rate, the centre of links on balls or free, the energy."""
    for link in tree.links:
        for joint in link.joints:
            if not joint.is_scalar:
                continue
            name = scalar[joint.name]
            value = "angle_rad" if joint.kind == "hinge" else "travel_m"
            rate = "rate_rad_s" if joint.kind == "hinge" else "rate_m_s"
            made.output(f"{name}/{value}", name).output(f"{name}/{rate}", f"{name}.rate")
        if any(not joint.is_scalar for joint in link.joints):
            for axis in "xyz":
                made.output(f"{link.name}/{axis}_m", f"rigid_body.{link.name}.{axis}_m")
    made.output("energy/total_j", "energy")
