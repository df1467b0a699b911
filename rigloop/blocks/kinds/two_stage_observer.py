"""A two-stage observer: motion from encoders and accelerometers without forces, then forces from the motion.

It is better than a state observer if forces are unknown and fast; see `docs/models/observers.md`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from estimators.two_stage.observer import TwoStageObserver
from estimators.two_stage.settings import TwoStageSettings, two_stage_reads, two_stage_writes
from rig_configs.numbers import Positive
from rig_configs.ports import Ports
from rigloop.blocks import observing
from rigloop.blocks.kind import BlockKind, Making


class TwoStageBlock(observing.ObservingBlock):
    """Motion from encoders and accelerometers without forces, then forces from the motion."""

    kind: Literal["two_stage_observer"]
    sensors: dict[observing.SensorName, observing.ObserverSensor] = {}
    """Each sensor has a table of its own; without sensors the motion is read."""
    known_std: Annotated[
        dict[str, Positive], Field(examples=[{"force/motor/torque_nm": 0.05}])
    ] = {}
    """Each measured force has this standard deviation; there must be as many as there are unknown forces."""
    form: Literal["A", "B"] = "A"
    """The dynamics are solved for the known forces (`A`) or the unknown ones (`B`); the other forces are random
    walks."""
    balance_std: Annotated[
        dict[str, Positive], Field(examples=[{"force/motor/torque_nm": 0.1}])
    ] = {}
    """The force that the dynamics give in a cycle has this standard deviation; one value for each force that is
    solved for."""
    held_noise: Positive = 1.0
    """An acceleration changes by this standard deviation in a cycle in which the accelerometers are blind."""
    least_sensitivity: Positive = 1e-3
    """Accelerometers below this sensitivity count as blind."""


def ports(table: Mapping[str, Any]) -> Ports | None:
    """Return the ports of an observer: samples or motion, and inputs; estimates and their variances."""
    info = observing.observed(table)
    if info is None:
        return None
    return observing.port_records(table, info, two_stage_reads(info), two_stage_writes(info))


def settings_of(block: TwoStageBlock) -> TwoStageSettings:
    """Return noise, form and gates of an observer."""
    own = {"known_std", "form", "balance_std", "held_noise", "least_sensitivity"}
    return TwoStageSettings(**observing.channels_of(block), **block.model_dump(include=own))


def make(making: Making) -> TwoStageObserver:
    """Return an observer on a model of its own, with the rig's parameters.

    Raises
    ------
    ValueError
        The mechanism cannot be put together at its start.
    """
    model, block = observing.model_of(making), making.block
    return TwoStageObserver(
        making.name, model, settings_of(block),
        reads=block.reads, writes=making.writes(two_stage_writes(model.info)),
    )  # fmt: skip


KIND = observing.completed(
    BlockKind(
        name="two_stage_observer", schema=TwoStageBlock, ports=ports, make=make, about=__doc__
    ),
    settings_of,
)
