"""The findings of `rigloop bench frf`."""

from __future__ import annotations

import msgspec

from rigloop.bench.frf.measure import Faithful, Response


class FrfOutcome(msgspec.Struct, frozen=True):
    """Responses, what they were measured with, and the verdict."""

    good: bool
    reasons: list[str]
    notes: list[str]
    folder: str
    rig: str
    bus: str
    amplitude_nm: float
    n_periods: int
    frequency_hz: list[float]
    torque_path: Response
    flat_db: float
    torque_delay_ms: float
    haptic: Response
    faithful: Faithful
    hand_over_cycles: tuple[float, float]
