"""The settings of an exchange that every kind of bus hands on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypedDict

from io_bridge.slaves.clock_config import ClockConfig


class ExchangeSettings(TypedDict, total=False):
    """Keyword arguments of `Exchange`, which documents them; each has a default there."""

    name: str
    paths: Mapping[str, str] | None
    budget_us: float
    bad_limit: int
    leak_cycles: int
    clock: ClockConfig | None
