"""The journal of live values: bounded, one owner, and readable whatever became of its end."""

import pytest

from rigloop.live_values import journal
from rigloop.live_values.journal import JOURNAL, Entry, Journal, read_journal
from rigloop.live_values.refused import LiveOwnedError


def entry(n=1, **more):
    return Entry(1, 2, "anna", sequence=n, **more)


def test_a_killed_writer_leaves_all_but_its_last_line(tmp_path):
    with Journal(tmp_path) as found:
        found.add(entry(1, values={"a": 1.5}))
    with (tmp_path / JOURNAL).open("ab") as file:
        file.write(b'{"utc_ns":1,"mono')
    with Journal(tmp_path) as found:
        found.add(entry(2, begun=("s",)))
    assert [e.sequence for e in read_journal(tmp_path)] == [1, 2]
    assert [e.words for e in read_journal(tmp_path)] == ["a = 1.5 (anna)", "s begun (anna)"]


def test_refusals_leave_room_for_changes_and_what_has_none_is_counted(tmp_path, monkeypatch):
    monkeypatch.setattr(journal, "MOST_BYTES", 4000)
    monkeypatch.setattr(journal, "MOST_REFUSED_BYTES", 1000)
    with Journal(tmp_path) as found:
        for _ in range(100):
            found.add(entry(0, refused=("no such name",)))
        assert 0 < found.lost < 100
        lost = found.lost
        for n in range(10):
            found.add(entry(n + 1))
        assert found.lost == lost
        for n in range(100):
            found.add(entry(n + 11))
        assert found.lost > lost
    assert (tmp_path / JOURNAL).stat().st_size <= 4000
    assert read_journal(tmp_path)[-1].sequence > 10


def test_it_has_one_owner(tmp_path):
    with Journal(tmp_path), pytest.raises(LiveOwnedError, match=JOURNAL):
        Journal(tmp_path)
    Journal(tmp_path).close()


def test_no_journal_is_an_empty_one(tmp_path):
    assert read_journal(tmp_path) == []
    (tmp_path / JOURNAL).write_bytes(b"\xff\xfe\n[]\n{}\n")
    assert read_journal(tmp_path) == []


def test_it_follows_no_link(tmp_path):
    (tmp_path / JOURNAL).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="symbolic links"):
        Journal(tmp_path)
