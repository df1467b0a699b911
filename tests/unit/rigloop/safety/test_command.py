"""`rigloop safety` without a run: its tables, its JSON, its file, and a rig without torque."""

import json

import pytest
from typer.testing import CliRunner

from rig_configs.hazards import HAZARDS
from rigloop.cli import app
from rigloop.compose.wiring import load

NO_TORQUE = """
title = "A lamp"
[tasks.slow]
period_us = 1000
blocks = ["bus"]
[blocks.bus]
kind = "bus"
reads = { "io/lamp" = "supervisor/arm" }
[blocks.bus.terminals.io]
device = "digital_io"
watchdog_ms = 50.0
inputs = { door = { bit = 0 } }
outputs = { lamp = { bit = 0 } }
"""


@pytest.fixture
def safety(monkeypatch):
    monkeypatch.setenv("COLUMNS", "160")

    def run(*arguments):
        return CliRunner().invoke(app, ["safety", *map(str, arguments)])

    return run


def test_a_rig_is_shown_with_hazards_limits_and_stated_times(safety):
    done = safety("steering_wheel", "--no-measure")
    assert done.exit_code == 0, done.output
    assert not [hazard.title for hazard in HAZARDS if hazard.title not in done.output]
    assert "heartbeat_timeout_ms 1000 blocks.guard" in " ".join(done.output.split())
    assert "not a safety function" in done.output


def test_json_has_every_axis_with_its_own_times(safety):
    done = safety("pedals_and_wheel", "--no-measure", "--json")
    message = json.loads(done.stdout)
    assert (done.exit_code, message["good"], message["repeats"]) == (0, True, 0)
    rows = {(row["guard"], row["fault"]): row for row in message["reactions"]}
    guards = {guard for guard, _ in rows}
    assert guards == {"wheel_guard", "brake_guard", "gas_guard"}
    row = rows["brake_guard", "angle-range"]
    assert row["limits"] == {"blocks.brake_guard.max_angle_rad": "0.6"}
    assert row["to_zero_ms"] == pytest.approx(row["to_zero"] * 0.2)
    assert row["measured"] is None


def test_a_file_keeps_the_tables_with_the_hash_of_the_rig(safety, tmp_path):
    out = tmp_path / "table.md"
    assert safety("steering_wheel", "--no-measure", "--out", out).exit_code == 0
    text = out.read_text()
    assert load("steering_wheel").sha256 in text
    assert "|  | heartbeat_timeout_ms | 1000 | blocks.guard |" in text
    assert "An emergency stop button" in text
    as_json = tmp_path / "table.json"
    assert safety("steering_wheel", "--no-measure", "--out", as_json).exit_code == 0
    assert json.loads(as_json.read_text())["rig"] == "steering_wheel"
    assert safety("steering_wheel", "--no-measure", "--out", tmp_path / "a/b").exit_code == 2


def test_a_rig_without_torque_says_so(safety, tmp_path):
    rig = tmp_path / "lamp.toml"
    rig.write_text(NO_TORQUE)
    done = safety(rig)
    assert done.exit_code == 0, done.output
    assert "no guard and therefore no torque" in " ".join(done.output.split())
    assert "watchdog_ms 50 blocks.bus.terminals.io" in " ".join(done.output.split())


@pytest.mark.parametrize("fault", ["request-huge", "ring-break"])
def test_a_fault_without_a_measured_reaction_is_refused(safety, fault):
    done = safety("steering_wheel", "--only", fault, "--json")
    assert done.exit_code == 2
    (mistake,) = json.loads(done.stdout)["mistakes"]
    assert "give one of: " in mistake
    assert "link-down" in mistake


def test_a_wrong_rig_and_a_wrong_fault_are_refused(safety):
    assert safety("no_such_rig", "--json").exit_code == 2
    done = safety("steering_wheel", "--only", "link-dwn", "--json")
    assert done.exit_code == 2
    assert "did you mean 'link-down'" in json.loads(done.stdout)["mistakes"][0]
