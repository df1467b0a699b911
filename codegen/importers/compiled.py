"""A compiled MuJoCo model as a tree of links: numbers with names, whatever format they came from.

MuJoCo reads MJCF and URDF, applies defaults, sums up inertias and turns everything into SI units.
Its data for one pose are enough here: the pose of the file, with its loops closed.
"""

from __future__ import annotations

import importlib
import math
from typing import Any

import numpy as np

from codegen.importers.tree import GROUND, Joint, Link, Names, Tree, Triple

CLOSED = 1e-12
ITERATIONS = 60
MOVED = 1e-9
KINDS = ("free", "ball", "slide", "hinge")  # as mjtJoint counts
ROTOR = {"hinge": "kg m^2", "slide": "kg"}


class MissingExtra(ImportError):
    """The library that reads robot files is not installed; the message has the remedy."""


def library() -> Any:
    """The `mujoco` package.

    Raises
    ------
    MissingExtra
        Not installed.
    """
    try:
        return importlib.import_module("mujoco")
    except ImportError:
        raise MissingExtra(
            "importing needs the package mujoco: pip install 'rigloop[import]'"
        ) from None


def word(enum: Any, value: int) -> str:
    """Return the name of a value of an enum of MuJoCo: `mjEQ_WELD` is "weld"."""
    return str(enum(int(value)).name).partition("_")[2].lower()


class Compiled:
    """A model, its data in the closed pose, and the names that the mechanism will use."""

    def __init__(self, spec: Any, tree: Tree, carried_equalities: set[int] | None = None) -> None:
        self.mj = library()
        self.model = spec.compile()
        self.data = self.mj.MjData(self.model)
        self.tree = tree
        self.open = _close(self, carried_equalities)
        self.moving = [b for b in range(1, self.model.nbody) if self.model.body_jntnum[b]]
        names = Names([GROUND])
        self.link_name = {b: names.new(self.name("body", b)) for b in self.moving}
        names = Names(["ground"])
        self.joint_name = {j: names.new(self.name("joint", j)) for j in range(self.model.njnt)}
        self.cord_name = {t: names.new(self.name("tendon", t)) for t in range(self.model.ntendon)}

    def name(self, kind: str, number: int) -> str:
        """Name in the file, or one made of kind and number."""
        found = self.mj.mj_id2name(
            self.model, getattr(self.mj.mjtObj, f"mjOBJ_{kind.upper()}"), number
        )
        return found or f"{kind}_{number}"

    def link(self, body: int) -> str:
        """Name of the link that a body is part of."""
        return self.link_name.get(int(self.model.body_weldid[body]), GROUND)


def triple(values: Any) -> Triple:
    """Three plain numbers; round-off of a pose is cut where it would become structure."""
    x, y, z = (0.0 if abs(v) < 1e-15 else float(v) for v in values)
    return (x, y, z)


def direction(values: Any) -> Triple:
    """A unit vector; an axis of the frame exactly, where it is one within round-off."""
    unit = np.asarray(values, float) / np.linalg.norm(values)
    whole = np.round(unit)
    return triple(whole if np.max(np.abs(unit - whole)) < 1e-12 else unit)


def read_links(found: Compiled) -> None:
    """Add links and their joints to the tree; bodies without joint become part of their parent."""
    m, d, tree = found.model, found.data, found.tree
    tree.gravity = triple(m.opt.gravity)
    if m.opt.disableflags & int(found.mj.mjtDisableBit.mjDSBL_GRAVITY):
        tree.gravity = (0.0, 0.0, 0.0)
    for body in found.moving:
        members = [b for b in range(1, m.nbody) if m.body_weldid[b] == body]
        first, number = int(m.body_jntadr[body]), int(m.body_jntnum[body])
        joints = tuple(_joint(found, j) for j in range(first, first + number))
        mass, centre, inertia, axes = _lumped(m, d, members)
        name = found.link_name[body]
        parent = found.link(int(m.body_parentid[body]))
        tree.links.append(Link(name, parent, joints, mass, centre, inertia, axes))
        kinds = ", ".join(f"{j.kind} {j.name}" for j in joints)
        tree.carried("body", name, f"{mass:.6g} kg on {kinds}")
        for member in members[1:]:
            tree.carried("body", found.name("body", member), f"fixed to {name}: one rigid body")
        for joint in joints:
            _tell_joint(tree, joint)


def _joint(found: Compiled, j: int) -> Joint:
    m, d = found.model, found.data
    kind = KINDS[m.jnt_type[j]]
    dof = int(m.jnt_dofadr[j])
    name = found.joint_name[j]
    scalar = kind in ("hinge", "slide")
    if not scalar:
        _leave_out_vector_forces(found, j, name)
    for field, words in (
        ("jnt_stiffnesspoly", "stiffness polynomial: the linear part is carried"),
        ("dof_dampingpoly", "damping polynomial: the linear part is carried"),
        ("jnt_springyield", "plastic spring"),
    ):
        index = dof if field.startswith("dof") else j
        if np.any(getattr(m, field, np.zeros(max(m.nv, m.njnt)))[index]):
            found.tree.left_out("joint", name, words)
    at = d.xipos[m.jnt_bodyid[j]] if kind == "free" else d.xanchor[j]
    axis = direction(d.xaxis[j]) if scalar else (0.0, 0.0, 1.0)
    address = m.jnt_qposadr[j]
    if kind == "ball":
        stiffness, damping = float(np.ravel(m.jnt_stiffness[j])[0]), float(m.dof_damping[dof])
        here, rest = (np.array(q[address : address + 4]) for q in (d.qpos, m.qpos_spring))
        turn = np.zeros(3)
        found.mj.mju_subQuat(turn, here, rest)  # along the axes of the link
        turn = d.xmat[m.jnt_bodyid[j]].reshape(3, 3) @ turn
        return Joint(
            name, "ball", triple(at), axis, damping=damping, stiffness=stiffness, turn=triple(turn)
        )
    if not scalar:
        return Joint(name, kind, triple(at), axis)  # type: ignore[arg-type]
    return Joint(
        name,
        kind,  # type: ignore[arg-type]
        triple(at),
        axis,
        value=float(d.qpos[address]),
        damping=float(m.dof_damping[dof]),
        stiffness=float(np.ravel(m.jnt_stiffness[j])[0]),
        rest=float(m.qpos_spring[address]),
        friction=float(m.dof_frictionloss[dof]),
        inertia=float(m.dof_armature[dof]),
    )


