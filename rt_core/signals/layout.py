"""Places of all parts of a table file: a pure function of its producers, for both sides.

The file says *what* it holds (JSON at its head), never *where*: a reader computes the places
itself, so that no offset of a foreign file is trusted.
"""

from __future__ import annotations

import difflib
import json
import re
import struct
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from rt_core.lateness.histogram import HISTOGRAM_WORDS
from rt_core.lateness.trace import TRACE_SIZE
from rt_core.producer import Mirror, Producer

MAGIC = b"rigloop\0"
TABLE_ABI = 4
WORD = 8
LINE_WORDS = 8  # a cache line of 64 bytes, in words
RING_HEAD_WORDS = 3 * LINE_WORDS  # written and dropped | consumed | spare
PAGE = 4096
LONGEST_SHOWN = 200  # characters of a path that nobody writes
HEADER = struct.Struct("<8sqqq")  # magic, ABI, bytes of the file, bytes of the description
MAX_BYTES = 1 << 32
MAX_CELLS = 1 << 16


def unknown_signal(path: object, known: Iterable[str]) -> KeyError:
    """Return the error for a path that no producer writes: with the nearest names, or where all of them are listed."""
    near = difflib.get_close_matches(str(path)[:LONGEST_SHOWN], list(known), n=3)
    remedy = (
        f"did you mean {' or '.join(map(repr, near))}?"
        if near
        else "`rigloop signals RIG` lists them"
    )
    return KeyError(f"nothing writes {path!r:.{LONGEST_SHOWN}}; {remedy}")


class TableError(ValueError):
    """A file is not a table that this version can read; the message names the file and the reason."""


class CutError(TableError):
    """The file of a table in use was cut short by something else: what it held at its end is gone."""

    def __init__(self, path: str, found: int | None = None, total: int | None = None) -> None:
        left = "" if found is None else f": {found} of {total} bytes are left"
        super().__init__(f"{path}: was truncated by another program while it was in use{left}")


@dataclass(frozen=True)
class Area:
    """A producer and the places (in words from the start of the file) of its shared areas."""

    producer: Producer
    latest: int
    stride: int  # words from one of the two images of `latest` to the other
    ring: int
    histograms: dict[str, int]
    trace: int  # of the cycles around late ones; only where there is a ring

    @property
    def cells(self) -> int:
        """Number of cells of the image."""
        return len(self.producer.paths)


@dataclass(frozen=True)
class Layout:
    """The places of all areas, and the size of the file."""

    description: bytes
    life: int  # the word of the supervisor's lifeline
    areas: dict[str, Area]
    total_bytes: int


def _up(n: int, unit: int) -> int:
    return -(-n // unit) * unit


def lay_out(producers: tuple[Producer, ...], description: bytes | None = None) -> Layout:
    """Place every area after the description.

    Parameters
    ----------
    producers : tuple of Producer
    description : bytes, optional
        As found in a file; made from the producers otherwise.

    Returns
    -------
    Layout
    """
    if description is None:
        description = describe(producers)
    life = _up(HEADER.size + len(description), PAGE) // WORD
    word = life + LINE_WORDS
    areas = {}
    for producer in producers:
        cells = len(producer.paths)
        stride = _up(max(1, cells), LINE_WORDS)
        latest, word = word, word + LINE_WORDS + 2 * stride
        ring = word
        if producer.ring_slots:
            word += _up(RING_HEAD_WORDS + producer.ring_slots * (1 + cells), LINE_WORDS)
        histograms = {}
        for name in producer.histograms:
            histograms[name] = word
            word += _up(HISTOGRAM_WORDS, LINE_WORDS)
        trace = word
        if producer.ring_slots:
            word += _up(TRACE_SIZE, LINE_WORDS)
        areas[producer.name] = Area(producer, latest, stride, ring, histograms, trace)
    return Layout(description, life, areas, _up(word * WORD, PAGE))


def describe(producers: tuple[Producer, ...], run: str = "") -> bytes:
    """Return the JSON at the head of a table file; `run` is the folder that its evidence belongs to."""
    return json.dumps(
        {
            **({"run": run} if run else {}),
            "producers": [
                {
                    "name": producer.name,
                    "period_ns": producer.period_ns,
                    "signals": list(producer.signals),
                    "mirrors": [[mirror.producer, mirror.path] for mirror in producer.mirrors],
                    "histograms": list(producer.histograms),
                    "ring_slots": producer.ring_slots,
                }
                for producer in producers
            ],
        },
        separators=(",", ":"),
    ).encode()


def run_of(layout: Layout) -> str:
    """Return the folder of the run that a table belongs to; empty if it does not say."""
    run = json.loads(layout.description).get("run", "")
    return run if isinstance(run, str) else ""


def read_layout(path: str, head: bytes, file_bytes: int) -> Layout:
    """Check the head of a file and place its areas.

    Parameters
    ----------
    path : str
        For messages.
    head : bytes
        The start of the file, with the whole description.
    file_bytes : int
        Size of the file.

    Returns
    -------
    Layout

    Raises
    ------
    TableError
        Foreign, truncated, of another ABI, or not consistent with itself.
    """
    if len(head) < HEADER.size:
        raise TableError(f"{path}: {file_bytes} bytes is too short for a signal table")
    magic, abi, total, length = HEADER.unpack_from(head)
    if magic != MAGIC:
        raise TableError(f"{path}: not a signal table (it starts with {magic!r})")
    if abi != TABLE_ABI:
        raise TableError(
            f"{path}: table ABI {abi}, this version reads {TABLE_ABI}; "
            "run both sides from one installation"
        )
    if total != file_bytes:
        raise TableError(f"{path}: says {total} bytes, but has {file_bytes}: truncated or foreign")
    if not 0 < length <= file_bytes - HEADER.size or len(head) < HEADER.size + length:
        raise TableError(f"{path}: description of {length} bytes does not fit {file_bytes}")
    description = bytes(head[HEADER.size : HEADER.size + length])
    try:
        producers = tuple(_read_producer(entry) for entry in json.loads(description)["producers"])
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise TableError(f"{path}: bad description: {error}") from None
    if len({producer.name for producer in producers}) != len(producers):
        raise TableError(f"{path}: bad description: two producers of one name")
    layout = lay_out(producers, description)
    if layout.total_bytes != file_bytes:
        raise TableError(
            f"{path}: its description needs {layout.total_bytes} bytes, the file has {file_bytes}"
        )
    return layout


def _read_producer(entry: dict[str, Any]) -> Producer:
    producer = Producer(
        name=_text(entry["name"]),
        period_ns=_count(entry["period_ns"], 1 << 62),
        signals=tuple(_text(path) for path in entry["signals"]),
        mirrors=tuple(Mirror(_text(name), _text(path)) for name, path in entry["mirrors"]),
        histograms=tuple(_text(name) for name in entry["histograms"]),
        ring_slots=_count(entry["ring_slots"], MAX_BYTES),
    )
    if len(producer.paths) > MAX_CELLS or len(set(producer.paths)) != len(producer.paths):
        raise ValueError(f"producer {producer.name!r} has too many or repeated cells")
    if producer.ring_slots & (producer.ring_slots - 1):
        raise ValueError(f"producer {producer.name!r}: ring_slots is not a power of two")
    return producer


def _text(value: object) -> str:
    if not isinstance(value, str) or not re.fullmatch(r"[\x20-\x7e]{1,200}", value):
        raise ValueError(f"{value!r:.60} is not a name")
    return value


def _count(value: object, limit: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= limit:
        raise ValueError(f"{value!r:.60} is not a count")
    return value
