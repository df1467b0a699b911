"""An observer of a mechanism that a program feeds offline: samples in as arrays, estimates out as arrays."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from codegen.observers.build import build_observer
from codegen.observers.spec import FIXED, ObserverSpec
from codegen.options.options import KernelOptions
from estimators.closed_loop.catalogue import observer_class
from estimators.closed_loop.observer import Observer
from estimators.closed_loop.settings import ObserverSettings, known_inputs, write_ports
from rig_configs import units
from rig_configs.mistakes import near
from rigloop.api.batch import Inputs, columns_of, refuse_where, rows_of, steps_of
from rigloop.api.columns import Columns

Array = NDArray[np.float64]
NOTHING = np.array(np.nan)  # no sample; of an input: it keeps its last value


def observer(
    source: str | Path,
    sensors: Mapping[str, Mapping[str, Any]],
    *,
    acceleration_noise: Sequence[float],
    start_std: Sequence[float],
    method: str = "errorEKF",
    independent: Sequence[str] = (),
    unknown: Sequence[str] = (),
    input_noise: Mapping[str, float] | None = None,
    start: Sequence[float] | None = None,
    transition: str = "exact",
    gate_sigma: float = 6.0,
    gate_patience: int = 20,
    **options: Any,
) -> OfflineObserver:
    """Build an observer of a mechanism, or take its model from the cache.

    The keys are those of an observer in a rig file, see `docs/models/observers.md`.

    Parameters
    ----------
    source : str or Path
        Name of a mechanism that ships, or a mechanism file.
    sensors : mapping of str to mapping
        A table each: `kind`, its keys, and `std`, the standard deviation of a sample.
    acceleration_noise : sequence of float
        Density of the white noise on each independent acceleration, rad^2/s^3 or m^2/s^3.
    start_std : sequence of float
        Standard deviation of each state at the start.
    method : str
        The name under which the filter was published.
    independent, unknown : sequence of str
        Coordinates of the state; input signals that are estimated.
    input_noise : mapping of str to float, optional
        Density of the random walk of each unknown input.
    start : sequence of float, optional
        State at the start; that of the mechanism's file if not given.
    transition : {"exact", "published", "discrete", "held"}
    gate_sigma, gate_patience
        See `estimators.closed_loop.settings.ObserverSettings`.
    **options
        Of the model: `step_s`, `formulation` (`"semi_recursive"` and others in joint coordinates), …

    Returns
    -------
    OfflineObserver

    Raises
    ------
    TypeError
        There is no such option, or a sensor has no `std`.
    ValueError
        Every mistake of the settings; of the mechanism and its sensors it is a `MechanismError`.
    UnobservableError
        An unknown input that the sensors cannot determine.

    Examples
    --------
    >>> import numpy as np
    >>> import rigloop
    >>> four_bar = rigloop.mechanism("four_bar", step_s=5e-3)
    >>> true = four_bar.run(steps=400)["crank/angle_rad"]
    >>> encoder = {"kind": "encoder", "angle": "crank", "std": 0.0175}
    >>> crank = rigloop.observer("four_bar", {"wheel": encoder}, independent=("crank",), step_s=5e-3,
    ...                          acceleration_noise=[0.09], start_std=(0.09, 0.09))
    >>> noise = np.random.default_rng(1).normal(0.0, 0.0175, 400)
    >>> estimate = crank.run({"wheel": true + noise})
    >>> bool(np.std(estimate["crank_rad"] - true) < 0.5 * np.std(noise))
    True
    """
    if not isinstance(source, str | Path):
        raise TypeError(
            f"source = {source!r:.60}: give the name of a mechanism, or the path of its file"
        )
    if not isinstance(sensors, Mapping):
        raise TypeError(f"sensors = {sensors!r:.60}: give a mapping from name to table")
    known = {field.name for field in dataclasses.fields(KernelOptions)} - FIXED.keys()
    for name in options:
        if name not in known:
            raise TypeError(f"observer() has no option {name!r}: {near(name, known)}")
    std, tables = {}, {}
    for name, table in sensors.items():
        if "std" not in table:
            raise TypeError(
                f"sensor {name!r} has no 'std': give the standard deviation of its samples"
            )
        std[name] = table["std"]
        tables[name] = {key: value for key, value in table.items() if key != "std"}
    settings = ObserverSettings(
        std,
        acceleration_noise,
        start_std,
        start,
        transition,  # type: ignore[arg-type]
        input_noise=dict(input_noise or {}),
        gate_sigma=gate_sigma,
        gate_patience=gate_patience,
    )
    spec = ObserverSpec(tables, tuple(independent), tuple(unknown))
    built = build_observer(source, spec, KernelOptions(**options, **FIXED))
    model = built.module.Model()
    return OfflineObserver(
        observer_class(method)(model.info["name"], model, settings), model.info, built.hash
    )


class OfflineObserver:
    """An observer and its estimate so far; made by `rigloop.observer`.

    Attributes
    ----------
    name : str
        Of the mechanism.
    hash : str
        Of the compiled model.
    step_s : float
    inputs : tuple of str
        Ports that `run` takes: sensors, then known inputs of the mechanism.
    outputs : tuple of str
        Ports that `run` returns: states, their variances, innovations, `nis` and its bounds, counts.
    """

    def __init__(self, block: Observer, info: Mapping[str, Any], hash: str) -> None:
        self._block, self.info, self.hash = block, dict(info), hash
        self.name: str = info["name"]
        self.step_s: float = info["step_s"]
        self._sensors, self._all_inputs = tuple(info["sensor_names"]), tuple(info["inputs"])
        self.inputs = (*self._sensors, *known_inputs(info))
        self.outputs = write_ports(info)
        self._units = _units(info)
        self._cycles = 0

    def __repr__(self) -> str:
        return f"<observer of {self.name}, model {self.hash[:12]}, step {self.step_s:g} s>"

    def run(self, inputs: Inputs, steps: int | None = None) -> Columns:
        """Advance by one step for each row of the inputs, from where the last call ended.

        Parameters
        ----------
        inputs : mapping of str to array_like, shape (steps,) or ()
            Samples by sensor, NaN where there is none; a sensor that is left out has none. Known inputs of the
            mechanism, which keep their last value where they are NaN or left out.
        steps : int, optional
            Needed where no input is an array.

        Returns
        -------
        Columns
            Estimates after each step.

        Raises
        ------
        KeyError
            There is no such port.
        ValueError
            Lengths differ, or a value is infinite.
        """
        columns = columns_of(inputs, self.inputs, f"the observer of {self.name}")
        count = steps_of(columns, steps)
        given = dict.fromkeys((*self._sensors, *self._all_inputs), NOTHING) | columns
        rows = []
        for ports in (self._sensors, self._all_inputs):
            found = rows_of(given, ports, count)
            refuse_where(np.isinf(found), found, ports, "give a finite number, or NaN for none")
            rows.append(found)
        values = self._block.run(*rows)
        t_s = np.arange(self._cycles + 1, self._cycles + count + 1, dtype=np.float64) * self.step_s
        self._cycles += count
        return Columns(
            t_s, {port: values[:, i] for i, port in enumerate(self.outputs)}, self._units
        )

    def reset(self, x: Sequence[float] | None = None) -> None:
        """Begin again at time 0, at the state given or that of the settings, with the covariance of the start."""
        self._block.reset(x)
        self._cycles = 0

    @property
    def x(self) -> Array:
        """Estimated state, in the order of the first `outputs`."""
        return self._block.x

    @property
    def covariance(self) -> Array:
        """Covariance of the filter's own state, shape (n, n)."""
        return self._block.covariance


def _units(info: Mapping[str, Any]) -> dict[str, str]:
    sensed = dict(zip(info["sensor_names"], info["sensor_units"], strict=True))
    found = {f"innovation/{name}": units.of_name(f"x_{unit}") for name, unit in sensed.items()}
    for port in write_ports(info):
        group, _, state = port.partition("/")
        if group == "variance" and (unit := units.of_name(state)) is not None:
            found[port] = str(units.parse(unit) ** 2)
    return {port: unit for port, unit in found.items() if unit}