def _leave_out_vector_forces(found: Compiled, j: int, name: str) -> None:
    m = found.model
    dof = int(m.jnt_dofadr[j])
    kind = KINDS[m.jnt_type[j]]
    for words, value in (
        ("damping", m.dof_damping[dof]),
        ("stiffness", np.ravel(m.jnt_stiffness[j])[0]),
        ("frictionloss", m.dof_frictionloss[dof]),
        ("armature", m.dof_armature[dof]),
    ):
        if value and not (kind == "ball" and words in ("damping", "stiffness")):
            found.tree.left_out("joint", name, f"{words} {value:.6g} of a {kind} joint")


def _tell_joint(tree: Tree, joint: Joint) -> None:
    words = {
        "hinge": "an angle about its axis",
        "slide": "a travel along its axis",
        "ball": "a shared point",
        "free": "six freedoms",
    }[joint.kind]
    tree.carried("joint", joint.name, words)
    if joint.damping:
        tree.carried("joint", joint.name, f"damping {joint.damping:.6g}")
    if joint.stiffness:
        rest = joint.rest if joint.is_scalar else math.hypot(*joint.turn)
        about = f"about {rest:.6g}" if joint.is_scalar else f"from a turn of {rest:.6g} rad on"
        tree.carried("joint", joint.name, f"stiffness {joint.stiffness:.6g} {about}")
    if joint.inertia:
        words = f"armature {joint.inertia:.6g} {ROTOR[joint.kind]} on the coordinate"
        tree.carried("joint", joint.name, words)
    if joint.friction:
        words = f"frictionloss {joint.friction:.6g}: smooth at rest, tanh of the rate"
        tree.changed("joint", joint.name, words)


def _lumped(m: Any, d: Any, members: list[int]) -> tuple[float, Triple, Triple, Any]:
    """Mass, centre, principal moments and two of their axes of bodies that are fixed together."""
    mass = float(sum(m.body_mass[b] for b in members))
    if len(members) == 1:
        (b,) = members
        turn = d.ximat[b].reshape(3, 3)
        moments = m.body_inertia[b]
    else:
        centre = sum(m.body_mass[b] * d.xipos[b] for b in members) / mass
        total = np.zeros((3, 3))
        for b in members:
            r = d.ximat[b].reshape(3, 3)
            arm = d.xipos[b] - centre
            total += r @ np.diag(m.body_inertia[b]) @ r.T
            total += m.body_mass[b] * (arm @ arm * np.eye(3) - np.outer(arm, arm))
        moments, turn = np.linalg.eigh(total)
    where = d.xipos[members[0]] if len(members) == 1 else centre
    first = direction(turn[:, 0])
    # as perpendicular as numbers can be: the mechanism's check is strict
    second = direction(turn[:, 1] - np.dot(turn[:, 1], first) * np.array(first))
    return mass, triple(where), triple(moments), (first, second)


def _close(found: Compiled, carried: set[int] | None) -> float:
    """Newton on the loops, least change of the joints; returns the largest gap left."""
    mj, m, d = found.mj, found.model, found.data
    keep = m.opt.disableflags, m.opt.jacobian
    bits = mj.mjtDisableBit
    m.opt.disableflags = int(bits.mjDSBL_CONTACT) | int(bits.mjDSBL_LIMIT)
    m.opt.jacobian = int(mj.mjtJacobian.mjJAC_DENSE)
    if carried is not None:
        d.eq_active[:] = [bool(m.eq_active0[e]) and e in carried for e in range(m.neq)]
    built = d.qpos.copy()
    gap = 0.0
    for _ in range(ITERATIONS):
        mj.mj_forward(m, d)
        rows = np.flatnonzero(d.efc_type[: d.nefc] == int(mj.mjtConstraint.mjCNSTR_EQUALITY))
        gap = float(np.max(np.abs(d.efc_pos[rows]), initial=0.0))
        if gap < CLOSED or m.nv == 0:
            break
        jac = d.efc_J[: d.nefc * m.nv].reshape(-1, m.nv)[rows]
        step = -np.linalg.lstsq(jac, d.efc_pos[rows], rcond=1e-9)[0]
        mj.mj_integratePos(m, d.qpos, step, 1.0)
    m.opt.disableflags, m.opt.jacobian = keep
    _tell_moved(found, built)
    return gap


def _tell_moved(found: Compiled, built: np.ndarray) -> None:
    m, d = found.model, found.data
    for j in range(m.njnt):
        size = {"free": 7, "ball": 4}.get(KINDS[m.jnt_type[j]], 1)
        part = slice(m.jnt_qposadr[j], m.jnt_qposadr[j] + size)
        before, now = built[part], d.qpos[part]
        far = float(np.max(np.abs(now - before)))
        if far > MOVED:
            how = f"from {before[0]:.6g} to {now[0]:.6g}" if size == 1 else f"by {far:.3g}"
            words = f"moved {how} so that the loops close"
            found.tree.changed("joint", found.name("joint", j), words)
