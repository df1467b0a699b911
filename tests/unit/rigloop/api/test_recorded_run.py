"""A run folder as arrays: owners of signals, units, times on three clocks, events, and what is missing."""

import sys

import msgspec
import numpy as np
import pytest

import rigloop
from io_bridge.recording.record import RecordWriter
from rig_configs.load import find_rig
from rigloop.api.columns import extra
from rigloop.run_folder.clocks import ClockPair
from rigloop.run_folder.manifest import (
    Axis,
    DataFault,
    Manifest,
    ManifestError,
    Named,
    TaskFacts,
    write_manifest,
)

MS = 1_000_000
ZERO_NS, UTC_NS = 1_000 * MS, 1_790_000_000_000_000_000
ANGLE, TORQUE, STATE = "wheel/angle_rad", "steering/guide/torque_nm", "guard/state"


@pytest.fixture
def folder(tmp_path):
    n = 50
    fast = np.zeros(n, [("t_ns", "<i8"), (ANGLE, "<f8"), (STATE, "<f8"), (TORQUE, "<f8")])
    fast["t_ns"] = np.arange(n) * MS // 5
    fast[ANGLE], fast[STATE] = np.arange(n), np.repeat([0.0, 1.0, 2.0], [10, 10, 30])
    slow = np.zeros(9, [("t_ns", "<i8"), (TORQUE, "<f8"), (ANGLE, "<f8")])
    slow["t_ns"] = np.arange(1, 10) * MS
    slow[TORQUE] = np.arange(9) * 0.1
    for name, rows in (("estimation", fast), ("simulation", slow)):
        with RecordWriter(tmp_path / f"{name}.npy", rows.dtype.names[1:]) as writer:
            writer.append(rows)
    (tmp_path / "rig.toml").write_text(find_rig("steering_wheel").read_text())
    write_manifest(tmp_path, MANIFEST)
    return tmp_path


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


def test_a_signal_is_that_of_the_task_that_writes_it(folder):
    run = rigloop.open_run(folder)
    assert run.tasks == ("estimation", "simulation")
    assert (run.signals[ANGLE], run.signals[TORQUE]) == ("estimation", "simulation")
    assert run[ANGLE].tolist() == list(range(50))
    assert len(run[TORQUE]) == len(run.t_s(TORQUE)) == 9
    assert (run.units[ANGLE], run.units[TORQUE]) == ("rad", "Nm")
    assert (run.verdict, run.good) == ("bad", False)
    assert ANGLE in run
    assert "x" not in run


def test_signals_of_two_tasks_are_taken_at_the_times_of_one(folder):
    run = rigloop.open_run(folder)
    both = run.columns(ANGLE, TORQUE, at="simulation")
    assert both[ANGLE].tolist() == [5, 10, 15, 20, 25, 30, 35, 40, 45]
    fast = run.columns(TORQUE, at="estimation", between_s=(0.8e-3, 1.4e-3))
    assert np.isnan(fast[TORQUE][0])
    assert fast[TORQUE][1:].tolist() == [0.0, 0.0]
    assert fast.t_s == pytest.approx([0.8e-3, 1.0e-3, 1.2e-3])
    with pytest.raises(ValueError, match="at which times"):
        run.columns(ANGLE, TORQUE)
    assert set(run.columns(at="simulation")) == {ANGLE, TORQUE}


def test_times_are_known_on_three_clocks(folder):
    run = rigloop.open_run(folder)
    assert run.monotonic_ns([0.0, 0.005]).tolist() == [ZERO_NS, ZERO_NS + 5 * MS]
    assert run.utc(0.005) == np.datetime64(UTC_NS + 5 * MS, "ns")


def test_events_are_in_the_order_of_their_times(folder):
    found = [(round(e.t_s, 6), e.kind, e.words) for e in rigloop.open_run(folder).events]
    assert found == [
        (0.0, "state", "guard: INIT"),
        (0.002, "state", "guard: READY"),
        (0.004, "state", "guard: RUNNING"),
        (0.005, "fault", "too fast"),
    ]


def test_pandas_and_xarray_keep_time_and_units(folder):
    pytest.importorskip("pandas")
    pytest.importorskip("xarray")
    columns = rigloop.open_run(folder).columns(ANGLE, TORQUE, at="simulation")
    frame = columns.pandas()
    assert frame.index.name == "t_s"
    assert frame[ANGLE].tolist() == columns[ANGLE].tolist()
    assert frame.attrs["units"] == {ANGLE: "rad", TORQUE: "Nm"}
    data = columns.xarray()
    assert data[TORQUE].attrs["units"] == "Nm"
    assert data["t_s"].values.tolist() == columns.t_s.tolist()


def test_a_missing_extra_is_named_with_its_remedy(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"pip install 'rigloop\[pandas\]'"):
        extra("pandas")


def test_what_is_not_there_is_named(folder):
    run = rigloop.open_run(folder)
    with pytest.raises(KeyError, match="did you mean 'wheel/angle_rad'"):
        run["wheel/angel_rad"]
    with pytest.raises(KeyError, match="no signal 'x/y'"):
        run.columns(ANGLE)["x/y"]
    (folder / "rig.toml").write_text("title = 1\n")
    assert rigloop.open_run(folder).units[TORQUE] == "Nm"  # by its name
    (folder / "simulation.npy").unlink()
    with pytest.raises(ManifestError, match=r"simulation\.npy: cannot be read"):
        rigloop.open_run(folder)
    with pytest.raises(ManifestError, match=r"manifest\.json"):
        rigloop.open_run(folder / "nowhere")


def test_a_replay_has_no_clock(folder):
    write_manifest(folder, msgspec.structs.replace(MANIFEST, first_cycle_ns=0, clocks=()))
    with pytest.raises(ValueError, match="does not say when its first cycle was"):
        rigloop.open_run(folder).utc(0.0)
