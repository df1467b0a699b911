"""Matched plants for every filter: what moves is the filter's own model, driven by the filter's own noise.

Then the squared error over the covariance (NEES) has a chi-square law of as many degrees as states, and the squared
innovation (NIS) one of as many as samples. A case gives both at `MARKS` of one run.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from rigloop.bench.consistency.plants import (
    augmented_ekf_run,
    augmented_ukf_run,
    cascade_run,
    encoder_run,
    force_run,
    kinematic_run,
    observer_run,
)
from rigloop.bench.consistency.scores import Run


@dataclass(frozen=True)
class Case:
    """A filter on its matched plant; `why_not` says why it need not be consistent, empty where it must be."""

    filter: str
    states: int
    sensors: int
    make: Callable[[], Run]
    why_not: str = ""


COARSE = (
    "the motor's torque is a product of currents: where these are known to 0.5 A only and the acceleration to "
    "1e-4, 2 n points of weight 1/(2 n) take that product for wider than it is: careful, never too sure"
)
CASCADE = (
    "the second stage takes the error of an acceleration for that of one sample; the first stage knows it better, and "
    "its errors last for some samples: careful where it is fed well"
)
CEKF = "takes a sample for a density over one step and rates for noise of a continuous system: not a discrete filter"
IMPOSED = "its noise is on dependent coordinates, and constraints are measurements without noise"
PROJECTED = "its authors reject it: the projection undoes corrections of sensors that see some coordinates only"

CASES = (
    Case("A-UKF", 9, 6, partial(augmented_ukf_run, 0.03, 0.1, 5.0)),
    Case("UKF", 2, 2, partial(observer_run, "UKF")),
    Case("errorEKF", 2, 2, partial(observer_run, "errorEKF")),
    Case("DEKF", 2, 2, partial(observer_run, "DEKF")),
    Case("encoder filter", 3, 1, encoder_run),
    Case("kinematic observer", 3, 1, kinematic_run),
    Case("force observer, A", 2, 1, partial(force_run, "A")),
    Case("force observer, B", 2, 1, partial(force_run, "B")),
    Case("augmented EKF", 3, 2, augmented_ekf_run),
    Case("two stages in a row", 2, 1, cascade_run, CASCADE),
    Case("A-UKF, coarse currents", 9, 6, partial(augmented_ukf_run, 0.3, 1.0, 0.05), COARSE),
    Case("CEKF", 2, 2, partial(observer_run, "CEKF"), CEKF),
    Case("DIEKFpm", 2, 2, partial(observer_run, "DIEKFpm"), IMPOSED),
    Case("projectionEKF", 2, 2, partial(observer_run, "projectionEKF"), PROJECTED),
)
