"""Penalty formulation: constraints as stiff, damped masses on accelerations.

    (M + J^T a J) qdd = f - J^T a (Jdot qd + Phi_t_dot + 2 xi w Phi_dot + w^2 Phi)

Multipliers are the penalty on the violation, a (Phi_ddot + 2 xi w Phi_dot + w^2 Phi): the
violation is the reaction divided by the penalty, so larger penalties are more exact.

Source: Bayo, Garcia de Jalon and Serna 1988.
"""

from __future__ import annotations

from codegen.description.mechanism import Mechanism
from codegen.equations.program import Program
from codegen.formulations.index1 import augmented
from codegen.options.options import KernelOptions


def build(mechanism: Mechanism, options: KernelOptions) -> Program:
    """Discretise `mechanism`: the routines of one step as expressions."""
    return augmented(mechanism, options, augments=False)
