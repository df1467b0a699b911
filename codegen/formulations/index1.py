"""Index-1 augmented Lagrangian: the penalty formulation with multipliers.

    (M + J^T a J) qdd = f - J^T a (Jdot qd + Phi_t_dot + 2 xi w Phi_dot + w^2 Phi) - J^T lam
    lam += a (Phi_ddot + 2 xi w Phi_dot + w^2 Phi)

repeated `iterations` times an evaluation (once within the trapezoidal rule, which iterates
already), from the last multipliers: the stabilised acceleration constraints hold to round-off for
any penalty.

Source: Bayo and Ledesma 1996.
"""

from __future__ import annotations

from codegen.description.mechanism import Mechanism
from codegen.equations.program import Program
from codegen.formulations.acceleration import accelerated
from codegen.formulations.order import Call, factorise
from codegen.formulations.stepping import Derivative, ground, stepped
from codegen.options.options import KernelOptions


def build(mechanism: Mechanism, options: KernelOptions) -> Program:
    """Discretise `mechanism`: the routines of one step as expressions."""
    return augmented(mechanism, options, augments=True)


def augmented(mechanism: Mechanism, options: KernelOptions, *, augments: bool) -> Program:
    """The program of this or the penalty formulation; `augments` keeps multipliers."""
    on = ground(mechanism, options)
    # without multipliers a second pass would correct round-off alone
    passes = on.passes if augments else 1
    derivative = Derivative(
        routines=[],
        derive=[Call("evaluate"), factorise("project"), accelerated(passes)],
        twin=("formulations/acceleration.py.in", "equations/augmented.py.in"),
        fill={"augments": repr(augments), "passes": str(passes)},
    )
    return stepped(on, derivative, augments=augments)
