"""Rigs without torque: terminals only, or a mechanism whose results go nowhere; checked, run, judged, replayed."""

import numpy as np
import pytest

from io_bridge.recording.record import open_record
from rigloop.run_folder.manifest import read_manifest

pytestmark = pytest.mark.slow

RACK = """
title = "A rack of terminals"

[tasks.io]
period_us = 1000
stall_cycles = 5000 # a busy machine without real-time rights stops a task for as long as it likes
blocks = ["bus"]

[blocks.bus]
kind = "bus"
exchange_budget_us = 100000
reads = { "switches/lamp" = "supervisor/enable" }

[blocks.bus.terminals.coupler]
device = "ek_coupler"

[blocks.bus.terminals.switches]
device = "digital_io"

[blocks.bus.terminals.switches.inputs.door]
bit = 0

[blocks.bus.terminals.switches.outputs.lamp]
bit = 0

[verdict]
max_overrun_percent = 100.0
max_lost_percent = 100.0
"""

MODEL = """
title = "A mechanism that moves by itself"

[tasks.model]
period_us = 1000
stall_cycles = 5000
blocks = ["crank"]

[blocks.crank]
kind = "mechanism"
mechanism = "slider_crank"

[show]
signals = ["crank/slider/position_m"]

[verdict]
max_overrun_percent = 100.0
"""


@pytest.fixture(scope="module")
def rack(run_to_end, tmp_path_factory):
    rig = tmp_path_factory.mktemp("rig") / "rack.toml"
    rig.write_text(RACK)
    return run_to_end(rig, tmp_path_factory.mktemp("runs"), "--for", "1", "--report"), rig


def test_a_rack_of_terminals_runs_and_is_good(rack):
    done, _ = rack
    assert (done.code, done.outcome["good"]) == (0, True), done
    manifest = read_manifest(done.folder)
    assert manifest.felt is None
    assert manifest.faults == ()
    assert manifest.bringup.to_op_s > 0.0
    record = open_record(done.folder / "io.npy")
    assert np.all(record["bus/valid"][10:] == 1)
    assert manifest.tasks["io"].cycles == len(record) > 900
    assert manifest.signals["bus/switches/door"] == ("io", "bus/switches/door")
    page = (done.folder / "report.html").read_text()
    assert "bus/switches/door" in page
    assert "Peak torque" not in page


def test_its_record_is_replayed(rack, rigloop_here, tmp_path):
    done, _ = rack
    again = rigloop_here("replay", done.folder, "--runs", tmp_path)
    assert again.returncode == 0, again.stdout + again.stderr


def test_a_fault_on_purpose_says_that_there_is_no_torque_to_judge(rack, rigloop, tmp_path):
    _, rig = rack
    done = rigloop("run", rig, "--for", "1", "--inject", "rate-range@0.3", "--runs", tmp_path)
    assert done.returncode in (2, 3)
    assert "no guard" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_drive_without_a_guard_is_refused(rigloop_here, tmp_path):
    rig = tmp_path / "bare.toml"
    rig.write_text(
        RACK.replace(
            "[verdict]",
            "[blocks.bus.drives.wheel]\ncounts_per_rev = 4096\nrated_torque_nm = 1.0\n"
            "peak_torque_nm = 2.0\n[verdict]",
        ).replace(
            '"switches/lamp" = "supervisor/enable"',
            '"switches/lamp" = "supervisor/enable", "wheel/torque_nm" = "supervisor/enable", '
            '"wheel/enable" = "supervisor/enable", "wheel/reset" = "supervisor/reset"',
        )
    )
    done = rigloop_here("check", rig)
    assert done.returncode == 2
    assert "has drives (wheel), and the rig has no guard" in done.stdout + done.stderr


def test_a_mechanism_without_a_bus_moves_is_recorded_and_replayed(
    run_to_end, rigloop_here, tmp_path
):
    rig = tmp_path / "crank.toml"
    rig.write_text(MODEL)
    done = run_to_end(rig, tmp_path / "runs", "--for", "1", "--report")
    assert (done.code, done.outcome["good"]) == (0, True), done
    record = open_record(done.folder / "model.npy")
    assert np.ptp(record["crank/slider/position_m"]) > 0.5
    assert "crank/slider/position_m" in (done.folder / "report.html").read_text()
    again = rigloop_here("replay", done.folder, "--runs", tmp_path / "again")
    assert again.returncode == 0, again.stdout + again.stderr
    assert "bit-equal" in again.stdout


def test_a_model_that_fails_without_a_guard_is_not_good(run_to_end, tmp_path):
    rig = tmp_path / "crank.toml"
    rig.write_text(
        MODEL.replace(
            'mechanism = "slider_crank"',
            'mechanism = "slider_crank"\nparameters = { "uniform_rod/crank/mass_kg" = 1e15 }',
        )
    )
    done = run_to_end(rig, tmp_path / "runs", "--for", "1")
    assert done.code == 1, done
    assert any("block 'crank' (mechanism): fault" in reason for reason in done.outcome["reasons"])
