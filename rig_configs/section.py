"""The base of every table of a rig file, and the numbers that several of them take."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from rig_configs.numbers import Real


class Section(BaseModel):
    """A table of the file: no unknown key, no silent conversion, frozen once loaded.

    Each key has a sentence, as the docstring below it: `docs/rig.md` is made of them.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


# what counts cycles: with the longest period it stays within 64 bits of nanoseconds
Cycles = Annotated[int, Field(ge=1, le=1_000_000_000)]
Torque = Annotated[Real, Field(ge=1e-6, le=1e6)]  # 0x6076 has 32 bits
Seconds = Annotated[Real, Field(gt=0.0, le=600.0)]
Sign = Literal[-1, 1]
