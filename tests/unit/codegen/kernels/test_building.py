"""Folders of builds: one's own, and those whose builder was killed."""

import fcntl
import os
import resource
import signal
import subprocess
import sys

import pytest

from codegen.kernels import building
from codegen.kernels.build import BuildError, build_kernel

BUILDS = """
import sys
from codegen.kernels.build import build_kernel

def tell(stage):
    if stage == "compiling":
        print(stage, flush=True)
        input()

build_kernel("guided_rod", on_stage=tell)
"""


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "rigloop" / "kernels"


def names(cache):
    return sorted(path.name for path in cache.iterdir())


def test_what_a_killed_build_left_goes_with_the_next_one_and_not_before(cache):
    command = [sys.executable, "-c", BUILDS]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as builder:
        assert builder.stdout.readline() == b"compiling\n"
        (left,) = names(cache)
        with building.building(cache) as work:
            assert names(cache) == sorted([left, work.name])
        assert names(cache) == [left]
        builder.send_signal(signal.SIGKILL)
        builder.wait()
    assert "kernel.c" in os.listdir(cache / left)
    with building.building(cache) as work:
        assert names(cache) == [work.name]
    assert names(cache) == []


def test_a_cache_without_room_is_told_with_a_remedy(cache):
    """As on a disk that is full: nothing larger than this can be written."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    try:
        with pytest.raises(BuildError, match=r"no kernel can be built there: .*XDG_CACHE_HOME"):
            build_kernel("guided_rod")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert names(cache) == []


def test_links_files_and_kernels_are_not_cleared(tmp_path):
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "file").write_text("precious")
    cache = tmp_path / "cache"
    cache.mkdir()
    (cache / "building-link").symlink_to(precious)
    (cache / "building-file").write_text("")
    (cache / "0123").mkdir()
    assert building.clear_abandoned(cache) == []
    assert names(cache) == ["0123", "building-file", "building-link"]
    assert (precious / "file").read_text() == "precious"


def test_a_folder_that_is_cleared_before_it_is_locked_is_made_again(tmp_path, monkeypatch):
    cleared = []
    lock = fcntl.flock

    def late(file, operation):
        if operation == fcntl.LOCK_SH and not cleared:
            cleared.extend(building.clear_abandoned(tmp_path))
        lock(file, operation)

    monkeypatch.setattr(fcntl, "flock", late)
    with building.building(tmp_path) as work:
        assert len(cleared) == 1
        assert names(tmp_path) == [work.name]


def test_a_failed_build_leaves_nothing(tmp_path):
    def fail():
        with building.building(tmp_path) as work:
            (work / "half").write_text("")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert names(tmp_path) == []
