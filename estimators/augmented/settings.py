"""Settings of the augmented filters, each for a model of any kind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from estimators.checks import Given, Positive
from rt_core.settings import check


@dataclass(frozen=True, kw_only=True)
class AugmentedSettings:
    """Noise of an augmented EKF.

    Attributes
    ----------
    period_s : float
        Period of the task, s.
    position_noise, acceleration_noise : float
        Standard deviations of the samples.
    disturbance : float
        Standard deviation of the acceleration that the model is wrong by in a cycle, 1/s^2.
    walk_noise : float
        Standard deviation of the random walk of an unknown force in a cycle, N or N m.
    """

    period_s: Positive
    position_noise: Positive
    acceleration_noise: Positive
    disturbance: Positive
    walk_noise: Positive

    def __post_init__(self) -> None:
        check("augmented EKF", self)


@dataclass(frozen=True, kw_only=True)
class UnscentedSettings:
    """Start and noise of an augmented unscented filter.

    Attributes
    ----------
    period_s : float
        Period of the task, s.
    start, start_noise : sequence of float, length n_x
        First estimate, and its standard deviations.
    process_noise : sequence of float, length n_x
        Standard deviations of the noise that a cycle adds; for an unknown input, of its random walk.
    sample_noise : sequence of float, length n_y
        Standard deviations of the samples.
    """

    period_s: Positive
    start: Given[Sequence[float]]
    start_noise: Given[Sequence[float]]
    process_noise: Given[Sequence[float]]
    sample_noise: Given[Sequence[float]]

    def __post_init__(self) -> None:
        check("augmented UKF", self)
