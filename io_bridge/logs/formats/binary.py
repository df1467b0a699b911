"""Readers of binary formats, each by its library; they run behind `fence.py`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from io_bridge.logs.formats.cdr import LONGEST, decoded_columns, leaves_of
from io_bridge.logs.formats.hdf5 import grouped, hdf5_parts, read_hdf5
from io_bridge.logs.formats.mdf import mdf_parts, read_mdf
from io_bridge.logs.formats.opened import extra
from io_bridge.logs.formats.parquet import STAMP_PARTS, parquet_parts, read_parquet, stamped
from io_bridge.logs.formats.table import (
    MOST_BYTES,
    MOST_COLUMNS,
    Array,
    LogError,
    Table,
    whole_table,
)
from io_bridge.logs.formats.window import Window

MOST_DEPTH = 6
MOST_ELEMENTS = 64  # of an array of structures
MOST_MESSAGES = 20_000_000


def read_mcap(path: Path) -> list[Table]:
    """Read the topics of an MCAP file whose messages are JSON objects, or packed (CDR) with a `ros2msg` definition."""
    reading = extra("mcap.reader", path)
    topics: dict[str, _Topic] = {}
    others: set[str] = set()
    size = 0
    with path.open("rb") as file:
        reader = reading.make_reader(file)
        messages = reader.iter_messages(log_time_order=False)
        for count, (schema, channel, message) in enumerate(messages):
            if count > MOST_MESSAGES:
                raise LogError(f"mcap: more than {MOST_MESSAGES} messages")
            topic = topics.get(channel.topic)
            if topic is None:
                form = (channel.message_encoding, schema.encoding if schema else "")
                if form[0] != "json" and form != ("cdr", "ros2msg"):
                    others.add(f"{channel.topic} ({' '.join(form)})")
                    continue
                definition = schema.data.decode(errors="replace") if form[0] == "cdr" else ""
                topic = topics[channel.topic] = _Topic(form[0], definition)
            topic.stamps.append(message.publish_time)
            topic.messages.append(message.data)
            size += len(message.data)
            if size > MOST_BYTES:
                most = f"{MOST_BYTES >> 20} MiB, which is the most that is read"
                raise LogError(f"mcap: its messages unpack to more than {most}")
    if not topics and others:
        raise LogError(
            f"mcap: messages must be JSON, or CDR with a ros2msg definition; found {', '.join(sorted(others))[:200]}"
        )
    return [_topic_table(name, topic) for name, topic in topics.items()]


@dataclass
class _Topic:
    """The messages of a topic as they come."""

    encoding: str
    definition: str
    stamps: list[int] = field(default_factory=list)
    messages: list[bytes] = field(default_factory=list)


def _topic_table(name: str, topic: _Topic) -> Table:
    units: dict[str, str] = {}
    remarks: tuple[str, ...] = ()
    if topic.encoding == "cdr":
        leaves = leaves_of(topic.definition)
        columns, damaged = decoded_columns(leaves, topic.messages)
        units = {leaf.name: leaf.unit for leaf in leaves if leaf.unit and leaf.name in columns}
        remarks = (f"{damaged} messages do not fit their definition",) if damaged else ()
    else:
        rows: list[dict[str, float]] = []
        for message in topic.messages:
            rows.append({})
            _flatten("", json.loads(message), rows[-1], 0)
        names = list(dict.fromkeys(n for row in rows for n in row))[:MOST_COLUMNS]
        columns = {n: np.array([row.get(n, np.nan) for row in rows]) for n in names}
    columns = stamped(columns)
    # an own stamp of the sender is better than that of the recorder, so it keeps its name
    named = "publish_time" if "publish_time" not in columns else "publish_time of the record"
    stamps = np.array(topic.stamps, dtype=np.uint64)
    numbers = {named: (stamps - stamps[0]).astype(np.int64) * 1e-9, **columns}
    return whole_table(name, numbers, {named: "s", **units}, "mcap", remarks)


def read_mat(path: Path) -> list[Table]:
    """Read the variables of a MATLAB v5 file, those of structures too."""
    content = extra("scipy.io", path).loadmat(path, squeeze_me=False, struct_as_record=True)
    found: list[tuple[str, Array, str]] = []
    ours = _own_signals(content.get("signals"))

    def look(name: str, value: Any, depth: int) -> None:
        if depth > MOST_DEPTH or len(found) >= MOST_COLUMNS or not isinstance(value, np.ndarray):
            return
        if value.dtype.names and value.size == 1:
            for key in value.dtype.names:
                look(f"{name}/{key}", value.ravel()[0][key], depth + 1)
        elif value.dtype.names and 1 < value.size <= MOST_ELEMENTS:
            for k, one in enumerate(value.ravel()):
                label = _label(one) or f"{k + 1}"
                for key in value.dtype.names:
                    look(f"{name}/{label}/{key}", one[key], depth + 1)
        elif value.dtype.kind in "iufb":
            path, unit = ours.get(name, (name, ""))
            found.extend((n, values, unit) for n, values in _vectors(path, value))

    for name, value in content.items():
        if not name.startswith("__"):
            look(name, value, 0)
    return _by_length(found, "mat")


def _label(element: Any) -> str:
    # of a signal of a scope of Simulink, "structure with time"
    for key in ("label", "name", "signalName"):
        if key in (element.dtype.names or ()):
            cell = np.ravel(element[key])
            if cell.size and isinstance(cell[0], str):
                return cell[0].replace("/", " ").replace("\n", " ").strip()[:80]
    return ""


def _own_signals(listed: Any) -> dict[str, tuple[str, str]]:
    # path and unit of each variable, as an export of ours lists them
    heads = ("variable", "path", "unit")
    if not isinstance(listed, np.ndarray) or listed.size != 1:
        return {}
    if not set(heads) <= set(listed.dtype.names or ()):
        return {}
    columns = [np.ravel(listed.ravel()[0][head]) for head in heads]
    words = [[str(cell.ravel()[0]) if np.size(cell) else "" for cell in c] for c in columns]
    return {name: (path, unit) for name, path, unit in zip(*words, strict=False)}


def _vectors(name: str, item: Any) -> Iterable[tuple[str, Array]]:
    # a vector, or a matrix of a few columns, whichever way it lies
    shape = tuple(item.shape)
    if len(shape) not in (1, 2) or item.size < 4:
        return
    values = np.asarray(item, dtype=float)
    if len(shape) == 1:
        yield name, values
        return
    columns = values if shape[0] >= shape[1] else values.T
    if columns.shape[1] == 1:
        yield name, columns[:, 0]
    elif columns.shape[1] <= 64:
        for k in range(columns.shape[1]):
            yield f"{name}_{k + 1}", columns[:, k]


def _by_length(found: list[tuple[str, Array, str]], form: str) -> list[Table]:
    tables = []
    for folder, members in grouped([(name, len(values)) for name, values, _ in found]):
        numbers = {last: found[k][1] for k, last in members}
        units = {last: found[k][2] for k, last in members if found[k][2]}
        tables.append(whole_table(folder, numbers, units, form))
    return tables


def _flatten(name: str, value: Any, found: dict[str, float], depth: int) -> None:
    if isinstance(value, bool | int | float):
        found[name or "value"] = float(value)
    elif isinstance(value, list) and depth < MOST_DEPTH:
        for k, inner in enumerate(value[:LONGEST]):
            _flatten(f"{name}.{k}", inner, found, depth + 1)
    elif isinstance(value, dict) and depth < MOST_DEPTH:
        parts = [p for p in STAMP_PARTS if set(value) == set(p)]
        if parts and all(isinstance(one, int | float) for one in value.values()):
            found[name] = float(value[parts[0][0]]) + 1e-9 * float(value[parts[0][1]])
            return
        for key, inner in value.items():
            _flatten(f"{name}.{key}" if name else str(key), inner, found, depth + 1)


READERS: dict[str, Callable[[Path], list[Table]]] = {
    "mdf": read_mdf,
    "mcap": read_mcap,
    "parquet": read_parquet,
    "hdf5": read_hdf5,
    "mat": read_mat,
}

PARTS: dict[str, Callable[[Path, Window], Iterator[list[Table]]]] = {
    "mdf": mdf_parts,
    "parquet": parquet_parts,
    "hdf5": hdf5_parts,
}
