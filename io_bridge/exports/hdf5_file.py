"""HDF5: a group a task, a data set a signal at its path, units as attributes; events are a group of their own."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from io_bridge.exports.measured import Measured
from io_bridge.exports.progress import Advance
from io_bridge.logs.formats.opened import extra


def write_hdf5(measured: Measured, path: Path, advance: Advance) -> None:
    """Write `<task>/t_ns` and `<task>/<path>` of each signal."""
    h5py = extra("h5py", path, "written")
    text = h5py.string_dtype()
    with h5py.File(path, "w", libver="latest") as file:
        file.attrs["rigloop"] = json.dumps(dict(measured.facts))
        if measured.utc_ns is not None:
            file.attrs["utc_ns"] = measured.utc_ns
        for group in measured.groups:
            place = file.create_group(group.name)
            place.attrs["period_ns"] = group.period_ns
            times = place.create_dataset("t_ns", len(group), np.int64)
            times.attrs["unit"] = "ns"
            # a path that another one goes on from is a folder; its own values stand below it
            folders = {
                "/".join(p.split("/")[:n]) for p in group.paths for n in range(1, p.count("/") + 1)
            }
            sets = []
            for name, unit in zip(group.paths, group.units, strict=True):
                at = f"{name}/value" if name in folders or name == "t_ns" else name
                made = place.create_dataset(at, len(group), np.float64)
                made.attrs.update({"unit": unit, "path": name})
                sets.append(made)
            row = 0
            for t_ns, values in group.parts():
                end = row + len(t_ns)
                times[row:end] = t_ns
                for column, made in enumerate(sets):
                    made[row:end] = np.ascontiguousarray(values[:, column])
                row = end
                advance(len(t_ns))
        events = file.create_group("events")
        events.attrs["unit of t_ns"] = "ns"
        events.create_dataset("t_ns", data=np.array([e.t_ns for e in measured.events], np.int64))
        for name in ("kind", "words"):
            said = [getattr(event, name) for event in measured.events]
            events.create_dataset(name, data=np.array(said, object), dtype=text)
