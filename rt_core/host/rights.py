"""Rights that this process needs to be on time: taken where possible, else reported with the remedy.

Nothing here is silent and nothing is fatal: the caller decides what to do without real time.
"""

from __future__ import annotations

import ctypes
import errno
import os
import resource
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

from rt_core.host.facts import Host

_CAP_IPC_LOCK, _CAP_SYS_NICE = 14, 23
_MCL_CURRENT, _MCL_FUTURE = 1, 2
_PR_SET_TIMERSLACK = 29
_M_TRIM_THRESHOLD, _M_MMAP_MAX, _M_ARENA_MAX = -1, -4, -8


@dataclass(frozen=True)
class Right:
    """One thing that was tried.

    Attributes
    ----------
    name : str
    held : bool
    needed : bool
        Without it the verdict is not real-time.
    why : str
        The finding.
    remedy : str
        The way to get it; empty when held.
    """

    name: str
    held: bool
    needed: bool
    why: str
    remedy: str = ""


@dataclass
class Rights:
    """All rights that were tried; those held stay so until `release` or the end of the process."""

    rights: tuple[Right, ...]
    _latency_fd: int = field(default=-1, repr=False)

    @property
    def real_time(self) -> bool:
        """True if every needed right is held."""
        return all(right.held for right in self.rights if right.needed)

    @property
    def fifo(self) -> bool:
        """True if task threads may be given FIFO priorities."""
        return any(right.held for right in self.rights if right.name == "fifo priority")

    @property
    def verdict(self) -> str:
        """One line: real-time, or not and why, and how to get it."""
        missing = [right for right in self.rights if right.needed and not right.held]
        if not missing:
            return "real-time"
        reasons = "; ".join(f"{right.name}: {right.why} ({right.remedy})" for right in missing)
        return f"not real-time: {reasons}"

    def as_dict(self) -> dict[str, Any]:
        """Return plain data for a manifest."""
        return {
            "real_time": self.real_time,
            "verdict": self.verdict,
            "rights": [asdict(right) for right in self.rights],
        }

    def release(self) -> None:
        """Give back the memory lock and the C-state request."""
        if self._latency_fd >= 0:
            os.close(self._latency_fd)
            self._latency_fd = -1
        _libc().munlockall()


def acquire_rights(priority: int = 90, cores: Iterable[int] = ()) -> Rights:
    """Try everything that a loop needs to be on time. Call once, before the loop is built.

    Parameters
    ----------
    priority : int
        Highest FIFO priority of the rig's tasks.
    cores : iterable of int
        Those that tasks are to be pinned to.

    Returns
    -------
    Rights

    Real time
    ---------
    Not for the cycle. Locks memory: later allocations are resident at once.
    """
    latency, latency_fd = _cpu_latency()
    return Rights(
        (
            fifo_priority(priority),
            _memory_lock(),
            affinity(frozenset(cores)),
            latency,
            _timer_slack(),
            _malloc(),
        ),
        latency_fd,
    )


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def fifo_priority(priority: int) -> Right:
    """Try a FIFO priority on this thread, and go back: the same rule holds for threads to come."""
    name = "fifo priority"
    policy, param = os.sched_getscheduler(0), os.sched_getparam(0)
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(priority))
    except OSError as error:
        limit = resource.getrlimit(resource.RLIMIT_RTPRIO)[0]
        if limit >= priority or Host().has_capability(_CAP_SYS_NICE):
            # allowed by rank, refused by the group: its share of real-time run time is zero
            return Right(
                name, False, True,
                f"{error.strerror} at priority {priority}, though the limit allows it: "
                "the cpu control group has no real-time share",
                "echo $$ | sudo tee /sys/fs/cgroup/cpu/cgroup.procs  # or give this group a share",
            )  # fmt: skip
        return Right(
            name, False, True,
            f"{error.strerror} at priority {priority}: RLIMIT_RTPRIO is {limit}",
            _limit_remedy("rtprio 99", "SYS_NICE"),
        )  # fmt: skip
    os.sched_setscheduler(0, policy, param)
    return Right(name, True, True, f"SCHED_FIFO {priority} granted")


