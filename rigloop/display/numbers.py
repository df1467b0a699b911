"""Numbers and facts of a host as pages write them."""

from __future__ import annotations

import math

LARGEST_IN_FULL = 1e15


def figure(value: float | str) -> str:
    """Four significant figures at most, thousands apart."""
    if isinstance(value, str) or not math.isfinite(value):
        return "not finite"
    if abs(value) >= LARGEST_IN_FULL:
        return f"{value:.3g}"
    if value == 0 or abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}" if abs(value) < 100 else f"{value:.0f}"


def microseconds(ns: float) -> str:
    """Return a time in µs, without the unit."""
    return figure(ns / 1e3)


def milliseconds(ns: float) -> str:
    """Return a time in ms to the microsecond, without the unit."""
    return f"{ns / 1e6:.3f}"


def fact(value: object) -> str:
    """A host fact in words."""
    if value is None or value == "":
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(f"{item:g}" for item in value) if isinstance(value, tuple) else str(value)
