"""An upper bound of the time of one step, from the generator's counts and the costs of this machine.

A processor that starts an operation as soon as its operands and a unit are there takes at most

    work / throughput + critical path

whatever the order in which it takes them (Graham 1969; Brent 1974). Work is every operation at the cost that straight
lines have here; the critical path goes through all routines with the latencies measured here, and each value that a
routine leaves for another one passes through memory. Iterations count at their cap.

The bound is that of the code in warm caches on a core that nobody disturbs: holes of the host are no part of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from codegen.bounds.machine import MachineCosts, machine_costs
from codegen.description.mechanism import ports
from codegen.equations.program import Program
from codegen.expressions.emit import LATENCY
from codegen.kernels.generate import program
from codegen.options.options import KernelOptions
from codegen.targets.kernel_text import KernelText

# Graham's rule is that of a scheduler that sees all operations; a core sees the few hundred next ones, and what waits
# there for an operand keeps later ones out: the share by which a bound without it was exceeded, doubled
WINDOW = 1.10
# of `take` and `block_step`: is it started, stalled, good; loops over guides and signals end
BRANCHES = 8
CALLS = 2  # looks at the clock, as far as a call of nothing costs: those around a step


@dataclass(frozen=True)
class StepBound:
    """The longest time of one call of a kernel, and its parts; ns.

    Attributes
    ----------
    bound_ns : float
        With all iterations, up to their cap.
    work_ns, path_ns, around_ns : float
        Operations at their throughput, their longest chain, and ports, checks and branches around them.
    slots : int
        Operations.
    iterations : int
        The cap.
    """

    bound_ns: float
    work_ns: float
    path_ns: float
    around_ns: float
    slots: int
    iterations: int


def step_bound(
    mechanism: Path | str, options: KernelOptions | None = None, costs: MachineCosts | None = None
) -> StepBound:
    """Compute the bound of a kernel; the kernel is not compiled.

    Raises
    ------
    MechanismError
        The file has mistakes.
    BuildError
        The machine's costs cannot be measured: no compiler.
    """
    options = options or KernelOptions()
    made = program(mechanism, options)
    return bound_of(made, KernelText(made, has_block=True), costs or machine_costs())


def bound_of(made: Program, text: KernelText, costs: MachineCosts) -> StepBound:
    """Compute the bound of a program whose text is there."""
    slot = max(costs.slot, costs.picked) if made.is_large else costs.slot
    n_sqrt = text.counted(float(LATENCY["sqrt"]))
    around = _around(made)
    work = (text.step.slots - text.step.div) * slot
    work += text.step.div * max(costs.side_div, slot) + n_sqrt * costs.side_sqrt
    path = text.critical_path(costs.latencies(), costs.memory)
    beside = around * slot + BRANCHES * costs.branch + CALLS * costs.clock
    return StepBound(
        WINDOW * (work + path + beside),
        work,
        path,
        beside,
        text.step.slots + around,
        made.options.iterations,
    )


def _around(made: Program) -> int:
    """Return the operations beside the routines: ports, the check of the state, outputs and their marks."""
    system, mechanism = made.presolved.system, made.mechanism
    reads, writes = ports(mechanism)
    n_q, n_phi = len(system.coordinates), len(system.rows)
    n_reactions = len(system.guides) + len(made.reactions)
    checked = 3 * n_q + 4 * n_phi + len(system.internals) + len(system.guides)
    return 4 * len(reads) + 3 * len(writes) + checked + 6 * n_reactions
