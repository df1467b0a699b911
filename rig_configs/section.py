"""The base of every table of a rig file, and the numbers that several of them take."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, Field

from rig_configs.numbers import Real
from rt_core.settings import STRICT


class Section(BaseModel):
    """A table of the file: no unknown key, no silent conversion, frozen once loaded.

    Each key has a sentence, as the docstring below it: `docs/rig.md` is made of them.
    """

    model_config = STRICT


Torque = Annotated[Real, Field(ge=1e-6, le=1e6)]  # 0x6076 has 32 bits
LONGEST_WAIT_S = 600.0
Seconds = Annotated[Real, Field(gt=0.0, le=LONGEST_WAIT_S)]
