"""Trees with loops in joint coordinates, by the index-3 augmented Lagrangian with projections.

    M(z) zdd + J^T (lam + alpha phi) = f(z, zd)   at the end of the step, by Newton over z

The step is that of `ali3p`, with a mass matrix that follows the pose; the tangent takes the slopes of all forces, of
those too that rates ask for, so that stiff springs are implicit. Without weights on the step's start the equations hold
at its end: the trapezoidal rule, or Newmark's with damping.

Source: Cuadrado, Dopico, Gonzalez and Naya 2004; Rodriguez, Jimenez, Funes and Garcia de Jalon 2004.
"""

from __future__ import annotations

from codegen.closed_trees.over_joints import over_joints, with_twin
from codegen.description.mechanism import Mechanism
from codegen.equations.program import Program
from codegen.formulations import ali3p
from codegen.options.options import KernelOptions


def build(mechanism: Mechanism, options: KernelOptions) -> Program:
    """Discretise `mechanism`: the routines of one step as expressions.

    Raises
    ------
    MechanismError
        It has something that joint coordinates do not carry: each by name.
    """
    tree = over_joints(mechanism, options)
    return with_twin(ali3p.build(tree.made, options), tree)
