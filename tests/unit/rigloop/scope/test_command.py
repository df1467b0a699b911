"""`rigloop scope` on a recorded run and on a stored capture: tables, JSON, files, and what it refuses."""

import json
import re
from pathlib import Path

import pytest
from command_here import rigloop_here
from recorded_runs import write_recorded_run

TRIGGER = "wheel/angle_rad > 20 rising"


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return write_recorded_run(tmp_path_factory.mktemp("run"))


def test_a_recorded_run_is_captured_kept_drawn_exported_and_compared(run, tmp_path):
    kept, picture = tmp_path / "kept.npz", tmp_path / "picture.svg"
    around = ("--trigger", TRIGGER, "--pre", 0.002, "--post", 0.003)
    chosen = ("--signals", "angle", "--signals", "guide/*", "--signals", "steering/guide/torque_nm")
    files = ("--save", kept, "--plot", picture, "--fft", "--export", "csv")
    done = rigloop_here("scope", run, *around, *chosen, *files)
    assert done.returncode == 0
    assert "at 0.004200 s: 25 cycles of estimation, 5 cycles of simulation" in done.stdout
    assert {path.name for path in tmp_path.iterdir()} >= {"kept.npz", "picture.svg", "kept.csv"}
    assert "wheel/angle_rad" in picture.read_text()
    again = rigloop_here("scope", kept, "--against", kept, "--json")
    (found,) = json.loads(again.stdout)["captures"]
    assert found["trigger_s"] == pytest.approx(0.0042)
    assert found["signals"]["wheel/angle_rad"]["maximum"] == 35.0
    assert [one["largest"] for one in found["differences"]] == [0.0, 0.0]
    assert found["lost"] == 0


def test_several_captures_have_their_numbers(run, tmp_path):
    done = rigloop_here(
        "scope", run, "--signals", "wheel", "--mode", "normal", "--pre", 0, "--post", 0.004,
        "--save", tmp_path / "c.npz", "--json",
    )  # fmt: skip
    assert [c["cycles"]["estimation"] for c in json.loads(done.stdout)["captures"]] == [20, 20, 10]
    assert {path.name for path in tmp_path.iterdir()} == {"c-1.npz", "c-2.npz", "c-3.npz"}


def test_a_trigger_that_does_not_come_is_no_good_end(run):
    done = rigloop_here("scope", run, "--trigger", "wheel/angle_rad > 1e6", "--signals", "wheel")
    assert (done.returncode, done.stdout) == (1, "wheel/angle_rad > 1e6: has not come\n")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--trigger", "wheel/angle > 1"), "no signal 'wheel/angle'"),
        (("--signals", "nothing"), "no signal of this run is like it"),
        (("--signals", "wheel", "--pre", "1e9"), "pre_s"),
        (("--signals", "wheel", "--delay", "a/b", "c/d"), "no signal of the capture"),
        (("--against", "none.npz"), "none.npz: cannot be read"),
    ],
)
def test_a_mistake_is_one_line(run, arguments, words):
    done = rigloop_here("scope", run, *arguments)
    assert done.returncode == 2
    assert words in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_without_a_run_it_says_what_to_do(tmp_path):
    for of in ("no_such_rig", tmp_path):
        done = rigloop_here("scope", of)
        assert done.returncode == 2
        assert "folder of a run" in done.stderr


def test_the_example_of_the_page_runs_on_a_run(run):
    page = (Path(__file__).parents[4] / "docs" / "scope.md").read_text()
    (text,) = re.findall(r"^```python\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    names = {"folder": run}
    exec(text, names)
    (capture,) = names["captures"]
    assert names["angle_rad"][0] == 0.0
    assert capture.trigger_s == pytest.approx(0.004)
