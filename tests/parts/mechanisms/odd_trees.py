"""Odd trees and loops, written by hand, as plans of plain bodies."""

import numpy as np
from mechanisms.plain_bodies import Plan

SPRING = {"stiffness": 7.0, "damping": 0.4}


def branches_of_branches():
    plan = Plan("odd")
    parents = ["ground", "b0", "b0", "b1", "b1", "b2"]
    kinds = ["revolute", "revolute", "prismatic", "spherical", "revolute", "cylindrical"]
    rng = np.random.default_rng(3)
    for k, (parent, kind) in enumerate(zip(parents, kinds, strict=True)):
        at = rng.uniform(-1, 1, 3)
        plan.body(f"b{k}", at + 0.2, turned=k).joint(
            kind, f"b{k}", parent, at, rng.normal(size=3), **(SPRING if kind == "revolute" else {})
        )
        plan.push(f"b{k}", (0.1 * k, 1, 0), (k, -1.0, 2.0), (0.3, 0.1 * k, -0.2))
    return plan


def joints_in_series():
    """A wrist of three pins on massless bodies, one of them off the others' point."""
    plan = Plan("odd")
    plan.body("arm", (0, 0, 0)).joint("revolute", "arm", "ground", (0, 0, 0), (0, 1, 0))
    parent = "arm"
    for k, (at, axis) in enumerate([((1, 0, 0), (1, 0, 0)), ((1, 0, 0.1), (0, 1, 0))]):
        plan.body(f"n{k}", at, mass=0.0, inertia=(0, 0, 0), centre=at)
        plan.joint("revolute", f"n{k}", parent, at, axis)
        parent = f"n{k}"
    plan.body("hand", (1.2, 0, 0.1), turned=4)
    return plan.joint("revolute", "hand", parent, (1, 0, 0.1), (0, 0, 1), **SPRING)


def offset_axes():
    plan = Plan("odd")
    plan.body("a", (0, 0, 0), centre=(5, 3, -4)).joint(
        "revolute", "a", "ground", (2, -7, 1), (1, 2, 3)
    )
    plan.body("b", (1, 1, 1), centre=(-4, 6, 1)).joint(
        "prismatic", "b", "a", (9, 9, 9), (-1, 1, 4), **SPRING
    )
    return plan.body("c", (0, 2, 0)).joint("cylindrical", "c", "b", (-8, 0, 3), (0, 1, 1))


def without_weight():
    plan = Plan("odd", gravity=(0.0, 0.0, 0.0))
    plan.body("a", (0, 0, 0), turned=1)
    plan.body("b", (1, 0, 0), turned=2).joint("universal", "b", "a", (0.5, 0, 0), (0, 1, 0))
    return plan.push("b", (1, 0, 0.5), (1.0, -2.0, 0.5), (0.1, 0.2, -0.3))


def two_that_float():
    plan = Plan("odd", gravity=(1.0, -2.0, 3.0))
    for name, x in (("a", 0.0), ("b", 10.0)):
        plan.body(name, (x, 0, 0), turned=1)
        plan.body(f"{name}_tip", (x + 1, 0, 0), turned=2)
        plan.joint(
            "spherical" if name == "a" else "revolute",
            f"{name}_tip",
            name,
            (x + 0.5, 0, 0),
            (1, 1, 0),
        )
    return plan


def heavy_and_light():
    plan = Plan("odd")
    for k, (mass, kind) in enumerate(
        [(1e4, "revolute"), (1e-3, "revolute"), (1e3, "spherical"), (1e-2, "prismatic")]
    ):
        at, size = (0.5 * k, 0.1 * k, 0), mass * 0.01
        plan.body(f"b{k}", at, mass=mass, inertia=(size, 1.2 * size, 1.5 * size))
        plan.joint(kind, f"b{k}", f"b{k - 1}" if k else "ground", at, (1, k, 2))
    return plan


def welded():
    plan = Plan("odd").body("a", (0, 0, 0)).joint("revolute", "a", "ground", (0, 0, 0), (0, 1, 0))
    plan.body("b", (1, 0, 0), turned=5).joint("rigid", "b", "a", (0.5, 0, 0))
    plan.body("c", (1, 1, 0), turned=6).joint("rigid", "c", "b", (1, 0.5, 0))
    return plan.body("d", (1, 1, 1)).joint("universal", "d", "c", (1, 1, 0.5), (1, 0, 1))


def on_the_ground():
    """Bodies of every kind of joint, all on the ground."""
    plan = Plan("odd")
    kinds = ("revolute", "prismatic", "cylindrical", "universal", "spherical", "planar")
    for k, kind in enumerate(kinds):
        plan.body(f"b{k}", (k, 0, 0), turned=k).joint(
            kind, f"b{k}", "ground", (k, 0.2, 0), (1, k, 1)
        )
    return plan


def train():
    """Slides on slides."""
    plan = Plan("odd")
    for k in range(4):
        plan.body(f"b{k}", (k, 0, 0), turned=k)
        plan.joint(
            "prismatic", f"b{k}", f"b{k - 1}" if k else "ground", (k, 0, 0), (1, k, -k), **SPRING
        )
    return plan