def may_lock_memory() -> Right:
    """Return whether this process may lock all of its memory; locks nothing."""
    name = "memory lock"
    limit = resource.getrlimit(resource.RLIMIT_MEMLOCK)[0]
    if not Host().has_capability(_CAP_IPC_LOCK) and limit != resource.RLIM_INFINITY:
        # a lock that later allocations break would be worse than none
        return Right(
            name, False, True, f"RLIMIT_MEMLOCK is {limit // 1024} KiB",
            _limit_remedy("memlock unlimited", "IPC_LOCK"),
        )  # fmt: skip
    return Right(name, True, True, "no limit")


def affinity(cores: frozenset[int]) -> Right:
    """Return whether this process may run on these cores."""
    name = "affinity"
    allowed = os.sched_getaffinity(0)
    if not cores <= allowed:
        return Right(
            name, False, True, f"core(s) {sorted(cores - allowed)} not among {sorted(allowed)}",
            f"core = {min(allowed)}  # in the rig, or another of {sorted(allowed)}; or widen the cpuset",
        )  # fmt: skip
    return Right(name, True, True, f"cores {sorted(cores) or 'any'} of {sorted(allowed)}")


def _limit_remedy(limit: str, capability: str) -> str:
    return (
        f"echo '@realtime - {limit}' | sudo tee -a /etc/security/limits.d/realtime.conf; "
        'sudo groupadd -f realtime; sudo usermod -aG realtime "$USER"'
        f"  # then log in again; in a container: --cap-add {capability}"
    )


def _memory_lock() -> Right:
    allowed = may_lock_memory()
    if not allowed.held:
        return allowed
    if _libc().mlockall(_MCL_CURRENT | _MCL_FUTURE):
        code = ctypes.get_errno()
        return Right(
            allowed.name, False, True, f"mlockall: {errno.errorcode.get(code, code)}",
            "# free memory, or raise the memory limit of the control group",
        )  # fmt: skip
    return Right(allowed.name, True, True, "all present and future pages are locked")


def _cpu_latency() -> tuple[Right, int]:
    # the request lasts as long as the file is open
    name = "cpu_dma_latency"
    try:
        fd = os.open("/dev/cpu_dma_latency", os.O_WRONLY | os.O_CLOEXEC)
        os.write(fd, (0).to_bytes(4, "little"))
    except OSError as error:
        remedy = 'a udev rule: KERNEL=="cpu_dma_latency", GROUP="realtime", MODE="0660"'
        return Right(name, False, False, f"{error.strerror}: cores may sleep deeply", remedy), -1
    return Right(name, True, False, "0 us requested: cores stay awake"), fd


def _timer_slack() -> Right:
    if _libc().prctl(_PR_SET_TIMERSLACK, 1, 0, 0, 0):
        return Right(
            "timer slack", False, False, "prctl refused", "allow prctl in the seccomp filter"
        )
    return Right("timer slack", True, False, "1 ns")


def _malloc() -> Right:
    # one arena, never given back: no system call, and no fault, from a later malloc outside the
    # cycle
    libc = _libc()
    if not hasattr(libc, "mallopt"):
        return Right("malloc", False, False, "this C library has no mallopt", "use glibc")
    set_all = [
        libc.mallopt(_M_ARENA_MAX, 1),
        libc.mallopt(_M_TRIM_THRESHOLD, -1),
        libc.mallopt(_M_MMAP_MAX, 0),
    ]  # fmt: skip
    held = all(set_all)
    return Right(
        "malloc", held, False, "one arena, no trimming, no mmap" if held else "mallopt refused",
        "" if held else "start with MALLOC_ARENA_MAX=1",
    )  # fmt: skip
