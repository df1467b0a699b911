"""The report's part on the axes of a run with several: a row each, and their angles and torques."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from rigloop.report.felt import FOLLOWS
from rigloop.run_folder.manifest import Axis, Felt, Manifest
from rigloop.run_folder.recorded import is_sane, recorded_signal

Panel = tuple[str, list[tuple[str, Any, Any]]]


class AxisRow(NamedTuple):
    """A row of the table."""

    guard: str
    drive: str
    verdict: str
    peak_nm: float | None
    felt: Felt | None


def axis_rows(manifest: Manifest, records: Mapping[str, np.ndarray]) -> list[AxisRow]:
    """Return a row an axis; none for a run with one axis, whose tiles say it all."""
    if len(manifest.axes) < 2:
        return []
    return [
        AxisRow(guard, axis.drive, axis.verdict, _peak_nm(axis, records), axis.felt)
        for guard, axis in manifest.axes.items()
    ]


def _peak_nm(axis: Axis, records: Mapping[str, np.ndarray]) -> float | None:
    """Return the largest torque while the guard followed its request; None if nothing says so."""
    found = [
        recorded_signal(records, *axis.signals.get(role, ("", ""))) for role in ("command", "state")
    ]
    command, state = found
    if command is None or state is None:
        return None
    values = command[1][np.isin(state[1], FOLLOWS)]
    values = values[np.isfinite(values)]
    return float(np.abs(values).max()) if len(values) else None


def axis_panels(manifest: Manifest, records: Mapping[str, np.ndarray]) -> list[Panel]:
    """Return angle and torques of each axis, for the plots over time; none for a run with one axis."""
    if len(manifest.axes) < 2:
        return []
    panels: list[Panel] = []
    for guard, axis in manifest.axes.items():
        for label, roles in (
            ("angle (deg)", (("angle", ""),)),
            ("torque (N m)", (("torque", "model"), ("command", "commanded"))),
        ):
            lines = []
            for role, name in roles:
                found = recorded_signal(records, *axis.signals.get(role, ("", "")))
                if found is not None:
                    value = np.where(is_sane(found[1]), found[1], np.nan)
                    lines.append((name, found[0], np.degrees(value) if role == "angle" else value))
            if lines:
                panels.append((f"{guard}: {label}", lines))
    return panels
