"""The right to a FIFO priority, found out by asking for one."""

import os


def may_be_fifo():
    """Tell whether this process may have FIFO priorities; it keeps the one that it has."""
    policy, param = os.sched_getscheduler(0), os.sched_getparam(0)
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(80))
    except PermissionError:
        return False
    os.sched_setscheduler(0, policy, param)
    return True