def shafts():
    """Universal joints in a row, the last one on a slide."""
    plan = Plan("odd").body("a", (0, 0, 0)).joint("revolute", "a", "ground", (0, 0, 0), (1, 0, 0))
    for k, name in enumerate("bcd"):
        plan.body(name, (k + 1, 0, 0), turned=k)
        plan.joint("universal", name, "abcd"[k], (k + 0.5, 0, 0), (0, 1, k))
    return plan.body("e", (5, 0, 0)).joint("prismatic", "e", "d", (4, 0, 0), (1, 0, 0), **SPRING)


def plates():
    plan = Plan("odd").body("a", (0, 0, 0)).joint("planar", "a", "ground", (0, 0, 0), (0, 1, 1))
    plan.body("b", (1, 0, 0)).joint("planar", "b", "a", (1, 0, 0), (1, 0, 0))
    return plan.body("c", (1, 1, 0)).joint("spherical", "c", "b", (1, 0.5, 0))


def needles():
    """Slender bodies that resist no turn about their own axes, held there by the next ones."""
    plan = Plan("odd")
    plan.body("a", (0, 0, 0), centre=(0.5, 0, 0), inertia=(0, 0.1, 0.1))
    plan.joint("universal", "a", "ground", (0, 0, 0), (0, 0, 1))
    plan.body("b", (1, 0, 0), centre=(1.5, 0, 0), inertia=(0, 0.1, 0.1))
    return plan.joint("revolute", "b", "a", (1, 0, 0), (0, 1, 0), **SPRING)


def floating_crane():
    plan = Plan("odd").body("hull", (0, 0, 0), mass=50.0, inertia=(5, 6, 7), turned=9)
    plan.body("boom", (0, 0, 1)).joint("revolute", "boom", "hull", (0, 0, 1), (0, 0, 1), **SPRING)
    plan.body("jib", (0, 1, 1)).joint("revolute", "jib", "boom", (0, 1, 1), (1, 0, 0), **SPRING)
    plan.body("rope", (0, 2, 1)).joint("spherical", "rope", "jib", (0, 2, 1))
    return plan.body("load", (0, 2, 0)).joint("spherical", "load", "rope", (0, 2, 0.2))


def backwards():
    """The ground and outer bodies are named first in their joints."""
    plan = Plan("odd").body("a", (0, 0, 0), turned=1)
    plan.joint("revolute", "ground", "a", (0, 0, 0), (1, 1, 0), **SPRING).body("b", (1, 0, 0))
    plan.joint("universal", "a", "b", (0.5, 0, 0), (0, 0, 1)).body("c", (2, 0, 0))
    return plan.joint("prismatic", "b", "c", (1.5, 0, 0), (1, 2, 0), **SPRING)


def four_bar():
    """A loop through the ground, in space: pin, ball, universal joint, pin."""
    plan = (
        Plan("odd")
        .body("a", (0, 0, 0))
        .joint("revolute", "a", "ground", (0, 0, 0), (0, 0, 1), **SPRING)
    )
    plan.body("b", (0, 1, 0)).joint("spherical", "b", "a", (0, 1, 0))
    plan.body("c", (2, 1.5, 0.3)).joint("universal", "c", "b", (2, 1.5, 0.3), (0, 0, 1))
    return plan.joint("revolute", "c", "ground", (2.2, 0, 0), (0, 0.2, 1))


def loop_in_the_air():
    """A loop of bodies that floats, with a branch on it."""
    plan = Plan("odd").body("a", (0, 0, 0)).body("b", (1, 0, 0)).body("c", (0, 1, 0))
    plan.joint("revolute", "b", "a", (0.5, 0, 0), (0, 0, 1), **SPRING)
    plan.joint("spherical", "c", "a", (0, 0.5, 0)).joint(
        "cylindrical", "c", "b", (0.5, 0.5, 0), (1, -1, 0)
    )
    return plan.body("d", (0, 2, 0), turned=3).joint("spherical", "d", "c", (0, 1.5, 0))


def two_loops():
    """Two bodies between the same plates, each by balls and slides."""
    plan = (
        Plan("odd")
        .body("a", (0, 0, 0), mass=3.0)
        .joint("cylindrical", "a", "ground", (0, 0, 0), (0, 0, 1))
    )
    plan.body("top", (0, 0, 1), turned=2).joint("spherical", "top", "a", (0, 0, 0.8))
    for k, (x, y) in enumerate([(1, 0), (0, 1)]):
        plan.body(f"leg{k}", (x, y, 0)).joint(
            "universal", f"leg{k}", "ground", (x, y, 0), (1, 0, 0)
        )
        plan.body(f"rod{k}", (x, y, 0.5)).joint(
            "prismatic", f"rod{k}", f"leg{k}", (x, y, 0.4), (0, 0, 1), **SPRING
        )
        plan.joint("spherical", f"rod{k}", "top", (x, y, 1))
    return plan


TREES = [
    branches_of_branches,
    joints_in_series,
    offset_axes,
    without_weight,
    two_that_float,
    heavy_and_light,
    welded,
    on_the_ground,
    train,
    shafts,
    plates,
    needles,
    floating_crane,
    backwards,
]


LOOPS = [four_bar, loop_in_the_air, two_loops]
