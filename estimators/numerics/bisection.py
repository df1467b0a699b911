"""The place where a condition ends, by halving."""

from __future__ import annotations

from collections.abc import Callable


def boundary(
    holds: Callable[[float], bool], inside: float, outside: float, halvings: int = 60
) -> float:
    """Return the place nearest to `inside` at which a condition was found not to hold.

    Parameters
    ----------
    holds : callable
        It holds at `inside` and not at `outside`, and changes once between them.
    halvings : int
        Of the way between them.
    """
    for _ in range(halvings):
        middle = 0.5 * (inside + outside)
        if holds(middle):
            inside = middle
        else:
            outside = middle
    return outside
