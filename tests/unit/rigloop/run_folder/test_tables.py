"""Which tables nobody owns any more, and where they go."""

import contextlib
import fcntl
import os
import subprocess
import sys

import msgspec
import pytest

from rigloop.run_folder import messages, tables
from rigloop.run_folder.process_state import Process
from rt_core.injection.load import BusyBlock
from rt_core.plan import Task, plan_table
from rt_core.signals.table import SignalTable

PLAN = plan_table([Task("fast", [BusyBlock("busy", 0)], 1_000_000)], ())


@pytest.fixture
def place(tmp_path, monkeypatch):
    folder = tmp_path / "shm"
    folder.mkdir()
    monkeypatch.setattr(tables, "FOLDER", folder)
    return folder


@pytest.fixture
def dead():
    """A process that has ended."""
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    process = Process.of(child.pid)
    child.communicate()
    assert not process.lives
    return process


def table_of(place, process, run=""):
    path = place / f"rigloop-{os.getuid()}-{process.pid}-{process.start_ticks}"
    SignalTable.create(path, PLAN, run=str(run)).close()
    return path


def test_a_dead_runs_table_moves_into_its_folder(place, dead, tmp_path):
    run = tmp_path / "run"
    run.mkdir()
    path = table_of(place, dead, run)
    messages.write(run, "order.json", messages.Order("steering", str(path)))
    assert tables.clear_orphans() == [path]
    assert not path.exists()
    with SignalTable.attach(run / tables.KEPT) as table:
        assert table.producers == PLAN.producers


@pytest.mark.parametrize("says", [None, "another table", "nonsense"])
def test_a_table_without_a_folder_that_names_it_is_removed(place, dead, tmp_path, says):
    run = tmp_path / "run"
    run.mkdir()
    path = table_of(place, dead, run)
    if says == "nonsense":
        (run / "order.json").write_bytes(msgspec.json.encode([1]))
    elif says:
        messages.write(run, "order.json", messages.Order("steering", says))
    assert tables.clear_orphans() == [path]
    assert not path.exists()
    assert not (run / tables.KEPT).exists()


def test_a_table_that_was_never_finished_is_removed(place, dead):
    path = place / f"rigloop-{os.getuid()}-{dead.pid}-{dead.start_ticks}.4711"
    path.write_bytes(b"half a table")
    assert tables.clear_orphans() == [path]
    assert not path.exists()


def test_what_lives_and_what_is_not_ours_stays(place, dead, tmp_path):
    own = table_of(place, Process.of(os.getpid()))
    target = tmp_path / "precious"
    target.write_text("precious")
    link = place / f"rigloop-{os.getuid()}-{dead.pid}-{dead.start_ticks}"
    link.symlink_to(target)
    mailbox = place / f"rigloop-{os.getuid()}-mailbox-1-eth0"
    mailbox.write_text("")
    assert tables.clear_orphans() == []
    assert own.exists()
    assert link.is_symlink()
    assert mailbox.exists()
    assert target.read_text() == "precious"


def test_a_process_that_holds_a_table_owns_it_whatever_its_name_says(place, dead):
    path = table_of(place, dead)
    code = (
        "import sys; from rigloop.run_folder.tables import held\n"
        "with held(sys.argv[1]): print('held', flush=True); input()"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", code, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with contextlib.ExitStack() as stack:
        stack.callback(holder.communicate)
        stack.callback(holder.kill)
        assert holder.stdout.readline() == "held\n"
        assert tables.is_owned(path)
        assert not tables.is_orphan(path)
        assert tables.clear_orphans() == []
    # the kernel takes the lock back from what was killed
    assert not tables.is_owned(path)
    assert tables.clear_orphans() == [path]


def test_a_table_has_an_owner_from_its_first_moment_on(place, dead, monkeypatch):
    """As another container sees it, where no process has the number of the name."""
    path = place / f"rigloop-{os.getuid()}-{dead.pid}-{dead.start_ticks}"
    cleared = []
    reserve = os.posix_fallocate

    def looked_at(*arguments):
        cleared.extend(tables.clear_orphans())
        reserve(*arguments)

    monkeypatch.setattr(os, "posix_fallocate", looked_at)
    table = SignalTable.create(path, PLAN)
    cleared += tables.clear_orphans()
    assert cleared == []
    assert path.exists()
    table.close()
    assert tables.clear_orphans() == [path]


def test_a_file_that_is_cleared_away_before_it_is_locked_is_made_again(place, dead, monkeypatch):
    path = place / f"rigloop-{os.getuid()}-{dead.pid}-{dead.start_ticks}"
    cleared = []
    lock = fcntl.flock

    def late(file, operation):
        if operation == fcntl.LOCK_SH and not cleared:
            cleared.extend(tables.clear_orphans())
        lock(file, operation)

    monkeypatch.setattr(fcntl, "flock", late)
    with SignalTable.create(path, PLAN):
        assert len(cleared) == 1
        assert [found.name for found in place.iterdir()] == [path.name]


def test_a_table_that_finds_an_owner_while_it_is_looked_at_stays(place, dead, monkeypatch):
    """Nobody can take its lock between the look and the end of the removal."""
    path = table_of(place, dead)
    locks = []
    settle = tables.is_settled

    def meanwhile(found):
        with path.open() as other:
            try:
                fcntl.flock(other, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                locks.append("refused")
        return settle(found)

    monkeypatch.setattr(tables, "is_settled", meanwhile)
    assert tables.clear_orphans() == [path]
    assert locks == ["refused"]


def test_a_number_that_came_back_is_another_process():
    me = Process.of(os.getpid())
    assert me.lives
    assert not Process(me.pid, me.start_ticks - 1).lives
    assert not Process(me.pid, 0).lives
