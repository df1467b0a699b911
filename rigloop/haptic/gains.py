"""The gains between a model and its guard: constant ones, and live ones, which the margin has at their limits."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

from rig_configs.schema import Rig

KIND = "gain"
VALUE = "/value"


@dataclass(frozen=True)
class Gain:
    """A block of kind `gain`.

    Attributes
    ----------
    block : str
    start, lower, upper : float
        Factor at the start, and its limits; all the same without a live value.
    live : str
        Name of the live value; empty: none.
    """

    block: str
    start: float
    lower: float
    upper: float
    live: str = ""


@dataclass(frozen=True)
class End:
    """The gains at those of their limits that together are the largest or the least factor.

    Attributes
    ----------
    factor : float
        Of the torque.
    key : str
        Key of the limit of the first live gain; empty: no gain is live.
    value : float
        That limit.
    """

    factor: float
    key: str = ""
    value: float = 1.0


def gain_of(rig: Rig, block: str) -> Gain | None:
    """Return the factor of a block; None where it is no gain, or its factor is a signal without limits."""
    config = rig.blocks[block]
    if config.kind != KIND:
        return None
    path = config.reads.get(KIND)
    if path is None:
        constant = float(getattr(config, KIND))  # a parameter has the name of its kind
        return Gain(block, constant, constant, constant)
    name = path.removesuffix(VALUE)
    if name not in rig.live or path != name + VALUE:
        return None
    live = rig.live[name]
    return Gain(block, live.start, live.lower, live.upper, name)


def at_start(gains: Sequence[Gain]) -> float:
    """Return the factor of all gains together as a run begins."""
    return math.prod(gain.start for gain in gains)


def ends(gains: Sequence[Gain]) -> list[End]:
    """Return the largest factor, and the least one if it turns the torque round; one of 1 without gains."""
    live = next((i for i, gain in enumerate(gains) if gain.live), None)
    found = []
    for chosen in itertools.product(*((gain.upper, gain.lower) for gain in gains)):
        end = End(math.prod(chosen))
        if live is not None:
            gain, value = gains[live], chosen[live]
            side = "upper" if value == gain.upper else "lower"
            end = End(end.factor, f"live.{gain.live}.{side}", value)
        found.append(end)
    most, least = max(found, key=lambda e: e.factor), min(found, key=lambda e: e.factor)
    return [most] * (most.factor > 0.0 or least.factor >= 0.0) + [least] * (least.factor < 0.0)
