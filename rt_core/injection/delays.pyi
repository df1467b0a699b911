from rt_core.cycle_block import CycleBlock

KINDS: tuple[str, ...]

class DelayBlock(CycleBlock):
    """A block whose every N-th step takes longer, for a reason of its own.

    Its witness counts 10 units of work a step; only more `iterations` add to it. `denormals` computes with denormal
    numbers, `cold caches` reads memory that is in no cache, `page faults` touches pages that it gave back, `slow block`
    just takes its time. Writes `<name>/burned_ns` and `<name>/cpu_ns`: wall and CPU time of this step.

    Parameters
    ----------
    name : str
    kind : str
        One of KINDS.
    burn_ns : int
        Length of a long step.
    every, first : int
        Steps from one long one to the next, and before the first.

    Real time
    ---------
    For proofs only: it makes the cycle late.
    """

    def __init__(
        self, name: str, kind: str, burn_ns: int, *, every: int = 1, first: int = 0
    ) -> None: ...

class PageBlock(CycleBlock):
    """A block that writes one word of each of its pages in each step.

    Parameters
    ----------
    name : str
    n : int
        Pages of 4096 bytes.
    known : bool
        Whether it reports to the loop how large its memory is, so that a spin may touch it.
    touched_first : bool
        Whether a step begins with a touch of each page, as a loop could do after each wake-up.

    Real time
    ---------
    Safe: 2 n writes at most.
    """

    def __init__(
        self, name: str, n: int, *, known: bool = True, touched_first: bool = False
    ) -> None: ...

class HoleBlock(CycleBlock):
    """A block whose thread can be held up from outside so that its own CPU clock does not show it.

    A host that takes the core without a report looks the same. The time passes in a signal handler.

    Real time
    ---------
    For proofs only.
    """

    def __init__(self, name: str) -> None: ...
    def strike(self, thread: int, ns: int) -> None:
        """Hold up a thread of this process, by the kernel's number, for so long, wherever it is just now."""
