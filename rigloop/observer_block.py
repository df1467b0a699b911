"""An observer of a rig: from its table to ports, mistakes, settings and the block."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

from codegen.build import BuiltKernel
from codegen.observers.spec import ObserverSpec
from estimators.observability import UnobservableError
from estimators.observer import DependentObserver, Observer
from estimators.observer_settings import (
    Channel,
    ObserverSettings,
    filter_mistakes,
    known_inputs,
    read_ports,
    write_ports,
)
from estimators.observers import observer_class
from rig_configs.load import LoadedRig, Ports, write_path
from rig_configs.mistakes import ConfigError, Mistake
from rig_configs.schema import ObserverBlock, ObserverSensor, Rig

# keys of a sensor that say how its samples come, not what it is
CHANNEL_KEYS = frozenset(ObserverSensor.model_fields) - {"kind"}


def spec_of(table: Mapping[str, Any]) -> ObserverSpec | None:
    """Return what an observer's table asks for; None where it is too wrong to tell."""
    sensors = table.get("sensors")
    names = [table.get(key, []) for key in ("independent", "unknown")]
    if not (
        isinstance(sensors, dict)
        and sensors
        and all(isinstance(s, dict) and isinstance(s.get("kind"), str) for s in sensors.values())
        and all(isinstance(n, list) and all(isinstance(word, str) for word in n) for n in names)
    ):
        return None
    tables = {
        name: {key: value for key, value in sensor.items() if key not in CHANNEL_KEYS}
        for name, sensor in sensors.items()
    }
    return ObserverSpec(tables, *map(tuple, names))


def observer_ports(table: Mapping[str, Any]) -> Ports | None:
    """Return the ports of an observer's table; None where it is too wrong to tell.

    Raises
    ------
    ConfigError
        It names what its mechanism does not have; all mistakes. Those of its own keys have no file.
    """
    spec = spec_of(table)
    if spec is None:
        return None
    info = _info(table["mechanism"], spec.text())
    valid = tuple(f"{sensor}/valid" for sensor in info["sensor_names"])
    estimated = set(info["inputs"]) - set(known_inputs(info))
    reads = tuple(port for port in read_ports(info) if port not in estimated)
    return Ports(reads, write_ports(info), valid)


def observer_mistakes(file: str, rig: Rig) -> Iterator[Mistake]:
    """Find settings that do not suit the mechanisms of the observers."""
    for name, block in rig.blocks.items():
        if isinstance(block, ObserverBlock):
            info = _info(block.mechanism, _spec(block).text())
            for text in settings_of(block).mistakes(info):
                # a rig has what Python calls a channel beside the keys of its sensor
                key, _, problem = text.replace("channels.", "sensors.", 1).partition(": ")
                yield Mistake(file, f"blocks.{name}.{key}", problem)
            dependent = issubclass(observer_class(block.method), DependentObserver)
            for problem in filter_mistakes(info, dependent):
                yield Mistake(file, f"blocks.{name}.method", problem, value=block.method)


def settings_of(block: ObserverBlock) -> ObserverSettings:
    """Return noise, start and gates of an observer."""
    return ObserverSettings(
        sensor_std={name: sensor.std for name, sensor in block.sensors.items()},
        acceleration_noise=block.acceleration_noise,
        start_std=block.start_std,
        start=block.start,
        input_noise=block.input_noise,
        transition=block.transition,
        gate_sigma=block.gate_sigma,
        gate_patience=block.gate_patience,
        channels={
            name: Channel(sensor.every, sensor.scale, sensor.offset)
            for name, sensor in block.sensors.items()
        },
    )


def make_observer(name: str, block: ObserverBlock, built: BuiltKernel) -> Observer:
    """Return an observer on a model of its own, with the rig's parameters.

    Raises
    ------
    UnobservableError
        An unknown input that its sensors cannot tell.
    ValueError
        The mechanism cannot be put together at its start.
    """
    # its own list of ports, so that nothing here has to read the mechanism
    model = built.module.Model()
    model.parameters = block.parameters
    table = block.model_dump()
    writes = {port: write_path(name, table, port) for port in write_ports(model.info)}
    kind = observer_class(block.method)
    return kind(name, model, settings_of(block), reads=block.reads, writes=writes)


def refuse_unfit(loaded: LoadedRig, built: Mapping[str, BuiltKernel]) -> None:
    """Refuse a rig with an observer that cannot do what it is asked for.

    Raises
    ------
    ConfigError
        With the reason for every such observer.
    """
    mistakes = []
    for name, block in loaded.rig.blocks.items():
        if isinstance(block, ObserverBlock) and name in built:
            try:
                make_observer(name, block, built[name])
            except UnobservableError as error:
                key = f"blocks.{name}.unknown"
                mistakes.append(Mistake(str(loaded.path), key, str(error), value=block.unknown))
            except ValueError as error:
                mistakes.append(Mistake(str(loaded.path), f"blocks.{name}", str(error)))
    if mistakes:
        raise ConfigError(mistakes)


def _spec(block: ObserverBlock) -> ObserverSpec:
    spec = spec_of(block.model_dump())
    assert spec is not None
    return spec


@cache
def _info(mechanism: str, spec: str) -> dict[str, Any]:
    """What the model of an observer will say of itself."""
    # only where a rig is checked: the cycle process gets one that has been
    from codegen.description.mechanism import MechanismError, load
    from codegen.observers.resolve import describe, resolve

    found = load(mechanism)
    try:
        return describe(found, resolve(found, ObserverSpec.of_text(spec)))
    except MechanismError as error:
        # of the mechanism as a whole, or of what the observer wants of it
        raise ConfigError(
            m if m.key == "(file)" else replace(m, file="") for m in error.mistakes
        ) from None
