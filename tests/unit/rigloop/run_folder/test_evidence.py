"""Manifests that are kept current, and evidence on a disk that takes it no more."""

import os
import shutil

import pytest

from rigloop.compose.wiring import load
from rigloop.host.disk_reserve import RESERVE, give_back, reserve
from rigloop.live.kept_manifest import KeptManifest
from rigloop.report.report import write_report
from rigloop.run_folder.evidence import Keeping
from rigloop.run_folder.manifest import MANIFEST, REPORT, read_manifest
from rigloop.run_folder.messages import Order, Report
from rigloop.run_folder.not_started import NotStartedError


@pytest.fixture(scope="module")
def loaded():
    return load("steering_wheel")


@pytest.fixture
def kept(tmp_path, loaded):
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "rig.toml").write_text(loaded.text)
    processes = {"supervisor": os.getpid()}
    order = Order("steering_wheel", "table")
    return KeptManifest(folder, loaded, {"steering": "1" * 64}, order, 2.0, processes)


def test_a_manifest_is_there_from_the_start_and_says_how_far_the_run_came(kept, tmp_path):
    first = read_manifest(tmp_path / "run")
    assert (first.state, first.verdict, first.asked_s) == ("starting", "bad", 2.0)
    assert first.kernels[0].sha256 == "1" * 64
    assert first.processes["supervisor"].lives
    right = {"name": "fifo", "held": True, "needed": True, "why": "granted", "remedy": ""}
    report = Report(rights=[right], real_time=True, host={"cores": 2})
    kept.know({"cycle": os.getpid()}, report, ())
    kept.runs(("another run is here",))
    kept.settle()
    running = read_manifest(tmp_path / "run")
    assert (running.state, running.real_time, running.notes) == (
        "running",
        True,
        ("another run is here",),
    )
    assert "was running" in running.reasons[0]
    kept.not_started("no bus\nno link")
    ended = read_manifest(tmp_path / "run")
    assert (ended.state, ended.reasons, ended.verdict) == (
        "not started",
        ("no bus", "no link"),
        "bad",
    )


def test_a_folder_that_is_gone_ends_no_run_and_is_made_again_for_the_verdict(
    kept, tmp_path, loaded
):
    folder = tmp_path / "run"
    shutil.rmtree(folder)
    kept.runs()
    kept.settle()
    assert "No such file" in kept.trouble
    keeping = Keeping(folder, loaded)
    assert "was removed" in keeping.lost[0]
    manifest = keeping.keep_manifest(kept.manifest)
    assert not keeping.failed
    assert read_manifest(folder) == manifest
    assert (folder / "rig.toml").read_text() == loaded.text


def test_what_cannot_be_written_makes_the_verdict_bad(kept, tmp_path, loaded):
    import msgspec

    keeping = Keeping(tmp_path / "run", loaded)

    def full():
        raise OSError(28, "No space left on device")

    keeping.keep("timing.json", full)
    good = msgspec.structs.replace(kept.manifest, verdict="good", reasons=())
    manifest = keeping.keep_manifest(good)
    assert manifest.verdict == "bad"
    assert manifest.reasons[0].endswith("timing.json: cannot be written: No space left on device")
    assert read_manifest(tmp_path / "run") == manifest


@pytest.mark.parametrize("in_place", ["manifest", "folder"])
def test_what_stands_in_place_of_manifest_or_folder_is_in_the_verdict(
    kept, tmp_path, loaded, in_place
):
    folder = tmp_path / "run"
    if in_place == "manifest":
        (folder / MANIFEST).unlink()
        (folder / MANIFEST).mkdir()
    else:
        shutil.rmtree(folder)
        folder.write_text("a file")
    keeping = Keeping(folder, loaded)
    keeping.keep_manifest(kept.manifest)
    keeping.keep(REPORT, lambda: write_report(folder))
    manifest = keeping.keep_manifest(kept.manifest)
    assert any("report.html: cannot be written" in words for words in manifest.reasons)
    assert any("directory" in words for words in manifest.reasons), manifest.reasons


def test_room_is_taken_and_given_back(tmp_path):
    reserve(tmp_path)
    status = (tmp_path / RESERVE).stat()
    assert status.st_blocks * 512 >= status.st_size >= 1 << 20
    with pytest.raises(NotStartedError, match="no room for a run's verdict"):
        reserve(tmp_path)
    give_back(tmp_path)
    assert not list(tmp_path.iterdir())
