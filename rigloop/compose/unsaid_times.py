"""The times of a guard that a rig leaves to the tolerant preset, where its drives are real."""

from __future__ import annotations

from dataclasses import fields

from rig_configs.load import LoadedRig
from rig_configs.mistakes import Mistake
from rigloop.blocks.kinds.guard import Preset
from rigloop.compose.blocks import find_guards
from rigloop.compose.parts import EMULATED

TIMES = [field.name for field in fields(Preset) if field.name.endswith("_ms")]


def unsaid_times(loaded: LoadedRig, backend: str) -> list[Mistake]:
    """Return a mistake for each guard whose times nobody has chosen, though real drives act on somebody's hands.

    Parameters
    ----------
    backend : str
        Of the run's buses: an interface, or one of the emulated ones, on which the default does.
    """
    if backend in EMULATED:
        return []
    return [
        Mistake(
            str(loaded.path),
            f"blocks.{name}.preset",
            f"is not given, and {', '.join(unsaid)} neither, with real drives on {backend!r}",
            'choose preset = "rig", the strict times, or "bench", the tolerant ones of weak drives',
        )
        for name, guard in find_guards(loaded.rig).items()
        if "preset" not in guard.model_fields_set
        and (unsaid := [key for key in TIMES if getattr(guard, key) is None])
    ]
