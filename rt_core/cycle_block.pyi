from collections.abc import Sequence
from typing import Any

class CycleBlock:
    """Common ground of the blocks that are written in Cython; not used by itself.

    A subclass sets name and ports, brings the step and its state, and takes the addresses of its cells.

    Attributes
    ----------
    name : str
    reads, writes : dict of str to str
        Port to signal path.

    Real time
    ---------
    Nothing of it runs in a cycle.

    Source
    ------
    None: the contract is that of `rt_core.block`.
    """

    name: str
    reads: dict[str, str]
    writes: dict[str, str]

    def bind(self, reads: Sequence[int], writes: Sequence[int]) -> None:
        """Take the address of one float64 cell per port, in port order; without ports there is nothing to take."""
    def capsule(self) -> Any:
        """Return the capsule with the `BlockView`; the block must outlive it."""
