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
    assert len(Journal(path, "one").rows) == 2


def test_that_of_another_sweep_is_refused(tmp_path):
    Journal(tmp_path / "j", "one").close(is_done=False)
    with pytest.raises(NotStartedError, match="another sweep"):
        Journal(tmp_path / "j", "two")
