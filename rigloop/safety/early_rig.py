"""The rig that is measured: on emulated segments only, and with torque soon after arming."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from typing import Any, Literal, NamedTuple

import tomlkit

from rig_configs.load import LoadedRig
from rig_configs.named_files import find_named
from rig_configs.schema import Rig
from rigloop.blocks.catalogue import rig_model_of
from rigloop.compose.blocks import find_buses, find_guards

RAMP_IN_S, START_S = 0.1, 0.1  # of the measurement
OTHER_START_S = 1.0  # of hands that a rig does not describe
SETTLED_S = 0.1  # from there on, by which it pushes


def early_rig(loaded: LoadedRig, backend: Literal["simulated", "veth"]) -> LoadedRig:
    """Return a rig on emulated segments whose torque is there early; its limits are those of the rig, its name is not.

    Its emulated hands move at once and its ramp in is short. Whatever interface the rig names is out of it.
    """
    document = tomlkit.parse(loaded.text)
    tables: Any = document["blocks"]
    for name, guard in find_guards(loaded.rig).items():
        tables[name]["ramp_in_s"] = min(RAMP_IN_S, guard.ramp_in_s)
    for name, bus in find_buses(loaded.rig).items():
        tables[name]["backend"] = backend
        if bus.second_interface is not None:
            tables[name]["second_interface"] = backend
        if backend == "simulated":
            tables[name].pop("second_interface", None)
        for drive, config in bus.drives.items():
            if config.plant is not None:
                start_s = min(START_S, config.plant.start_s)
                tables[name]["drives"][drive]["plant"]["start_s"] = start_s
    text = tomlkit.dumps(document)
    data = tomllib.loads(text)
    find_named(data, loaded.path.parent)
    rig = rig_model_of(data).model_validate(data)
    name = f"{loaded.name}_early"
    return replace(loaded, name=name, text=text, rig=rig, origin=loaded.origin or loaded)


class Times(NamedTuple):
    """The second after the first arming, and after a later one, at which an early rig pushes."""

    first_s: float
    later_s: float


def times_of(rig: Rig) -> Times:
    """Return when an early rig pushes."""
    drives = [drive for bus in find_buses(rig).values() for drive in bus.drives.values()]
    knows = all(drive.plant is not None for drive in drives)
    later_s = RAMP_IN_S + SETTLED_S
    # once they have begun, the hands never rest
    return Times(later_s + (START_S if knows else OTHER_START_S), later_s)
