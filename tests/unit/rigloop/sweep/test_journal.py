"""The journal of a sweep: what is whole counts, whatever killed its writer."""

import pytest

from rigloop.run_folder.not_started import NotStartedError
from rigloop.sweep.journal import Journal

ROWS = [{"source": "a", "point": 0, "x": 0.1 + 0.2}, {"source": "a", "point": 1, "x": float("nan")}]


def test_rows_come_back_with_the_same_bits(tmp_path):
    path = tmp_path / "j"
    journal = Journal(path, "one")
    journal.add(ROWS)
    journal.close(is_done=False)
    again = Journal(path, "one")
    assert repr(again.rows) == repr(ROWS)
    again.close(is_done=True)
    assert not path.exists()


@pytest.mark.parametrize("cut", [1, 5, 30])
def test_a_line_that_is_cut_does_not_count(tmp_path, cut):
    path = tmp_path / "j"
    journal = Journal(path, "one")
    journal.add(ROWS)
    journal.close(is_done=False)
    path.write_bytes(path.read_bytes()[:-cut])
    again = Journal(path, "one")
    assert again.rows == ROWS[:1]
    again.add(ROWS[1:])
    again.close(is_done=False)
    again = Journal(path, "one")
    assert len(again.rows) == 2
    again.close(is_done=True)


def test_that_of_another_sweep_is_refused(tmp_path):
    Journal(tmp_path / "j", "one").close(is_done=False)
    with pytest.raises(NotStartedError, match="another sweep"):
        Journal(tmp_path / "j", "two")


def test_one_that_another_process_writes_is_refused(tmp_path):
    first = Journal(tmp_path / "j", "one")
    first.add(ROWS)
    for sweep in ("one", "two"):
        with pytest.raises(NotStartedError, match="another process"):
            Journal(tmp_path / "j", sweep)
    first.close(is_done=False)
    again = Journal(tmp_path / "j", "one")
    assert repr(again.rows) == repr(ROWS)
    again.close(is_done=True)


def test_a_file_that_is_no_journal_is_not_kept_from_being_one(tmp_path):
    (tmp_path / "j").write_text("[1]\n2\n")
    journal = Journal(tmp_path / "j", "one")
    assert journal.rows == []
    journal.close(is_done=True)
