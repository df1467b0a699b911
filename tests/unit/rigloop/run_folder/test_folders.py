"""Run folders are new ones, always."""

import pytest

from rigloop.run_folder.folders import new_run_folder
from rigloop.run_folder.not_started import NotStartedError


def test_a_second_run_in_the_same_second_gets_a_folder_of_its_own(tmp_path):
    folders = [new_run_folder(tmp_path / "a" / "b", "rig") for _ in range(20)]
    assert len(set(folders)) == 20
    assert all(folder.is_dir() and "rig" in folder.name for folder in folders)


def test_a_file_in_the_way_is_an_error_that_names_it(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(NotStartedError, match="file"):
        new_run_folder(tmp_path / "file" / "runs", "rig")


@pytest.mark.parametrize("rig", ["a\nb\x1b[31m", " x ", "é\udcff", "..", "a/b", "x" * 300])
def test_the_name_of_a_rig_is_written_as_one_of_a_folder(tmp_path, rig):
    folder = new_run_folder(tmp_path / "runs", rig)
    assert folder.parent == tmp_path / "runs"
    assert str(folder.name).isascii()
    assert str(folder.name).isprintable()
