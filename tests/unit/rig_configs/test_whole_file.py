"""A file that is written as a whole: the old one, or the new one, and nothing beside it."""

import os

import pytest

from rig_configs.whole_file import write_whole


@pytest.mark.parametrize("lasting", [False, True])
def test_a_file_is_replaced_and_nothing_is_left_beside_it(lasting, tmp_path):
    path = tmp_path / "a.json"
    path.write_text("old")
    assert write_whole(path, b"new", lasting=lasting) == path
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


def test_the_mode_that_is_asked_for_is_none_of_the_umask(tmp_path):
    before = os.umask(0o002)
    try:
        assert write_whole(tmp_path / "a", b"", mode=0o644).stat().st_mode & 0o777 == 0o644
    finally:
        os.umask(before)


def test_a_file_that_cannot_be_written_leaves_what_was_there(tmp_path):
    place = tmp_path / "folder"
    place.mkdir()
    (place / "kept").write_text("old")
    with pytest.raises(OSError):  # noqa: PT011, whichever the system gives for a folder in its place
        write_whole(place, b"new")
    assert [p.name for p in tmp_path.iterdir()] == ["folder"]
    assert (place / "kept").read_text() == "old"
