"""Channels of a rig: a topic a block, whose messages are packed (CDR), one a cycle; events and mechanisms as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from io_bridge.exports.mcap_file import LOG_SCHEMA, PACKAGE, message_of, packed, schema_text
from io_bridge.exports.measured import Group
from rigloop.monitor.sources.moving import Moving
from rigloop.monitor.sources.source import Source

EVENTS = "/events"
FRAME = "rig"
_NUMBERS = {"type": "array", "items": {"type": "object"}}
SCENE_SCHEMA = {
    "type": "object",
    "title": "foxglove.SceneUpdate",
    "properties": {
        "deletions": _NUMBERS,
        "entities": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "timestamp": LOG_SCHEMA["properties"]["timestamp"],  # type: ignore[index]
                    "frame_id": {"type": "string"},
                    "id": {"type": "string"},
                    "frame_locked": {"type": "boolean"},
                    "lines": _NUMBERS,
                },
            },
        },
    },
}
UPRIGHT = {
    "position": {"x": 0.0, "y": 0.0, "z": 0.0},
    "orientation": {"x": 0.0, "y": 0.0, "z": 0.0, "w": 1.0},
}
LINE_STRIP = 0
THICKNESS_PX = 3.0
COLOUR = {"r": 0.0, "g": 0.4, "b": 0.65, "a": 1.0}
EMPTY = ("metadata", "arrows", "cubes", "spheres", "cylinders", "triangles", "texts", "models")


@dataclass(frozen=True)
class Channel:
    """A topic.

    Attributes
    ----------
    number : int
    topic : str
    encoding, schema_name, schema_encoding, schema : str
        As the protocol has them.
    task : str
        At whose cycles its messages are; empty for events.
    paths : tuple of str
        Signals, in the order of a message's numbers; empty of what is not made of signals alone.
    moving : Moving or None
        The mechanism that is drawn.
    """

    number: int
    topic: str
    encoding: str
    schema_name: str
    schema_encoding: str
    schema: str
    task: str = ""
    paths: tuple[str, ...] = ()
    moving: Moving | None = None

    def advertised(self) -> dict[str, Any]:
        """Return it as the protocol announces it."""
        return {
            "id": self.number,
            "topic": self.topic,
            "encoding": self.encoding,
            "schemaName": self.schema_name,
            "schema": self.schema,
            "schemaEncoding": self.schema_encoding,
        }


def channels_of(source: Source, movings: list[Moving]) -> list[Channel]:
    """Return all channels of a rig: one for each block and task, one for each mechanism, and one for events."""
    groups: dict[tuple[str, str], list[str]] = {}
    for path in source.signals:
        task = source.recorded_in(path)
        if task is not None:
            head = path.partition("/")[0]
            if head == "loop":
                # loop/<task>/late_ns
                head = "/".join(path.split("/")[:2])
            groups.setdefault((head, task), []).append(path)
    homes: dict[str, int] = {}
    for head, _ in groups:
        homes[head] = homes.get(head, 0) + 1
    found: list[Channel] = []
    for (head, task), paths in groups.items():
        topic = f"/{head}" if homes[head] == 1 else f"/{head}/{task}"
        found.append(_of_signals(len(found) + 1, topic, head, task, paths, source))
    for moving in movings:
        text = json.dumps(SCENE_SCHEMA)
        topic = f"/mechanism/{moving.of.block}"
        task = moving.of.task
        found.append(
            Channel(
                len(found) + 1,
                topic,
                "json",
                "foxglove.SceneUpdate",
                "jsonschema",
                text,
                task,
                moving=moving,
            )
        )
    events = json.dumps(LOG_SCHEMA)
    found.append(Channel(len(found) + 1, EVENTS, "json", "foxglove.Log", "jsonschema", events))
    return found


def _of_signals(
    number: int, topic: str, head: str, task: str, paths: list[str], source: Source
) -> Channel:
    units = tuple(source.signals[path].unit for path in paths)
    # the topic says the block already
    names = tuple(path.removeprefix(f"{head}/") for path in paths)
    group = Group(topic.strip("/").replace("/", "_"), np.empty(0), names, units, 0)
    root = message_of(group)
    order = tuple(paths[k] for k in root.leaves())
    name = f"{PACKAGE}/msg/{root.type_name}"
    return Channel(number, topic, "cdr", name, "ros2msg", schema_text(root, group), task, order)


def messages_of(
    channel: Channel, columns: Mapping[str, NDArray[np.float64]], n: int
) -> list[bytes]:
    """Return the messages of `n` cycles of a channel of signals."""
    data = packed(np.column_stack([columns[path] for path in channel.paths]))
    size = len(data) // max(1, n)
    return [data[k * size : (k + 1) * size] for k in range(n)]


def scene_of(moving: Moving, stamp_ns: int) -> bytes:
    """Return the mechanism as it stands, each shape as a line."""
    lines = []
    for own in moving.shapes()[: moving.poses.n_placed]:
        if len(own) < 2 or not np.isfinite(own).all():
            continue
        lines.append(
            {
                "type": LINE_STRIP,
                "pose": UPRIGHT,
                "thickness": THICKNESS_PX,
                "scale_invariant": True,
                "points": [{"x": x, "y": y, "z": z} for x, y, z in own.tolist()],
                "color": COLOUR,
                "colors": [],
                "indices": [],
            }
        )
    entity = {
        "timestamp": stamp_of(stamp_ns),
        "frame_id": FRAME,
        "id": moving.of.block,
        "lifetime": {"sec": 0, "nsec": 0},
        "frame_locked": False,
        **{name: [] for name in EMPTY},
        "lines": lines,
    }
    return json.dumps({"deletions": [], "entities": [entity]}).encode()


def log_of(words: str, level: int, stamp_ns: int) -> bytes:
    """Return an event."""
    event = {
        "timestamp": stamp_of(stamp_ns),
        "level": level,
        "message": words,
        "name": "rigloop",
        "file": "",
        "line": 0,
    }
    return json.dumps(event).encode()


def stamp_of(t_ns: int) -> dict[str, int]:
    """Return a moment as seconds and nanoseconds."""
    seconds, rest = divmod(t_ns, 1_000_000_000)
    return {"sec": seconds, "nsec": rest}
