"""The place of a replay in its run folder: plain data, signed; held by one process."""

import os

import numpy as np
import pytest

from rigloop.replay.place import only_one, packed, read_place, remove_place, unpacked, write_place
from rigloop.run_folder.manifest import ManifestError


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def test_arrays_and_numbers_come_back_as_they_were(tmp_path):
    arrays = [np.arange(6.0).reshape(2, 3)[:, ::-1], np.array([1, -(2**63)]), np.zeros((0, 3))]
    place = {"arrays": arrays, "nan": [float("nan"), -0.0], "n": np.int64(7), "last": None}
    write_place(tmp_path, packed(place), b"seen")
    found, seen = read_place(tmp_path)
    assert seen == b"seen"
    for one, other in zip(found["arrays"], arrays, strict=True):
        assert (one.dtype, one.shape) == (other.dtype, other.shape)
        assert np.array_equal(one, other)
    assert np.array(found["nan"]).tobytes() == np.array(place["nan"]).tobytes()
    assert (found["n"], found["last"]) == (7, None)
    with pytest.raises(TypeError, match="object"):
        packed({"x": object()})
    assert unpacked(packed({"a": {"b": [1]}})) == {"a": {"b": [1]}}


def test_a_file_of_another_user_or_a_cut_one_is_refused(tmp_path, monkeypatch):
    with pytest.raises(ManifestError, match="no position was saved"):
        read_place(tmp_path)
    write_place(tmp_path, packed({}), b"")
    assert read_place(tmp_path) == ({}, b"")
    path = tmp_path / "unfinished.place"
    raw = path.read_bytes()
    for wrong in (raw[:-1], raw + b"\0", raw[:10], b"", bytes(32) + raw[32:]):
        path.write_bytes(wrong)
        with pytest.raises(ManifestError, match="not written by this user"):
            read_place(tmp_path)
    path.write_bytes(raw)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "other"))
    with pytest.raises(ManifestError, match="not written by this user"):
        read_place(tmp_path)


def test_nothing_is_left_of_a_place_that_was_being_written(tmp_path):
    write_place(tmp_path, packed({}), b"")
    (tmp_path / ".unfinished.place.4711").write_bytes(b"half")
    (tmp_path / "rig.toml").touch()
    remove_place(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} - {"cache"} == {"rig.toml"}


def test_one_process_holds_a_folder(tmp_path):
    with only_one(tmp_path):
        child = os.fork()
        if not child:
            code = 1
            try:
                with only_one(tmp_path):
                    pass
            except ManifestError:
                code = 0
            finally:
                os._exit(code)
        assert os.waitpid(child, 0)[1] == 0
    with only_one(tmp_path):
        pass
