"""Live values and stimuli of a rig file: what may be changed, or added, while the rig runs, and within which limits."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import AfterValidator, Field, model_validator

from rig_configs import units
from rig_configs.hazards import (
    REMOTE_COMMAND,
    SUDDEN_TORQUE,
    SUSTAINED_FORCE,
    WRONG_SCALE,
    WRONG_TORQUE,
    answers,
)
from rig_configs.mistakes import Mistake
from rig_configs.names import Line, SignalPath, Word
from rig_configs.numbers import Positive, PositiveS, Real
from rig_configs.section import Section
from rt_core.names import LIVE
from rt_core.settings import Refusal

CHANGES = f"{LIVE}/changes"
"""The signal that counts what was published; 0: nothing yet, and the start values hold."""
Who = Literal["control", "anyone"]
MOST = 200  # live values, and as many stimuli
LONGEST_CONDITION = 2000


def live_path(name: str) -> str:
    """Return the signal in which the wanted value of a live value stands, or the number of a stimulus."""
    return f"{LIVE}/{name}"


def _unit(text: str) -> str:
    units.parse(text)
    return text


UnitText = Annotated[Line, AfterValidator(_unit)]


class Target(Section):
    """The input, or the parameter, that is changed."""

    block: Annotated[Word, Field(examples=["resistance"])]
    """The value goes to this block."""
    input: Annotated[SignalPath, Field(examples=["torque_request_nm"])] | None = None
    """The value goes to this input of the block."""
    parameter: Annotated[Word, Field(examples=["k"])] | None = None
    """The value replaces this parameter of a library block or of your own compiled block. The parameter must be a
    number that no `prepare` of the block reads. Keys of other blocks are fixed for a run."""
    unit: Annotated[UnitText, Field(examples=["Nm"])]
    """The value has this unit, which must be the unit of the input."""
    who: Annotated[Who, answers(REMOTE_COMMAND)] = "control"
    """Only the client in control may change it (`control`), or any client (`anyone`)."""

    @model_validator(mode="after")
    def _one_of_both(self) -> Target:
        if (self.input is None) == (self.parameter is None):
            raise Refusal("needs an input or a parameter", "give one of the two keys")
        return self

    @property
    def port(self) -> str:
        """Name of the input or parameter."""
        return self.input or self.parameter or ""


class LiveValue(Target):
    """A value that may change while the rig runs, within limits that the cycle itself enforces."""

    lower: Annotated[Real, answers(WRONG_TORQUE, WRONG_SCALE)]
    """The value is never below this."""
    upper: Annotated[Real, answers(WRONG_TORQUE, WRONG_SCALE)]
    """The value is never above this."""
    rate_per_s: Annotated[Positive, answers(SUDDEN_TORQUE)]
    """The value changes by no more than this in a second; skipped cycles count."""
    start: Real
    """The run begins with this value."""
    group: Annotated[Word, Field(examples=["spring"])] | None = None
    """The values of a group belong to one task, are written together, and change in the same cycle."""

    @model_validator(mode="after")
    def _in_order(self) -> LiveValue:
        if not self.lower < self.upper:
            raise Refusal(
                f"lower = {self.lower:g} is not below upper = {self.upper:g}", "swap them"
            )
        if not self.lower <= self.start <= self.upper:
            raise Refusal(
                f"start = {self.start:g} is not within {self.lower:g} and {self.upper:g}",
                "start within the limits",
            )
        return self


class Stimulus(Target):
    """A signal that is added to an input for some time, on command or when a condition becomes true in the cycle."""

    limit: Annotated[Positive, answers(WRONG_TORQUE, SUDDEN_TORQUE)]
    """The stimulus stays within plus and minus this."""
    signal: dict[str, Any]
    """The signal comes from a library block with its keys: `step`, `ramp`, `sine`, `sweep`, `noise` or `file`; its
    time begins with the stimulus."""
    when: Annotated[str, Field(max_length=LONGEST_CONDITION)] | None = None
    """The stimulus waits for this condition on signals, which is evaluated in every cycle: `abs(wheel/angle_rad) >
    0.5`. A cycle number is also a condition: `loop/simulation/cycle >= 5000`."""
    until: Annotated[str, Field(max_length=LONGEST_CONDITION), answers(SUSTAINED_FORCE)] | None = (
        None
    )
    """The stimulus ends when this condition holds, or by a command."""
    duration_s: Annotated[PositiveS, Field(examples=[10.0]), answers(SUSTAINED_FORCE)] | None = None
    """The stimulus ends after this time."""
    waits_from: Literal["command", "start"] = "command"
    """The stimulus begins, or waits for `when`, after a command (`command`), or from the first cycle (`start`)."""


def live_signals(live: Mapping[str, object], stimuli: Mapping[str, object]) -> dict[str, str]:
    """Return the signals of the producer `live` with their units; none in a rig without live values and stimuli."""
    if not live and not stimuli:
        return {}
    found = {CHANGES: "1"}
    for name, one in live.items():
        unit = one.get("unit") if isinstance(one, Mapping) else getattr(one, "unit", None)
        found[live_path(name)] = unit if isinstance(unit, str) else "1"
    return found | {live_path(name): "1" for name in stimuli}


class Expanded(NamedTuple):
    """The tables of a rig file in which live values and stimuli have become blocks.

    Attributes
    ----------
    data : mapping
        The tables.
    mistakes : list of Mistake
        What is wrong with live values and stimuli.
    homes : dict of str to str
        Each block that was made, and the table that it was made of: `live` or `stimuli`.
    """

    data: dict[str, Any]
    mistakes: list[Mistake]
    homes: dict[str, str]

    def told(self, mistake: Mistake) -> Mistake:
        """Return a mistake of a block that was made with the key that the file has."""
        first, _, rest = mistake.key.partition(".")
        name, dot, key = rest.partition(".")
        if first != "blocks" or name not in self.homes:
            return mistake
        key = re.sub(r"^reads\.(when|until)/\d+$", r"\1", key)
        return replace(mistake, key=f"{self.homes[name]}.{name}{dot}{key}")


def not_expanded(file: str, data: dict[str, Any]) -> Expanded:
    """Return the tables as they are."""
    return Expanded(data, [], {})
