"""A capture as one binary message for a page: a header in JSON, then arrays.

Four bytes (little endian) have the length of the header, which is padded with spaces so that the arrays begin at a
multiple of eight. For each task: `n` times as float64, s from the trigger on; then for each signal `n` float32, or of
an envelope `n` smallest and `n` largest ones. NaN stands where a gap is.
"""

from __future__ import annotations

import math

import msgspec
import numpy as np
from numpy.typing import NDArray

from io_bridge.exports.measured import Group
from rigloop.scope.capture import Capture
from rigloop.scope.measure import measure

MOST_POINTS = 8192  # of a signal in full; more come as an envelope of half as many stretches

Array = NDArray[np.float64]


def message(capture: Capture, most: int = MOST_POINTS, **more: object) -> bytes:
    """Return a capture as a message.

    Parameters
    ----------
    capture : Capture
    most : int
        Points of a signal that are sent in full.
    **more : object
        Other facts for the header.
    """
    groups, arrays = [], []
    for group in capture.groups:
        facts, parts = _group(capture, group, most)
        groups.append(facts)
        arrays += parts
    facts = {
        "kind": "capture",
        "number": capture.number,
        "trigger": capture.trigger,
        "why": capture.why,
        "trigger_s": capture.trigger_s,
        "complete": capture.complete,
        "groups": groups,
        **more,
    }
    text = msgspec.json.encode(facts)
    text += b" " * (-(4 + len(text)) % 8)
    return len(text).to_bytes(4, "little") + text + b"".join(arrays)


def _group(capture: Capture, group: Group, most: int) -> tuple[dict[str, object], list[bytes]]:
    t_s = (group.rows["t_ns"] - capture.trigger_ns) * 1e-9
    gaps = capture.gaps.get(group.name, ())
    # a gap is a point of its own, without a value
    places = np.searchsorted(group.rows["t_ns"], [gap.t_ns for gap in gaps], side="right")
    beyond_s = np.array(
        [(gap.t_ns + group.period_ns / 2 - capture.trigger_ns) * 1e-9 for gap in gaps]
    )
    is_envelope = len(t_s) > most
    edges = _edges(len(t_s), places, most // 2) if is_envelope else None
    times = t_s[edges[:-1]] if edges is not None else np.insert(t_s, places, beyond_s)
    signals, values = [], []
    for path, unit in zip(group.paths, group.units, strict=True):
        found = np.array(group.rows[path])
        figures = measure(t_s, found)
        signals.append({"path": path, "unit": unit, "measured": figures_of(figures)})
        if edges is not None:
            values += [_single(of.reduceat(found, edges[:-1])) for of in (np.minimum, np.maximum)]
        else:
            values.append(_single(np.insert(found, places, np.nan)))
    facts = {
        "task": group.name,
        "period_us": group.period_ns / 1e3,
        "n": len(times),
        "envelope": is_envelope,
        "signals": signals,
        "gaps": [
            {
                "t_s": (gap.t_ns - capture.trigger_ns) * 1e-9,
                "lost": gap.lost,
                "skipped": gap.skipped,
            }
            for gap in gaps
        ],
    }
    padding = b"\0" * (-4 * len(values) * len(times) % 8)
    return facts, [times.astype("<f8").tobytes(), *values, padding]


def figures_of(measured: object) -> dict[str, float | None]:
    """Return figures that JSON can hold: null where there is none."""
    found: dict[str, float] = msgspec.to_builtins(measured)
    return {name: value if math.isfinite(value) else None for name, value in found.items()}


def _edges(n: int, places: NDArray[np.int64], pieces: int) -> NDArray[np.int64]:
    # no stretch reaches across a gap
    even = np.linspace(0, n, max(2, pieces) + 1).astype(np.int64)
    return np.unique(np.concatenate([even, places]))


def _single(values: Array) -> bytes:
    with np.errstate(over="ignore"):
        return values.astype("<f4").tobytes()
