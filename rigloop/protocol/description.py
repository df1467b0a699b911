"""The description of a rig: all that a viewer without the rig file has to know of it."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct


class DescribedTask(Struct, frozen=True):
    """A task of the loop."""

    name: str
    period_us: int
    blocks: list[str]
    core: int | None = None
    """The processor that it has for its own; None: any."""


class DescribedLive(Struct, frozen=True):
    """A live value."""

    name: str
    unit: str
    lower: float
    upper: float
    start: float
    group: str


class DescribedStimulus(Struct, frozen=True):
    """A stimulus."""

    name: str
    unit: str
    limit: float


class DescribedGuard(Struct, frozen=True):
    """A guard, with the signals of its ports."""

    name: str
    limit_nm: float
    reads: dict[str, str]
    writes: dict[str, str]


class DescribedBus(Struct, frozen=True):
    """A bus, with its slaves and the signals of its ports."""

    name: str
    slaves: list[str]
    writes: dict[str, str]


class DescribedMechanism(Struct, frozen=True):
    """A mechanism block: the text of its file, the signals that it reads, and the options of its kernel."""

    block: str
    name: str
    text: str
    task: str
    reads: dict[str, str]
    writes: dict[str, str]
    options: dict[str, bool | int | float | str | list[str]]
    parameters: dict[str, float]


class ToDescribe(Struct, frozen=True):
    """Answer of `describe`."""

    rig: str
    title: str
    tasks: Annotated[list[DescribedTask], Meta(description="name, period_us, blocks, core")]
    shown: Annotated[list[str], Meta(description="signals that the rig shows")]
    live: Annotated[list[DescribedLive], Meta(description="name, unit, lower, upper, start, group")]
    stimuli: Annotated[list[DescribedStimulus], Meta(description="name, unit, limit")]
    guards: Annotated[
        list[DescribedGuard], Meta(description="name, limit_nm, reads, writes: port → signal")
    ]
    buses: Annotated[list[DescribedBus], Meta(description="name, slaves, writes: port → signal")]
    mechanisms: Annotated[
        list[DescribedMechanism],
        Meta(description="block, name, text of its file, task, reads, writes, options, parameters"),
    ]
    faults: Annotated[
        dict[str, dict[int, str]], Meta(description="block → fault code → its meaning")
    ]
