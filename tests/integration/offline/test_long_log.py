"""A log replayed part by part: the bits of the replay as a whole, figures of its record, one of some cycles kept;
stopped or killed, it goes on to the same end."""

import json
import multiprocessing
import os
import signal
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from io_bridge.logs import parts as parts_module
from io_bridge.recording.record import RecordWriter, open_record
from rigloop.cli import app
from rigloop.replay import long_log, stepped_log
from rigloop.replay.place import only_one, packed

pytestmark = pytest.mark.slow

N = 3000
STEPPED_AT_ONCE = 3331


def call(*arguments, code=0):
    done = CliRunner().invoke(app, [str(argument) for argument in (*arguments, "--json")])
    assert done.exit_code == code, done.output
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    path = tmp_path_factory.mktemp("log") / "turns.csv"
    t_s = np.arange(N) * 1e-3
    count = np.rint(8192 * (np.cos(2.5 * t_s) + 0.2 * np.cos(11.0 * t_s)))
    t_s[2000:] += 0.05
    rows = "".join(f"{t:.3f},{c:.0f}\n" for t, c in zip(t_s, count, strict=True))
    path.write_text(f"# encoder: 65536 counts/rev\ntime [s],enc [counts]\n{rows}")
    call("log", "check", path, "--write", path.with_suffix(".toml"))
    return (path, "--mapping", path.with_suffix(".toml"))


@pytest.fixture(scope="module")
def whole(log, tmp_path_factory):
    runs = tmp_path_factory.mktemp("whole")
    return Path(call("replay", *log, "--runs", runs, "--no-report")["folder"])


@pytest.fixture
def small_parts(monkeypatch):
    monkeypatch.setattr(stepped_log, "CHUNK", STEPPED_AT_ONCE)
    monkeypatch.setattr(parts_module, "BESIDE", 50)
    monkeypatch.setattr(parts_module, "PART", 700)


@pytest.mark.usefixtures("small_parts")
def test_one_of_some_cycles_is_kept_with_the_bits_of_the_whole(log, whole, tmp_path):
    outcome = call("replay", *log, "--runs", tmp_path, "--keep", 7)
    assert outcome["good"], outcome
    for task in ("estimation", "simulation"):
        every = open_record(whole / f"{task}.npy")
        some = open_record(Path(outcome["folder"]) / f"{task}.npy")
        assert some.dtype == every.dtype
        assert some.tobytes() == every[::7].tobytes()


@pytest.mark.usefixtures("small_parts")
def test_a_summary_has_the_figures_of_the_record_and_keeps_none(log, whole, tmp_path):
    outcome = call("replay", *log, "--runs", tmp_path, "--keep", "summary")
    folder = Path(outcome["folder"])
    assert [len(open_record(path)) for path in folder.glob("*.npy")] == [0, 0]
    assert call("show", folder)
    assert "no cycle is recorded" in call("export", folder, "--to", "csv", code=2)["mistakes"][0]
    signals = json.loads((folder / "summary.json").read_text())["signals"]
    record = open_record(whole / "simulation.npy")
    torque = record["steering/guide/torque_nm"]
    figures = signals["steering/guide/torque_nm"]
    assert figures["cycles"] == len(torque)
    assert (figures["least"], figures["largest"]) == (np.min(torque), np.max(torque))
    assert figures["rms"] == pytest.approx(np.sqrt(np.mean(torque**2)), rel=1e-12)
    assert figures["last"] == torque[-1]
    assert not any(name.startswith("loop/") for name in signals)


@pytest.mark.parametrize("keep", ["0", "-1", "some", "1e9"])
def test_what_cannot_be_kept_is_refused(log, keep, tmp_path):
    answer = call("replay", *log, "--runs", tmp_path, f"--keep={keep}", code=2)
    assert "give all, summary, or a number" in answer["mistakes"][0]
    assert not [*tmp_path.iterdir()]


class Spied(long_log.SteppedLog):
    newest = None

    def __init__(self, *given):
        super().__init__(*given)
        Spied.newest = self


@pytest.fixture
def places(small_parts, monkeypatch):
    monkeypatch.setattr(long_log, "PLACE_S", 0.0)
    monkeypatch.setattr(long_log, "SteppedLog", Spied)


def killed(arguments, after):
    """Run the command in a process that kills itself before it records for the `after`-th time; return its folder."""

    def child():
        append, done = RecordWriter.append, [0]

        def counted(self, rows):
            done[0] += 1
            if done[0] == after:
                os.kill(os.getpid(), signal.SIGKILL)
            append(self, rows)

        RecordWriter.append = counted
        CliRunner().invoke(app, [str(argument) for argument in arguments])
        os._exit(0)

    process = multiprocessing.get_context("fork").Process(target=child)
    process.start()
    process.join()
    assert process.exitcode == -signal.SIGKILL


