"""A two-stage observer: motion from encoders and accelerometers without forces, then forces from the motion.

`docs/models/observers.md` says when it is better than a state observer: where forces are unknown and fast.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from estimators.two_stage.observer import TwoStageObserver
from estimators.two_stage.settings import TwoStageSettings, two_stage_reads, two_stage_writes
from rig_configs.mistakes import Mistake, in_file
from rig_configs.numbers import Positive
from rig_configs.ports import Ports
from rig_configs.schema import Rig
from rigloop.blocks.kind import BlockKind, Making
from rigloop.blocks.mechanisms import mechanism_mistakes
from rigloop.blocks.observing import (
    ObserverSensor,
    ObservingBlock,
    SensorName,
    block_info,
    build,
    channels_of,
    model_of,
    observed,
    port_records,
    unfit,
)


class TwoStageBlock(ObservingBlock):
    """Motion from encoders and accelerometers without forces, then forces from the motion."""

    kind: Literal["two_stage_observer"]
    sensors: dict[SensorName, ObserverSensor] = {}
    """Each sensor has a table of its own; without one the motion is read."""
    known_std: Annotated[
        dict[str, Positive], Field(examples=[{"force/motor/torque_nm": 0.05}])
    ] = {}
    """Each measured force has this standard deviation; there are as many as unknown ones."""
    form: Literal["A", "B"] = "A"
    """The dynamics are solved for the known forces (`A`) or the unknown ones (`B`); the others walk at random."""
    balance_std: Annotated[
        dict[str, Positive], Field(examples=[{"force/motor/torque_nm": 0.1}])
    ] = {}
    """The force that the dynamics give in a cycle has this standard deviation, for each force that is solved for."""
    held_noise: Positive = 1.0
    """An acceleration changes by this in a cycle with blind accelerometers."""
    least_sensitivity: Positive = 1e-3
    """Below this sensitivity accelerometers are blind."""


def ports(table: Mapping[str, Any]) -> Ports | None:
    """Return the ports of an observer: samples or motion, and inputs; estimates and their variances."""
    info = observed(table)
    if info is None:
        return None
    return port_records(table, info, two_stage_reads(info), two_stage_writes(info))


def settings_of(block: TwoStageBlock) -> TwoStageSettings:
    """Return noise, form and gates of an observer."""
    own = {"known_std", "form", "balance_std", "held_noise", "least_sensitivity"}
    return TwoStageSettings(**channels_of(block), **block.model_dump(include=own))


def make(making: Making) -> TwoStageObserver:
    """Return an observer on a model of its own, with the rig's parameters.

    Raises
    ------
    ValueError
        The mechanism cannot be put together at its start.
    """
    model, block = model_of(making), making.block
    return TwoStageObserver(
        making.name, model, settings_of(block),
        reads=block.reads, writes=making.writes(two_stage_writes(model.info)),
    )  # fmt: skip


def mistakes(file: str, rig: Rig, name: str) -> Iterator[Mistake]:
    """Find settings that do not suit the mechanism of an observer."""
    yield from mechanism_mistakes(file, rig, name)
    block = rig.blocks[name]
    assert isinstance(block, TwoStageBlock)
    wrong = settings_of(block).mistakes(block_info(block))
    yield from in_file(file, f"blocks.{name}", wrong)


KIND = BlockKind(
    name="two_stage_observer",
    schema=TwoStageBlock,
    ports=ports,
    make=make,
    about=__doc__,
    mistakes=mistakes,
    build=build,
    fit=unfit(make),
)
