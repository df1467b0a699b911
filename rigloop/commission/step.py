"""One step of the walk: its question, its measurement, its limit, and its words for good and for bad."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from rigloop.commission.axis import Axis
from rigloop.commission.hands import Act, Hands
from rigloop.commission.motion import Motion, fit_motion, free, pulses
from rigloop.commission.stand import Array, Stand, Take, whole

TAKES = 3
CLEAN = 0.005  # of the way, RMS, that is left in a take which nothing has disturbed


class Measured(NamedTuple):
    """The outcome of a measurement.

    Attributes
    ----------
    value : float or None
        None: there is nothing to measure, which is bad.
    unit : str
    least, most : float or None
        The limits of the value.
    words : str
        One sentence on what was seen; for people.
    remedy : str
        Of a bad value, where the usual remedy of the step does not serve.
    sentence : str
        In place of the one of the step, where that would say too much.
    """

    value: float | None
    unit: str
    least: float | None = None
    most: float | None = None
    words: str = ""
    remedy: str = ""
    sentence: str = ""

    @property
    def good(self) -> bool:
        """True: within its limits."""
        if self.value is None:
            return False
        low = -math.inf if self.least is None else self.least
        high = math.inf if self.most is None else self.most
        return bool(low <= self.value <= high)


@dataclass
class Bench:
    """The parts that a step measures with.

    Attributes
    ----------
    stand : Stand
    hands : Hands
        Of the person at the wheel.
    is_free : bool
        Nobody has touched the wheel since they were asked to let it go.
    """

    stand: Stand
    hands: Hands
    is_free: bool = False

    def ask(self, act: Act) -> None:
        """Ask the hands for something; the wheel is not free then."""
        self.is_free = False
        self.hands.do(act)

    def let_go(self) -> None:
        """Ask the hands to let go of the wheel, if they may be at it."""
        if not self.is_free:
            self.hands.do(Act.LET_GO)
            self.is_free = True

    @property
    def axis(self) -> Axis:
        """The axis, as its rig states it."""
        return self.stand.axis

    @cached_property
    def pulsed(self) -> Take:
        """The take of pulses with the whole torque of the walk; its parts serve several steps."""
        return self._pulsed[0]

    @cached_property
    def motion(self) -> Motion:
        """The axis as those pulses show it; NoMotionError where it has not moved as a free wheel."""
        return free(self._pulsed[1], self.axis.walk_nm)

    @cached_property
    def _pulsed(self) -> tuple[Take, Motion]:
        """The best of a few takes: a machine that is late spoils one, and a spring spoils all."""
        best: tuple[Take, Motion] | None = None
        for _ in range(TAKES):
            take = whole(self.stand.play(self.pulses(1.0)))
            found = take, fit_motion(take)
            if best is None or found[1].residual < best[1].residual:
                best = found
            if best[1].residual < CLEAN:
                break
        assert best is not None
        return best

    def pulses(self, share: float) -> Array:
        """Return pulses with a share of the torque of the walk."""
        return pulses(share * self.axis.walk_nm, self.axis.period_s)


@dataclass(frozen=True)
class Step:
    """One step.

    Attributes
    ----------
    place : int
        In the walk.
    name, title : str
    question : str
        The one that it answers.
    commands : str
        The torque that it commands, in words; empty: none. With one, the wheel is let go first.
    measure : callable
    good, bad : str
        The sentence of either outcome.
    remedy : str
    """

    place: int
    name: str
    title: str
    question: str
    commands: str
    measure: Callable[[Bench], Measured]
    good: str
    bad: str
    remedy: str
