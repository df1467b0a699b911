"""A log read part by part is the log read as a whole: samples, faults, ticks; across seams too."""

import gzip
import sys
from pathlib import Path

import numpy as np
import pytest

from io_bridge.logs import parts as parts_module
from io_bridge.logs.parts import LogParts
from io_bridge.logs.reader import LogError, read_log
from io_bridge.logs.schedule import Ticks, schedule
from io_bridge.recording.record import RecordWriter
from rig_configs.log_schema import parse_mapping
from rigloop.logs.check import check_log
from rigloop.replay.place import packed, unpacked

MAPPING = parse_mapping(
    """
name = "long"
title = "a long log"
header = ["t", "enc"]
[time]
column = "t"
unit = "s"
[angle]
column = "enc"
unit = "counts"
counts_per_rev = 4096.0
[[torque]]
name = "hand"
column = "nm"
unit = "nm"
""",
    "test",
)
N = 6000


@pytest.fixture(autouse=True)
def few_rows_beside(monkeypatch):
    monkeypatch.setattr(parts_module, "BESIDE", 100)


def columns():
    t = np.arange(N) * 1e-3
    count = np.rint(2000 * np.sin(3.0 * t) + 300 * np.sin(17.0 * t) + 5000)
    return t, count, 0.5 * np.sin(t)


def written(path, t, count, torque, spoilt=()):
    lines = [
        "t,enc,nm",
        *(f"{a:.6f},{b:.0f},{c:.3f}" for a, b, c in zip(t, count, torque, strict=True)),
    ]
    for row in spoilt:
        lines[row + 1] = lines[row + 1][:4]
    raw = ("\r\n".join(lines) + "\r\n").encode()
    path.write_bytes(gzip.compress(raw) if path.suffix == ".gz" else raw)
    return path


def whole_of(parts):
    found = [*parts]
    t_s, count = (np.concatenate([getattr(p, n) for p in found]) for n in ("t_s", "position_count"))
    return found, t_s, count


def listed(findings):
    return sorted((one.kind, one.row) for one in findings)


@pytest.mark.parametrize("name", ["log.csv", "log.csv.gz"])
@pytest.mark.parametrize("size", [500, 1777])
def test_parts_are_the_samples_of_the_whole(tmp_path, name, size):
    path = written(tmp_path / name, *columns())
    log = read_log(path, MAPPING)
    parts = LogParts(path, MAPPING, size)
    found, t_s, count = whole_of(parts)
    assert len(found) > 2
    assert np.array_equal(count, log.position_count)
    assert np.array_equal(t_s, log.t_s)
    assert np.array_equal(
        np.concatenate([p.torque["hand_nm"] for p in found]), log.torque["hand_nm"]
    )
    assert not parts.findings
    assert (parts.n_rows, parts.sample_period_s) == (N, pytest.approx(1e-3))


def test_what_a_fault_added_stays_off_in_all_later_parts(tmp_path):
    t, count, torque = columns()
    count[1490:] += 700  # an index pulse just before a seam
    t[2600:] -= t[2600] - 0.1  # a clock that begins again
    count[3100:3103] = 60_000
    count[4000:4060] = 0
    t[5000:] += 0.5
    path = written(tmp_path / "log.csv", t, count, torque, spoilt=(700, 3999, 5500))
    log = read_log(path, MAPPING)
    parts = LogParts(path, MAPPING, 500)
    _, t_s, counted = whole_of(parts)
    assert listed(parts.findings) == listed(log.findings)
    assert {"index jump", "restarted clock", "spike", "gap"} <= {f.kind for f in parts.findings}
    assert np.array_equal(counted, log.position_count)
    assert np.allclose(t_s, log.t_s, rtol=0.0, atol=1e-9)


@pytest.mark.parametrize("period_s", [2e-4, 1e-3, 7e-3])
def test_ticks_of_parts_are_those_of_the_whole(tmp_path, period_s):
    t, count, torque = columns()
    t[3000:] += 0.0237
    t += 1e-4 * np.random.default_rng(3).random(N)
    path = written(tmp_path / "log.csv", t, count, torque)
    log = read_log(path, MAPPING)
    ticks = Ticks(period_s, 300)
    parts = LogParts(path, MAPPING, 500)
    found = [one for part in parts for one in ticks.take(part)] + [*ticks.rest()]
    whole = schedule(log, period_s)
    assert [one.first for one in found] == np.cumsum([0, *(len(f.valid) for f in found)]).tolist()[
        :-1
    ]
    assert np.array_equal(np.concatenate([f.valid for f in found]), whole.valid)
    assert np.array_equal(np.concatenate([f.position_count for f in found]), whole.position_count)
    assert ticks.superseded == whole.superseded


