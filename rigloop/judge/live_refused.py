"""Live values that the cycle itself had to refuse: their writer checks them, so one that gets here is broken."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rig_configs.schema import Rig


def refused_in_cycle(rig: Rig, signals: Mapping[str, float]) -> Iterator[str]:
    """Say of which live values something was refused in the cycle."""
    for name, one in rig.live.items():
        path = f"{name}/refused"
        cycles = signals.get(path, 0.0)
        if cycles > 0.0:
            limits = f"{one.lower:g} and {one.upper:g} {one.unit}"
            yield (
                f"{path} = {cycles:.0f} cycles: the written value was not within {limits}, or the added one was "
                "not a number; the last good value held; correct the program that writes it"
            )
