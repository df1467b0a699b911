"""A run folder as arrays: owners of signals, units, times on three clocks, events, and what is missing."""

import sys

import msgspec
import numpy as np
import pytest
from recorded_runs import ANGLE, MANIFEST, MS, TORQUE, UTC_NS, ZERO_NS, write_recorded_run

import rigloop
from rigloop.api.columns import extra
from rigloop.run_folder.manifest import ManifestError, write_manifest


@pytest.fixture
def folder(tmp_path):
    return write_recorded_run(tmp_path)


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
    with pytest.raises(KeyError, match="at = 'x': no task and no signal; tasks: estimation, simu"):
        run.columns(ANGLE, at="x")


@pytest.mark.parametrize("between_s", ["ab", 5, (None, 1.0), (1.0,), ("x", 1.0)])
def test_what_is_no_pair_of_times_is_refused(folder, between_s):
    with pytest.raises(TypeError, match=r"between_s = .*: give two times"):
        rigloop.open_run(folder).columns(TORQUE, between_s=between_s)


def test_a_time_may_be_endless_and_not_no_number(folder):
    run = rigloop.open_run(folder)
    assert len(run.columns(TORQUE, between_s=(-np.inf, np.inf)).t_s) == 9
    assert len(run.columns(TORQUE, between_s=(np.inf, -np.inf)).t_s) == 0
    with pytest.raises(ValueError, match=r"between_s = .*nan.*: give two times that are numbers"):
        run.columns(TORQUE, between_s=(np.nan, 1.0))


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
