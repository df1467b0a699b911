"""A run folder from a stranger: what it names stays in it, what it keeps draws and runs nothing."""

import base64
import json
import os

import numpy as np
import pytest

from io_bridge.recording.record import RecordError, open_record
from rigloop.display.pages import as_image
from rigloop.run_folder.late import ROW, late_file, read_events
from rigloop.run_folder.manifest import ManifestError, read_manifest

GOOD = {
    "kind": "live", "rig": {"name": "r", "sha256": "0" * 64}, "kernels": [],
    "started": "", "duration_s": 1.0, "verdict": "good", "reasons": [],
    "tasks": {"fast": {"period_ns": 1, "record": "fast.npy", "cycles": 1}},
    "versions": {}, "host": {"cores": 1, "governor": "", "load": [0, 0], "virtual": False, "isolated": None},
    "rights": [], "signals": {},
}  # fmt: skip


@pytest.mark.parametrize(
    "tasks",
    [
        {"fast": {"period_ns": 1, "record": "../../secret.npy", "cycles": 1}},
        {"fast": {"period_ns": 1, "record": "/etc/passwd", "cycles": 1}},
        {"../fast": {"period_ns": 1, "record": "fast.npy", "cycles": 1}},
        {"a\x1b[31m": {"period_ns": 1, "record": "fast.npy", "cycles": 1}},
    ],
)
def test_a_manifest_names_no_file_elsewhere(tmp_path, tasks):
    (tmp_path / "manifest.json").write_text(json.dumps(GOOD | {"tasks": tasks}))
    with pytest.raises(ManifestError, match="tasks"):
        read_manifest(tmp_path)


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000, "x", ""])
def test_a_manifest_that_is_deep_or_none_is_named(tmp_path, text):
    (tmp_path / "manifest.json").write_text(text)
    with pytest.raises(ManifestError, match=r"manifest\.json"):
        read_manifest(tmp_path)


def test_a_manifest_of_a_terabyte_is_refused_before_it_is_read(tmp_path):
    with (tmp_path / "manifest.json").open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(ManifestError, match="larger than"):
        read_manifest(tmp_path)


def test_a_pipe_in_place_of_a_record_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "fast.npy")
    with pytest.raises(RecordError, match="regular file"):
        open_record(tmp_path / "fast.npy")
    os.mkfifo(tmp_path / late_file("fast"))
    assert read_events(tmp_path, "fast") == []


def header(path, descr, shape):
    with path.open("wb") as file:
        np.lib.format.write_array_header_1_0(
            file, {"descr": descr, "fortran_order": False, "shape": shape}
        )


def test_late_cycles_with_a_header_that_promises_more_allocate_nothing(tmp_path):
    path = tmp_path / late_file("fast")
    for descr, shape in (
        (np.lib.format.dtype_to_descr(ROW), (1 << 50,)),
        ("|O", (1,)),
        ("|S99999999", (9,)),
    ):
        header(path, descr, shape)
        assert read_events(tmp_path, "fast") == []
    np.save(path, np.zeros(200_000, ROW))
    assert read_events(tmp_path, "fast") == []


def test_a_record_with_objects_is_refused(tmp_path):
    path = tmp_path / "fast.npy"
    header(path, [("t_ns", "<i8"), ("x", "|O")], (1,))
    with pytest.raises(RecordError, match="header"):
        open_record(path)


def test_a_kept_picture_is_an_image_where_no_script_runs():
    svg = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'
    kind, _, data = as_image(svg).partition(",")
    assert kind == "data:image/svg+xml;base64"
    assert base64.b64decode(data).decode() == svg
