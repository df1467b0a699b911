"""The record of a cable that was pulled and put back: bad cycles, the slaves that came back, and the times."""

from __future__ import annotations

import numpy as np

from rigloop.compose.blocks import paths
from rigloop.inject.evidence import Evidence, cable_moves, row_of
from rigloop.inject.limits import Limits

OP = 8.0
BAD_CYCLES = 1  # that a ring may lose each time
AROUND = 10  # cycles from the cable on; a frame that a busy host loses later is not the cable's


def back_in_op(
    number: int, bound_s: float, seen: Evidence, lim: Limits, why: list[str]
) -> float | None:
    """Return how long after the cable all slaves were in OP for good; none of them with torque."""
    put_back = row_of(cable_moves(number, seen)[1], seen)
    if put_back is None:
        why.append("the cable was not put back before the run ended")
        return None
    bus = Bus(lim)
    rest = seen.fast[put_back:]
    away = np.flatnonzero(rest[bus.al_state] != OP)
    stays = int(away[-1]) + 1 if len(away) else 0
    # a lost frame leaves the states of the last one
    good = np.flatnonzero(rest[bus.valid][stays:] == 1)
    if not len(good):
        why.append("not every slave was in OP when the run ended")
        return None
    first = stays + int(good[0])
    # a rig may arm again; its guard is judged where it does
    if not bus.rearms and any(np.any(rest[path] != 0) for path in bus.operational):
        why.append("a drive worked again without having been armed")
    took_s = float(rest["t_ns"][first] - rest["t_ns"][0]) * 1e-9
    if took_s > bound_s:
        why.append(f"in OP again {took_s:.2f} s after the cable, stated {bound_s:g}")
    return took_s


def ring_held(number: int, began: int, seen: Evidence, lim: Limits, why: list[str]) -> None:
    """Add what a ring has lost of which it should lose nothing."""
    put_back = row_of(cable_moves(number, seen)[1], seen)
    if put_back is None:
        why.append("the cable was not put back before the run ended")
        return
    bus = Bus(lim)
    for what, first in (("pulled", began), ("put back", put_back)):
        rows = seen.fast[first:]
        bad = int(np.sum(rows[bus.valid][:AROUND] != 1))
        if bad > BAD_CYCLES:
            why.append(f"{bad} bad cycles when the cable was {what}, stated {BAD_CYCLES}")
        if any(np.any(rows[path] != 1) for path in bus.operational):
            why.append(f"a drive did not work on when the cable was {what}")


class Bus:
    """The place of the bus in the record."""

    def __init__(self, lim: Limits) -> None:
        self.rearms = lim.guard_block.rearm is not None
        config = lim.bus
        writes = paths(lim.bus_name, config)[1]
        self.valid, self.al_state = writes["valid"], writes["al_state"]
        self.operational = [writes[f"{drive}/operational"] for drive in config.drives]
