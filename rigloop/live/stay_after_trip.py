"""The end of a run whose guard has tripped."""

from __future__ import annotations

import time


class StayAfterTrip:
    """At once, or after a while in which something may come back.

    Parameters
    ----------
    stay_s : float
    """

    def __init__(self, stay_s: float) -> None:
        self._stay_s = stay_s
        self._since: float | None = None

    def over(self, is_faulted: bool) -> bool:
        """Return whether the run is over; asked again and again."""
        if is_faulted and self._since is None:
            self._since = time.monotonic()
        return self._since is not None and time.monotonic() - self._since >= self._stay_s
