"""The wall clock, which stamps runs; the loop itself never reads it."""

from __future__ import annotations

import ctypes

from rt_core.doctor.check import Check, Demands, Topic
from rt_core.host.facts import Host

STA_UNSYNC = 0x0040
MOST_PPM = 300.0  # the kernel's own limit is 500: near it the service is catching up

WALL_CLOCK = Topic(
    "wall clock",
    "it is steered through CLOCK_MONOTONIC's rate, and its time stamps align the logs "
    "of two machines",
)


class Timex(ctypes.Structure):
    """The head of `struct timex`; the kernel writes all of it."""

    _fields_ = (
        ("modes", ctypes.c_uint),
        ("offset", ctypes.c_long),
        ("freq", ctypes.c_long),
        ("maxerror", ctypes.c_long),
        ("esterror", ctypes.c_long),
        ("status", ctypes.c_int),
        ("rest", ctypes.c_long * 32),
    )


def wall_clock(host: Host, demands: Demands) -> Check:
    """A time service steers the clock gently; without one it is set in steps."""
    timex = Timex()
    service = "sudo apt install chrony"
    if ctypes.CDLL(None, use_errno=True).adjtimex(ctypes.byref(timex)) < 0:
        return WALL_CLOCK.unknown("adjtimex is refused", f"{service}; allow adjtimex in seccomp")
    ppm = timex.freq / 65536.0
    if timex.status & STA_UNSYNC:
        return WALL_CLOCK.amber("no time service steers it: it drifts, or is set in steps", service)
    if abs(ppm) > MOST_PPM:
        return WALL_CLOCK.amber(f"steered by {ppm:+.0f} ppm", "chronyc tracking  # wait for it")
    return WALL_CLOCK.green(f"synchronised, steered by {ppm:+.1f} ppm")
