"""Python's view of the policy in policy.pxd."""
from libc.string cimport memset

from rt_core.lateness.cause cimport Cause


def levels(overruns, *, limit, window, count_stolen=True):
    if not 1 <= limit <= MOST_POINTS or window < 1:
        raise ValueError(f"limit = {limit} must be within 1 and {MOST_POINTS}, window = {window} at least 1")
    cdef Policy policy
    memset(&policy, 0, sizeof(Policy))
    policy.limit, policy.window, policy.ignore_stolen = limit, window, not count_stolen
    return [count_overrun(&policy, period, <Cause><int>cause) for period, cause in overruns]
