"""The common part of a rig's observers: keys, the demands on their mechanism, ports with units, and mistakes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from itertools import chain
from typing import Annotated, Any

from pydantic import ConfigDict, Field

from codegen.kernels.build import BuiltKernel
from codegen.observers.build import build_observer
from codegen.observers.spec import FIXED, ObserverSpec
from estimators.closed_loop.observability import UnobservableError
from estimators.closed_loop.settings import Channel, ObservingSettings
from rig_configs import units
from rig_configs.mistakes import ConfigError, Mistake, in_file
from rig_configs.names import SignalPath
from rig_configs.numbers import Bounded, NonNegative, Positive, Real, Scale
from rig_configs.ports import Port, Ports
from rig_configs.schema import Rig
from rig_configs.section import Section
from rigloop.blocks.kind import BlockKind, Making, Stage
from rigloop.blocks.mechanisms import OnMechanism, kernel_options, mechanism_mistakes
from rt_core.settings import Wrong
from rt_core.task import Cycles


class ObserverSensor(Section):
    """A sensor of an observer, and the timing of its samples; for the keys of each kind of sensor, see
    `docs/models/observers.md`."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, Bounded]

    kind: str
    """The sensor is of this kind: `encoder`, `gyroscope`, `accelerometer`, `force_cell`, `motor_current`."""
    std: Positive
    """A sample has this standard deviation, in the sensor's unit."""
    every: Cycles = 1
    """The number of task periods from one sample to the next."""
    scale: Scale = 1.0
    """The signal is multiplied by this: sample = scale x signal + offset."""
    offset: Real = 0.0
    """This is added to the scaled signal."""


SensorName = Annotated[str, Field(pattern=r"^[a-z0-9_]+$")]


class ObservingBlock(OnMechanism):
    """The keys of all observers of a mechanism, generated with it: `docs/models/observers.md`."""

    fixed_options = FIXED

    independent: list[str] = []
    """These coordinates and their rates are the state; by default the coordinates that move most in the pose of
    the file."""
    unknown: list[str] = []
    """These input signals of the mechanism are estimated."""
    input_noise: dict[str, Positive] = {}
    """Each unknown signal is a random walk with this density, in its unit squared per s."""
    gate_sigma: NonNegative = 6.0
    """An innovation beyond this number of standard deviations is rejected; 0: no gate."""
    gate_patience: Cycles = 20
    """After this number of consecutive rejected samples the next one is accepted."""
    reads: dict[SignalPath, SignalPath]


# keys of a sensor that say how its samples come, not what it is
CHANNEL_KEYS = frozenset(ObserverSensor.model_fields) - {"kind"}


