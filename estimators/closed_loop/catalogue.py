"""The observers by the names under which they were published; each is found by its place."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from estimators.closed_loop.observer import Observer

PLACE = "estimators.closed_loop.kinds"


@cache
def observers() -> dict[str, type[Observer]]:
    """Return the class of every observer by its name: those that modules of the folder define."""
    from estimators.closed_loop.observer import Observer

    found: dict[str, type[Observer]] = {}
    for module in pkgutil.iter_modules(importlib.import_module(PLACE).__path__, f"{PLACE}."):
        for item in vars(importlib.import_module(module.name)).values():
            is_class = isinstance(item, type) and item.__module__ == module.name
            if is_class and issubclass(item, Observer):
                found[item.published] = item
    return found


def observer_class(name: str) -> type[Observer]:
    """Return the class of an observer.

    Raises
    ------
    ValueError
        There is no observer of that name.
    """
    if name not in observers():
        raise ValueError(f"no observer {name!r}: there are {', '.join(observers())}")
    return observers()[name]
