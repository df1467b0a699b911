"""Settings of an observer, checked against the mechanism that it observes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from estimators.block import wrong_ports
from estimators.checks import gate_mistakes, listed, named
from estimators.numerics.chi_square import bounds_of_sums

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Channel:
    """The path of a sensor's samples to its port.

    Attributes
    ----------
    every : int
        Periods from one sample to the next.
    scale, offset : float
        Sample = scale x reading of the port + offset.
    """

    every: int = 1
    scale: float = 1.0
    offset: float = 0.0


@dataclass(frozen=True)
class ObserverSettings:
    """Noise, start and gates of an observer.

    Attributes
    ----------
    sensor_std : mapping of str to float
        Standard deviation of each sensor's noise, in the sensor's unit.
    acceleration_noise : float or sequence of float
        Density of the white noise on the acceleration of each independent coordinate, rad^2/s^3 or
        m^2/s^3: forces that the model does not know.
    start_std : sequence of float
        Standard deviations of the start, one a state.
    start : sequence of float, optional
        State at the start; default: the pose of the mechanism's file.
    input_noise : mapping of str to float
        Density of the random walk of each unknown input, its unit squared per s.
    transition : {"published", "exact"}
        F of the covariance: with the exact slopes of the accelerations, which unknown inputs need
        and without which the filter is wrong about its own error (NEES between 1.8 and 2.2 for two
        states of a four-bar that is sampled every 50 ms; with little process noise up to 10); or
        [[I, h I], [0, I]] as in the papers, which costs less. CEKF is always exact.
    gate_sigma : float
        Innovation, in its standard deviations, above which a sample is rejected; 0: never.
    gate_patience : int
        Rejected samples in a row after which the next one of that sensor is taken.
    channels : mapping of str to Channel
        Of sensors whose port has another scale, or samples less often than every period.
    """

    sensor_std: Mapping[str, float]
    acceleration_noise: float | Sequence[float]
    start_std: Sequence[float]
    start: Sequence[float] | None = None
    input_noise: Mapping[str, float] = field(default_factory=dict)
    transition: Literal["published", "exact"] = "exact"
    gate_sigma: float = 6.0
    gate_patience: int = 20
    channels: Mapping[str, Channel] = field(default_factory=dict)

    def mistakes(self, info: Mapping[str, Any]) -> list[str]:
        """Return the mistakes of the settings for a model with this `info`: `key = value: problem` each."""
        return self._checked(info)[1]

    def numbers(self, info: Mapping[str, Any]) -> Numbers:
        """The settings as arrays, for a model with this `info`.

        Raises
        ------
        ValueError
            A value out of range, a sensor or input too many or missing: all mistakes at once.
        """
        found, wrong = self._checked(info)
        if wrong:
            raise ValueError(f"observer of {info['name']}: " + "; ".join(wrong))
        return found

    def _checked(self, info: Mapping[str, Any]) -> tuple[Numbers, list[str]]:
        wrong: list[str] = []
        states, sensors, unknown = info["state_names"], info["sensor_names"], info["unknown"]
        n_z = (len(states) - len(unknown)) // 2
        std = named("sensor_std", self.sensor_std, sensors, wrong)
        walk = named("input_noise", self.input_noise, unknown, wrong)
        given = self.acceleration_noise
        density = listed(
            "acceleration_noise",
            [given] * n_z if isinstance(given, int | float) else given,
            n_z,
            wrong,
        )
        start_std = listed("start_std", self.start_std, len(states), wrong)
        start = np.array(info["start"] if self.start is None else self.start, dtype=float)
        if start.shape != (len(states),) or not np.all(np.isfinite(start)):
            wrong.append(f"start: {len(states)} numbers needed, for {', '.join(states)}")
        if self.transition not in ("published", "exact"):
            wrong.append(f"transition = {self.transition!r}: must be 'published' or 'exact'")
        elif unknown and self.transition != "exact":
            wrong.append(
                "transition = 'published': has no slopes of unknown inputs, which would stay as they "
                "are: take 'exact'"
            )
        if not sensors:
            wrong.append("sensors: there are none: an observer needs one or more")
        wrong += gate_mistakes(self.gate_sigma, self.gate_patience)
        channels = channels_of(self.channels, sensors, wrong)
        found = Numbers(
            std**2, density, walk, start, start_std**2, bounds_of_sums(len(sensors)), channels,
        )  # fmt: skip
        return found, wrong


@dataclass(frozen=True)
class Numbers:
    """Checked settings: variances of sensors and of the start, noise densities, bounds of `nis`, channels."""

    sensor_var: Array
    acceleration_noise: Array
    input_noise: Array
    start: Array
    start_var: Array
    nis_bounds: list[tuple[float, float]]
    channels: list[Channel]


def read_ports(info: Mapping[str, Any]) -> tuple[str, ...]:
    """Ports that an observer can read: samples, whether they are new, known inputs."""
    sensors = info["sensor_names"]
    return (*sensors, *(f"{name}/valid" for name in sensors), *info["inputs"])


def state_ports(info: Mapping[str, Any]) -> tuple[str, ...]:
    """Port of each state: its name as a signal is spelled, the unit last."""
    unknown = info["unknown"]
    names, units = info["state_names"], info["state_units"]
    motion = zip(names[: len(names) - len(unknown)], units, strict=False)
    named = [f"{name.replace('.', '_')}_{unit}" for name, unit in motion]
    return tuple(port.lower() for port in (*named, *unknown))


def write_ports(info: Mapping[str, Any]) -> tuple[str, ...]:
    """Ports that an observer can write, in the order of its values."""
    states = state_ports(info)
    innovations = [f"innovation/{name}" for name in info["sensor_names"]]
    counts = ("nis", "nis_low", "nis_high", "used", "rejected", "repaired", "status")
    return (*states, *(f"variance/{state}" for state in states), *innovations, *counts)


def known_inputs(info: Mapping[str, Any]) -> tuple[str, ...]:
    """Ports of the inputs that are not estimated."""
    estimated = {f"input/{path}" for path in info["unknown"]}
    return tuple(port for port in info["inputs"] if port not in estimated)


def port_mistakes(
    info: Mapping[str, Any], reads: Mapping[str, str], writes: Mapping[str, str]
) -> list[str]:
    """Return the mistakes of an observer's ports."""
    estimated = {port for port in reads if port in info["inputs"]} - set(known_inputs(info))
    return [
        *wrong_ports((reads, writes, read_ports(info), write_ports(info))),
        *(f"port {port}: is estimated, leave it out" for port in sorted(estimated)),
    ]


