"""Settings of a two-stage observer, checked against the mechanism that it observes; its ports."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from estimators.checks import Positive, named
from estimators.closed_loop.settings import ObservingSettings, state_ports
from estimators.two_stage.closed_loop_model import accelerometers, model_mistakes
from rt_core.settings import Wrong

COUNTS = ("nis", "nis_low", "nis_high", "used", "rejected", "repaired", "guarded", "ready")


@dataclass(frozen=True)
class TwoStageSettings(ObservingSettings):
    """Noise, form and gates of a two-stage observer.

    Without sensors it has no first stage: its motion is read. Without forces it has no second one. The standard
    deviation of an accelerometer is one with the error of the geometry; `input_noise` is of the forces that the form
    does not solve for.

    Attributes
    ----------
    known_std : mapping of str to float
        Standard deviation of each known force as it is measured.
    balance_std : mapping of str to float
        Standard deviation of each force that the form solves for, as the dynamics give it in a cycle.
    form : {"A", "B"}
        Which forces the dynamics are solved for: A the known, B the unknown ones.
    held_noise : float
        Standard deviation of the change of an acceleration in a cycle where the accelerometers are blind.
    least_sensitivity : float
        Of the accelerations to those of the coordinates, below which they are.
    """

    sensor_std: Mapping[str, Positive] = field(default_factory=dict)
    known_std: Mapping[str, Positive] = field(default_factory=dict)
    balance_std: Mapping[str, Positive] = field(default_factory=dict)
    form: Literal["A", "B"] = "A"
    held_noise: Positive = 1.0
    least_sensitivity: Positive = 1e-3

    def mistakes(self, info: Mapping[str, Any]) -> Iterator[Wrong]:
        """Find the settings that do not suit a model with this `info`."""
        yield from super().mistakes(info)
        for problem in model_mistakes(info):
            yield Wrong("mechanism", info["name"], problem)
        yield from _sensor_mistakes(info)
        if not info["sensor_names"] and not info["unknown"]:
            yield Wrong("sensors", [], "neither sensors nor forces: there is nothing to observe")
        known, unknown = split_forces(info)
        solved, walking = (known, unknown) if self.form == "A" else (unknown, known)
        yield from named("known_std", self.known_std, known)
        yield from named("balance_std", self.balance_std, solved)
        yield from named("input_noise", self.input_noise, walking)


def split_forces(info: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    """Paths of the known forces and of the unknown ones."""
    half = len(info["unknown"]) // 2
    return list(info["unknown"][:half]), list(info["unknown"][half:])


def motion_ports(info: Mapping[str, Any]) -> tuple[str, ...]:
    """Ports of the coordinates, their rates and accelerations."""
    n = n_freedoms(info)
    rates = state_ports(info)[: 2 * n]
    units = info["state_units"][:n]
    names = info["state_names"][:n]
    accelerations = [
        f"{name}_acceleration_{unit}_s2" for name, unit in zip(names, units, strict=True)
    ]
    return (*rates, *(port.lower() for port in accelerations))


def n_freedoms(info: Mapping[str, Any]) -> int:
    """Independent coordinates of a model with this `info`."""
    return (len(info["state_names"]) - len(info["unknown"])) // 2


def two_stage_reads(info: Mapping[str, Any]) -> tuple[str, ...]:
    """Ports that it can read: samples and whether they are new, or the motion; then inputs."""
    sensors = info["sensor_names"]
    unknown = {f"input/{path}" for path in split_forces(info)[1]}
    motion = (*sensors, *(f"{name}/valid" for name in sensors)) if sensors else motion_ports(info)
    return (*motion, *(port for port in info["inputs"] if port not in unknown))


def two_stage_writes(info: Mapping[str, Any]) -> tuple[str, ...]:
    """Ports that it can write, in the order of its values."""
    forces = tuple(path.lower() for path in info["unknown"])
    estimated = (*(motion_ports(info) if info["sensor_names"] else ()), *forces)
    return (*estimated, *(f"variance/{port}" for port in estimated), *COUNTS)


def walk_std(density: float, step_s: float) -> float:
    """Standard deviation of a random walk's change in a step."""
    return math.sqrt(density * step_s)


def _sensor_mistakes(info: Mapping[str, Any]) -> Iterator[Wrong]:
    names: Sequence[str] = info["sensor_names"]
    if not names:
        return
    n, felt = n_freedoms(info), accelerometers(info)
    places = info["sensor_places"]
    for row, name in enumerate(names):
        if places[row] is None and row not in felt:
            problem = "reads neither an independent coordinate nor an acceleration"
            remedy = "take encoders of independent coordinates, and accelerometers"
            yield Wrong("sensors", name, problem, remedy)
    for place, coordinate in enumerate(info["state_names"][:n]):
        if places.count(place) != 1:
            problem = f"{places.count(place)} encoders of {coordinate}: needs one"
            yield Wrong("sensors", names, problem)
    if len(felt) < n:
        problem = f"{len(felt)} accelerometers for {n} freedoms: needs as many"
        yield Wrong("sensors", names, problem)
