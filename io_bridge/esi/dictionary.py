"""The object dictionary of an ESI: its data types, resolved into objects with entries."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from io_bridge.esi.data_types import type_of
from io_bridge.esi.document import Located, Reading, ascii_of, text_of
from io_bridge.slaves.device_description import ARRAY, RECORD, TEXT, VARIABLE, Entry, Object

MOST_SUB = 254
MOST_BITS = 0xFFF8
ANY = 0xFFFFFFFF
ALIASES = 8
"""Enumerations of enumerations that are followed."""


class _LeftOutError(Exception):
    """An object that no emulated slave and no mailbox here can have; the rest of the file is used."""


@dataclass
class _Row:
    """One entry before its value is known."""

    sub: int
    name: str
    type: str
    bits: int
    flags: Located | None


def read_dictionary(reading: Reading, dictionary: Located) -> list[Object]:
    """Return the objects of a <Dictionary>, by rising index; mistakes and notes go to `reading`."""
    types = {
        text_of(item, "Name"): item
        for item in dictionary.iterfind("DataTypes/DataType")
        if isinstance(item, Located)
    }
    found: dict[int, Object] = {}
    for item in dictionary.iterfind("Objects/Object"):
        assert isinstance(item, Located)
        try:
            made = _object(reading, item, types)
        except _LeftOutError as error:
            index = text_of(item, "Index")
            reading.note(item, f"object {index} {text_of(item, 'Name')!r} is left out: {error}")
            continue
        if made is None:
            continue
        if made.index in found:
            reading.note(item, f"object {made.index:#06x} is there already; the first one counts")
        else:
            found[made.index] = made
    return [found[index] for index in sorted(found)]


def _object(reading: Reading, item: Located, types: dict[str, Located]) -> Object | None:
    known = len(reading.mistakes)
    index = reading.child(item, "Index", 0xFFFF)
    kind = text_of(item, "Type")
    bits = reading.child(item, "BitSize", ANY)
    rows, code = _rows(reading, item, kind, bits, types)
    infos = _infos(item, len(rows))
    if len(reading.mistakes) > known:
        return None
    entries: list[Entry] = []
    flags = item.find("Flags")
    assert flags is None or isinstance(flags, Located)
    for row, info in zip(rows, infos, strict=True):
        ours = type_of(_plain(row.type, types), row.bits)
        if row.sub > MOST_SUB:
            raise _LeftOutError(f"subindex {row.sub}; there are up to {MOST_SUB}")
        if ours is None or row.bits > MOST_BITS:
            raise _LeftOutError(f"subindex {row.sub}: {row.bits} bits of type {row.type!r}")
        if entries and row.sub <= entries[-1].sub:
            raise _LeftOutError(f"subindex {row.sub} after {entries[-1].sub}: they have to rise")
        access, pdo = _flags(reading, row.flags if row.flags is not None else flags)
        name = _name_of(info) or row.name
        if code == VARIABLE:
            name = text_of(item, "Name")
        entry = Entry(row.sub, ours, ascii_of(name), access, pdo)
        value = _value(reading, info, entry)
        entries.append(Entry(row.sub, ours, ascii_of(name), access, pdo, value))
    if not entries:
        return None
    return Object(index, ascii_of(text_of(item, "Name")), tuple(entries), code)


def _plain(name: str, types: dict[str, Located]) -> str:
    """Follow enumerations to the type that they are of."""
    for _ in range(ALIASES):
        base = text_of(types[name], "BaseType") if name in types else ""
        if not base or types[name].find("ArrayInfo") is not None:
            break
        name = base
    return name


def _rows(
    reading: Reading, item: Located, kind: str, bits: int, types: dict[str, Located]
) -> tuple[list[_Row], int]:
    """Return the entries of an object of a type, and its object code."""
    declared = types.get(kind)
    parts = [] if declared is None else declared.findall("SubItem")
    if not parts:
        return [_Row(0, text_of(item, "Name"), kind, bits, None)], VARIABLE
    rows: list[_Row] = []
    code = RECORD
    for part in parts:
        assert isinstance(part, Located)
        part_kind = text_of(part, "Type")
        flags = part.find("Flags")
        assert flags is None or isinstance(flags, Located)
        elements = types[part_kind].find("ArrayInfo") if part_kind in types else None
        if elements is not None:
            assert isinstance(elements, Located)
            code = ARRAY
            rows += _elements(reading, part, types[part_kind], elements, flags)
            continue
        sub = reading.child(part, "SubIdx", ANY, rows[-1].sub + 1 if rows else 0)
        size = reading.child(part, "BitSize", ANY)
        rows.append(_Row(sub, text_of(part, "Name"), part_kind, size, flags))
    return rows, code


def _elements(
    reading: Reading, part: Located, declared: Located, elements: Located, flags: Located | None
) -> Iterator[_Row]:
    first = reading.child(elements, "LBound", ANY, 1)
    n = reading.child(elements, "Elements", ANY)
    size = reading.child(declared, "BitSize", ANY)
    if first + n - 1 > MOST_SUB or (n and size % n):
        raise _LeftOutError(
            f"{n} elements from {first} in {size} bits; there are up to {MOST_SUB}, all alike"
        )
    for sub in range(first, first + n):
        yield _Row(sub, f"SubIndex {sub:03d}", text_of(declared, "BaseType"), size // n, flags)


def _infos(item: Located, n: int) -> list[Located | None]:
    """Return the value that the object gives each entry: its own for a variable, else one each, in
    order."""
    info = item.find("Info")
    if info is None:
        return [None] * n
    assert isinstance(info, Located)
    parts: list[Located | None] = [p for p in info.findall("SubItem") if isinstance(p, Located)]
    if not parts:
        return [info] + [None] * (n - 1)
    return (parts + [None] * n)[:n]


def _name_of(info: Located | None) -> str:
    return "" if info is None or info.tag != "SubItem" else text_of(info, "Name")


def _value(reading: Reading, info: Located | None, entry: Entry) -> int | str:
    """Return the value after power-up: of DefaultData, DefaultString or DefaultValue."""
    words = TEXT.fullmatch(entry.type)
    is_text = words is not None and words[1] == "STRING"
    inner = info.find("Info") if info is not None and info.tag == "SubItem" else info
    data = b""
    for tag in ("DefaultData", "DefaultString", "DefaultValue"):
        found = None if inner is None else inner.find(tag)
        if isinstance(found, Located) and (found.text or "").strip():
            data = _data(reading, found, entry, is_text)
            break
    if is_text:
        return data.rstrip(b"\0").decode("ascii", "replace").replace("\ufffd", "?")
    return int.from_bytes(data, "little") & (1 << entry.bits) - 1


def _data(reading: Reading, found: Located, entry: Entry, is_text: bool) -> bytes:
    """Return the bytes of a default, little-endian, no more than the entry has."""
    size = (entry.bits + 7) // 8
    if found.tag == "DefaultData":
        data = reading.hex_bytes(found)
    elif found.tag == "DefaultString" or is_text:
        data = ascii_of(found.text or "", len(found.text or "")).encode()
    else:
        most = (1 << min(entry.bits, 64)) - 1
        return reading.number(found, found.tag, found.text or "", most).to_bytes(8, "little")
    if len(data) > size:
        reading.note(found, f"{len(data)} bytes for {entry.bits} bits; the first {size} count")
    return data[:size]


ACCESS = {"ro", "wo", "rw"}
MAPPING = {"": "", "r": "rx", "t": "tx", "rt": "rxtx", "tr": "rxtx"}


def _flags(reading: Reading, flags: Located | None) -> tuple[str, str]:
    """Return access and direction of mapping of an entry."""
    if flags is None:
        return "ro", ""
    access = text_of(flags, "Access").lower() or "ro"
    if access not in ACCESS:
        reading.wrong(flags, f"<Access> {access!r}: one of ro, rw, wo")
        access = "ro"
    element = flags.find("Access")
    only = "" if element is None else element.get("WriteRestrictions", "").lower()
    if access == "rw" and only == "preop":
        access = "preop"
    mapping = text_of(flags, "PdoMapping").lower()
    if mapping not in MAPPING:
        reading.wrong(flags, f"<PdoMapping> {mapping!r}: R, T or RT")
    return access, MAPPING.get(mapping, "")
