"""Each format read back by another program's reader: the same numbers, names, units, events and moment."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from recorded_runs import ANGLE, STATE, TORQUE, UTC_NS, write_recorded_run
from typer.testing import CliRunner

import rigloop
from io_bridge.exports import measured as measured_module
from io_bridge.exports import write
from rigloop.cli import app

WORDS = ["guard: INIT", "guard: READY", "guard: RUNNING", "too fast"]
OURS = {
    "csv": "csv",
    "parquet": "parquet",
    "mdf": "mf4",
    "mcap": "mcap",
    "hdf5": "h5",
    "mat": "mat",
}


@pytest.fixture
def run(tmp_path):
    (tmp_path / "run").mkdir()
    return write_recorded_run(tmp_path / "run")


@pytest.fixture
def exported(run, tmp_path, monkeypatch):
    # several parts a record: the seams are looked at too
    monkeypatch.setattr(measured_module, "PART_BYTES", 7 * 32)

    def export(to, *options):
        path = tmp_path / f"out.{OURS[to]}"
        arguments = ["export", run, "--to", to, "--out", path, "--json", *options]
        done = CliRunner().invoke(app, [str(argument) for argument in arguments])
        assert done.exit_code == 0, done.output
        answer = json.loads(done.stdout)
        assert answer["files"][0] == str(path)
        return path

    return export


def held_torque(opened):
    return opened.columns(TORQUE, at="estimation")[TORQUE]


def test_csv_is_a_table_for_pandas_with_the_rest_beside_it(run, exported):
    pandas = pytest.importorskip("pandas")
    path = exported("csv")
    frame = pandas.read_csv(path)
    opened = rigloop.open_run(run)
    assert list(frame.columns) == ["t_s", ANGLE, STATE, TORQUE]
    assert frame["t_s"].tolist() == pytest.approx(opened.t_s("estimation"), abs=1e-12)
    assert np.array_equal(frame[ANGLE], opened[ANGLE])
    assert np.array_equal(frame[TORQUE], held_torque(opened), equal_nan=True)
    beside = json.loads(Path(f"{path}.json").read_text())
    assert beside["units"][TORQUE] == "Nm"
    assert [event["words"] for event in beside["events"]] == WORDS
    assert (beside["verdict"], beside["utc_ns"]) == ("bad", UTC_NS)


def test_parquet_reads_back_equal_in_pandas_and_keeps_units(run, exported):
    pandas, parquet = pytest.importorskip("pandas"), pytest.importorskip("pyarrow.parquet")
    path = exported("parquet")
    frame = pandas.read_parquet(path)
    opened = rigloop.open_run(run)
    assert np.array_equal(frame["t_ns"], opened.t_ns("estimation"))
    assert np.array_equal(frame[ANGLE], opened[ANGLE])
    assert np.array_equal(frame[TORQUE], held_torque(opened), equal_nan=True)
    schema = parquet.read_schema(path)
    assert schema.field(ANGLE).metadata[b"unit"] == b"rad"
    assert json.loads(schema.metadata[b"rigloop"])["utc_ns"] == UTC_NS
    assert [event["words"] for event in json.loads(schema.metadata[b"events"])] == WORDS


def test_mdf_reads_back_equal_in_asammdf(run, exported):
    asammdf = pytest.importorskip("asammdf")
    opened = rigloop.open_run(run)
    with asammdf.MDF(exported("mdf")) as mdf:
        for path, unit in ((ANGLE, "rad"), (TORQUE, "Nm")):
            signal = mdf.get(path)
            assert np.array_equal(signal.samples, opened[path])
            assert np.array_equal(signal.timestamps, opened.t_ns(path) * 1e-9)
            assert signal.unit == unit
        assert mdf.header.abs_time == UTC_NS
        assert mdf.header.start_time.utcoffset().total_seconds() == 0
        assert json.loads(mdf.header.description)["rig"] == "steering"
        events = mdf.get("events")
        assert [text.decode().partition(": ")[2] for text in events.samples] == WORDS
        assert events.timestamps[-1] == pytest.approx(0.005)


def test_a_choice_of_signals_is_an_mdf_too(run, exported):
    asammdf = pytest.importorskip("asammdf")
    opened = rigloop.open_run(run)
    options = ("--signals", STATE, "--between", "0.001", "0.003")
    with asammdf.MDF(exported("mdf", *options)) as mdf:
        kept = (opened.t_ns(STATE) >= 1_000_000) & (opened.t_ns(STATE) < 3_000_000)
        assert np.array_equal(mdf.get(STATE).samples, opened[STATE][kept])
        assert np.array_equal(mdf.get(STATE).timestamps, opened.t_ns(STATE)[kept] * 1e-9)
        assert {channel.name for group in mdf.groups for channel in group.channels} == {
            "time", STATE, "events",
        }  # fmt: skip


def test_mcap_reads_back_equal_and_is_packed(run, exported):
    reading = pytest.importorskip("mcap.reader")
    decoding = pytest.importorskip("mcap_ros2.decoder")
    opened = rigloop.open_run(run)
    seen = {}
    with exported("mcap").open("rb") as file:
        reader = reading.make_reader(file, decoder_factories=[decoding.DecoderFactory()])
        for schema, channel, message in reader.iter_messages():
            assert message.log_time == message.publish_time
            seen.setdefault(channel.topic, []).append((message, schema, channel))
        file.seek(0)
        decoded = {}
        for _, channel, _, values in reader.iter_decoded_messages(["/estimation", "/simulation"]):
            decoded.setdefault(channel.topic, []).append(values)
        (record,) = reader.iter_metadata()
        assert (record.name, record.metadata["verdict"]) == ("rigloop", "bad")
        attached = {each.name: each.data for each in reader.iter_attachments()}
        assert attached == {n: (run / n).read_bytes() for n in ("manifest.json", "rig.toml")}
    assert [m.wheel.angle_rad for m in decoded["/estimation"]] == opened[ANGLE].tolist()
    torques = [m.steering.guide.torque_nm for m in decoded["/simulation"]]
    assert torques == opened[TORQUE].tolist()
    stamps = [message.log_time - UTC_NS for message, *_ in seen["/simulation"]]
    assert stamps == opened.t_ns("simulation").tolist()
    message, schema, channel = seen["/estimation"][0]
    assert (channel.message_encoding, schema.encoding) == ("cdr", "ros2msg")
    assert len(message.data) == 4 + 2 * 8
    assert json.loads(channel.metadata["units"]) == {ANGLE: "rad", STATE: "1"}
    logs = [json.loads(message.data) for message, *_ in seen["/events"]]
    assert [log["message"] for log in logs] == WORDS
    assert [log["level"] for log in logs] == [2, 2, 2, 4]


def test_the_doctor_of_mcap_finds_no_mistake(exported):
    doctor = Path(sys.executable).with_name("pymcap-cli")
    if not doctor.exists():
        pytest.skip("pymcap-cli is not installed")
    done = subprocess.run(
        [doctor, "doctor", exported("mcap")], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stdout
    assert "passed MCAP doctor checks" in done.stdout


def test_hdf5_reads_back_equal_in_h5py(run, exported):
    h5py = pytest.importorskip("h5py")
    opened = rigloop.open_run(run)
    with h5py.File(exported("hdf5")) as file:
        assert np.array_equal(file["estimation"][ANGLE], opened[ANGLE])
        assert np.array_equal(file["simulation"][TORQUE], opened[TORQUE])
        assert np.array_equal(file["simulation/t_ns"], opened.t_ns("simulation"))
        assert file["simulation"][TORQUE].attrs["unit"] == "Nm"
        assert file.attrs["utc_ns"] == UTC_NS
        assert [text.decode() for text in file["events/words"]] == WORDS


def test_mat_reads_back_equal_in_scipy(run, exported):
    scipy_io = pytest.importorskip("scipy.io")
    opened = rigloop.open_run(run)
    found = scipy_io.loadmat(exported("mat"), squeeze_me=True)
    assert np.array_equal(found["wheel_angle_rad"], opened[ANGLE])
    assert np.array_equal(found["steering_guide_torque_nm"], opened[TORQUE])
    assert np.array_equal(found["t_s_simulation"], opened.t_ns("simulation") * 1e-9)
    listed = found["signals"].item()
    rows = dict(zip(listed[1], zip(listed[0], listed[2], listed[4], strict=True), strict=True))
    assert rows[TORQUE] == ("steering_guide_torque_nm", "Nm", "t_s_simulation")
    assert found["events"]["words"].item().tolist() == WORDS
    assert json.loads(str(found["facts"]))["verdict"] == "bad"


def test_a_choice_of_signals_and_of_time_is_kept(run, exported):
    lines = exported("csv", "--signals", "wheel/*", "--between", "0.001", "0.002").read_text()
    head, *rows = lines.splitlines()
    assert head == f"t_s,{ANGLE}"
    assert rows == [f"0.00{1000000 + 200000 * k:07d},{5 + k}.0" for k in range(5)]


def call(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_a_file_that_is_there_is_not_written_over(run, tmp_path):
    there = tmp_path / "mine.csv"
    there.write_text("mine")
    done = call("export", run, "--to", "csv", "--out", there)
    assert done.exit_code == 2
    assert "--force" in done.stderr
    assert there.read_text() == "mine"
    assert call("export", run, "--to", "csv", "--out", there, "--force").exit_code == 0
    assert there.read_text().startswith("t_s,")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--to", "csv", "--out", "x.mf4"), "ends in .csv"),
        (("--to", "csv", "--signals", "nosuch"), "nothing to export"),
        (("--to", "csv", "--out", "no/such/folder/x.csv"), "cannot be written"),
    ],
)
def test_what_cannot_be_is_one_line_and_leaves_nothing(run, tmp_path, monkeypatch, options, words):
    monkeypatch.chdir(tmp_path)
    done = call("export", run, *options)
    assert done.exit_code == 2
    (line,) = done.stderr.splitlines()
    assert words in line
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


@pytest.mark.parametrize(
    ("to", "library", "extra"),
    [
        ("parquet", "pyarrow", "parquet"),
        ("mdf", "asammdf", "mdf"),
        ("mcap", "mcap", "mcap"),
        ("hdf5", "h5py", "hdf5"),
        ("mat", "scipy", "mat"),
    ],
)
def test_a_missing_library_is_named_with_its_extra(run, tmp_path, monkeypatch, to, library, extra):
    for module in (library, f"{library}.io", f"{library}.writer", f"{library}.parquet"):
        monkeypatch.setitem(sys.modules, module, None)
    done = call("export", run, "--to", to, "--out", tmp_path / f"x.{OURS[to]}")
    assert done.exit_code == 2
    assert f"pip install 'rigloop[{extra}]'" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_a_writer_that_fails_leaves_nothing(run, tmp_path, monkeypatch):
    from io_bridge.exports import csv_file

    def full(*given):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(csv_file, "_seconds", full)
    done = call("export", run, "--to", "csv", "--out", tmp_path / "x.csv")
    assert done.exit_code == 2
    assert "No space left" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


@pytest.mark.parametrize("to", OURS)
def test_halves_of_an_export_that_was_killed_are_gone_with_the_next_one(run, tmp_path, to):
    gone = subprocess.run(
        [sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True
    )
    dead, alive = int(gone.stdout), os.getpid() if to != "csv" else 1
    kept = tmp_path / f".out.{alive}.{OURS[to]}", tmp_path / f".out.more.{OURS[to]}"
    halves = [tmp_path / f".out.{dead}.{OURS[to]}", tmp_path / f".out.{dead}.{OURS[to]}.d"]
    for path in (halves[0], kept[1], *([kept[0]] if to == "csv" else [])):
        path.write_text("half")
    halves[1].mkdir()
    (halves[1] / "tmp123").write_text("half")
    done = call("export", run, "--to", to, "--out", tmp_path / f"out.{OURS[to]}")
    assert done.exit_code == 0, done.output
    left = {path.name for path in tmp_path.iterdir()}
    assert not left & {path.name for path in halves}
    assert kept[1].name in left
    assert (kept[0].name in left) == (to == "csv")


@pytest.mark.parametrize("ends", [("nan", "1"), ("2", "1"), ("1", "1"), ("inf", "inf")])
def test_times_that_are_no_stretch_are_told(run, tmp_path, ends):
    arguments = ("export", run, "--to", "csv", "--out", tmp_path / "x.csv", "--between", *ends)
    done = call(*arguments)
    assert (done.exit_code, "a later one" in done.output) == (2, True)


def test_a_stretch_may_have_no_end(exported):
    lines = exported("csv", "--between", "0.001", "inf").read_text().splitlines()
    assert len(lines) == 1 + 45


def test_a_folder_of_that_name_is_refused_before_anything_is_written(run, tmp_path):
    (tmp_path / "x.csv").mkdir()
    done = call("export", run, "--to", "csv", "--out", tmp_path / "x.csv", "--force")
    assert (done.exit_code, "is a folder" in done.output) == (2, True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run", "x.csv"]


def test_a_name_that_no_signal_has_is_told_with_one_that_it_may_have_meant(run, tmp_path):
    out = tmp_path / "x.csv"
    done = call("export", run, "--to", "csv", "--out", out, "--signals", "wheel/angle_rat")
    assert (done.exit_code, ANGLE in done.output) == (2, True)


def test_a_reason_in_several_lines_is_told_in_one(run, tmp_path, monkeypatch):
    def full(*given):
        raise OSError("Can't close file (file write failed: time = now\n, errno = 28, buf = 0x5)")

    form = replace(write.FORMS["hdf5"], write=full)
    monkeypatch.setitem(write.FORMS, "hdf5", form)
    done = call("export", run, "--to", "hdf5", "--out", tmp_path / "x.h5")
    assert done.stderr.splitlines() == [
        f"{tmp_path}/x.h5: cannot be written: No space left on device"
    ]
