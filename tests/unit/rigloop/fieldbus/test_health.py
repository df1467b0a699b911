import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

from io_bridge.buses.simulated_bus import SimulatedBus
from io_bridge.exchange.exchange import Exchange
from io_bridge.recording.record import RecordWriter, open_record
from io_bridge.slaves.drive_config import DrivePlant
from rigloop.fieldbus import running
from rigloop.fieldbus.health import NothingToShowError, recorded
from rigloop.run_folder import messages
from rigloop.run_folder.tables import table_path

FREE = DrivePlant(hands="free")


class Cells:
    """Cells of a block in one row, to be recorded."""

    def __init__(self, block: Exchange):
        self.row = np.zeros(len(block.writes))
        self.inputs = np.zeros(len(block.reads))
        block.bind(
            *([a.ctypes.data + 8 * i for i in range(len(a))] for a in (self.inputs, self.row))
        )


@pytest.fixture
def run_folder(tmp_path):
    """Record a bus of two drives; the second one is without power for three cycles in it."""

    def record(disturb):
        bus = SimulatedBus([FREE, FREE])
        block = bus.block()
        cells = Cells(block)
        bus.to_op()
        paths = list(block.writes.values())
        with RecordWriter(tmp_path / "estimation.npy", paths) as writer:
            for k in range(100):
                disturb(bus, k)
                block.step(k * 1_000_000)
                row = np.zeros(1, writer.dtype)
                row["t_ns"] = k * 1_000_000
                for path, value in zip(paths, cells.row, strict=True):
                    row[path] = value
                writer.append(row)
        return tmp_path

    return record


def test_a_good_run_is_good(run_folder):
    found = recorded(run_folder(lambda bus, k: None))
    assert found.good
    assert (found.lost, found.late, found.duplicated) == (0, 0, 0)
    assert [slave.name for slave in found.slaves] == ["drive0", "drive1"]
    assert all(slave.al_state == "OP" for slave in found.slaves)
    assert found.slaves[0].dc_difference_max_ns == 0
    assert found.exchange_p50_us > 0


def test_a_run_with_a_slave_away_and_a_frame_lost_names_both(run_folder):
    def disturb(bus, k):
        bus.devices[1].mute = 50 <= k < 53
        if k == 70:
            bus.link.drop_frames(1)

    found = recorded(run_folder(disturb))
    assert not found.good
    assert found.lost == 1
    assert [slave.invalid_cycles for slave in found.slaves] == [1, 4]
    assert [slave.wkc_min for slave in found.slaves] == [0, 0]


@pytest.mark.parametrize(
    ("last", "gap", "breaks", "good"),
    [
        ((0, 0, 0), "", 0, True),
        # a cable that was out is told though nothing was lost
        ((0, 1, 2), "", 2, False),
        ((1, 1, 1), "the ring is open between drive0 and drive1: cable or power", 1, False),
        ((1, 2, 1), "the ring is open between drive1 and the second interface", 1, False),
        ((np.nan,) * 3, "", None, True),
    ],
)
def test_the_ring_of_a_run_is_told(run_folder, tmp_path, last, gap, breaks, good):
    found = recorded(ring_of(run_folder, tmp_path, last))
    assert (found.ring_gap[: len(gap)], found.ring_breaks, found.good) == (gap, breaks, good)
    assert bool(found.ring_gap) == bool(gap)


@pytest.mark.parametrize(
    ("near", "gap"),
    [
        (0, "the ring is open between the first interface and drive0+drive1"),
        (1, "the ring is open between drive0+drive1 and the second interface"),
    ],
)
def test_two_axes_of_one_slave_are_one_piece_of_the_ring(run_folder, tmp_path, near, gap):
    folder = ring_of(run_folder, tmp_path, (1, near, 1))
    drive = (
        "[blocks.bus.drives.{}]\nposition = 0\naxis = {}\ncounts_per_rev = 4096\n"
        "rated_torque_nm = 1.0\npeak_torque_nm = 3.0\n"
    )
    (folder / "rig.toml").write_text(
        'title = "two axes"\n[tasks.estimation]\nperiod_us = 1000\nblocks = ["bus"]\n'
        '[blocks.bus]\nkind = "bus"\n' + drive.format("drive0", 0) + drive.format("drive1", 1)
    )
    assert recorded(folder).ring_gap.startswith(gap)


def ring_of(run_folder, tmp_path, last):
    # the record of a bus with one cable; its ring's columns are what a redundant one writes
    rows = open_record(run_folder(lambda bus, k: None) / "estimation.npy")
    folder = tmp_path / "ring"
    folder.mkdir()
    names = [name for name in rows.dtype.names if name != "t_ns"]
    with RecordWriter(folder / "estimation.npy", names) as writer:
        for row in rows:
            copy = np.array([row], rows.dtype)
            for what, value in zip(("open", "near", "breaks"), last, strict=True):
                copy[f"bus/ring_{what}"] = value
            writer.append(copy)
    return folder


def test_a_slave_that_left_op_is_told_in_words(run_folder):
    def disturb(bus, k):
        if k == 90:
            bus.segment.advance(bus.segment.now_ns + 200_000_000)

    found = recorded(run_folder(disturb))
    assert not found.good
    assert found.slaves[0].al_state == "SAFEOP+ERROR"
    assert "process data watchdog" in found.slaves[0].al_code


def test_what_is_no_run_is_refused(tmp_path):
    with pytest.raises(NothingToShowError, match="no such run folder"):
        recorded(tmp_path / "nothing")
    with pytest.raises(NothingToShowError, match="no record with a bus"):
        recorded(tmp_path)


def test_a_slave_that_died_is_not_in_op_and_it_says_since_when(run_folder):
    def disturb(bus, k):
        bus.devices[1].mute = k >= 60

    found = recorded(run_folder(disturb))
    assert found.slaves[0].al_state == "OP"
    assert found.slaves[1].al_state == "no answer for 0.04 s, before that OP"


def test_where_no_frame_comes_back_no_slave_is_in_op(run_folder):
    def disturb(bus, k):
        if k == 60:
            bus.link.drop_frames(100)

    found = recorded(run_folder(disturb))
    assert [slave.al_state for slave in found.slaves] == [
        "no answer for 0.04 s, before that OP"
    ] * 2
    assert not found.good


def test_what_happened_beside_the_cycle_is_shown(run_folder):
    folder = run_folder(lambda bus, k: None)
    event = {
        "time_ns": 1,
        "source": "drive1",
        "words": "in fault: error code 0x603F: 0x4310 drive too hot",
    }
    messages.write(folder, "cycle.json", messages.Report(bus_events=[event]))
    assert recorded(folder).events == ["drive1: in fault: error code 0x603F: 0x4310 drive too hot"]


def test_the_table_of_a_killed_run_is_not_live(tmp_path, monkeypatch):
    dead = subprocess.Popen(["true"])
    dead.wait()
    table = Path(f"/dev/shm/rigloop-{os.getuid()}-{dead.pid}-1")
    table.write_bytes(b"")
    try:
        assert dead.pid not in [pid for pid, _ in running.tables()]
    finally:
        table.unlink()


def test_the_table_of_a_run_that_runs_is_live():
    table = Path(table_path())
    table.write_bytes(b"")
    try:
        assert (os.getpid(), table) in list(running.tables())
    finally:
        table.unlink()
