"""The longest time that each block of a rig takes in a cycle: counted where it is generated, else measured.

A kernel has the bound of `codegen.bounds`. Other blocks, and what the loop does around them, are rehearsed: stepped
on the emulated bus, without threads. Their cost is the longest cycle that comes back in every round, since what the
host takes strikes one round and not the others, with a margin for ways through the code that a rehearsal does not
meet. It is a measured value, and is said to be one.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence, Set
from typing import Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from codegen.bounds.step_bound import step_bound
from codegen.description.mechanism import find
from codegen.kernels.build import BuiltKernel
from codegen.kernels.toolchain import BuildError
from io_bridge.master.master import BringUpError
from rig_configs.load import LoadedRig
from rig_configs.schema import Rig
from rigloop.blocks.catalogue import kind_of, paths
from rigloop.blocks.kinds.mechanism import MechanismBlock
from rigloop.blocks.mechanisms import kernel_options
from rigloop.compose.blocks import make_blocks, plan_blocks
from rigloop.compose.bus import make_buses
from rigloop.compose.parts import find_buses
from rt_core.block import Block
from rt_core.timing.rehearse import Rehearsal

ROUNDS = 12
CYCLES, FEWEST = 300, 30  # of the fastest task in a round
ROUND_S = 0.1  # of a round whose cycles are long
BEATS = 10  # of the supervisor meanwhile
MARGIN = 1.5  # on measured costs: faults, starts and resets take other ways than a rehearsal
LOOP = "loop"  # what a task does around its blocks
# benchmarks/bound.py: without a tolerance a bound is at most three times the usual time of its kernel
USUAL_OF_BOUND = 3
SAID = {"supervisor/enable": 1.0, "supervisor/arm": 1.0}


class BlockCost(msgspec.Struct, frozen=True):
    """The longest time that a block takes in a cycle."""

    block: str
    """`loop`: what is around the blocks."""
    worst_ns: int
    usual_ns: int
    how: Literal["counted", "measured", "unknown"]
    why: str = ""
    """The reason of a time that is not known, where there is one."""
    rare_ns: tuple[int, int] = (0, 0)
    """Times of a step near a singular pose, and of one after lost cycles; `worst_ns` does not include them."""


def block_costs(
    loaded: LoadedRig, kernels: Mapping[str, BuiltKernel]
) -> dict[str, list[BlockCost]]:
    """Find the cost of every block of a rig; the cost of one that would have to be compiled is unknown.

    Parameters
    ----------
    kernels : mapping of str to BuiltKernel
        Those that are built: of its observers.

    Returns
    -------
    dict of str to list of BlockCost
        Of each task, in the order of the file, the loop last.
    """
    rig = loaded.rig
    counted = {
        name: cost
        for name, block in rig.blocks.items()
        if isinstance(block, MechanismBlock) and (cost := _counted(loaded, name, block)) is not None
    }
    measured = _rehearsed(loaded, kernels)
    found: dict[str, list[BlockCost]] = {}
    for name, task in rig.tasks.items():
        parts = counted | measured[name]
        found[name] = [
            parts.get(block, BlockCost(block, 0, 0, "unknown")) for block in (*task.blocks, LOOP)
        ]
    return found


def _counted(loaded: LoadedRig, name: str, block: MechanismBlock) -> BlockCost | None:
    options = kernel_options(loaded.rig, name, str(loaded.path))
    try:
        bound = step_bound(find(block.mechanism), options)
    except BuildError:
        return None  # no compiler: nothing can be measured, and no kernel built
    except (OSError, ValueError) as error:  # no place to measure, or a loop without a known limit
        return BlockCost(name, 0, 0, "unknown", str(error))
    # with a tolerance the usual number of iterations is not known, and so no usual time
    usual = 0.0 if options.tolerance else bound.bound_ns / USUAL_OF_BOUND
    rare = (round(bound.singular_ns), round(bound.reassembled_ns))
    return BlockCost(name, round(bound.bound_ns), round(usual), "counted", rare_ns=rare)


def _rehearsed(
    loaded: LoadedRig, kernels: Mapping[str, BuiltKernel]
) -> dict[str, dict[str, BlockCost]]:
    """Rehearse all blocks that need no compiler, or are built; without the buses where no emulation is like them."""
    rig = loaded.rig
    known = {
        name
        for name, block in rig.blocks.items()
        if name in kernels or kind_of(block).build is None
    }
    try:
        return _rehearse(rig, known, kernels)
    except (BringUpError, ValueError):
        if not find_buses(rig):
            raise
        return _rehearse(rig, known - find_buses(rig).keys(), kernels)


def _rehearse(
    rig: Rig, known: Set[str], kernels: Mapping[str, BuiltKernel]
) -> dict[str, dict[str, BlockCost]]:
    """Rehearse these blocks of a rig; what the others would write is zero."""
    blocks_of = {name: block for name, block in rig.blocks.items() if name in known}
    part = rig.model_copy(update={"blocks": blocks_of})
    left_out = [name for name in rig.blocks if name not in known]
    inputs = [path for name in left_out for path in paths(name, rig.blocks[name])[1].values()]
    with make_buses(part, dict.fromkeys(find_buses(part), "simulated")) as buses:
        buses.to_op()
        blocks: dict[str, Block] = {name: bus.block() for name, bus in buses.each.items()}
        blocks |= make_blocks(part, kernels)
        rehearsal = Rehearsal(plan_blocks(rig, blocks, inputs))
        cycles = _settle(rehearsal)
        rounds = [_round(rehearsal, number, cycles) for number in range(ROUNDS)]
        tasks = {task.name: [block.name for block in task.blocks] for task in rehearsal.plan.tasks}
    return {task: _of_task(names, [took[task] for took in rounds]) for task, names in tasks.items()}


def _settle(rehearsal: Rehearsal) -> int:
    """Run the first cycles, in which filters start, and return how many of them a round has time for."""
    begin = time.perf_counter()
    rehearsal.run(FEWEST, {"supervisor/heartbeat": 1.0})
    a_cycle_s = (time.perf_counter() - begin) / FEWEST
    cycles = int(max(FEWEST, min(CYCLES, ROUND_S / a_cycle_s)))
    rehearsal.run(cycles, {"supervisor/heartbeat": 1.0})
    return cycles


def _round(rehearsal: Rehearsal, number: int, cycles: int) -> dict[str, NDArray[np.int64]]:
    """Run some cycles, while the supervisor lives: its heartbeat changes, and the guards stay armed."""
    first = 2.0 + number * BEATS
    beats = [
        rehearsal.run(cycles // BEATS, SAID | {"supervisor/heartbeat": first + beat})
        for beat in range(BEATS)
    ]
    return {task: np.concatenate([took[task] for took in beats]) for task in beats[0]}


def _of_task(blocks: Sequence[str], rounds: Sequence[NDArray[np.int64]]) -> dict[str, BlockCost]:
    longest = np.min([np.max(took, axis=0) for took in rounds], axis=0)
    usual = np.min([np.median(took, axis=0) for took in rounds], axis=0)
    return {
        name: BlockCost(name, round(MARGIN * float(longest[k])), round(float(usual[k])), "measured")
        for k, name in enumerate([*blocks, LOOP])
    }