def facts(folder):
    manifest = json.loads((folder / "manifest.json").read_text())
    of_time = ("started", "host", "notes")
    speed = manifest["replay"].pop("speed")
    assert speed > 0.0
    return {key: value for key, value in manifest.items() if key not in of_time}


def is_same_end(folder, whole, last):
    names = {path.name for path in folder.iterdir()}
    assert names == {path.name for path in whole.iterdir()}
    assert "unfinished.place" not in names
    for name in names - {"manifest.json"}:
        assert (folder / name).read_bytes() == (whole / name).read_bytes(), name
    assert facts(folder) == facts(whole)
    assert packed(Spied.newest.place["blocks"]) == last


@pytest.mark.usefixtures("places")
def test_a_replay_that_is_killed_twice_goes_on_to_the_same_end(log, tmp_path):
    unstopped = Path(call("replay", *log, "--runs", tmp_path / "a", "--keep", 3)["folder"])
    last = packed(Spied.newest.place["blocks"])
    killed(("replay", *log, "--runs", tmp_path / "b", "--keep", 3), after=13)
    (folder,) = (tmp_path / "b").iterdir()
    rows = len(open_record(folder / "estimation.npy"))
    assert 0 < rows < len(open_record(unstopped / "estimation.npy"))
    (run,) = call("runs", tmp_path / "b")["runs"]
    assert (run["state"], run["verdict"]) == ("interrupted", "bad")
    assert "--resume` continues from its last saved position" in run["reasons"][0]
    assert "--resume" in call("report", folder, code=2)["mistakes"][0]
    killed(("replay", folder, "--resume"), after=9)
    assert call("replay", folder, "--resume")["good"]
    assert json.loads((folder / "manifest.json").read_text())["notes"] == [
        "resumed 2 times after a stop"
    ]
    is_same_end(folder, unstopped, last)
    assert "nothing to resume" in call("replay", folder, "--resume", code=2)["mistakes"][0]


@pytest.mark.usefixtures("places")
def test_a_replay_that_is_stopped_is_found_by_its_log(log, tmp_path, monkeypatch):
    unstopped = Path(call("replay", *log, "--runs", tmp_path / "a", "--keep", "summary")["folder"])
    last = packed(Spied.newest.place["blocks"])
    take = Spied.take

    def interrupted(self, part):
        if self.cycles["simulation"] > 1500:
            raise KeyboardInterrupt
        take(self, part)

    with monkeypatch.context() as patched:
        patched.setattr(Spied, "take", interrupted)
        stopped = call("replay", *log, "--runs", tmp_path / "b", "--keep", "summary", code=1)
    assert "stopped after" in stopped["reasons"][0]
    assert f"`rigloop replay {stopped['folder']} --resume`" in stopped["reasons"][1]
    answer = call("replay", log[0], "--runs", tmp_path / "b", "--resume", "--keep", 2, code=2)
    assert "omit these options" in answer["mistakes"][0]
    done = call("replay", log[0], "--runs", tmp_path / "b", "--resume")
    assert done["folder"] == stopped["folder"]
    is_same_end(Path(done["folder"]), unstopped, last)


@pytest.mark.usefixtures("places")
def test_what_cannot_be_gone_on_with_is_refused(log, tmp_path, monkeypatch):
    own = tmp_path / "own.csv"
    own.write_bytes(log[0].read_bytes())
    killed(("replay", own, *log[1:], "--runs", tmp_path / "b", "--keep", 3), after=13)
    (folder,) = (tmp_path / "b").iterdir()

    def refused():
        (words,) = call("replay", folder, "--resume", code=2)["mistakes"]
        return words

    with only_one(folder):
        assert "still running" in refused()
    with monkeypatch.context() as patched:
        patched.setattr(stepped_log, "_hash_of", lambda images: b"other bits")
        assert "other bits" in refused()
    place = folder / "unfinished.place"
    kept = place.read_bytes()
    place.write_bytes(kept[:-1] + bytes([kept[-1] ^ 1]))
    assert "not written by this user" in refused()
    place.write_bytes(kept)
    with own.open("a") as file:
        file.write("3.1,5\n")
    assert "was changed since" in refused()
    own.unlink()
    assert "is missing; put it back" in refused()
    place.unlink()
    assert "replay the log again" in refused()
