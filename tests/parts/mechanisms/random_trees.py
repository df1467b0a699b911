"""Trees of bodies with any joints, as the importers write them in natural coordinates, and what they must be."""

import numpy as np

from codegen.expressions.dag import evaluate
from codegen.importers.natural import write
from codegen.importers.tree import Joint, Link, Tree
from codegen.tree.recursion import accelerations

KINDS = ("hinge", "slide", "ball", "hinge")


def random_tree(seed, n_links, kinds=KINDS):
    """A mechanism with springs and dampers on its hinges and slides, in a pose of its own."""
    return written_tree(seed, n_links, kinds).build()


def written_tree(seed, n_links, kinds=KINDS):
    """The same before it is built, as tables that more can be added to."""
    return write(written_links(seed, n_links, kinds), "random_tree", "")


def written_links(seed, n_links, kinds=KINDS):
    """The same as links, as importers have them."""
    rng = np.random.default_rng(seed)
    tree = Tree(gravity=(0.3, -0.2, -9.81))
    centres = {"ground": np.zeros(3)}
    for k in range(n_links):
        parent = f"b{rng.integers(max(0, k - 2), k)}" if k else "ground"
        kind = kinds[rng.integers(len(kinds))]
        at = centres[parent] + rng.uniform(-0.4, 0.4, 3)
        axis = np.eye(3)[rng.integers(3)] if rng.random() < 0.5 else unit(rng.normal(size=3))
        joint = Joint(f"j{k}", kind, floats(at), floats(axis))
        if kind in ("hinge", "slide"):
            value = float(rng.uniform(-1, 1))
            joint = Joint(
                f"j{k}", kind, floats(at), floats(axis), value, damping=0.3, stiffness=2.0, rest=0.1
            )
        centres[f"b{k}"] = at + rng.uniform(-0.3, 0.3, 3)
        axes = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        inertia = rng.uniform(0.1, 0.19, 3)
        mass = float(rng.uniform(0.5, 3.0))
        tree.links.append(
            Link(
                f"b{k}",
                parent,
                (joint,),
                mass,
                floats(centres[f"b{k}"]),
                floats(inertia),
                (floats(axes[0]), floats(axes[1])),
            )
        )
    return tree


def unit(v):
    return v / np.linalg.norm(v)


def floats(values):
    return tuple(float(v) for v in values)


def moving(tree, seed):
    """Coordinates and rates of a tree in joint coordinates; a rate of a quaternion is normal to it."""
    z = tree.motion.somewhere(seed)
    zd = np.random.default_rng(seed).normal(size=len(z))
    for link in tree.chain.links:
        if link.kind in ("ball", "free"):
            ball = list(link.coordinates[-4:])
            zd[ball] -= z[ball] * (z[ball] @ zd[ball])
    return z, zd


def by_articulated_inertias(tree, z, zd):
    """Accelerations of the joint coordinates in a motion, at the file's parameters and signals."""
    system = tree.made.system
    at = {p.var.name: p.default for p in (*system.parameters, *system.signals)}
    for c, value, rate in zip(system.coordinates, z, zd, strict=True):
        at |= {c.q.name: float(value), c.qd.name: float(rate)}
    found = accelerations(tree.chain, tree.loads)
    return np.array([evaluate(found[i], at) for i in range(len(z))])
