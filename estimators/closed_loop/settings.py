"""Settings of an observer, checked against the mechanism that it observes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, ClassVar, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from estimators.checks import Cycles, Positive, Sigma, named
from estimators.numerics.chi_square import bounds_of_sums
from rt_core.block import wrong_ports
from rt_core.settings import NonZero, SettingsError, Wrong, check

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

    every: Cycles = 1
    scale: NonZero = 1.0
    offset: float = 0.0

    def __post_init__(self) -> None:
        check("channel", self)


@dataclass(frozen=True)
class ObservingSettings:
    """The settings that all observers of a mechanism have: noise, gates and channels.

    Attributes
    ----------
    sensor_std : mapping of str to float
        Standard deviation of each sensor's noise, in the sensor's unit.
    input_noise : mapping of str to float
        Density of the random walk of each unknown input, its unit squared per s.
    gate_sigma : float
        Innovation, in its standard deviations, above which a sample is rejected; 0: never.
    gate_patience : int
        Rejected samples in a row after which the next one of that sensor is taken.
    channels : mapping of str to Channel
        Of sensors whose port has another scale, or samples less often than every period.

    Raises
    ------
    SettingsError
        A value out of range: all of them at once.
    """

    sensor_std: Mapping[str, Positive]
    _: KW_ONLY
    input_noise: Mapping[str, Positive] = field(default_factory=dict)
    gate_sigma: Sigma = 6.0
    gate_patience: Cycles = 20
    channels: Mapping[str, Channel] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check("observer", self)

    def mistakes(self, info: Mapping[str, Any]) -> Iterator[Wrong]:
        """Find the settings that do not suit a model with this `info`."""
        sensors = info["sensor_names"]
        yield from named("sensor_std", self.sensor_std, sensors)
        for name in self.channels.keys() - set(sensors):
            yield Wrong("channels", name, f"no such sensor: there are {', '.join(sensors)}")

    def channels_of(self, info: Mapping[str, Any]) -> list[Channel]:
        """Channel of each sensor of a model with this `info`."""
        return [self.channels.get(name, Channel()) for name in info["sensor_names"]]

    def require_fit(self, info: Mapping[str, Any]) -> None:
        """Refuse settings that do not suit a model with this `info`.

        Raises
        ------
        SettingsError
            With all mistakes.
        """
        if wrong := list(self.mistakes(info)):
            raise SettingsError(f"observer of {info['name']}", wrong)


@dataclass(frozen=True)
class ObserverSettings(ObservingSettings):
    """Noise, start and gates of an observer.

    Attributes
    ----------
    acceleration_noise : sequence of float
        Density of the white noise on the acceleration of each independent coordinate, rad^2/s^3 or
        m^2/s^3: forces that the model does not know.
    start_std : sequence of float
        Standard deviations of the start, one a state.
    start : sequence of float, optional
        State at the start; default: the pose of the mechanism's file.
    transition : {"published", "exact", "discrete", "held"}
        F of the covariance: with the exact slopes of the accelerations, which unknown inputs need
        and without which the filter is wrong about its own error (NEES between 1.8 and 2.2 for two
        states of a four-bar that is sampled every 50 ms; with little process noise up to 10); or
        [[I, h I], [0, I]] as in the papers, which costs less. CEKF is always exact. Modes that are
        fast beside the step need "discrete": F, process noise and the step of DEKF and UKF are the
        exponential of the slopes; "held" takes it from those at the start once and for all.
    """

    acceleration_noise: Sequence[Positive]
    start_std: Sequence[Positive]
    start: Sequence[float] | None = None
    transition: Literal["published", "exact", "discrete", "held"] = "exact"

    def mistakes(self, info: Mapping[str, Any]) -> Iterator[Wrong]:
        """Find the settings that do not suit a model with this `info`."""
        yield from super().mistakes(info)
        states, unknown = info["state_names"], info["unknown"]
        yield from named("input_noise", self.input_noise, unknown)
        moving = states[: (len(states) - len(unknown)) // 2]
        for key, names in (
            ("acceleration_noise", moving),
            ("start_std", states),
            ("start", states),
        ):
            given = getattr(self, key)
            if given is not None and len(given) != len(names):
                problem = f"{len(names)} numbers needed, for {', '.join(names)}"
                yield Wrong(key, list(given), problem)
        if unknown and self.transition == "published":
            problem = "has no slopes of unknown inputs, which would stay as they are"
            yield Wrong("transition", self.transition, problem, "take 'exact'")
        if not info["sensor_names"]:
            yield Wrong("sensors", [], "an observer needs one or more")

    def numbers(self, info: Mapping[str, Any]) -> Numbers:
        """The settings as arrays, for a model with this `info`.

        Raises
        ------
        SettingsError
            A sensor or input too many or missing: all mistakes at once.
        """
        self.require_fit(info)
        return Numbers(
            np.array([self.sensor_std[name] for name in info["sensor_names"]]) ** 2,
            np.array(self.acceleration_noise, dtype=float),
            np.array([self.input_noise[path] for path in info["unknown"]]),
            np.array(info["start"] if self.start is None else self.start, dtype=float),
            np.array(self.start_std, dtype=float) ** 2,
            bounds_of_sums(len(info["sensor_names"])),
            self.channels_of(info),
        )


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


class Kind(Protocol):
    """The features of a filter: the state of a dependent one is all coordinates."""

    dependent: ClassVar[bool]
    discretises: ClassVar[bool]


def filter_mistakes(info: Mapping[str, Any], kind: type[Kind], transition: str) -> list[str]:
    """Return the features of a model or a transition that a filter lacks."""
    wrong = []
    is_dependent = kind.dependent
    if transition in ("discrete", "held") and not kind.discretises:
        wrong.append(
            f"this filter knows no transition {transition!r}; take errorEKF, DEKF or UKF, or 'exact'"
        )
    if is_dependent and info["unknown"]:
        wrong.append(
            "this filter estimates no inputs; take one on independent coordinates, as errorEKF"
        )
    if is_dependent and info["reads_acceleration"]:
        wrong.append("this filter accepts no sensors of acceleration or force")
    return wrong
