"""The schema of a declaration: what the TOML file of a compiled block says of ports, parameters, state and faults."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from codegen.options.compiler_flags import AtMost, Flag
from rig_configs.names import Line
from rig_configs.numbers import Real
from rig_configs.schema import Section

MOST_PORTS = 64
MOST_STATE_WORDS = 1 << 21  # of 8 bytes
MOST_LIST = 1_000_000
HALF_RATE = "half_rate_hz"  # as a limit: half the rate of the task that steps the block


def _collapsed(text: object) -> object:
    return " ".join(text.split()) if isinstance(text, str) else text


Paragraph = Annotated[str, Field(min_length=1, max_length=1500), BeforeValidator(_collapsed)]
Whole = Annotated[int, Field(ge=-(2**53), le=2**53)]
Number = Real | Whole


class Input(Section):
    """A signal that the block reads; one with `otherwise` may stay unwired, and has that value then."""

    unit: str
    about: Line
    otherwise: Real | None = None
    # whole parameters: from these values on it has to be wired all the same
    needed_from: dict[str, Whole] = Field({}, max_length=8)


class Output(Section):
    """A signal that the block writes in every cycle."""

    unit: str
    about: Line


class Parameter(Section):
    """A key of the block in a rig file.

    `number` and `whole` are numbers; `list` numbers in a list; `choice` one of some words; `samples` a CSV
    file, its `columns` by name; `expression` arithmetic of the inputs.
    """

    about: Line
    type: Literal["number", "whole", "list", "choice", "samples", "expression"] = "number"
    unit: str = "1"
    default: Number | list[Real] | str | None = None  # without one the rig must give it
    example: Number | list[Real] | str | None = None  # of a key without a default, for its page
    # of a number also the name of another number of the block, or `half_rate_hz`
    least: Number | str | None = None
    most: Number | str | None = None
    above: Number | str | None = None
    below: Number | str | None = None
    # of a list
    fewest: Annotated[int, Field(ge=0, le=MOST_LIST)] = 1
    longest: Annotated[int, Field(ge=1, le=MOST_LIST)] = 1000
    rising: bool = False
    length: str | None = None  # that of another list, or the product of two: "x * y"
    choices: list[str] = Field([], max_length=64)
    unit_of: dict[str, str] = Field({}, max_length=64)  # by choice: what `unit` has to come to
    columns: list[str] = Field([], max_length=8)  # the first one rises, where `rising`

    @property
    def limits(self) -> list[tuple[str, float]]:
        """Limits of each number, in words."""
        return [(sign, x) for sign, x in self._limits if not isinstance(x, str)]

    @property
    def relations(self) -> list[tuple[str, str]]:
        """Other parameters, or `HALF_RATE`, that limit this one, in words."""
        return [(sign, x) for sign, x in self._limits if isinstance(x, str)]

    @property
    def _limits(self) -> list[tuple[str, float | str]]:
        named = ((">=", self.least), ("<=", self.most), (">", self.above), ("<", self.below))
        return [(sign, limit) for sign, limit in named if limit is not None]


class State(Section):
    """A number, or array of them, that is kept from step to step; all are zero before the first one."""

    about: Line
    type: Literal["number", "integer", "bits"] = "number"  # double, int64_t, uint64_t
    size: Annotated[int, Field(ge=1, le=MOST_STATE_WORDS)] | str | None = (
        None  # or a whole parameter
    )


class Declaration(Section):
    """A compiled block, as its file says."""

    about: Paragraph
    inputs: dict[str, Input] = Field({}, max_length=MOST_PORTS)
    outputs: Annotated[dict[str, Output], Field(min_length=1, max_length=MOST_PORTS)]
    parameters: dict[str, Parameter] = Field({}, max_length=MOST_PORTS)
    state: dict[str, State] = Field({}, max_length=MOST_PORTS)
    faults: dict[str, Line] = Field({}, max_length=MOST_PORTS)
    elapsed: bool = False  # the step gets how many periods have passed since the last one
    prepare: bool = False  # the source has a function that runs once, before the first step
    cflags: Annotated[list[Flag], AtMost] = []


def members_of(name: str, declaration: Declaration) -> list[str]:
    """Members that a parameter has in the C struct."""
    parameter = declaration.parameters[name]
    match parameter.type:
        case "list":
            return [name, f"n_{name}"]
        case "samples":
            return [*(f"{name}_{column}" for column in parameter.columns), f"n_{name}"]
        case "expression":
            return []
    return [name]
