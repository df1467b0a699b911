"""A signal that is added to a value for some time: from a command, or from the cycle in which a condition holds.

Each table `[stimuli.NAME]` of a rig becomes such a block, which is stepped just before the block on which it
acts. Its signal comes from a library block, whose time begins with the stimulus. The stimulus ends on command, by
`until` or after `duration_s`, and is exactly zero before and after.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from rig_configs.condition import ConditionError, parse
from rig_configs.live import LONGEST_CONDITION, UnitText
from rig_configs.mistakes import Mistake
from rig_configs.names import SignalPath
from rig_configs.numbers import Positive, PositiveS
from rig_configs.ports import Port, Ports
from rig_configs.schema import BlockTable, Rig
from rigloop.blocks.compiled.build import BuiltBlock
from rigloop.blocks.kind import BlockKind, Making, Stage
from rigloop.blocks.kinds.stimulus_step import MOST_COMPARISONS, STATES, WRITES, Stimulus
from rigloop.blocks.stimuli import CONDITIONS, condition_of, signal_mistakes, signal_of, wires

Text = Annotated[str, Field(max_length=LONGEST_CONDITION, examples=["abs(wheel/angle_rad) > 0.5"])]


class StimulusBlock(BlockTable):
    """A signal that is added to a value for a while."""

    kind: Literal["stimulus"]
    unit: Annotated[UnitText, Field(examples=["Nm"])]
    """The value has this unit."""
    limit: Annotated[Positive, Field(examples=[2.0])]
    """The signal stays within plus and minus this."""
    signal: Annotated[dict[str, Any], Field(examples=[{"kind": "sine", "frequency_hz": 2.0}])]
    """The signal comes from a library block with its keys: `step`, `ramp`, `sine`, `sweep`, `noise` or `file`."""
    when: Text | None = None
    """The stimulus waits for this condition."""
    until: Text | None = None
    """The stimulus ends when this condition holds."""
    duration_s: Annotated[PositiveS, Field(examples=[10.0])] | None = None
    """The stimulus ends after this time."""
    waits_from: Literal["command", "start"] = "command"
    """The stimulus begins, or waits for `when`, after a command (`command`), or from the first cycle (`start`)."""
    reads: dict[SignalPath, SignalPath]


def ports(table: Mapping[str, Any]) -> Ports:
    """Return the ports of a stimulus: those of its conditions among them."""
    unit = table.get("unit")
    unit = unit if isinstance(unit, str) else None
    return Ports(
        (
            Port(
                "number",
                "1",
                "A new count begins the stimulus; the same count with a minus sign ends it.",
            ),
            Port(
                "before",
                unit,
                "The value to which the stimulus is added; not wired: 0.",
                optional=True,
            ),
            *(Port(port, None, "A signal of a condition.") for port in wires(table)),
        ),
        (
            Port("value", unit, "The sum of the value and the stimulus."),
            Port("added", unit, "The stimulus alone; 0 while it is not active."),
            Port("state", "1", ", ".join(f"{n}: {words}" for n, words in STATES.items()) + "."),
            Port("begun", "1", "The number of times that the stimulus has begun."),
        ),
    )


def table_mistakes(file: str, name: str, table: Mapping[str, Any]) -> Iterator[Mistake]:
    """Find conditions that are none, and keys that a signal within a stimulus does not have."""
    for key in CONDITIONS:
        text = table.get(key)
        if not isinstance(text, str):
            continue
        at = f"blocks.{name}.{key}"
        try:
            n = sum(map(len, parse(text)))
        except ConditionError as error:
            yield Mistake(file, at, str(error), "write it like abs(wheel/angle_rad) > 0.5")
            continue
        if n > MOST_COMPARISONS:
            problem = f"{n} comparisons, limit {MOST_COMPARISONS}"
            yield Mistake(file, at, problem, "let a block decide, and compare its output")
    signal = table.get("signal")
    if isinstance(signal, Mapping):
        yield from signal_mistakes(file, f"blocks.{name}.signal", signal)


def build(file: str, rig: Rig, name: str, tell: Stage) -> BuiltBlock:
    """Compile the signal."""
    tell("compiling")
    kind, table = signal_of(rig.blocks[name])
    return kind.build(table)


def make(making: Making) -> Stimulus:
    """Return a stimulus."""
    block = making.block
    kind, table = signal_of(block)
    signal = kind.make(
        making.name,
        table,
        {},
        period_s=making.period_us * 1e-6,
        built=making.kernel,
    )
    reads = ports(block.model_dump()).read_names
    return Stimulus(
        making.name,
        signal,
        making.reads(reads),
        making.writes(WRITES),
        limit=block.limit,
        when=condition_of(block.when),
        until=condition_of(block.until),
        duration_s=block.duration_s,
        waits=block.waits_from == "start",
    )


KIND = BlockKind(
    name="stimulus",
    schema=StimulusBlock,
    ports=ports,
    make=make,
    about=__doc__,
    table_mistakes=table_mistakes,
    build=build,
)
