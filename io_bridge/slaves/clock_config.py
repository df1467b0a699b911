"""Settings that keep the cycle in step with the reference clock of the bus."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from rig_configs.numbers import Positive, PositiveS
from rt_core.settings import Wrong, check


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

    period_ns: Annotated[int, Field(gt=0)]
    shift_ns: int = 0
    sync0_shift_ns: int = 0
    bandwidth_hz: Positive = 2.0
    tolerance_ns: Positive = 20_000.0
    settle_s: PositiveS = 0.1
    timeout_s: PositiveS = 5.0
    difference_ns: Positive = 1_000.0

    def __post_init__(self) -> None:
        check("clock", self, self._mistakes())

    def _mistakes(self) -> Iterator[Wrong]:
        hz, ns = 1e8 / self.period_ns, 0.25 * self.period_ns
        if self.bandwidth_hz > hz:
            problem = f"must be at most {hz:g}, a tenth of the cycle's rate"
            yield Wrong("bandwidth_hz", self.bandwidth_hz, problem)
        if self.tolerance_ns > ns:
            problem = f"must be at most {ns * 1e-3:g} µs, a quarter of the period"
            yield Wrong("tolerance_ns", self.tolerance_ns, problem)
