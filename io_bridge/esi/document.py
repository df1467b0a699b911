"""An XML file from outside as a tree whose elements know where they stand, with bounded cost."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, ParseError, TreeBuilder

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import DefusedXMLParser

from rig_configs.bounded import open_regular

MOST_BYTES = 64 << 20
MOST_DEPTH = 64
MOST_ELEMENTS = 1_000_000
MOST_ATTRIBUTES = 64
MOST_NAMES = 4096
"""Different names of elements and attributes; the schema has some 400."""
MOST_BETWEEN = 1 << 18
"""Bytes from one < to the next: a tag with its attributes, or a text."""
MOST_SECONDS = 60.0
CHUNK = 1 << 16
COMPRESSED = (b"\x1f\x8b", b"PK\x03\x04", b"BZh", b"\xfd7zXZ", b"\x28\xb5\x2f\xfd")
NUMBER = re.compile(r"#x([0-9a-fA-F]{1,16})|([0-9]{1,20})")
ENGLISH = "1033"


class EsiError(ValueError):
    """An ESI file is wrong; the message has one line for each mistake, each with the file."""


class _TooMuchError(Exception):
    """Deeper or larger than any ESI."""


class Located(Element):
    """An element with its line and the path from the root."""

    __slots__ = ("line", "path")

    line: int
    path: str


class _Builder(TreeBuilder):
    """Builds located elements, and gives up on trees that no ESI has."""

    def __init__(self) -> None:
        super().__init__(element_factory=Located)
        self.expat: Any = None
        self.paths: list[str] = []
        self.n_elements = 0
        self.names: set[str] = set()
        self.known: dict[str, str] = {}

    def start(self, tag: Any, attrs: Any) -> Any:
        self.n_elements += 1
        self.names.add(tag)
        self.names.update(attrs)
        if (
            len(self.paths) >= MOST_DEPTH
            or self.n_elements > MOST_ELEMENTS
            or len(attrs) > MOST_ATTRIBUTES
            or len(self.names) > MOST_NAMES
        ):
            raise _TooMuchError(
                f"{self.expat.CurrentLineNumber}: more than {MOST_DEPTH} levels, {MOST_ELEMENTS} elements, "
                f"{MOST_ATTRIBUTES} attributes of one, or {MOST_NAMES} different names"
            )
        # a name space, where a file has one, says nothing
        name = str(tag).rpartition("}")[2]
        element = super().start(name, attrs)
        assert isinstance(element, Located)
        path = f"{self.paths[-1]}/{name}" if self.paths else name
        # a path stands at thousands of elements
        self.paths.append(
            self.known.setdefault(path, path) if len(self.known) < MOST_NAMES else path
        )
        element.line, element.path = self.expat.CurrentLineNumber, self.paths[-1]
        return element

    def end(self, tag: Any) -> Any:
        self.paths.pop()
        return super().end(str(tag).rpartition("}")[2])


def read_document(path: Path) -> Located:
    """Parse a file; no document type, no entities, no compression, no more of anything than any ESI has.

    Raises
    ------
    EsiError
        It cannot be read, is not an ESI, or exceeds a limit.
    """
    builder = _Builder()
    parser = DefusedXMLParser(target=builder, forbid_dtd=True)
    builder.expat = parser.parser
    n_bytes = since_tag = 0
    until = time.monotonic() + MOST_SECONDS
    try:
        with open_regular(path) as file:
            while chunk := file.read(CHUNK):
                n_bytes += len(chunk)
                if n_bytes > MOST_BYTES:
                    raise _TooMuchError(f" more than {MOST_BYTES >> 20} MiB")
                if n_bytes == len(chunk) and chunk.startswith(COMPRESSED):
                    raise _TooMuchError(" it is compressed; unpack it first")
                since_tag = _since_tag(since_tag, chunk)
                if since_tag > MOST_BETWEEN or time.monotonic() > until:
                    raise _TooMuchError(
                        f"{parser.parser.CurrentLineNumber}: a tag or text of more than {MOST_BETWEEN >> 10} KiB"
                        if since_tag > MOST_BETWEEN
                        else f" not read within {MOST_SECONDS:g} s"
                    )
                parser.feed(chunk)
        root = parser.close()
    except OSError as error:
        raise EsiError(f"{path}: {error.strerror or error}") from error
    except ParseError as error:
        raise EsiError(f"{path}:{error.position[0]}: no XML: {error}") from error
    except DefusedXmlException as error:
        raise EsiError(
            f"{path}: it has a document type or entities, which no ESI needs; take them out"
        ) from error
    except _TooMuchError as error:
        raise EsiError(f"{path}:{error}") from error
    except (LookupError, ValueError) as error:
        # an encoding that does not exist, or does not fit
        raise EsiError(f"{path}: {error}") from error
    return root


def _since_tag(before: int, chunk: bytes) -> int:
    """Return the longest run of bytes without a < that ends in a chunk or lies in it; the last one if none is too
    long."""
    runs = chunk.split(b"<")
    if len(runs) == 1:
        return before + len(chunk)
    longest = max(before + len(runs[0]), *map(len, runs[1:]))
    return longest if longest > MOST_BETWEEN else len(runs[-1])


@dataclass
class Reading:
    """The state of reading one file: its mistakes so far; `notes` are deviations that were accepted."""

    file: Path
    mistakes: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def wrong(self, at: Located, said: str) -> None:
        """Note a mistake of an element."""
        self.mistakes.append(f"{self.file}:{at.line}: {at.path}: {said}")

    def note(self, at: Located, said: str) -> None:
        """Note a value that was read otherwise than it stands in the file."""
        self.notes.append(f"{self.file}:{at.line}: {at.path}: {said}")

    def check(self) -> None:
        """Raise EsiError with every mistake."""
        if self.mistakes:
            raise EsiError("\n".join(self.mistakes))

    def number(self, at: Located, what: str, text: str, most: int) -> int:
        """Return a whole number, decimal or #x; 0 for one that is wrong."""
        match = NUMBER.fullmatch(text.strip())
        value = -1 if match is None else int(match[1], 16) if match[1] else int(match[2])
        if 0 <= value <= most:
            return value
        self.wrong(
            at, f"{what} = {text.strip()!r}: a whole number as 26 or #x1A, at most {most:#x}"
        )
        return 0

    def attribute(self, at: Located, key: str, most: int = 0xFFFFFFFF, default: int = 0) -> int:
        """Return the number in an attribute."""
        text = at.get(key, "")
        return self.number(at, key, text, most) if text.strip() else default

    def child(
        self, at: Located, tag: str, most: int = 0xFFFFFFFF, default: int | None = None
    ) -> int:
        """Return the number in a child; without a default it has to be there."""
        found = at.find(tag)
        if found is not None and (found.text or "").strip():
            assert isinstance(found, Located)
            return self.number(found, tag, found.text or "", most)
        if default is None:
            self.wrong(at, f"<{tag}> is missing: a whole number as 26 or #x1A")
        return default or 0

    def flag(self, at: Located | None, key: str) -> bool:
        """Return an attribute that is 1 or true."""
        text = "" if at is None else at.get(key, "").strip().lower()
        if at is not None and text not in ("", "0", "1", "false", "true"):
            self.wrong(at, f"{key} = {text!r}: 0 or 1")
        return text in ("1", "true")

    def hex_bytes(self, at: Located) -> bytes:
        """Return the bytes of an element with hexadecimal digits."""
        try:
            return bytes.fromhex(at.text or "")
        except ValueError:
            self.wrong(at, f"{(at.text or '').strip()!r}: pairs of hexadecimal digits")
            return b""


def text_of(at: Element, tag: str) -> str:
    """Return the text of a child, in English where there are several; nothing if it is not there."""
    found = at.findall(tag)
    english = [item for item in found if item.get("LcId") == ENGLISH]
    for item in (*english, *found):
        if (item.text or "").strip():
            return " ".join((item.text or "").split())
    return ""


def ascii_of(text: str, most: int = 64) -> str:
    """Return a text as EEPROM and mailbox can carry it."""
    return text.encode("ascii", "replace").decode()[:most]
