"""Common ground of the formulations that close the loops of a tree by rows over its joint coordinates."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from codegen.closed_trees.closed import ClosedTree, closed_tree
from codegen.closed_trees.loose import pairs
from codegen.description.mechanism import Mechanism, MechanismError
from codegen.equations.equations import LARGE
from codegen.equations.program import Program
from codegen.expressions.dag import Expr
from codegen.expressions.emit import NUMPY, Assign, Emitter
from codegen.options.options import KernelOptions
from codegen.pose.built import built_pose
from codegen.system.affine import affine
from codegen.system.system import System
from codegen.tree.chain import shares_on_links
from codegen.tree.twin_data import twin_data, uncompared
from rig_configs.mistakes import Mistake

TWIN = (
    "tree/joint_coordinates.py.in",
    "topology/file_coordinates.py.in",
    "spatial/bent_masses.py.in",
    "closed_trees/closed.py.in",
)


def over_joints(mechanism: Mechanism, options: KernelOptions) -> ClosedTree:
    """The mechanism over the coordinates of its tree.

    Raises
    ------
    MechanismError
        It has something that joint coordinates do not carry, or more of them than are written out.
    """
    formulation = options.formulation
    tree = closed_tree(mechanism, formulation, is_ruthless=options.bending == "ruthless")
    system = tree.made.system
    if len(system.coordinates) > LARGE:
        words = (
            f"has {len(system.coordinates)} joint coordinates; '{formulation}' takes up to {LARGE}, for it writes out "
            "each entry of a mass matrix in which every joint feels all that hangs on it"
        )
        remedy = "take formulation = 'ali3p'"
        if not tree.motion.tree.cuts and not system.sliding:
            remedy = "take formulation = 'articulated', whose cost grows with the number of links"
        raise MechanismError([Mistake(system.file, "file", words, remedy)])
    return tree


def with_twin(program: Program, tree: ClosedTree) -> Program:
    """The program with a twin that knows the file's equations only, and nothing of composite bodies."""
    source, made = tree.source.system, tree.made.system
    number = {c.q: c.index for c in source.coordinates}
    parted = [
        (
            {number[var]: k for var, k in part.weights.items()},
            part.offset,
            part.link,
            part.place.tolist(),
            part.axis,
        )
        for part in tree.closing.parted
    ]
    weights, masses = _masses(tree)
    shows = [o.port for o in tree.source.outputs if o.path and _shows_rows(source, o.path)]
    fill = twin_data(tree.motion, made, source, program.options) | {
        "kept": repr(tree.closing.rows),
        "parted": repr(parted),
        "closed_guides": repr([(guide.row, guide.coordinate.index) for guide in made.guides]),
        "n_rows": str(len(made.rows)),
        "shows_rows": repr(bool(shows)),
        "n_weights": str(len(weights)),
        "weights": _text(weights, source),
        "reactions": repr(
            ([] if is_determined(source) else shows) + uncompared(tree.source, program.options)
        ),
    }
    fill |= {name: repr(values) for name, values in masses.items()}
    return replace(
        program,
        twin=(*TWIN, *program.twin),
        twin_fill=program.twin_fill | fill,
        natural=tree.source,
    )


def is_determined(source: System) -> bool:
    """Return whether the file's own rows determine their multipliers, at the pose of the file."""
    jac = built_pose(source)[0]
    if not len(jac):
        return True
    return len(jac) <= len(source.coordinates) and np.linalg.svd(jac, compute_uv=False)[-1] > 1e-3


def _masses(tree: ClosedTree) -> tuple[list[Expr], dict[str, list]]:
    """Expressions over parameters, and where each weighs how much: on links, joints, and pairs of components."""
    motion, made, source = tree.motion, tree.made.system, tree.source.system
    number = {c.q: c.index for c in source.coordinates}
    weights: list[Expr] = []

    def place(e: Expr) -> int:
        weights.append(e)
        return len(weights) - 1

    carried = [
        (place(var), link, matrix.tolist())
        for link, (var, matrix) in shares_on_links(motion, made)
        if link >= 0
    ]
    rotors = [
        (place(var), *((i, k * k) for i, k in motion.tree.scalars[c.q][0].items()))
        for c, var in made.masses.of_scalars
    ]
    loose = []
    for a, b, var in pairs(tree.loose, motion):
        both = [affine(e) for e in (a, b)]
        sums = [{number[v]: k for v, k in found[0].items()} for found in both if found is not None]
        loose.append((place(var), *sums))
    return weights, {"carried": carried, "rotors": rotors, "loose_pairs": loose}


def _text(weights: list[Expr], source: System) -> str:
    """Python that fills `out` with the weights, from parameters."""
    bind = {p.var: f"par[{n}]" for n, p in enumerate(source.parameters)}
    assigns = [Assign(f"out[{n}]", e) for n, e in enumerate(weights)]
    lines = Emitter(NUMPY, bind).run(assigns)[0] if assigns else ["pass"]
    return "\n".join(f"    {line}" for line in lines)


def _shows_rows(system: System, path: str) -> bool:
    inside = system.graph.variables(system.values[path])
    return any(var.name.startswith("row_lam ") for var in inside)
