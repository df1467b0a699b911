"""The times of a guard that a rig leaves to the tolerant preset, where its drives are real."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields

from rig_configs.load import LoadedRig
from rig_configs.mistakes import Mistake
from rigloop.blocks.kinds.guard import Preset
from rigloop.compose.blocks import bus_of_guard, find_guards
from rigloop.compose.parts import EMULATED

TIMES = [field.name for field in fields(Preset) if field.name.endswith("_ms")]


def unsaid_times(loaded: LoadedRig, backends: Mapping[str, str]) -> list[Mistake]:
    """Return a mistake for each guard whose times nobody has chosen, though real drives act on somebody's hands.

    Parameters
    ----------
    backends : mapping of bus to str
        An interface, or one of the emulated ones, on which the default does.
    """
    return [
        Mistake(
            str(loaded.path),
            f"blocks.{name}.preset",
            f"is not given, and {', '.join(unsaid)} neither, with real drives on {real!r}",
            'choose preset = "rig", the strict times, or "bench", the tolerant ones of weak drives',
        )
        for name, guard in find_guards(loaded.rig).items()
        if (real := _real(loaded, name, backends))
        and "preset" not in guard.model_fields_set
        and (unsaid := [key for key in TIMES if getattr(guard, key) is None])
    ]


def _real(loaded: LoadedRig, guard: str, backends: Mapping[str, str]) -> str:
    """Return the interface with the drive of a guard; empty where it is emulated."""
    bus = bus_of_guard(loaded.rig, guard)
    backend = "" if bus is None else backends[bus[0]]
    return "" if backend in EMULATED else backend
