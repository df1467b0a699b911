"""Why a rig needs a reset, as the next service finds it."""

from types import SimpleNamespace

import pytest

from rigloop.service import kept_reset
from rigloop.service.kept_reset import FOLDER, KeptReset


@pytest.fixture
def kept(tmp_path):
    return KeptReset(tmp_path, "wheel")


def test_a_reason_stays_until_it_is_forgotten(kept, tmp_path):
    assert kept.found() == ""
    kept.need("guard: rate")
    assert KeptReset(tmp_path, "wheel").found() == "guard: rate"
    assert KeptReset(tmp_path, "other").found() == ""
    kept.forget()
    kept.forget()
    assert KeptReset(tmp_path, "wheel").found() == ""


@pytest.mark.parametrize(
    ("state", "verdict", "words"),
    [
        ("ended", "good", ""),
        ("ended", "bad", "guard: rate"),
        ("running", "bad", "has no verdict yet"),
    ],
)
def test_a_run_that_outlived_its_service_has_to_be_judged_good(
    kept, monkeypatch, state, verdict, words
):
    kept.armed("runs/1")
    found = SimpleNamespace(state=state, verdict=verdict, reasons=("guard: rate",))
    monkeypatch.setattr(kept_reset, "read_manifest", lambda folder: found)
    assert words in kept.found()
    assert bool(kept.found()) == bool(words)


def test_a_run_without_a_manifest_needs_a_reset(kept, tmp_path):
    kept.armed(str(tmp_path / "gone"))
    assert "has no verdict" in kept.found()


def test_a_file_that_says_nothing_readable_is_a_reason(kept, tmp_path):
    path = tmp_path / FOLDER / "wheel.json"
    kept.need("x")
    path.write_bytes(b"\xff{")
    assert str(path) in kept.found()
    path.unlink()
    path.mkdir()
    assert str(path) in kept.found()
    kept.forget()  # what cannot be removed ends nothing
    assert kept.found()


def test_a_disk_that_takes_nothing_ends_nothing(tmp_path, caplog):
    (tmp_path / FOLDER).write_text("in the way")
    KeptReset(tmp_path, "wheel").need("guard: rate")
    assert "not written" in caplog.text