def filter_mistakes(info: Mapping[str, Any], is_dependent: bool) -> list[str]:
    """Return the features of a model that a filter lacks; the state of a dependent filter is all coordinates."""
    wrong = []
    if is_dependent and info["unknown"]:
        wrong.append(
            "this filter estimates no inputs; take one on independent coordinates, as errorEKF"
        )
    if is_dependent and info["reads_acceleration"]:
        wrong.append("this filter takes no sensors of acceleration or force")
    return wrong


def channels_of(
    given: Mapping[str, Channel], sensors: Sequence[str], wrong: list[str]
) -> list[Channel]:
    """Channel of each sensor; mistakes are added to `wrong`."""
    wrong += [
        f"channels.{name}: no such sensor: there are {', '.join(sensors) or 'none'}"
        for name in given
        if name not in sensors
    ]
    for name, channel in given.items():
        if channel.every < 1:
            wrong.append(f"channels.{name}.every = {channel.every}: must be at least 1")
        if not (math.isfinite(channel.scale) and channel.scale != 0.0):
            wrong.append(f"channels.{name}.scale = {channel.scale}: must be a number, not 0")
        if not math.isfinite(channel.offset):
            wrong.append(f"channels.{name}.offset = {channel.offset}: must be a number")
    return [given.get(name, Channel()) for name in sensors]
