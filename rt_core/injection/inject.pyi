from collections.abc import Sequence
from enum import IntEnum
from typing import Any

from rt_core.cycle_block import CycleBlock
from rt_core.plan import Task

READS: tuple[str, ...]
WRITES: tuple[str, ...]

class Act(IntEnum):
    """The action of a fault in each cycle in which it acts; `inject.pxd` has the words."""

    SET = ...
    ADD = ...
    BURN = ...
    HANG = ...
    FAIL = ...
    MOVE = ...
    STEAL = ...
    HOLD_CORE = ...
    ORDER = ...
    KEEP = ...
    SCALE = ...

class InjectionBlock(CycleBlock):
    """One fault on purpose, at a nominal time after arming.

    Parameters
    ----------
    name : str
        Prefix of its signals: `<name>/cycle`, the cycle of its task in which it began, 0 before;
        `<name>/acting`, 1 in the cycles in which it acts.
    act : Act
    task : Task
        The task that steps it; `core` and `priority` matter for faults of its thread.
    arm, own_cycle : str
        Signals: above 0.5 once the rig is armed; cycles executed of the task.
    at_s : float
        After arming, s.
    cycles : int
        That it lasts; 0: to the end.
    every : int
        It acts in each N-th of them.
    value : float
        The operand of `act`: a cell's value, ns, a status, an order.
    cells : sequence of str
        Signals in the task's image, its own or mirrors, that are written over; at most 8.
    order : int
        Address of a float64 cell outside of the table, for `Act.ORDER`; `keep` owns it.
    arming : int
        The arming that it strikes in, from 1: `at_s` counts from there, and it ends at the latest when `arm` is taken
        back. 0: the first one, and what lasts to the end does so whatever becomes of `arm`.

    Raises
    ------
    ValueError
        All mistakes in one message.
    OSError
        From `bind`: no right to a thread of higher priority.

    Real time
    ---------
    As bad as the fault itself. `STEAL` and `HOLD_CORE` post a semaphore, `MOVE` makes one system
    call; the others stay in user space.
    """

    act: Act
    def __init__(
        self,
        name: str,
        act: Act,
        *,
        task: Task,
        arm: str,
        own_cycle: str,
        at_s: float,
        cycles: int = 1,
        every: int = 1,
        value: float = 0.0,
        cells: Sequence[str] = (),
        order: int = 0,
        keep: Any = None,
        arming: int = 0,
    ) -> None: ...
