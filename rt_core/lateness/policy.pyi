from collections.abc import Iterable

from rt_core.lateness.cause import Cause

def levels(
    overruns: Iterable[tuple[int, Cause]], *, limit: int, window: int, count_stolen: bool = True
) -> list[int]:
    """Return the points within the window at each overrun, as the loop counts them.

    Parameters
    ----------
    overruns : iterable of (int, Cause)
        Number of the period, rising, and why.
    limit : int
        Points at which the loop would act; no more are remembered.
    window : int
        Periods that a point counts for, the one of the overrun included.
    count_stolen : bool
        False: stolen time gives no point.

    Raises
    ------
    ValueError
        `limit` or `window` out of range.
    """
