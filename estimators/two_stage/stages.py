"""Settings of the two stages, each for a model of any kind; a two-stage observer makes them of its own settings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from estimators.checks import Cycles, OneOrEach, Positive, Sigma
from rt_core.settings import check


@dataclass(frozen=True, kw_only=True)
class _Gated:
    gate_sigma: Sigma = 0.0
    gate_patience: Cycles = 20

    def __post_init__(self) -> None:
        check("stage of a two-stage observer", self)


@dataclass(frozen=True, kw_only=True)
class KinematicSettings(_Gated):
    """Noise and gates of stage 1.

    Attributes
    ----------
    period_s : float
        Period of the task, s.
    position_noise : float or sequence of float
        Standard deviation of a position, rad or m; one for all, or one each.
    acceleration_noise : float or sequence of float
        Standard deviation of an acceleration, with the error of the geometry, m/s^2 or rad/s^2.
    least_sensitivity : float
        |S| below which the accelerometers count as blind, in the unit of S.
    held_noise : float
        Standard deviation of the change of a held acceleration in a cycle, 1/s^2.
    gate_sigma : float
        Innovation of a position, in its standard deviations, above which it is rejected; 0: never.
    gate_patience : int
        Rejected samples in a row after which the next one of that position is taken.
    """

    period_s: Positive
    position_noise: OneOrEach
    acceleration_noise: OneOrEach
    least_sensitivity: Positive = 1e-3
    held_noise: Positive = 1.0


@dataclass(frozen=True, kw_only=True)
class ForceSettings(_Gated):
    """Form, noise and gates of stage 2.

    Attributes
    ----------
    form : {"A", "B"}
        Which force the dynamics are solved for: A the known, B the unknown one.
    known_noise : float or sequence of float
        Standard deviation of a measured known force, N or N m; one for all, or one each.
    balance_noise : float or sequence of float
        Standard deviation of the force that the dynamics give in a cycle.
    walk_noise : float or sequence of float
        Standard deviation of the random walk of the other force in a cycle.
    least_pivot : float
        Of the matrix that the form inverts: below it counts as singular.
    gate_sigma : float
        Innovation of a known force, in its standard deviations, above which it is rejected; 0: never.
    gate_patience : int
        Rejected samples in a row after which the next one of that force is taken.
    """

    form: Literal["A", "B"]
    known_noise: OneOrEach
    balance_noise: OneOrEach
    walk_noise: OneOrEach
    least_pivot: Positive = 1e-6
