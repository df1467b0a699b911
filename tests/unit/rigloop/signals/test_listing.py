"""What is known of a rig's signals: writers, readers, units, and what nobody uses."""

import json

import pytest
from typer.testing import CliRunner

from rig_configs.load import find_rig
from rigloop.cli import app
from rigloop.compose.wiring import load
from rigloop.signals.listing import bare_ports, like, signals_of, unread_blocks
from rigloop.signals.notes import signal_facts, signal_notes, signal_words

WHEEL = find_rig("steering_wheel").read_text()


def rig_of(tmp_path, text):
    path = tmp_path / "rig.toml"
    path.write_text(text)
    return load(str(path)).rig


@pytest.fixture(scope="module")
def rig():
    return load("steering_observer").rig


def test_every_cell_of_the_plan_is_listed_once(rig):
    paths = [signal.path for signal in signals_of(rig)]
    assert len(set(paths)) == len(paths)
    written = {path for task in rig.tasks for path in paths if path.startswith(f"loop/{task}/")}
    assert "loop/estimation/cycle" in written
    assert {"supervisor/arm", "hands/force/hands/torque_nm", "bus/sent_ns"} <= set(paths)


def test_writer_readers_unit_and_task(rig):
    found = {signal.path: signal for signal in signals_of(rig)}
    angle = found["wheel/angle_rad"]
    assert (angle.unit, angle.writer, angle.task) == ("rad", "wheel", "estimation")
    assert set(angle.readers) == {
        "steering.guide/wheel/position_rad",
        "guard.angle_rad",
        "show.angle",
    }
    assert found["loop/simulation/cycle"].readers == ("guard.request_cycle",)
    assert found["hands/variance/force/hands/torque_nm"].unit == "Nm^2"
    assert found["supervisor/arm"].writer == "the supervisor"


def test_a_renamed_signal_names_its_port(tmp_path):
    renamed = WHEEL.replace(
        'kind = "mechanism"',
        'kind = "mechanism"\nwrites = { "guide/torque_nm" = "model/torque_nm" }',
    )
    renamed = renamed.replace("steering/guide/torque_nm", "model/torque_nm")
    found = {s.path: s for s in signals_of(rig_of(tmp_path, renamed))}
    assert found["model/torque_nm"].writer == "steering.guide/torque_nm"


@pytest.mark.parametrize(
    ("pattern", "some"),
    [
        ("torque", "guard/torque_nm"),
        ("guard/*_ms", "guard/gap_ms"),
        ("*/angle_rad", "wheel/angle_rad"),
    ],
)
def test_like(rig, pattern, some):
    chosen = [s.path for s in like(signals_of(rig), pattern)]
    assert some in chosen
    assert "supervisor/arm" not in chosen


def test_a_block_that_nobody_reads_is_named(tmp_path):
    text = WHEEL.replace('["bus", "wheel", "guard"]', '["bus", "wheel", "spare", "guard"]')
    text += '\n[blocks.spare]\nkind = "relay"\ntorque_nm = 1.0\nreads = { angle_rad = "wheel/angle_rad" }\n'
    rig = rig_of(tmp_path, text)
    assert unread_blocks(rig, signals_of(rig)) == ["spare"]
    assert any("blocks.spare" in note and "remove the block" in note for note in signal_notes(rig))


def test_shipped_rigs_have_no_notes(rig):
    assert signal_notes(rig) == []
    assert any("only recorded" in line for line in signal_words(rig, "steering_observer"))
    assert "blocks.wheel.reads.sample_age_s" in signal_facts(rig)["bare_ports"]
    assert all(bare.about for bare in bare_ports(rig))


def test_the_command_lists_and_answers_in_json():
    shown = CliRunner().invoke(app, ["signals", "steering_wheel", "--like", "guard/torque_nm"])
    assert shown.exit_code == 0
    assert "show.command" in shown.output
    told = CliRunner().invoke(app, ["signals", "steering_wheel", "--json"])
    found = {s["path"]: s for s in json.loads(told.output)["signals"]}
    assert found["guard/torque_nm"]["readers"] == ["bus.wheel/torque_nm", "show.command"]
    assert CliRunner().invoke(app, ["signals", "no_such_rig"]).exit_code == 2
