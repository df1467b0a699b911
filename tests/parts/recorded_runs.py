"""A run folder of two tasks, written without a run: signals whose values say which row they are of."""

from pathlib import Path

import msgspec
import numpy as np

from io_bridge.recording.record import RecordWriter
from rig_configs.load import find_rig
from rigloop.run_folder.clocks import ClockPair
from rigloop.run_folder.manifest import Axis, DataFault, Manifest, Named, TaskFacts, write_manifest

MS = 1_000_000
ZERO_NS, UTC_NS = 1_000 * MS, 1_790_000_000_000_000_000
ANGLE, TORQUE, STATE = "wheel/angle_rad", "steering/guide/torque_nm", "guard/state"

MANIFEST = Manifest(
    kind="live",
    rig=Named("steering", "0" * 64),
    kernels=(),
    started="2026-01-02T03:04:05Z",
    duration_s=0.01,
    verdict="bad",
    reasons=("it tripped",),
    tasks={
        "estimation": TaskFacts(MS // 5, "estimation.npy", cycles=50),
        "simulation": TaskFacts(MS, "simulation.npy", cycles=9),
    },
    versions={},
    host={},
    faults=(DataFault("trip", 1, 0, "too fast", at_s=0.005),),
    axes={"guard": Axis("bus/wheel", "bad", signals={"state": ("estimation", STATE)})},
    first_cycle_ns=ZERO_NS,
    clocks=(ClockPair(UTC_NS, ZERO_NS, 10),),
)


def write_recorded_run(folder: Path, **facts: object) -> Path:
    """Write records, rig and manifest into a folder that is there, with other facts in the manifest."""
    n = 50
    fast = np.zeros(n, [("t_ns", "<i8"), (ANGLE, "<f8"), (STATE, "<f8"), (TORQUE, "<f8")])
    fast["t_ns"] = np.arange(n) * MS // 5
    fast[ANGLE], fast[STATE] = np.arange(n), np.repeat([0.0, 1.0, 2.0], [10, 10, 30])
    slow = np.zeros(9, [("t_ns", "<i8"), (TORQUE, "<f8"), (ANGLE, "<f8")])
    slow["t_ns"] = np.arange(1, 10) * MS
    slow[TORQUE] = np.arange(9) * 0.1
    for name, rows in (("estimation", fast), ("simulation", slow)):
        with RecordWriter(folder / f"{name}.npy", rows.dtype.names[1:]) as writer:
            writer.append(rows)
    (folder / "rig.toml").write_text(find_rig("steering_wheel").read_text())
    write_manifest(folder, msgspec.structs.replace(MANIFEST, **facts))
    return folder
