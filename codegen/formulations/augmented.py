"""Common ground of the penalty and the index-1 formulation; they differ only in whether multipliers are kept."""

from __future__ import annotations

from codegen.description.mechanism import Mechanism
from codegen.equations.program import Program
from codegen.formulations.acceleration import accelerated
from codegen.formulations.order import Call, factorise
from codegen.formulations.stepping import Derivative, ground, stepped
from codegen.options.options import KernelOptions


def augmented(mechanism: Mechanism, options: KernelOptions, *, augments: bool) -> Program:
    """The program of either; `augments` keeps multipliers."""
    on = ground(mechanism, options)
    # without multipliers a second pass would correct round-off alone
    passes = on.passes if augments else 1
    derivative = Derivative(
        routines=[],
        derive=[Call("evaluate"), factorise("project"), accelerated(passes)],
        twin=("formulations/acceleration.py.in", "formulations/augmented.py.in"),
        fill={"augments": repr(augments), "passes": str(passes)},
    )
    return stepped(on, derivative, augments=augments)
