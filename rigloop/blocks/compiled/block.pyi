from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from rigloop.blocks.compiled.build import Program
from rt_core.cycle_block import CycleBlock

class CompiledBlock(CycleBlock):
    """A block whose step is a function of a compiled library, over memory of its own.

    Parameters
    ----------
    name : str
    program : Program
        The loaded library; it stays loaded as long as the block lives.
    words : ndarray of int64
        As `rigloop.blocks.compiled.layout.fill` makes it.
    reads, writes : mapping of port to signal path
        Only ports that are wired; every port that is written.
    read_places, write_places : mapping of port to int
        The word of the memory that takes the address of each port's cell.
    live : mapping of port to int, optional
        Ports among `reads` whose cell holds a parameter: before each step it is copied to this word of the memory.

    Real time
    ---------
    The step is as safe as its source: those that ship are bounded and free of system calls.
    """

    words: NDArray[np.int64]
    program: Program

    @property
    def is_live(self) -> bool:
        """True: cells of the table hold some of its parameters."""
    def __init__(
        self,
        name: str,
        program: Program,
        words: NDArray[np.int64],
        reads: Mapping[str, str],
        writes: Mapping[str, str],
        read_places: Mapping[str, int],
        write_places: Mapping[str, int],
        live: Mapping[str, int] | None = None,
    ) -> None: ...
    def prepare(self) -> int:
        """Run what the block does once before its first step; 0, or a fault code."""