def test_a_refused_fault_ends_the_reading(tmp_path):
    t, count, torque = columns()
    t[5000:] += 0.5
    path = written(tmp_path / "log.csv", t, count, torque)
    strict = MAPPING.model_copy(update={"policy": {"gap": "refuse"}})
    with pytest.raises(LogError, match="gap at row 5000"):
        [*LogParts(path, strict, 500)]


@pytest.mark.parametrize("name", ["log.csv", "log.csv.gz", "log.npy", "utf16.csv", "old_ends.csv"])
def test_parts_go_on_from_any_place(tmp_path, name):
    t, count, torque = columns()
    count[1490:] += 700
    count[3100:3103] = 60_000
    count[4000:4060] = 0
    t[2600:] -= t[2600] - 0.1
    t[5000:] += 0.5
    path = tmp_path / name
    if path.suffix == ".npy":
        with RecordWriter(path, ["t", "enc", "nm"]) as record:
            rows = np.zeros(N, record.dtype)
            rows["t"], rows["enc"], rows["nm"] = t, count, torque
            record.append(rows)
    else:
        written(path, t, count, torque, spoilt=(700, 3999, 5500))
    raw = path.read_bytes()
    if name == "utf16.csv":
        path.write_bytes(raw.decode().encode("utf-16"))
    elif name == "old_ends.csv":
        path.write_bytes(raw.replace(b"\r\n", b"\r"))
    whole = LogParts(path, MAPPING, 500)
    found, places = [], []
    for part in whole:
        found.append(part)
        places.append(packed(whole.place))
    assert len(found) > 8
    for k in range(0, len(found) - 1, 3):
        again = LogParts.again(path, unpacked(places[k]))
        rest = [*again]
        assert len(rest) == len(found) - k - 1
        for one, other in zip(rest, found[k + 1 :], strict=True):
            assert one.t_s.tobytes() == other.t_s.tobytes()
            assert one.position_count.tobytes() == other.position_count.tobytes()
            assert one.torque["hand_nm"].tobytes() == other.torque["hand_nm"].tobytes()
            assert np.array_equal(one.row, other.row)
        assert list(map(str, again.findings)) == list(map(str, whole.findings))
        assert (again.n_rows, again.duration_s) == (whole.n_rows, whole.duration_s)


@pytest.mark.slow
@pytest.mark.parametrize("form", ["parquet", "hdf5", "mat73", "mat", "mdf"])
def test_binary_log_in_parts_is_that_of_the_whole_and_goes_on_from_a_place(tmp_path, form):
    sys.path.insert(0, str(Path(__file__).parents[4] / "benchmarks" / "logs"))
    from intake.files import write
    from intake.planted import make

    pytest.importorskip({"parquet": "pyarrow", "mdf": "asammdf", "mat": "scipy"}.get(form, "h5py"))
    log = next(o for o in (make(s, clean=True) for s in range(50)) if o.angle_unit == "deg")
    path = write(log, tmp_path, np.random.default_rng(0), form)
    _, mapping = check_log(path)
    whole = read_log(path, mapping)
    parts = LogParts(path, mapping, 1000)
    found, places = [], []
    for part in parts:
        found.append(part)
        places.append(parts.place)
    assert len(found) > 2
    np.testing.assert_array_equal(
        np.concatenate([p.position_count for p in found]), whole.position_count
    )
    np.testing.assert_allclose(np.concatenate([p.t_s for p in found]), whole.t_s, atol=1e-9)
    np.testing.assert_array_equal(np.concatenate([p.row for p in found]), whole.row)
    again = [*LogParts.again(path, places[0])]
    np.testing.assert_array_equal(
        np.concatenate([p.t_s for p in again]), np.concatenate([p.t_s for p in found[1:]])
    )
