"""The command line in this process: exit codes, and what it says of wrong input."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from rigloop.cli import app

COMMANDS = ("run", "replay", "check")
LOGS = Path(__file__).parents[2] / "data" / "logs"


@pytest.fixture
def rigloop(monkeypatch):
    # the width that help is wrapped to
    monkeypatch.setenv("COLUMNS", "120")

    def call(*arguments):
        return CliRunner().invoke(app, [str(argument) for argument in arguments])

    return call


@pytest.mark.parametrize(
    ("changes", "key", "remedy"),
    [
        ({"rate_nm_s = 2000.0": "rate_nm = 2000.0"}, "blocks.guard.rate_nm", "rate_nm_s"),
        ({"limit_nm = 12.0": 'limit_nm = "12"'}, "blocks.guard.limit_nm = '12'", "number"),
        ({"period_us = 1000": "period_us = 1100"}, "tasks.simulation.period_us = 1100", "1000"),
        (
            {'angle_rad = "wheel/angle_rad"': 'angle_rad = "wheel/angel_rad"'},
            "blocks.guard.reads.angle_rad = 'wheel/angel_rad'",
            "'wheel/angle_rad'",
        ),
        (
            {"[blocks.wheel.reads]": '[blocks.wheel.writes]\nangle_rad = "bus/lost"\n[blocks.wheel.reads]'},
            "blocks.wheel.writes.angle_rad = 'bus/lost'",
            "another name",
        ),
        (
            {'mechanism = "steering_26"': 'mechanism = "steering_62"'},
            "steering_62: blocks.steering: mechanism",
            "'steering_26'",
        ),
        (
            {'elapsed = "loop/estimation/elapsed"\nsensor_valid': 'elapst = "loop/estimation/elapsed"\nsensor_valid'},
            "blocks.guard.reads.elapst",
            "'elapsed'",
        ),
        (
            {'mechanism = "steering_26"': 'mechanism = "steering_26"\nparameters = { "mass/rak/mass_kg" = 2.0 }'},
            "blocks.steering.parameters.mass/rak/mass_kg = 2.0",
            "'mass/rack/mass_kg'",
        ),
        (
            {'"wheel/torque_nm" = "guard/torque_nm"': '"wheel/torque_nm" = "steering/guide/torque_nm"'},
            "blocks.bus.reads.wheel/torque_nm",
            "'guard/torque_nm'",
        ),
    ],
    ids=[
        "unknown key",
        "wrong type",
        "period not a multiple",
        "unknown signal",
        "two writers",
        "unknown mechanism",
        "unknown port",
        "unknown parameter",
        "torque past the guard",
    ],
)  # fmt: skip
def test_a_wrong_rig_is_named_with_its_remedy(rigloop, bad_rig, changes, key, remedy):
    rig = bad_rig(changes)
    done = rigloop("check", rig)
    assert done.exit_code == 2
    assert done.stdout == ""
    lines = [line for line in done.stderr.splitlines() if key in line]
    assert lines, done.stderr
    assert any(remedy in line for line in lines), lines


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "words"),
    [("steering_whel", "did you mean 'steering_wheel'"), ("no/such.toml", "no such file")],
)
def test_an_unknown_rig_is_told(rigloop, tmp_path, name, words):
    done = rigloop("run", name, "--runs", tmp_path / "runs")
    assert done.exit_code == 2
    (line,) = done.stderr.splitlines()
    assert words in line
    assert not (tmp_path / "runs").exists()


def test_a_file_that_is_no_toml_is_told(rigloop, tmp_path):
    path = tmp_path / "bad.toml"
    path.write_bytes(b"\x80\xff")
    done = rigloop("check", path)
    assert done.exit_code == 2
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"{path}: (file): is not a text file")


@pytest.mark.slow
def test_a_title_with_markup_is_only_text(rigloop, bad_rig):
    rig = bad_rig({'title = "Steering-wheel force feedback"': 'title = "Wheel [/red] [bold]"'})
    done = rigloop("check", rig)
    assert done.exit_code == 0, done.stderr
    assert "Wheel [/red] [bold]" in done.stdout


def _empty(folder):
    path = folder / "empty.csv"
    path.touch()
    return path


def _binary(folder):
    path = folder / "binary.csv"
    path.write_bytes(bytes(range(256)) * 40)
    return path


def _unknown_columns(folder):
    path = folder / "columns.csv"
    path.write_text("time,angle\n" + "".join(f"{i},{i}\n" for i in range(100)))
    return path


BAD_LOGS = {
    "missing": (lambda folder: folder / "no.csv", "no such file"),
    "folder": (lambda folder: folder, "manifest.json: cannot be read"),
    "empty": (_empty, "is empty"),
    "binary": (_binary, "byte 0 is 0x00: neither a text nor a format that is known here"),
    "unknown columns": (_unknown_columns, "no shipped mapping fits its columns time, angle"),
}


@pytest.mark.parametrize("kind", BAD_LOGS)
def test_a_log_that_cannot_be_used_is_one_line_and_exit_2(rigloop, tmp_path, kind):
    make, words = BAD_LOGS[kind]
    logs = tmp_path / "logs"
    logs.mkdir()
    log = make(logs)
    done = rigloop("replay", log, "--runs", tmp_path / "runs")
    assert done.exit_code == 2, done.stderr
    (line,) = done.stderr.splitlines()
    assert str(log) in line
    assert words in line
    assert not (tmp_path / "runs").exists()


def test_a_bad_log_is_one_json_object_too(rigloop, tmp_path):
    done = rigloop("replay", tmp_path / "no.csv", "--json")
    assert done.exit_code == 2
    answer = json.loads(done.stdout)
    assert answer["exit_code"] == 2
    assert "no such file" in answer["mistakes"][0]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (None, "mine.toml: (file): No such file"),
        ("name = 3", "mine.toml: name = 3: input should be a valid string"),
        (
            'name = "mine"\ntitle = "x"\nheader = ["t_s"]\ntime = { column = "t_s", unit = "s" }\n'
            'angle = { column = "angel_deg", unit = "deg", counts_per_rev = 3600 }',
            "no column angel_deg (mapping mine); found t_s, steering_angle_deg, speed_mps",
        ),
    ],
    ids=["missing", "wrong", "no such column"],
)
def test_a_bad_mapping_is_a_line_a_mistake_and_exit_2(rigloop, tmp_path, text, words):
    mapping = tmp_path / "mine.toml"
    if text is not None:
        mapping.write_text(text)
    log = LOGS / "comma2k19_segment40.csv"
    done = rigloop("replay", log, "--mapping", mapping, "--runs", tmp_path / "runs")
    assert done.exit_code == 2, done.stderr
    assert sum(words in line for line in done.stderr.splitlines()) == 1
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_an_example(rigloop, command):
    done = rigloop(command, "--help")
    assert done.exit_code == 0
    assert f"rigloop {command}" in done.stdout
    assert "Example" in done.stdout


def test_help_names_every_command_and_the_exit_codes(rigloop):
    done = rigloop("--help")
    assert done.exit_code == 0
    assert all(command in done.stdout for command in COMMANDS)
    assert "Exit codes" in done.stdout


def test_an_option_out_of_range_is_wrong_input(rigloop, tmp_path):
    done = rigloop("run", "steering_wheel", "--for", "0", "--runs", tmp_path / "runs")
    assert done.exit_code == 2
    assert "--for" in done.stderr
    assert not (tmp_path / "runs").exists()