def spec_of(table: Mapping[str, Any]) -> ObserverSpec | None:
    """Return what an observer's table asks for; None where it is too wrong to tell."""
    sensors = table.get("sensors", {})
    known = table.get("known_std", {})
    names = [table.get(key, []) for key in ("independent", "unknown")]
    if not (
        isinstance(table.get("mechanism"), str)
        and isinstance(sensors, dict)
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


def observed(table: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return what the model of an observer's table says of itself; None where the table is too wrong to tell.

    Raises
    ------
    ConfigError
        It names what its mechanism does not have; all mistakes. Those of its own keys have no file.
    """
    spec = spec_of(table)
    if spec is None:
        return None
    try:
        return info_of(table["mechanism"], spec.text(), formulation_of(table))
    except ConfigError as error:
        # what is estimated of the known forces is what is known of them
        known = table.get("known_std", {})
        raise ConfigError(
            replace(m, key="known_std") if m.key == "unknown" and m.value in known else m
            for m in error.mistakes
        ) from None


def formulation_of(table: Mapping[str, Any]) -> str:
    """Return the formulation that an observer's table asks for, good or not."""
    options = table.get("options", {})
    given = options.get("formulation") if isinstance(options, dict) else None
    return given if isinstance(given, str) else "ali3p"


@cache
def info_of(mechanism: str, spec: str, formulation: str) -> dict[str, Any]:
    """Return what the model of an observer will say of itself."""
    # only where a rig is checked: the cycle process gets one that has been
    from codegen.description.mechanism import MechanismError, load
    from codegen.observers.resolve import describe, resolve

    found = load(mechanism)
    try:
        return describe(resolve(found, ObserverSpec.of_text(spec), formulation))
    except MechanismError as error:
        # of the mechanism as a whole, or of what the observer wants of it
        raise ConfigError(
            m if m.key == "(file)" else replace(m, file="") for m in error.mistakes
        ) from None


def block_info(block: ObservingBlock) -> dict[str, Any]:
    """Return what the model of a good block will say of itself."""
    table = block.model_dump()
    spec = spec_of(table)
    assert spec is not None
    return info_of(block.mechanism, spec.text(), formulation_of(table))


COUNTS = {
    "nis": "The normalised innovation squared of this cycle's samples.",
    "nis_low": "The lower bound of `nis` for the samples of this cycle.",
    "nis_high": "The upper bound of `nis` for the samples of this cycle.",
    "used": "The number of samples of this cycle that were used.",
    "rejected": "The number of samples rejected since the start.",
    "repaired": "The number of repairs of the covariance.",
    "status": "0: the step is good; otherwise the code of its failure.",
    "guarded": "Cycles in which the accelerometers were blind.",
    "ready": "1 once there is an estimate.",
}


def port_records(
    table: Mapping[str, Any],
    info: Mapping[str, Any],
    reads: tuple[str, ...],
    writes: tuple[str, ...],
) -> Ports:
    """Return the ports of an observer with their units."""
    sensed = dict(zip(info["sensor_names"], info["sensor_units"], strict=True))
    return Ports(
        tuple(_read(name, table, sensed) for name in reads),
        tuple(_write(name, sensed) for name in writes),
    )


def _read(name: str, table: Mapping[str, Any], sensed: Mapping[str, str]) -> Port:
    if name in sensed:
        channel = table["sensors"][name]
        is_scaled = channel.get("scale", 1.0) != 1.0 or channel.get("offset", 0.0) != 0.0
        unit = None if is_scaled else units.of_name(f"x_{sensed[name]}")
        return Port(name, unit, "The samples of this sensor; a scaled sensor accepts any unit.")
    if name.endswith("/valid"):
        return Port(
            name, "1", "1: the sample is new; not wired: every sample is new.", optional=True
        )
    return Port(name, units.of_name(name), "A known input of the mechanism, or its motion.")


def _write(name: str, sensed: Mapping[str, str]) -> Port:
    if name in COUNTS:
        return Port(name, "1", COUNTS[name])
    group, _, rest = name.partition("/")
    if group == "variance":
        one = units.of_name(rest)
        unit = None if one is None else str(units.parse(one) ** 2)
        return Port(name, unit, "The variance of the estimate.")
    if group == "innovation" and rest in sensed:
        unit = units.of_name(f"x_{sensed[rest]}")
        return Port(name, unit, "The difference between this cycle's sample and its prediction.")
    return Port(name, units.of_name(name), "An estimate.")


def channels_of(block: Any) -> dict[str, Any]:
    """Return the settings that both kinds of observers take from a block."""
    return {
        "sensor_std": {name: sensor.std for name, sensor in block.sensors.items()},
        "input_noise": block.input_noise,
        "gate_sigma": block.gate_sigma,
        "gate_patience": block.gate_patience,
        "channels": {
            name: Channel(sensor.every, sensor.scale, sensor.offset)
            for name, sensor in block.sensors.items()
        },
    }


def build(file: str, rig: Rig, name: str, on_stage: Stage) -> BuiltKernel:
    """Build the model of an observer, or take it from the cache."""
    block = rig.blocks[name]
    assert isinstance(block, ObservingBlock)
    spec = spec_of(block.model_dump())
    assert spec is not None
    options = kernel_options(rig, name, file)
    return build_observer(block.mechanism, spec, options, on_stage=on_stage)


def model_of(making: Making) -> Any:
    """Return a model of the block's own, with the rig's parameters."""
    assert making.kernel is not None, making.name
    model = making.kernel.module.Model()
    model.parameters = making.block.parameters
    return model


def completed(
    kind: BlockKind,
    settings_of: Callable[[Any], ObservingSettings],
    unsuited: Callable[[Any, Mapping[str, Any]], Iterator[Wrong]] = lambda block, info: iter(()),
) -> BlockKind:
    """Return a kind of observers with the mistakes, the build and the `fit` that all of them have.

    `unsuited` finds what is wrong beyond the settings; `fit` refuses one that cannot do what it is asked for.
    """
    make = kind.make
    assert make is not None

    def mistakes(file: str, rig: Rig, name: str) -> Iterator[Mistake]:
        yield from mechanism_mistakes(file, rig, name)
        block = rig.blocks[name]
        assert isinstance(block, ObservingBlock)
        info = block_info(block)
        wrong = chain(settings_of(block).mistakes(info), unsuited(block, info))
        yield from in_file(file, f"blocks.{name}", wrong)

    def fit(making: Making) -> Iterator[Mistake]:
        at = f"blocks.{making.name}"
        try:
            make(making)
        except UnobservableError as error:
            yield Mistake("", f"{at}.unknown", str(error), value=making.block.unknown)
        except ValueError as error:
            yield Mistake("", at, str(error))

    return replace(kind, mistakes=mistakes, build=build, fit=fit)
