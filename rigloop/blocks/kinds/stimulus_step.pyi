from collections.abc import Mapping

from rig_configs.condition import Condition
from rigloop.blocks.compiled.block import CompiledBlock
from rt_core.cycle_block import CycleBlock

READS: tuple[str, ...]
WRITES: tuple[str, ...]
OPERATORS: tuple[str, ...]
MOST_COMPARISONS: int
STATES: dict[int, str]

class Stimulus(CycleBlock):
    """A signal that is added to a value from a cycle on, until another one.

    A new positive `number` begins it, or has it wait for `when`; a negative one ends it. Its signal is stepped with the
    time since it began, and in no other cycle.

    Parameters
    ----------
    name : str
    signal : CompiledBlock
        Without inputs; its output `y` is the signal.
    reads : mapping of port to signal path
        `number`, perhaps `before`, and `when/0`, `until/0` and on for the signals of the conditions, in their order.
    writes : mapping of port to signal path, optional
        `value`, `added`, `state`, `begun`.
    limit : float
        Above 0.
    when, until : Condition
        Empty: it begins at once; nothing ends it but a command.
    duration_s : float, optional
    waits : bool
        It waits for `when` from the first cycle on.

    Raises
    ------
    ValueError
        With everything that is wrong.

    Real time
    ---------
    Safe: at most 32 comparisons a condition, and the step of the signal.

    Source
    ------
    The signals are those of the library of blocks.
    """

    signal: CompiledBlock

    def __init__(
        self,
        name: str,
        signal: CompiledBlock,
        reads: Mapping[str, str],
        writes: Mapping[str, str] | None = None,
        *,
        limit: float,
        when: Condition = (),
        until: Condition = (),
        duration_s: float | None = None,
        waits: bool = False,
    ) -> None: ...
