"""Readers of binary formats, each by its library; they run behind `fence.py`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from io_bridge.logs.formats.cdr import LONGEST, decoded_columns, leaves_of
from io_bridge.logs.formats.opened import extra
from io_bridge.logs.formats.parquet import STAMP_PARTS, read_parquet, stamped
from io_bridge.logs.formats.table import (
    MOST_BYTES,
    MOST_CELLS,
    MOST_COLUMNS,
    Array,
    LogError,
    Table,
    whole_table,
)

MOST_DEPTH = 6
MOST_ELEMENTS = 64  # of an array of structures
MOST_MESSAGES = 20_000_000
NAMES_OF_COLUMNS = ("columns", "column_names", "names", "labels", "fields")


def read_mdf(path: Path) -> list[Table]:
    """Read the channel groups of an MDF4 (or MDF3) file; the time of each is its master channel."""
    mdf = extra("asammdf", path).MDF(path)
    tables = []
    for index, group in enumerate(mdf.groups):
        numbers: dict[str, Array] = {}
        units: dict[str, str] = {}
        stamps = np.zeros(0)
        for k, channel in enumerate(group.channels[:MOST_COLUMNS]):
            signal = mdf.get(group=index, index=k, ignore_invalidation_bits=True)
            samples = np.asarray(signal.samples)
            stamps = np.asarray(signal.timestamps, dtype=float)
            if (
                channel.channel_type in (2, 3)
                or samples.ndim != 1
                or samples.dtype.kind not in "iufb"
            ):
                continue
            numbers[channel.name] = samples.astype(float)
            units[channel.name] = signal.unit or ""
        if numbers:
            named = "time" if "time" not in numbers else "master time"
            name = str(getattr(group.channel_group, "acq_name", "") or f"group {index}")
            numbers = {named: stamps, **numbers}
            tables.append(whole_table(name, numbers, {named: "s", **units}, "mdf"))
    return tables


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


def read_hdf5(path: Path) -> list[Table]:
    """Read the data sets of an HDF5 file, and of a MATLAB v7.3 file, which is one."""
    h5py = extra("h5py", path)
    found: list[tuple[str, Array, str]] = []
    remarks: list[str] = []

    def look(name: str, item: Any) -> None:
        if not isinstance(item, h5py.Dataset) or name.startswith("#") or len(found) >= MOST_COLUMNS:
            return
        if item.size > MOST_CELLS:
            raise LogError(f"hdf5: {name} has {item.size} cells, at most {MOST_CELLS} are read")
        unit = item.attrs.get("unit", item.attrs.get("units", ""))
        unit = unit.decode(errors="replace") if isinstance(unit, bytes) else str(unit)
        if item.dtype.names and item.ndim == 1:
            rows = item[:]
            found.extend(
                (f"{name}/{n}", rows[n].astype(float), "")
                for n in item.dtype.names
                if rows[n].dtype.kind in "iufb"
            )
        elif item.dtype.kind in "iufb":
            names = _columns_named(item)
            for n, values in _vectors(name, item):
                number = n.removeprefix(f"{name}_")
                stated = names[int(number) - 1] if number != n and len(names) >= int(number) else ""
                found.append((f"{name}/{stated}" if stated else n, values, unit))

    with h5py.File(path, "r") as file:
        remarks += [f"{key}: {str(value)[:200]}" for key, value in file.attrs.items()]
        file.visititems(look)
    return _by_length(found, "hdf5", tuple(remarks))


def _columns_named(item: Any) -> list[str]:
    # names of a matrix's columns, from an attribute that has as many
    for key in NAMES_OF_COLUMNS:
        cells = np.ravel(item.attrs.get(key, []))
        words = [c.decode(errors="replace") if isinstance(c, bytes) else str(c) for c in cells]
        if len(words) == min(item.shape) and all(words):
            return [word.replace("/", " ")[:80] for word in words]
    return []


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
    return _by_length(found, "mat", ())


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
    values = np.asarray(item[()] if hasattr(item, "id") else item, dtype=float)
    if len(shape) == 1:
        yield name, values
        return
    columns = values if shape[0] >= shape[1] else values.T
    if columns.shape[1] == 1:
        yield name, columns[:, 0]
    elif columns.shape[1] <= 64:
        for k in range(columns.shape[1]):
            yield f"{name}_{k + 1}", columns[:, k]


def _by_length(
    found: list[tuple[str, Array, str]], form: str, remarks: tuple[str, ...]
) -> list[Table]:
    # vectors of one folder and one length are one table, and those of folders in it, which have no time of their own
    homes = {(name.rpartition("/")[0], len(values)) for name, values, _ in found}
    groups: dict[tuple[str, int], list[tuple[str, Array, str]]] = {}
    for name, values, unit in found:
        steps = name.split("/")
        depth = next(k for k in range(len(steps)) if ("/".join(steps[:k]), len(values)) in homes)
        folder, last = "/".join(steps[:depth]), "/".join(steps[depth:])
        groups.setdefault((folder, len(values)), []).append((last, values, unit))
    tables = []
    for (folder, _), columns in groups.items():
        numbers = {name: values for name, values, _ in columns}
        units = {name: unit for name, _, unit in columns if unit}
        tables.append(whole_table(folder, numbers, units, form, remarks))
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
