"""The observers by the names under which they were published."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from estimators.closed_loop.observer import Observer

KINDS = {
    "errorEKF": ("error_ekf", "ErrorEkf"),
    "DEKF": ("dekf", "Dekf"),
    "UKF": ("ukf", "Ukf"),
    "CEKF": ("cekf", "Cekf"),
    "DIEKFpm": ("diekf_pm", "DiekfPm"),
    "projectionEKF": ("projection_ekf", "ProjectionEkf"),
}


def observer_class(kind: str) -> type[Observer]:
    """The class of an observer.

    Raises
    ------
    ValueError
        There is no observer of that name.
    """
    if kind not in KINDS:
        raise ValueError(f"no observer {kind!r}: there are {', '.join(KINDS)}")
    module, name = KINDS[kind]
    found: type[Observer] = getattr(import_module(f"estimators.closed_loop.{module}"), name)
    return found
