"""The mapping of an unknown log, guessed from names, units, numbers and remarks of the file."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import tomlkit

from io_bridge.logs.formats.table import LogError, Table
from io_bridge.logs.guess.angle_column import guess_angle
from io_bridge.logs.guess.angle_rank import rank_angles
from io_bridge.logs.guess.clock_column import Choice, by_motion, guess_clock
from io_bridge.logs.guess.names import NOT_TORQUE, TORQUE, TORQUES_NM, torque_unit_in
from rig_configs.log_schema import LogMapping, MappingError, parse_mapping

MOST_TORQUES = 4


@dataclass(frozen=True)
class Guess:
    """A mapping with the reasons for it.

    Attributes
    ----------
    mapping : LogMapping
        As if a person had written it.
    table : Table
        The table of the file that it reads.
    choices : tuple of Choice
        Each guess, how sure it is, and why.
    doubts : tuple of str
        Units that the numbers speak against.
    """

    mapping: LogMapping
    table: Table
    choices: tuple[Choice, ...]
    doubts: tuple[str, ...]


def guess_mapping(
    path: Path,
    tables: Sequence[Table],
    *,
    counts_per_rev: float | None = None,
    period_s: float | None = None,
    angle: str | None = None,
    unit: str | None = None,
) -> Guess:
    """Guess how a log is to be read.

    Parameters
    ----------
    path : Path
        Of the log; its name becomes that of the mapping.
    tables : sequence of Table
        What the file holds.
    counts_per_rev, period_s, angle, unit : optional
        What a person knows: counts of a turn, period of a log without time, column of the angle and its unit.

    Raises
    ------
    LogError
        No column can be an angle.
    """
    best: tuple[float, Table, list[tuple[float, str]], object] | None = None
    for table in tables:
        clock = guess_clock(table, period_s)
        ranked = rank_angles(table, str(clock.keys.get("column", "")))
        if angle:
            ranked = [(9.0, name) for _, name in ranked if name == angle]
        if ranked:
            score = ranked[0][0] + (2.0 if "column" in clock.keys else 0.0) + 1e-6 * len(table.row)
            if best is None or score > best[0]:
                best = (score, table, ranked, clock)
    if best is None or best[2][0][0] < -2.0:
        names = ", ".join(name for table in tables for name in table.columns)[:300]
        what = f"no column {angle}" if angle else "no column that can be an angle"
        raise LogError(f"{path}: {what}; found {names}")
    _, table, ranked, _ = best
    clock = guess_clock(table, period_s)
    score, name = ranked[0]
    clock = by_motion(clock, table, name)
    margin = score - ranked[1][0] if len(ranked) > 1 else 3.0
    found = guess_angle(table, name, score, margin, counts_per_rev, unit)
    torques = _torques(table, name)
    choices = [*clock.choices, *found.choices]
    choices += [Choice("torque", str(t["column"]), 0.85, "by its name") for t in torques]
    data: dict[str, object] = {
        "name": mapping_name(path),
        "title": f"Guessed from {path.name}"[:80],
        "header": list(table.columns)[:16]
        if table.has_names
        else [f"column_{k + 1}" for k in range(len(table.columns))],
        **({"table": table.name} if table.name else {}),
        "time": clock.keys,
        "angle": found.keys,
    }
    if torques:
        data["torque"] = torques
    try:
        mapping = parse_mapping(as_toml(data), str(path))
    except MappingError as error:
        said = "; ".join(str(mistake).split(": ", 1)[-1] for mistake in error.mistakes)
        raise LogError(f"{path}: no mapping can be made: {' '.join(said.split())}") from None
    doubts = tuple(doubt for doubt in (clock.doubt, found.doubt) if doubt)
    return Guess(mapping, table, tuple(choices), doubts)


def mapping_name(path: Path) -> str:
    """Return a name that a mapping may have, from that of a file."""
    plain = re.sub(r"[^a-z0-9]+", "_", path.name.split(".")[0].lower()).strip("_")
    return plain[:40] or "log"


def as_toml(data: dict[str, object]) -> str:
    """Return the text of a mapping file."""
    return tomlkit.dumps(data)


def _torques(table: Table, angle: str) -> list[dict[str, object]]:
    found: list[dict[str, object]] = []
    for name, values in table.numbers.items():
        lower = name.lower()
        unit = table.units.get(name, "").lower()
        stated = torque_unit_in(name, unit)
        if name == angle or not (TORQUE.search(lower) or stated):
            continue
        is_share = "%" in f"{lower}{unit}" or "percent" in lower
        if NOT_TORQUE.search(lower) or not np.any(np.isfinite(values)):
            continue
        is_raw = any(
            word in lower for word in ("raw", "adc", "count", "measured_torque", "actual_torque")
        )
        short = mapping_name(Path(re.sub(r"[\[(].*?[\])]", "", name)))
        entry: dict[str, object] = {
            "name": short if short[0].isalpha() else f"torque_{short}",
            "column": name,
            "unit": "raw" if is_share or (is_raw and not stated) else "nm",
        }
        if stated and entry["unit"] == "nm" and TORQUES_NM[stated] != 1.0:
            entry["scale"] = TORQUES_NM[stated]
        if entry["name"] not in {one["name"] for one in found}:
            found.append(entry)
    return found[:MOST_TORQUES]
