"""A state observer of a mechanism: it estimates motion and unknown forces from sensors.

Its model is generated with the mechanism, and its Jacobians are exact. `docs/models/observers.md` explains which method
to use.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from codegen.options.statuses import STATUSES
from estimators.closed_loop.catalogue import observer_class, observers
from estimators.closed_loop.observer import Observer
from estimators.closed_loop.settings import (
    ObserverSettings,
    filter_mistakes,
    known_inputs,
    read_ports,
    write_ports,
)
from rig_configs.numbers import Positive, Real
from rig_configs.ports import Ports
from rigloop.blocks import observing
from rigloop.blocks.kind import BlockKind, Making
from rigloop.blocks.mechanisms import FAULT_REMEDY
from rt_core.settings import Wrong

if TYPE_CHECKING:
    Method = str
else:
    Method = Literal[*observers()]


class ObserverBlock(observing.ObservingBlock):
    """A state observer."""

    kind: Literal["observer"]
    method: Method = "errorEKF"
    """The state is estimated by the published observer of this name."""
    sensors: Annotated[dict[observing.SensorName, observing.ObserverSensor], Field(min_length=1)]
    """Each sensor has a table of its own."""
    acceleration_noise: list[Positive]
    """The acceleration of each coordinate has white noise of this density, in rad^2/s^3 or m^2/s^3."""
    start_std: list[Positive]
    """Each state has this standard deviation at the start."""
    start: Annotated[list[Real], Field(examples=[[0.0, 0.0, 0.0]])] | None = None
    """Each state begins at this value; the default is that of the mechanism's file."""
    transition: Literal["published", "exact", "discrete", "held"] = "exact"
    """The covariance is propagated with the exact derivatives of the accelerations, or as in the papers. Fast modes
    need `discrete`, which is the matrix exponential of the derivatives over a step, or `held`, which is the same
    with the derivatives at the start."""


def ports(table: Mapping[str, Any]) -> Ports | None:
    """Return the ports of an observer: samples and known inputs, estimates and their variances."""
    if not table.get("sensors"):
        return None
    info = observing.observed(table)
    if info is None:
        return None
    estimated = set(info["inputs"]) - set(known_inputs(info))
    reads = tuple(port for port in read_ports(info) if port not in estimated)
    return observing.port_records(table, info, reads, write_ports(info))


def settings_of(block: ObserverBlock) -> ObserverSettings:
    """Return noise, start and gates of an observer."""
    own = {"acceleration_noise", "start_std", "start", "transition"}
    return ObserverSettings(**observing.channels_of(block), **block.model_dump(include=own))


def make(making: Making) -> Observer:
    """Return an observer on a model of its own, with the rig's parameters.

    Raises
    ------
    UnobservableError
        An unknown input that its sensors cannot tell.
    ValueError
        The mechanism cannot be put together at its start.
    """
    # its own list of ports, so that nothing here has to read the mechanism
    model, block = observing.model_of(making), making.block
    return observer_class(block.method)(
        making.name, model, settings_of(block),
        reads=block.reads, writes=making.writes(write_ports(model.info)),
    )  # fmt: skip


def unsuited(block: ObserverBlock, info: Mapping[str, Any]) -> Iterator[Wrong]:
    """Find what the method of an observer cannot do."""
    for problem in filter_mistakes(info, observer_class(block.method), block.transition):
        yield Wrong("method", block.method, problem)


KIND = observing.completed(
    BlockKind(
        name="observer",
        schema=ObserverBlock,
        ports=ports,
        make=make,
        about=__doc__,
        faults=STATUSES,
        remedy=FAULT_REMEDY,
    ),
    settings_of,
    unsuited,
)
