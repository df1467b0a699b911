"""CSV: one table, numbers with every digit that they need; units, events and facts in a JSON file beside it."""

from __future__ import annotations

import csv
import json
from pathlib import Path

from io_bridge.exports.measured import NS, Measured
from io_bridge.exports.progress import Advance

TIME = "t_s"


def write_csv(measured: Measured, path: Path, advance: Advance) -> None:
    """Write a header of paths and a line a cycle; the first column is the time in seconds."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([TIME, *(path for path, _ in measured.columns)])
        for t_ns, values in measured.joined():
            # the shortest text that reads back as the same number
            rows = zip(t_ns.tolist(), values.tolist(), strict=True)
            file.writelines(f"{_seconds(t)},{','.join(map(repr, row))}\n" for t, row in rows)
            advance(len(t_ns))


def beside_csv(measured: Measured) -> str:
    """Return the JSON text that stands beside the table, which has no place for it."""
    document = {
        **measured.facts,
        "units": {TIME: "s", **dict(measured.columns)},
        "events": [
            {"t_s": event.t_ns / NS, "kind": event.kind, "words": event.words}
            for event in measured.events
        ],
    }
    return json.dumps(document, indent=2) + "\n"


def _seconds(t_ns: int) -> str:
    sign, size = ("-", -t_ns) if t_ns < 0 else ("", t_ns)
    whole, rest = divmod(size, NS)
    return f"{sign}{whole}.{rest:09d}"
