"""An observer of a rig: from its table to ports, mistakes, settings and the block."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

from codegen.kernels.build import BuiltKernel
from codegen.observers.spec import ObserverSpec
from estimators.closed_loop.catalogue import observer_class
from estimators.closed_loop.observability import UnobservableError
from estimators.closed_loop.observer import DependentObserver, Observer
from estimators.closed_loop.settings import (
    Channel,
    ObserverSettings,
    filter_mistakes,
    known_inputs,
    read_ports,
    write_ports,
)
from estimators.two_stage.observer import TwoStageObserver
from estimators.two_stage.settings import TwoStageSettings, two_stage_reads, two_stage_writes
from rig_configs.load import LoadedRig, Ports, write_path
from rig_configs.mistakes import ConfigError, Mistake
from rig_configs.schema import ObserverBlock, ObserverSensor, ObservingBlock, Rig, TwoStageBlock

# keys of a sensor that say how its samples come, not what it is
CHANNEL_KEYS = frozenset(ObserverSensor.model_fields) - {"kind"}


def spec_of(table: Mapping[str, Any]) -> ObserverSpec | None:
    """Return what an observer's table asks for; None where it is too wrong to tell."""
    sensors = table.get("sensors", {})
    known = table.get("known_std", {})
    names = [table.get(key, []) for key in ("independent", "unknown")]
    if not (
        isinstance(sensors, dict)
        and (sensors or table.get("kind") != "observer")
        and isinstance(known, dict)
        and all(isinstance(s, dict) and isinstance(s.get("kind"), str) for s in sensors.values())
        and all(isinstance(n, list) and all(isinstance(word, str) for word in n) for n in names)
    ):
        return None
    tables = {
        name: {key: value for key, value in sensor.items() if key not in CHANNEL_KEYS}
        for name, sensor in sensors.items()
    }
    independent, unknown = names
    return ObserverSpec(tables, tuple(independent), (*known, *unknown))


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
    try:
        info = _info(table["mechanism"], spec.text())
    except ConfigError as error:
        # what is estimated of the known forces is what is known of them
        known = table.get("known_std", {})
        raise ConfigError(
            replace(m, key="known_std") if m.key == "unknown" and m.value in known else m
            for m in error.mistakes
        ) from None
    valid = tuple(f"{sensor}/valid" for sensor in info["sensor_names"])
    if table["kind"] == "two_stage_observer":
        return Ports(two_stage_reads(info), two_stage_writes(info), valid)
    estimated = set(info["inputs"]) - set(known_inputs(info))
    reads = tuple(port for port in read_ports(info) if port not in estimated)
    return Ports(reads, write_ports(info), valid)


def observer_mistakes(file: str, rig: Rig) -> Iterator[Mistake]:
    """Find settings that do not suit the mechanisms of the observers."""
    for name, block in rig.blocks.items():
        if not isinstance(block, ObservingBlock):
            continue
        info = _info(block.mechanism, _spec(block).text())
        for text in settings_of(block).mistakes(info):
            # a rig has what Python calls a channel beside the keys of its sensor
            key, _, problem = text.replace("channels.", "sensors.", 1).partition(": ")
            yield Mistake(file, f"blocks.{name}.{key}", problem)
        if isinstance(block, ObserverBlock):
            dependent = issubclass(observer_class(block.method), DependentObserver)
            for problem in filter_mistakes(info, dependent):
                yield Mistake(file, f"blocks.{name}.method", problem, value=block.method)


def settings_of(block: ObservingBlock) -> ObserverSettings | TwoStageSettings:
    """Return noise, start and gates of an observer."""
    assert isinstance(block, ObserverBlock | TwoStageBlock)
    shared: dict[str, Any] = {
        "sensor_std": {name: sensor.std for name, sensor in block.sensors.items()},
        "input_noise": block.input_noise,
        "gate_sigma": block.gate_sigma,
        "gate_patience": block.gate_patience,
        "channels": {
            name: Channel(sensor.every, sensor.scale, sensor.offset)
            for name, sensor in block.sensors.items()
        },
    }
    if isinstance(block, TwoStageBlock):
        own = {"known_std", "form", "balance_std", "held_noise", "least_sensitivity"}
        return TwoStageSettings(**shared, **block.model_dump(include=own))
    own = {"acceleration_noise", "start_std", "start", "transition"}
    return ObserverSettings(**shared, **block.model_dump(include=own))


def make_observer(
    name: str, block: ObservingBlock, built: BuiltKernel
) -> Observer | TwoStageObserver:
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
    if isinstance(block, TwoStageBlock):
        kind: Any = TwoStageObserver
        ports = two_stage_writes(model.info)
    else:
        assert isinstance(block, ObserverBlock)
        kind, ports = observer_class(block.method), write_ports(model.info)
    writes = {port: write_path(name, table, port) for port in ports}
    made: Observer | TwoStageObserver = kind(
        name, model, settings_of(block), reads=block.reads, writes=writes
    )
    return made


def refuse_unfit(loaded: LoadedRig, built: Mapping[str, BuiltKernel]) -> None:
    """Refuse a rig with an observer that cannot do what it is asked for.

    Raises
    ------
    ConfigError
        With the reason for every such observer.
    """
    mistakes = []
    for name, block in loaded.rig.blocks.items():
        if isinstance(block, ObservingBlock) and name in built:
            try:
                make_observer(name, block, built[name])
            except UnobservableError as error:
                key = f"blocks.{name}.unknown"
                mistakes.append(Mistake(str(loaded.path), key, str(error), value=block.unknown))
            except ValueError as error:
                mistakes.append(Mistake(str(loaded.path), f"blocks.{name}", str(error)))
    if mistakes:
        raise ConfigError(mistakes)


def _spec(block: ObservingBlock) -> ObserverSpec:
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
