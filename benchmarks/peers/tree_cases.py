"""The trees that `benchmarks/trees.py` measures."""

from __future__ import annotations

import math

import numpy as np

from codegen.description.builder import MechanismBuilder
from codegen.importers.tree import Joint, Link, Tree, Triple

AXES: tuple[Triple, Triple] = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0))
GRAVITY = (0.0, 0.0, -9.81)
DAMPING = 0.01  # Nms/rad of each pin of chain and tree


def arm_urdf() -> str:
    """Seven pins, each across the last one, with links of some kilograms and centres off their axes."""
    lines = ['<robot name="arm">', '<link name="base"/>']
    parent = "base"
    for k in range(7):
        turned = (0.0, -90.0, 90.0, 90.0, -90.0, -90.0, 90.0)[k]
        offset = (0.34, 0.0, 0.4, 0.0, 0.4, 0.0, 0.126)[k]
        mass = (5.76, 6.35, 3.5, 3.5, 3.5, 1.8, 1.2)[k]
        at = f"0 0 {offset}" if k == 0 else f"0 {-offset * math.sin(math.radians(turned)):.6g} 0"
        lines += [
            f'<link name="l{k}"><inertial><origin xyz="0.0{k + 1} -0.03 0.12"/><mass value="{mass}"/>'
            f'<inertia ixx="{0.033 + 0.002 * k}" iyy="0.033" izz="0.0123" ixy="0.0005" ixz="0.0003" '
            'iyz="-0.0007"/></inertial></link>',
            f'<joint name="j{k}" type="continuous"><parent link="{parent}"/><child link="l{k}"/>'
            f'<origin xyz="{at}" rpy="{math.radians(turned)!r} 0 0"/><axis xyz="0 0 1"/>'
            '<dynamics damping="0.1"/></joint>',
        ]
        parent = f"l{k}"
    return "\n".join([*lines, "</robot>"])


def chain(links: int) -> Tree:
    """Pins about x, y and z in turn, bodies with centres off their axes."""
    tree = Tree(gravity=GRAVITY)
    for k in range(links):
        at = (0.1 * k, 0.02 * k, 0.0)
        centre = (at[0] + 0.05, at[1] + 0.01, 0.02)
        joint = Joint(f"j{k}", "hinge", at, _triple(np.eye(3)[k % 3]), 0.0, damping=DAMPING)
        parent = f"b{k - 1}" if k else "ground"
        tree.links.append(Link(f"b{k}", parent, (joint,), 1.0, centre, (0.01, 0.02, 0.015), AXES))
    return tree


def random_tree(links: int) -> Tree:
    """Pins anywhere, each on one of the last five bodies."""
    rng = np.random.default_rng(1)
    tree, places = Tree(gravity=GRAVITY), {"ground": np.zeros(3)}
    for k in range(links):
        parent = f"b{rng.integers(max(0, k - 5), k)}" if k else "ground"
        at = places[f"b{k}"] = places[parent] + rng.uniform(-0.3, 0.3, 3)
        axis = rng.normal(size=3)
        axis /= np.linalg.norm(axis)
        joint = Joint(f"j{k}", "hinge", _triple(at), _triple(axis), 0.0, damping=DAMPING)
        centre = _triple(at + rng.uniform(-0.2, 0.2, 3))
        inertia, mass = _triple(rng.uniform(0.01, 0.018, 3)), float(rng.uniform(0.5, 2.0))
        tree.links.append(Link(f"b{k}", parent, (joint,), mass, centre, inertia, AXES))
    return tree


def pendulums(count: int) -> MechanismBuilder:
    """Equal rods of 1 m on pins in a plane, horizontal."""
    made = MechanismBuilder(f"pendulums_{count}", gravity_m_s2=(0, -9.81, 0))
    for k in range(1, count + 1):
        made.point(f"p{k}", position_m=(float(k), 0, 0), moves="xy")
        made.rigid_body(
            f"rod{k}", points=[f"p{k - 1}" if k > 1 else (0, 0, 0), f"p{k}"], axis=(0, 0, 1), mass_kg=1.0,
            centre_m=(k - 0.5, 0, 0), inertia_kg_m2=1 / 12,
        )  # fmt: skip
    made.output("tip/x_m", f"p{count}_x").output("tip/y_m", f"p{count}_y")
    return made.output("middle/x_m", f"p{count // 2}_x").output("middle/y_m", f"p{count // 2}_y")


def _triple(values: np.ndarray) -> Triple:
    x, y, z = (float(v) for v in values)
    return x, y, z
