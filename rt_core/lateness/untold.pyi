from collections.abc import Sequence

HOLE_US: float
PRIOR_VIRTUAL: float
PRIOR_METAL: float

def explained_ns(
    *,
    ns: int,
    usual_ns: float = 0.0,
    work: int = -1,
    usual_work: float = 0.0,
    minor_faults: int = 0,
    major_faults: int = 0,
    denormal: bool = False,
    usual_denormal: float = 0.0,
) -> int:
    """Return how much of a block's surplus its own facts account for, as the loop does; see untold.pxd.

    Parameters
    ----------
    ns : int
        Time of the block beyond its usual, minus the part that the CPU clock shows.
    usual_ns, usual_work : float
        Means of cycles that kept their period.
    work : int
        By the block's witness, in this cycle; -1: it has none.
    minor_faults, major_faults : int
        Of the thread.
    denormal : bool
        The processor met a denormal number in the block.
    usual_denormal : float
        Share of cycles in which it does.
    """

def probability(
    here: int, here_s: float, elsewhere: int, elsewhere_s: float, prior_per_s: float
) -> float:
    """Return the probability of at least `here` holes within `here_s`, if they come as they do elsewhere.

    Raises
    ------
    ValueError
        Something is below 0, or there is no prior rate.
    """

def is_recurrent(
    ns: int,
    here: Sequence[int],
    here_s: float,
    everywhere: Sequence[int],
    everywhere_s: float,
    prior_per_s: float,
) -> bool:
    """Return whether surpluses like this one come more often in a block than holes do.

    Parameters
    ----------
    ns : int
        The surplus, counted already.
    here, everywhere : sequence of int
        Numbers by size: HOLE_US, twice that ...
    here_s, everywhere_s : float
        Times in which they came.
    prior_per_s : float
        Holes of HOLE_US that such a host is known for.
    """
