"""Settings that keep the cycle in step with the reference clock of the bus."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ClockConfig:
    """Phase lock of the cycle to the distributed clocks.

    Attributes
    ----------
    period_ns : int
        Of the cycle.
    shift_ns : int
        Phase of a period of system time at which the frame is to pass the reference clock.
    sync0_shift_ns : int
        Phase of SYNC0, for the drives that work on it.
    bandwidth_hz : float
        Of the lock; faster changes count as jitter.
    tolerance_ns : float
        Smoothed phase error within which the cycle counts as locked.
    settle_s : float
        For so long.
    timeout_s : float
        Without a lock for longer is a fault.
    difference_ns : float
        Slaves that are further from the reference clock than this are waited for at bring-up.
    """

    period_ns: int
    shift_ns: int = 0
    sync0_shift_ns: int = 0
    bandwidth_hz: float = 2.0
    tolerance_ns: float = 20_000.0
    settle_s: float = 0.1
    timeout_s: float = 5.0
    difference_ns: float = 1_000.0

    def __post_init__(self) -> None:
        bad = [
            f"{key} = {getattr(self, key)}: must be > 0"
            for key in ("period_ns", "bandwidth_hz", "tolerance_ns", "settle_s", "timeout_s")
            if not getattr(self, key) > 0
        ]
        if not bad and self.bandwidth_hz * self.period_ns > 1e8:
            bad.append(f"bandwidth_hz = {self.bandwidth_hz}: at most a tenth of the cycle's rate")
        if not bad and self.tolerance_ns > 0.25 * self.period_ns:
            bad.append(f"tolerance_ns = {self.tolerance_ns}: at most a quarter of the period")
        if bad:
            raise ValueError("clock: " + "; ".join(bad))
