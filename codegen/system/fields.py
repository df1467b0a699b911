"""Types of the values in a mechanism file."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StrictFloat, StrictInt, StrictStr

from rig_configs.names import LONGEST_NAME


class Entry(BaseModel):
    """Base of every element's entry: unknown keys are mistakes, entries never change."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class Input(Entry):
    """A run-time parameter that becomes an input signal: `{ input = <value until the first sample>
    }`.
    """

    input: StrictFloat | StrictInt | StrictStr


# of something else in the file, or `<point>_x`; names are checked in full where they are given
Name = Annotated[
    str, Field(strict=True, pattern=r"^[A-Za-z][A-Za-z0-9_]*$", max_length=LONGEST_NAME + 2)
]
Number = StrictFloat | StrictInt | StrictStr
VectorValue = StrictStr | tuple[Number, Number, Number]
Tunable = StrictFloat | StrictInt | StrictStr | Input
