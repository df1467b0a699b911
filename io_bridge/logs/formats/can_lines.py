"""CAN logs in text, candump and ASC: frames become the signals of a DBC."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np

from io_bridge.logs.formats.dialect import decoded
from io_bridge.logs.formats.opened import extra
from io_bridge.logs.formats.table import MOST_SPOILT, LogError, Spoilt, Table
from rig_configs.bounded import MOST_MECHANISM_BYTES, UnreadableError, read_text

SHORT = re.compile(
    r"\s*\((-?\d+\.\d+)\)\s+\S+\s+([0-9A-Fa-f]{3,8})##?([0-9A-Fa-f]*)\s*(?:[RT])?\s*\Z"
)
LONG = re.compile(
    r"\s*\((-?\d+\.\d+)\)\s+\S+\s+([0-9A-Fa-f]{3,8})\s+\[\d+\]\s+((?:[0-9A-Fa-f]{2}\s*)*)\Z"
)
ASC = re.compile(
    r"\s*(-?\d+\.\d+)\s+\d+\s+([0-9A-Fa-f]+)x?\s+(?:Rx|Tx|TxRq)\s+d\s+([0-9A-Fa-f]+)(?:\s+(.*))?"
)
# of CAN FD: channel, direction, id, perhaps a name, two flags, code and number of the bytes
ASC_FD = re.compile(
    r"\s*(-?\d+\.\d+)\s+CANFD\s+\d+\s+(?:Rx|Tx|TxRq)\s+([0-9A-Fa-f]+)x?\s+(?:\S+\s+)?[01]\s+[01]\s+[0-9A-Fa-f]+\s+"
    r"(\d+)\s+(.*)"
)
STAMPED = re.compile(r"\s*(-?\d+\.\d+)\s")
# lines of an ASC file that are no frame with data: its head, events, states of the bus, remote frames, other buses
BESIDE = re.compile(
    r"\s*(date|base|internal|begin|end|//|no |-?\d+\.\d+\s+("
    r"(?!CANFD\b)[A-Za-z]|\d+\s+(statistic|error|status|overload|j1939)|\d+\s+[0-9A-F]+x?\s+(Rx|Tx|TxRq)\s+r\b))",
    re.IGNORECASE,
)
EXPECTED = {
    "candump": "(1436509052.249713) can0 025#0011223344556677",
    "asc": "0.012345 1 25 Rx d 8 00 11 22 33 44 55 66 77",
}

Frame = tuple[float, int, bytes, int, int]


def read_can(path: Path, raw: bytes, kind: str, dbc: Path | None) -> list[Table]:
    """Read the signals of a CAN log, a table for each message.

    Raises
    ------
    LogError
        No frame, no DBC, or none of its messages in the log.
    """
    text, _ = decoded(path, raw)
    frames, spoilt = _frames(text, kind)
    if not frames:
        raise LogError(f"{path}: no frame; expected lines such as {EXPECTED[kind]!r}")
    ids = sorted({frame[1] for frame in frames})
    if dbc is None:
        shown = ", ".join(f"{one:#05x}" for one in ids[:12])
        raise LogError(
            f"{path}: {len(frames)} CAN frames of {len(ids)} ids ({shown}); give their signals with --dbc FILE"
        )
    database = _database(path, dbc)
    tables: list[Table] = []
    for message in database.messages:
        chosen = [frame for frame in frames if frame[1] == message.frame_id]
        if chosen:
            tables.append(_decoded(message, chosen, spoilt if not tables else [], kind))
    if not tables:
        raise LogError(
            f"{path}: none of the {len(database.messages)} messages of {dbc} is in the log"
        )
    return tables


def _frames(text: str, kind: str) -> tuple[list[Frame], list[Spoilt]]:
    frames: list[Frame] = []
    spoilt: list[Spoilt] = []
    row = 0
    head = text[:2000]
    base = 10 if re.search(r"^\s*base\s+dec", head, re.MULTILINE | re.IGNORECASE) else 16
    is_relative = kind == "asc" and bool(re.search(r"timestamps\s+relative", head, re.IGNORECASE))
    now_s = 0.0
    for number, line in enumerate(text.splitlines(), start=1):
        if is_relative and (stamp := STAMPED.match(line)):
            now_s += float(stamp[1])
        if not line.strip() or (kind == "asc" and BESIDE.match(line)):
            continue
        frame = _candump(line) if kind == "candump" else _asc(line, base)
        if frame:
            t_s, id_, data = frame
            frames.append((now_s if is_relative else t_s, id_, data, row, number))
        elif len(spoilt) < MOST_SPOILT:
            spoilt.append(Spoilt("damaged row", row, number, line[:40], EXPECTED[kind]))
        row += 1
    return frames, spoilt


def _candump(line: str) -> tuple[float, int, bytes] | None:
    match = SHORT.match(line) or LONG.match(line)
    if not match:
        return None
    digits = match[3].replace(" ", "")
    if "##" in line:
        digits = digits[1:]  # flags of CAN FD
    if len(digits) % 2:
        return None
    return float(match[1]), int(match[2], 16), bytes.fromhex(digits)


def _asc(line: str, base: int) -> tuple[float, int, bytes] | None:
    match = ASC_FD.match(line)
    n = int(match[3]) if match else 0
    if match is None:
        match = ASC.match(line)
        if match is None:
            return None
        n = int(match[3], 16)
    # bytes have the base of the ids, and numbers that are none follow them
    cells = (match[4] or "").split()[:n]
    try:
        data = bytes(int(cell, base) for cell in cells if len(cell) == 2 or base == 10)
        return (float(match[1]), int(match[2], base), data) if len(data) == n else None
    except ValueError:
        return None


def _database(path: Path, dbc: Path) -> Any:
    cantools = extra("cantools", path)
    try:
        return cantools.database.load_string(read_text(dbc, MOST_MECHANISM_BYTES), "dbc")
    except (UnreadableError, cantools.database.Error, ValueError, KeyError) as error:
        raise LogError(f"{dbc}: is not a DBC: {str(error).splitlines()[0][:120]}") from None


def _decoded(message: Any, frames: list[Frame], spoilt: list[Spoilt], kind: str) -> Table:
    signals = {signal.name: signal.unit or "" for signal in message.signals}
    columns: dict[str, list[float]] = {name: [] for name in ("time", *signals)}
    rows, lines = [], []
    for t_s, _, data, row, line in frames:
        try:
            values = message.decode(data, decode_choices=False)
        except Exception as error:
            # cantools and bitstruct have classes of their own for a frame that is too short
            if len(spoilt) < MOST_SPOILT:
                spoilt.append(
                    Spoilt(
                        "damaged row", row, line, data.hex(), f"a frame of {message.name}: {error}"
                    )
                )
            continue
        columns["time"].append(t_s)
        for name in signals:
            columns[name].append(float(values.get(name, np.nan)))
        rows.append(row)
        lines.append(line)
    return Table(
        name=message.name,
        numbers={name: np.array(values) for name, values in columns.items()},
        words={},
        row=np.array(rows, dtype=np.int64),
        n_rows=len(frames),
        line=np.array(lines, dtype=np.int64),
        units={"time": "s", **signals},
        spoilt=tuple(spoilt),
        form={"format": kind},
    )
