"""The meaning of the fault codes of blocks: each kind of block declares its own, and the loop has two."""

from __future__ import annotations

from collections.abc import Sequence

from rig_configs.schema import Rig
from rigloop.blocks.catalogue import kind_of
from rt_core.plan import FAULT_OFF_CORE, FAULT_POLICY, loop_signal

LOOP_FAULTS = {
    FAULT_POLICY: (
        "too many overruns within its window (overrun = 'safe')",
        "see why the task overran (`rigloop doctor`, the report's late cycles), or raise its overrun_limit",
    ),
    FAULT_OFF_CORE: (
        "its thread runs on another core than its own (off_core = 'safe')",
        "find out what moved it, or remove off_core",
    ),
}
"""Faults of the loop itself, and what to do."""


def task_of_fault(rig: Rig, path: str) -> str | None:
    """Return the task whose blocks a signal says have failed; None if it is another signal."""
    return next((task for task in rig.tasks if loop_signal(task, "fault") == path), None)


def explain_fault(
    rig: Rig, task: str, place: int, code: int, blocks: Sequence[str] | None = None
) -> tuple[str, str]:
    """Return what failed in a task and why, and what to do.

    Parameters
    ----------
    place : int
        Of the block in the task, from 1, as in `loop/<task>/fault_block`; 0: the loop itself.
    code : int
        As in `loop/<task>/fault`.
    blocks : sequence of str, optional
        In the order of their steps, where it is not that of the rig.
    """
    names = rig.tasks[task].blocks if blocks is None else blocks
    if place == 0:
        words, remedy = LOOP_FAULTS.get(code, ("no block of it says why", ""))
        return f"task {task!r}: fault {code}: {words}", remedy
    if not 0 < place <= len(names):
        return f"task {task!r}: block {place}: fault {code}", ""
    name = names[place - 1]
    block = rig.blocks.get(name)
    if block is None:
        # a block of a fault on purpose
        return f"block {name!r}: fault {code}", ""
    kind = kind_of(block)
    words = kind.faults.get(code, "a code that this kind of block does not explain")
    return f"block {name!r} ({block.kind}): fault {code}: {words}", kind.remedy
