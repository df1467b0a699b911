"""MCAP: a topic a task whose messages are packed (CDR), one a cycle; events as `foxglove.Log`.

A message of JSON repeats every name in every cycle; CDR is eight bytes a signal. Its schema is a `ros2msg`, which
PlotJuggler and Foxglove read: paths become messages in messages. `log_time` and `publish_time` are the same moment.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from io_bridge.exports.measured import NS, Group, Measured, unique
from io_bridge.exports.progress import Advance
from io_bridge.logs.formats.opened import extra

PACKAGE = "rigloop"
LITTLE_ENDIAN_CDR = b"\x00\x01\x00\x00"
CHUNK_BYTES = 4 << 20
RULE = "=" * 80
MEDIA = {".json": "application/json", ".toml": "application/toml"}
LOG_LEVELS = {"fault": 4, "late": 3}  # error, warning; others inform
LOG_SCHEMA = {
    "type": "object",
    "title": "foxglove.Log",
    "properties": {
        "timestamp": {
            "type": "object",
            "properties": {"sec": {"type": "integer"}, "nsec": {"type": "integer"}},
        },
        "level": {"type": "integer"},
        "message": {"type": "string"},
        "name": {"type": "string"},
        "file": {"type": "string"},
        "line": {"type": "integer"},
    },
}


def write_mcap(measured: Measured, path: Path, advance: Advance) -> None:
    """Write a message a cycle of each task, on topics named by the tasks."""
    writing = extra("mcap.writer", path, "written")
    zero = measured.utc_ns or 0
    with path.open("wb") as file:
        # measured numbers hardly shrink: packing them takes the time and saves a few percent
        writer = writing.Writer(
            file, chunk_size=CHUNK_BYTES, compression=writing.CompressionType.NONE
        )
        writer.start(profile="", library="rigloop")
        writer.add_metadata("rigloop", {k: _text(v) for k, v in measured.facts.items()})
        for name, content in measured.files.items():
            writer.add_attachment(
                zero, zero, name, MEDIA.get(Path(name).suffix, "text/plain"), content
            )
        topics = [_register(writer, group) for group in measured.groups]
        _write_events(writer, measured, zero)
        for topic, t_ns, data in _in_order(measured, topics):
            size = len(data) // max(1, len(t_ns))
            view = memoryview(data)
            for number, stamp in enumerate((t_ns + zero).tolist()):
                message = view[number * size : (number + 1) * size]
                writer.add_message(topic.channel, stamp, message, stamp, topic.sequence + number)
            topic.sequence += len(t_ns)
            advance(len(t_ns))
        writer.finish()


@dataclass
class _Topic:
    """A channel, and where each of its message's numbers stands among the signals of its group."""

    channel: int
    order: list[int]
    sequence: int = 0


@dataclass
class _Message:
    """A message type: names of its fields, each a signal or a message of its own."""

    type_name: str
    fields: dict[str, _Message | int] = field(default_factory=dict)

    def leaves(self) -> Iterator[int]:
        for inner in self.fields.values():
            if isinstance(inner, _Message):
                yield from inner.leaves()
            else:
                yield inner


def _register(writer: Any, group: Group) -> _Topic:
    root = message_of(group)
    text = schema_text(root, group)
    schema = writer.register_schema(f"{PACKAGE}/msg/{root.type_name}", "ros2msg", text.encode())
    described = {
        "period_ns": str(group.period_ns),
        "units": json.dumps(dict(zip(group.paths, group.units, strict=True))),
    }
    channel = writer.register_channel(f"/{group.name}", "cdr", schema, described)
    return _Topic(channel, [*root.leaves()])


def message_of(group: Group) -> _Message:
    """Return the message of a group: folders of its paths are messages in it."""
    types: set[str] = set()

    def typed(words: list[str]) -> str:
        name = "".join(w.capitalize() for word in words for w in re.findall("[A-Za-z0-9]+", word))
        name = unique(name if name[:1].isalpha() else f"T{name}", types, 200)
        types.add(name)
        return name

    root = _Message(typed([group.name]))
    folders: dict[tuple[str, ...], _Message] = {(): root}
    for number, path in enumerate(group.paths):
        *steps, last = path.split("/")
        at = root
        for depth, step in enumerate(steps, 1):
            key = tuple(steps[:depth])
            if key not in folders:
                folders[key] = _Message(typed([group.name, *key]))
                at.fields[_field(step, at)] = folders[key]
            at = folders[key]
        at.fields[_field(last, at)] = number
    return root


def schema_text(root: _Message, group: Group) -> str:
    """Return the `ros2msg` definition of a message and of those in it; comments have paths and units."""
    parts, waiting = [], [root]
    while waiting:
        message = waiting.pop(0)
        lines = [] if message is root else [RULE, f"MSG: {PACKAGE}/{message.type_name}"]
        for name, inner in message.fields.items():
            if isinstance(inner, _Message):
                lines.append(f"{PACKAGE}/{inner.type_name} {name}")
                waiting.append(inner)
            else:
                unit = group.units[inner]
                lines.append(f"float64 {name} # {group.paths[inner]}{f' [{unit}]' if unit else ''}")
        parts.append("\n".join(lines) + "\n")
    return "".join(parts)


def _field(word: str, message: _Message) -> str:
    # of ROS: lower case letters, digits and single underscores, a letter first
    name = re.sub(r"_+", "_", re.sub(r"[^a-z0-9]", "_", word.lower())).strip("_") or "value"
    name = name if name[0].isalpha() else f"n{name}"
    return unique(name, message.fields)


def _in_order(
    measured: Measured, topics: list[_Topic]
) -> Iterator[tuple[_Topic, np.ndarray, bytes]]:
    """Yield packed messages of all groups, those of one stretch of time together."""
    first, *others = zip(measured.groups, topics, strict=True)
    ends = [0] * len(others)
    times = [group.t_ns for group, _ in others]
    left = len(first[0])
    for t_ns, values in first[0].parts(first[1].order):
        yield first[1], t_ns, packed(values)
        left -= len(t_ns)
        for k, (group, topic) in enumerate(others):
            end = len(group) if not left else int(np.searchsorted(times[k], t_ns[-1], side="right"))
            if end > ends[k]:
                stamps, there = group.part(slice(ends[k], end), topic.order)
                yield topic, stamps, packed(there)
                ends[k] = end


def packed(values: np.ndarray) -> bytes:
    """Return messages of CDR one after the other, one for each row of numbers."""
    rows = np.empty((len(values), 4 + 8 * values.shape[1]), np.uint8)
    rows[:, :4] = np.frombuffer(LITTLE_ENDIAN_CDR, np.uint8)
    rows[:, 4:] = np.ascontiguousarray(values, "<f8").view(np.uint8).reshape(len(values), -1)
    return rows.tobytes()


def _write_events(writer: Any, measured: Measured, zero: int) -> None:
    if not measured.events:
        return
    schema = writer.register_schema("foxglove.Log", "jsonschema", json.dumps(LOG_SCHEMA).encode())
    channel = writer.register_channel("/events", "json", schema)
    for number, event in enumerate(measured.events):
        stamp = max(0, event.t_ns + zero)
        seconds, rest = divmod(stamp, NS)
        message = {
            "timestamp": {"sec": seconds, "nsec": rest},
            "level": LOG_LEVELS.get(event.kind, 2),
            "message": event.words,
            "name": event.kind,
            "file": "",
            "line": 0,
        }
        writer.add_message(channel, stamp, json.dumps(message).encode(), stamp, number)


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)
