"""A sign change of the encoder, followed on its way to the torque of the new sign.

    sign change ── sample ── filtered ── simulation tick ── step done ── seen by the guard ── sent ── at the drive
       t0           k           f              s                              g                a

All times are ns. The instants at the ends are those of the device: its own clock stamps each sample and each torque,
and the sign change lies between two samples, by interpolation. Those between are the host's.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

STAGES = ("wait_sample", "filter", "wait_tick", "step", "hand_over", "bus")
GROUPS = {
    "waiting for a tick": ("wait_sample", "wait_tick"),
    "path": ("filter", "hand_over"),
    "step": ("step",),
    "bus": ("bus",),
}
"""The stages in words: a sign change waits for a fast and for a slow tick; the path is filter and hand-over."""

EVENT = np.dtype(
    [
        ("t0_ns", "f8"),  # of the sign change, on the device's clock
        ("sign", "i1"),  # of the angle after it
        ("sample", "i8"),  # rows of the fast record: first sample, filtered angle, guard, frame
        ("filtered", "i8"),
        ("tick", "i8"),  # row of the slow record
        ("guard", "i8"),
        ("frame", "i8"),
        *((f"{stage}_ns", "f8") for stage in STAGES),
        ("total_ns", "f8"),  # their sum: t0 until the torque of the new sign is at the drive
        ("nominal_ns", "f8"),  # the same, if every cycle had begun and sent at its deadline
        (
            "response_ns",
            "f8",
        ),  # t0 until the drive itself reports torque of the new sign; NaN: never
        ("late_ns", "f8"),  # largest lateness of the cycles that took part
        ("lost_ns", "f8"),  # longest time on the way in which a task had no cycle though it was due
        ("cause", "i1"),  # of that: rt_core.lateness.cause.Cause
    ]
)


@dataclass(frozen=True)
class Path:
    """The signals that a sign change passes, and the constants of the two tasks.

    Attributes
    ----------
    bus : str
        Name of the bus.
    fast, slow : str
        Names of the tasks.
    fast_ns, slow_ns : int
        Their periods.
    sign, zero_count : float
        From `count` to the angle: sign (count - zero_count).
    """

    bus: str
    fast: str
    slow: str
    fast_ns: int
    slow_ns: int
    bus_valid: str
    sent_ns: str
    device_ns: str
    drive_valid: str
    operational: str
    torque_actual_nm: str
    count: str
    angle_rad: str
    torque_nm: str
    ramp: str
    offset_rad: str
    sign: float = 1.0
    zero_count: float = 0.0


@dataclass(frozen=True)
class Found:
    """Events of a run, and the sign changes that gave none.

    Attributes
    ----------
    events : ndarray of `EVENT`
    unarmed : int
        The guard did not pass the whole torque, or the drive was not operational.
    bridged : int
        The filter bridged a jump, as after a gap of some ten milliseconds: its angle was not the encoder's.
    crowded : int
        Another sign change came too soon before or after.
    lost : int
        No torque of the new sign arrived before the next sign change.
    unrecorded : int
        The record lacks a cycle on the way.
    clock : {"nominal", "device", "host"}
        That the ends are timed by: nominal time of the cycle, the device's own clock, or the host's where
        the device has none.
    """

    events: np.ndarray
    unarmed: int
    bridged: int
    crowded: int
    lost: int
    unrecorded: int
    clock: str
