"""Stored captures: what is read again, with numpy too, and what is refused."""

import io
import json
import zipfile

import numpy as np
import pytest
from given_cycles import MS, rows_of

from io_bridge.exports.measured import Group
from rigloop.scope.capture import Capture
from rigloop.scope.capture_file import CaptureFileError, load_capture, save_capture
from rigloop.scope.compared import differences
from rigloop.scope.rows import Gap

GAPS = {"a": (Gap(MS, 2, 1),), "b": ()}


@pytest.fixture
def capture():
    fast = rows_of("a", [1.0, np.nan, np.inf, -0.0, 5.0])
    slow = rows_of("b", [2.0, 3.0], 5 * MS)
    groups = (
        Group("a", fast, ("a/x",), ("rad",), MS),
        Group("b", slow, ("b/x",), ("",), 5 * MS),
    )
    return Capture(
        "rig", "run", "a/x > 2 rising", "trigger", 2 * MS, 0.1, 0.2, groups, 3, False, GAPS
    )


def test_a_stored_capture_is_the_same_to_the_bit(capture, tmp_path):
    save_capture(capture, tmp_path / "c.npz")
    found = load_capture(tmp_path / "c.npz")
    for one, other in zip(found.groups, capture.groups, strict=True):
        assert one.rows.tobytes() == other.rows.tobytes()
        assert (one.name, one.paths, one.units, one.period_ns) == (
            other.name, other.paths, other.units, other.period_ns,
        )  # fmt: skip
    facts = (
        "rig",
        "origin",
        "trigger",
        "why",
        "trigger_ns",
        "pre_s",
        "post_s",
        "number",
        "complete",
        "gaps",
    )
    assert [getattr(found, name) for name in facts] == [getattr(capture, name) for name in facts]
    assert [path.name for path in tmp_path.iterdir()] == ["c.npz"]


def test_numpy_reads_it_without_this_package(capture, tmp_path):
    save_capture(capture, tmp_path / "c.npz")
    with np.load(tmp_path / "c.npz", allow_pickle=False) as arrays:
        assert arrays["a"]["a/x"][4] == 5.0
        assert json.loads(arrays["capture.json"])["trigger_ns"] == 2 * MS


def test_it_is_exported_with_its_trigger(capture):
    measured = capture.measured()
    assert [group.name for group in measured.groups] == ["a", "b"]
    assert [(event.t_ns, event.kind) for event in measured.events] == [(2 * MS, "trigger")]


def test_two_captures_are_compared_trigger_on_trigger():
    def made(values, trigger):
        group = Group("a", rows_of("a", values), ("a/x",), ("",), MS)
        return Capture("r", "", "now", "now", trigger * MS, 0.0, 1.0, (group,))

    (found,) = differences(made([0, 1, 2, 3, 4, 5], 1), made([9, 9, 1, 2, 3.5, 4], 2))
    assert (found.path, found.n, found.largest) == ("a/x", 5, 9.0)
    assert found.at_s == pytest.approx(-1e-3)
    assert not differences(made([1], 0), Capture("r", "", "now", "now", 0, 0.0, 1.0, ()))


def written_with(path, member, content):
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    parts[member] = content(parts[member])
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in parts.items():
            if data is not None:
                archive.writestr(name, data)


def saved(array, **kinds):
    made = io.BytesIO()
    np.save(made, array, **kinds)
    return made.getvalue()


BACK = np.array([(2, 1.0), (1, 1.0)], [("t_ns", "<i8"), ("a/x", "<f8")])
OTHER = np.array([(2, 1.0)], [("t_ns", "<i8"), ("a/y", "<f8")])
SPOILT = {
    "no rows": ("a.npy", lambda data: None, "a.npy is missing"),
    "half of the rows": ("a.npy", lambda data: data[:-8], "rows that its header says"),
    "objects": ("a.npy", lambda data: saved(np.array([{}], object)), "does not have rows"),
    "times that go back": ("a.npy", lambda data: saved(BACK), "times that do not rise"),
    "no signal": ("a.npy", lambda data: saved(OTHER), "no signal 'a/x'"),
    "no array": ("a.npy", lambda data: b"nothing", "is not a capture"),
    "other facts": ("capture.json", lambda data: b"{}", "missing required field"),
    "another format": ("capture.json", lambda d: d.replace(b'"format": 1', b'"format": 9'), "format"),
    "a task outside": ("capture.json", lambda d: d.replace(b'"name": "a"', b'"name": "../a"'), "name"),
}  # fmt: skip


@pytest.mark.parametrize("how", SPOILT)
def test_a_spoilt_file_is_refused_in_a_sentence(capture, tmp_path, how):
    member, change, words = SPOILT[how]
    path = tmp_path / "c.npz"
    save_capture(capture, path)
    written_with(path, member, change)
    with pytest.raises(CaptureFileError, match=words) as refused:
        load_capture(path)
    assert str(path) in str(refused.value)


def test_another_file_is_no_capture(tmp_path):
    (tmp_path / "c.npz").write_bytes(b"PK nothing")
    for path in (tmp_path / "c.npz", tmp_path / "none.npz", tmp_path):
        with pytest.raises(CaptureFileError, match=str(path)):
            load_capture(path)
