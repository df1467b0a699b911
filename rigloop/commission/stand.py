"""The drive under a walk, as a step sees it: look, play a torque through the guard, read objects, kill the cycle."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from io_bridge.slaves.sii import Identity
from rigloop.commission.axis import Axis, Spring
from rt_core.safety.trips import State, Trip, name_of_trip, read_trip

Array = NDArray[np.float64]
NOTHING: Array = np.zeros(0)


class StandError(RuntimeError):
    """The drive could not be moved, or not be asked; the message says why, and the torque is zero."""


@dataclass(frozen=True)
class Take:
    """The signals of one take: the drive as it was while a torque was played, one value a cycle.

    Attributes
    ----------
    t_s : ndarray of float64, shape (n,)
        Nominal time since the take began.
    command_nm, reported_nm : ndarray of float64, shape (n,)
        The torque that the guard gave, and the one that the drive reports.
    angle_rad : ndarray of float64, shape (n,)
        Since the take began, in the drive's sense.
    operational, state : ndarray of float64, shape (n,)
        Of drive and guard.
    valid, statusword : ndarray of float64, shape (n,)
        Of the drive.
    trip : Trip
        Of the guard.
    """

    t_s: Array
    command_nm: Array
    reported_nm: Array
    angle_rad: Array
    operational: Array
    state: Array
    valid: Array
    statusword: Array
    trip: Trip


@dataclass(frozen=True)
class Ending:
    """The end of the torque after the cycle was killed.

    Attributes
    ----------
    after_s : float or None
        From the last frame to the first look that saw no torque; None: it had not ended when the looks were over.
    watched_s : float
        The looks went on for so long.
    unseen_s : float
        From the last look that saw a torque to the first that saw none: it ended in between.
    coast_s, coast_rad : ndarray of float64, shape (n,)
        The looks behind the end, and the angle of each.
    """

    after_s: float | None
    watched_s: float
    unseen_s: float = 0.0
    coast_s: Array = field(default_factory=lambda: NOTHING)
    coast_rad: Array = field(default_factory=lambda: NOTHING)


During = Callable[[], None] | None  # what else happens in the middle of a take


class Stand(Protocol):
    """A drive that can be moved. As a context manager it comes up, and ends at zero torque."""

    axis: Axis
    patience_s: float
    """A hand may take so long for what it is asked to do during a take."""
    changed_bits: int
    """Bits of the count that were both 0 and 1 between the last two counts."""

    def identity(self) -> Identity:
        """Return the identity that the drive reports."""

    def count(self) -> float:
        """Return the encoder's count, with the torque at zero and the drive off."""

    def play(self, torque_nm: Array, spring: Spring | None = None, during: During = None) -> Take:
        """Play a torque, one value a cycle, through the guard.

        Parameters
        ----------
        during : callable, optional
            Called while it plays: something that a hand does meanwhile.

        Raises
        ------
        StandError
            The drive does not follow.
        """

    def read(self, index: int, subindex: int = 0) -> int | None:
        """Return an object of the drive; None where it has none. Raises StandError where it cannot be asked."""

    def fault_code(self) -> int | None:
        """Return the error code of the drive as it left its operation in the last take; None where it has none.

        Raises
        ------
        StandError
            It could not be asked.
        """

    def write(self, index: int, subindex: int, value: int, size: int) -> None:
        """Write an object of the drive. Raises StandError where it refuses."""

    def reset(self) -> None:
        """Reset the drive's fault."""

    def kill(self, torque_nm: Array) -> Ending:
        """Play a torque, kill the cycle at its end, and watch the drive's torque past the cycle; then come up again."""

    def news(self) -> list[str]:
        """Return what was said of the bus since the last call, such as slaves that were away."""

    def close(self) -> None:
        """End at zero torque."""


def whole(take: Take) -> Take:
    """Return a take that the guard followed from end to end.

    Raises
    ------
    StandError
        It did not, and why.
    """
    follows = np.isin(take.state, (State.RUNNING, State.HOLD))
    if len(take.t_s) and np.all(follows):
        return take
    why = name_of_trip(take.trip) if take.trip else "it never followed"
    raise StandError(f"the guard ended the torque: {why}")


def take_of(axis: Axis, columns: Mapping[str, Array], t_ns: Array) -> Take:
    """Return the take in the images of a walk's task."""
    at = columns["player/at"]
    # the player counts on, cycle by cycle, as long as it plays
    plays = np.flatnonzero(np.diff(at, prepend=0.0) > 0.0)
    rows = slice(plays[0], plays[-1] + 1) if len(plays) else slice(0, 0)
    t = 1e-9 * np.asarray(t_ns[rows], float)

    def cut(path: str) -> Array:
        return np.array(columns[path][rows], float)

    return Take(
        t - t[0] if len(t) else t,
        cut("guard/torque_nm"),
        cut(axis.signal("torque_actual_nm")),
        cut("player/angle_rad"),
        cut(axis.signal("operational")),
        cut("guard/state"),
        cut(axis.signal("valid")),
        cut(axis.signal("statusword")),
        read_trip(columns["guard/trip"][-1]) or Trip.NO_TRIP,
    )
