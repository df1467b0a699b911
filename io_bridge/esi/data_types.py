"""Names of data types as an ESI writes them, and as our device files do."""

from __future__ import annotations

import re

from io_bridge.slaves.device_description import TEXT, TYPES

NAMES = {
    "BOOL": "BOOL",
    "SINT": "INT8",
    "INT": "INT16",
    "INT24": "INT24",
    "DINT": "INT32",
    "LINT": "INT64",
    "USINT": "UINT8",
    "BYTE": "UINT8",
    "UINT": "UINT16",
    "WORD": "UINT16",
    "UINT24": "UINT24",
    "UDINT": "UINT32",
    "DWORD": "UINT32",
    "ULINT": "UINT64",
    "LWORD": "UINT64",
    "REAL": "REAL32",
    "LREAL": "REAL64",
    **{f"BIT{n}": f"BIT{n}" for n in range(2, 9)},
}
ESI_NAMES = {ours: name for name, ours in reversed(NAMES.items())}
TEXT_TYPE = re.compile(r"STRING\s*\((\d+)\)")


def type_of(name: str, bits: int) -> str | None:
    """Return our type for a name and its number of bits; None when no type has that size."""
    ours = NAMES.get(name)
    if ours is not None and TYPES[ours][1] == bits:
        return ours
    whole = bits % 8 == 0 and bits > 0
    if TEXT_TYPE.fullmatch(name) and whole:
        return f"STRING({bits // 8})"
    # an enumeration, a bit field, an array of bytes
    if 1 <= bits <= 8:
        return "BOOL" if bits == 1 else f"BIT{bits}"
    return f"OCTETS({bits // 8})" if whole else None


def esi_name(ours: str) -> str:
    """Return the name that an ESI has for one of our types."""
    text = TEXT.fullmatch(ours)
    if text is None:
        return ESI_NAMES[ours]
    return f"STRING({text[2]})" if text[1] == "STRING" else f"ARRAY [0..{int(text[2]) - 1}] OF BYTE"
