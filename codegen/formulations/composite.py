"""Trees with loops in joint coordinates: mass matrix of composite bodies, and multipliers on accelerations.

    M(z) zdd + J^T lam = f(z, zd),   J zdd + Jdot zd + 2 xi w phi_dot + w^2 phi = 0

The rows are those that close the loops; they are held as in the index-1 augmented Lagrangian. What costs is the mass
matrix, which grows with the square of the joints on one way to the ground, and its factor.

Source: Walker and Orin 1982; Bayo and Ledesma 1996.
"""

from __future__ import annotations

from codegen.closed_trees.over_joints import over_joints, with_twin
from codegen.description.mechanism import Mechanism
from codegen.equations.program import Program
from codegen.formulations.index1 import augmented
from codegen.options.options import KernelOptions


def build(mechanism: Mechanism, options: KernelOptions) -> Program:
    """Discretise `mechanism`: the routines of one step as expressions.

    Raises
    ------
    MechanismError
        It has something that joint coordinates do not carry: each by name.
    """
    tree = over_joints(mechanism, options)
    return with_twin(augmented(tree.made, options, augments=True), tree)
