"""An upper bound of the time of one step, from the generator's counts and the costs of this machine.

A processor that starts an operation as soon as its operands and a unit are there takes at most

    work / throughput + critical path

whatever the order in which it takes them (Graham 1969, doi:10.1137/0117039; Brent 1974, doi:10.1145/321812.321815).
Work is every operation at the cost that straight lines have here; the critical path goes through all routines with the
latencies measured here, and each value that a routine leaves for another one passes through memory. Iterations count
at their cap.

The bound is that of the code in warm caches on a core that nobody disturbs: it has no holes of the host.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from codegen.bounds.machine import MachineCosts, machine_costs
from codegen.bounds.text_bound import longest_ways
from codegen.description.mechanism import find, ports, text_of
from codegen.equations.program import Program
from codegen.expressions.emit import LATENCY
from codegen.kernels.build import generator_hash
from codegen.kernels.cache import CacheError, open_cache
from codegen.kernels.generate import program
from codegen.kernels.kept_numbers import keep_numbers, kept_numbers
from codegen.kernels.toolchain import digest
from codegen.options.options import KernelOptions
from codegen.targets.kernel_text import KernelText

# the other hyperthread of a core belongs to somebody else, often to another virtual machine, and may take half of its
# throughput: within 25 s on one such machine the least time of straight lines rose by 2.2, beside 1.2 for chains
SHARED = 2.0
# what a chain then takes longer than the costs say, which are the largest of one second
CLOCK = 1.15
# that nobody guesses in a step: of `take` and `block_step`, most go one way for ever
BRANCHES = 4


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
    singular_ns, reassembled_ns : float
        Longest time of a step that settles beside a singular pose, and of one that fails after lost cycles and
        assembles the mechanism again, over all strides that it may take: rare, and no part of the bound.
    """

    bound_ns: float
    work_ns: float
    path_ns: float
    around_ns: float
    slots: int
    iterations: int
    singular_ns: float
    reassembled_ns: float


def step_bound(
    mechanism: Path | str,
    options: KernelOptions | None = None,
    costs: MachineCosts | None = None,
    text: KernelText | None = None,
) -> StepBound:
    """Return the bound of a kernel, which is not compiled: that of the user's cache, else computed now.

    Parameters
    ----------
    text : KernelText, optional
        Of this mechanism and options, where it is there already.

    Raises
    ------
    MechanismError
        The file has mistakes.
    BuildError
        The machine's costs cannot be measured: no compiler.
    """
    options = options or KernelOptions()
    costs = costs or machine_costs(options)
    kept: Path | None = None
    try:
        kept = open_cache("bounds") / f"{_key(find(mechanism), options, costs)[:32]}.json"
        if (numbers := kept_numbers(kept, [part.name for part in fields(StepBound)])) is not None:
            return StepBound(**numbers)  # type: ignore[arg-type]
    except CacheError:
        kept = None
    text = text or KernelText(program(mechanism, options), has_block=True)
    found = bound_of(text.program, text, costs)
    if kept is not None:
        keep_numbers(kept, asdict(found))
    return found


def _key(path: Path, options: KernelOptions, costs: MachineCosts) -> str:
    """Return a hash over all that a bound follows from; to generate a program takes most of a check."""
    of_machine = json.dumps(asdict(costs), sort_keys=True)
    texts = (path.stem, text_of(path), options.text(), of_machine)
    return digest([generator_hash(), *(text.encode() for text in texts)])


def bound_of(made: Program, text: KernelText, costs: MachineCosts) -> StepBound:
    """Compute the bound of a program whose text is there."""
    slot = max(costs.slot, costs.picked) if made.is_large else costs.slot
    n_sqrt = text.counted(float(LATENCY["sqrt"]))
    around = _around(made)
    work = (text.step.slots - text.step.div) * slot
    work += text.step.div * max(costs.side_div, slot) + n_sqrt * costs.side_sqrt
    path = text.critical_path(costs.latencies(), costs.memory)
    work *= SHARED
    path *= CLOCK
    beside = SHARED * around * slot + BRANCHES * costs.branch + costs.clock
    ways = longest_ways(made, text, costs)
    return StepBound(
        work + path + beside,
        work,
        path,
        beside,
        text.step.slots + around,
        made.options.iterations,
        SHARED * ways["advance"],
        SHARED * ways["take"],
    )


def _around(made: Program) -> int:
    """Return the operations beside the routines: ports, the check of the state, outputs and their marks."""
    system, mechanism = made.presolved.system, made.mechanism
    reads, writes = ports(mechanism)
    n_q, n_phi = len(system.coordinates), len(system.rows)
    n_reactions = len(system.guides) + len(made.reactions)
    checked = 3 * n_q + 4 * n_phi + len(system.internals) + len(system.guides)
    return 4 * len(reads) + 3 * len(writes) + checked + 6 * n_reactions
