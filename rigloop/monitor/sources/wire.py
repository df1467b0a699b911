"""Binary frames to a page: a JSON header, then float64 numbers where they can be read in place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

ALIGNED = 8


def frame(header: dict[str, Any], arrays: Sequence[NDArray[np.float64]]) -> bytes:
    """Return a frame: length of the header as a little-endian uint32, header, numbers of all arrays."""
    text = msgspec.json.encode(header)
    text += b" " * (-(4 + len(text)) % ALIGNED)
    numbers = [np.ascontiguousarray(array, "<f8").tobytes() for array in arrays]
    return b"".join([len(text).to_bytes(4, "little"), text, *numbers])
