"""JSON from a file or a socket, decoded into its record: one kind of error, whatever is wrong with it."""

from __future__ import annotations

from typing import Any

import msgspec


def decode(raw: bytes | str, type: Any = Any) -> Any:
    """Decode one message into its record.

    Raises
    ------
    msgspec.DecodeError
        It is not JSON, not UTF-8, or not of this type.
    """
    try:
        return msgspec.json.decode(raw, type=type)
    except UnicodeError as error:
        raise msgspec.DecodeError(f"JSON is malformed: {error}") from None
    except RecursionError:
        raise msgspec.DecodeError("JSON is malformed: it is nested too deep") from None
