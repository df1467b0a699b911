"""Records of an MCAP file: schemas, channels and attachments, chunks of many messages at once, and the summary.

A record is one byte that says what it is, its length and its content; all numbers are little-endian.
Source: the specification at mcap.dev/spec.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

MAGIC = b"\x89MCAP0\r\n"
HEADER, FOOTER, SCHEMA, CHANNEL, MESSAGE, CHUNK, MESSAGE_INDEX, CHUNK_INDEX = range(1, 9)
ATTACHMENT, ATTACHMENT_INDEX, STATISTICS, METADATA, METADATA_INDEX, SUMMARY_OFFSET, DATA_END = range(9, 16)  # fmt: skip
HEAD = struct.Struct("<BQ")
OF_MESSAGE = 22  # bytes of channel, sequence and both times


@dataclass
class Messages:
    """Messages of one channel that follow each other.

    Attributes
    ----------
    channel, sequence : int
        Number of the channel, and of the first of its messages.
    t_ns : ndarray of int64, shape (n,)
        Both the time of logging and of publishing.
    data : ndarray of uint8, shape (n, size), or sequence of bytes
        Of each message; an array where all have one size.
    """

    channel: int
    sequence: int
    t_ns: NDArray[np.int64]
    data: NDArray[np.uint8] | Sequence[bytes]

    def records(self) -> tuple[memoryview, NDArray[np.int64]]:
        """Return them as records, and where each of these begins."""
        if isinstance(self.data, np.ndarray):
            made = self._of_one_size(self.data)
            return made.view(np.uint8).data, np.arange(len(made)) * made.itemsize
        records = [
            self._of_one_size(np.frombuffer(one, np.uint8)[None, :], slice(k, k + 1)).tobytes()
            for k, one in enumerate(self.data)
        ]
        ends = np.cumsum([0, *map(len, records)])
        return memoryview(b"".join(records)), ends[:-1]

    def _of_one_size(self, data: NDArray[np.uint8], which: slice = slice(None)) -> NDArray[np.void]:
        size = data.shape[1]
        made = np.empty(
            len(data),
            [("opcode", "u1"), ("length", "<u8"), ("channel", "<u2"), ("sequence", "<u4"), ("logged", "<u8"),
             ("published", "<u8"), ("data", "u1", (size,))],
        )  # fmt: skip
        made["opcode"], made["length"], made["channel"] = MESSAGE, OF_MESSAGE + size, self.channel
        made["sequence"] = np.arange(self.sequence, self.sequence + len(self.t_ns))[which]
        made["logged"] = made["published"] = self.t_ns[which]
        made["data"] = data
        return made


@dataclass
class McapFile:
    """A file that is written from its beginning to its end; `finish` writes the summary.

    Parameters
    ----------
    file : binary file
        Empty.
    library : str
        Name of who writes it.
    """

    file: BinaryIO
    library: str
    _schemas: list[bytes] = field(default_factory=list)
    _channels: list[bytes] = field(default_factory=list)
    _chunks: list[bytes] = field(default_factory=list)
    _attachments: list[bytes] = field(default_factory=list)
    _metadata: list[bytes] = field(default_factory=list)
    _counts: dict[int, int] = field(default_factory=dict)
    _first_ns: int | None = None
    _last_ns: int = 0

    def __post_init__(self) -> None:
        self.file.write(MAGIC)
        self._write(HEADER, _text("") + _text(self.library))

    def schema(self, name: str, encoding: str, data: bytes) -> int:
        """Write a schema; return its number."""
        number = len(self._schemas) + 1
        content = struct.pack("<H", number) + _text(name) + _text(encoding) + _long(data)
        self._schemas.append(_record(SCHEMA, content))
        self.file.write(self._schemas[-1])
        return number

    def channel(self, topic: str, encoding: str, schema: int, metadata: Mapping[str, str]) -> int:
        """Write a channel; return its number."""
        number = len(self._channels) + 1
        content = (
            struct.pack("<HH", number, schema) + _text(topic) + _text(encoding) + _map(metadata)
        )
        self._channels.append(_record(CHANNEL, content))
        self._counts[number] = 0
        self.file.write(self._channels[-1])
        return number

    def metadata(self, name: str, words: Mapping[str, str]) -> None:
        """Write some words about the file."""
        place, length = self._write(METADATA, _text(name) + _map(words))
        index = struct.pack("<QQ", place, length) + _text(name)
        self._metadata.append(_record(METADATA_INDEX, index))

    def attachment(self, t_ns: int, name: str, media_type: str, data: bytes) -> None:
        """Write another file into it."""
        content = struct.pack("<QQ", t_ns, t_ns) + _text(name) + _text(media_type)
        content += struct.pack("<Q", len(data)) + data
        place, length = self._write(ATTACHMENT, content + struct.pack("<I", zlib.crc32(content)))
        index = struct.pack("<QQQQQ", place, length, t_ns, t_ns, len(data))
        index += _text(name) + _text(media_type)
        self._attachments.append(_record(ATTACHMENT_INDEX, index))

    def chunk(self, several: Sequence[Messages]) -> None:
        """Write messages, each channel's once, as a chunk of its own."""
        several = [messages for messages in several if len(messages.t_ns)]
        if not several:
            return
        parts = [messages.records() for messages in several]
        size, crc = sum(len(part) for part, _ in parts), 0
        for part, _ in parts:
            crc = zlib.crc32(part, crc)
        first = min(int(messages.t_ns.min()) for messages in several)
        last = max(int(messages.t_ns.max()) for messages in several)
        head = struct.pack("<QQQI", first, last, size, crc) + _text("") + struct.pack("<Q", size)
        place = self.file.tell()
        self.file.write(HEAD.pack(CHUNK, len(head) + size) + head)
        for part, _ in parts:
            self.file.write(part)
        end = self.file.tell()
        begin, indices = 0, {}
        for messages, (part, places) in zip(several, parts, strict=True):
            entries = np.column_stack([messages.t_ns, begin + places]).astype("<u8")
            indices[messages.channel] = self.file.tell()
            self._write(
                MESSAGE_INDEX, struct.pack("<H", messages.channel) + _long(entries.tobytes())
            )
            self._counts[messages.channel] += len(messages.t_ns)
            begin += len(part)
        index = struct.pack("<QQQQ", first, last, place, end - place) + _numbers(indices)
        index += (
            struct.pack("<Q", self.file.tell() - end) + _text("") + struct.pack("<QQ", size, size)
        )
        self._chunks.append(_record(CHUNK_INDEX, index))
        self._first_ns = first if self._first_ns is None else min(self._first_ns, first)
        self._last_ns = max(self._last_ns, last)

    def finish(self) -> None:
        """Write the summary and the end."""
        self._write(DATA_END, struct.pack("<I", 0))
        start = self.file.tell()
        counts = struct.pack(
            "<QHIIIIQQ", sum(self._counts.values()), len(self._schemas), len(self._channels), len(self._attachments),
            len(self._metadata), len(self._chunks), self._first_ns or 0, self._last_ns,
        )  # fmt: skip
        groups = {
            SCHEMA: self._schemas,
            CHANNEL: self._channels,
            STATISTICS: [_record(STATISTICS, counts + _numbers(self._counts))],
            CHUNK_INDEX: self._chunks,
            ATTACHMENT_INDEX: self._attachments,
            METADATA_INDEX: self._metadata,
        }
        summary, offsets = b"", b""
        for opcode, records in groups.items():
            if not records:
                continue
            group = b"".join(records)
            place = struct.pack("<BQQ", opcode, start + len(summary), len(group))
            offsets += _record(SUMMARY_OFFSET, place)
            summary += group
        footer = struct.pack("<QQ", start, start + len(summary))
        written = summary + offsets + HEAD.pack(FOOTER, len(footer) + 4) + footer
        self.file.write(written + struct.pack("<I", zlib.crc32(written)) + MAGIC)

    def _write(self, opcode: int, content: bytes) -> tuple[int, int]:
        place = self.file.tell()
        return place, self.file.write(_record(opcode, content))


def _record(opcode: int, content: bytes) -> bytes:
    return HEAD.pack(opcode, len(content)) + content


def _long(data: bytes) -> bytes:
    return struct.pack("<I", len(data)) + data


def _text(text: str) -> bytes:
    return _long(text.encode())


def _map(words: Mapping[str, str]) -> bytes:
    return _long(b"".join(_text(key) + _text(value) for key, value in words.items()))


def _numbers(numbers: Mapping[int, int]) -> bytes:
    return _long(b"".join(struct.pack("<HQ", key, value) for key, value in numbers.items()))
