"""Frequency responses of the emulated rig: stepped without a clock, where nothing but the loop itself is in them."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console
from typer.testing import CliRunner

from rig_configs.load import find_rig
from rigloop.bench.frf import measure as measure_module
from rigloop.bench.frf.measure import measure
from rigloop.bench.frf.rig import excited, sweep_for
from rigloop.cli import app
from rigloop.compose.blocks import compose_live
from rigloop.compose.bus import make_buses
from rigloop.compose.kernels import build_kernels
from rigloop.compose.parts import backends_of
from rigloop.compose.wiring import load
from rigloop.haptic.check import linear_model
from rigloop.haptic.loop import make_loop, wheel_of
from rigloop.haptic.margin import modes, worst
from rigloop.haptic.path import haptic_path
from rigloop.judge.singing import singing
from rigloop.replay.script import run_script
from rigloop.run_folder.not_started import NotStartedError
from rt_core.steps import Steps

pytestmark = pytest.mark.slow

RIG = find_rig("steering_wheel").read_text()
ARM_S = 0.1


def stepped(loaded, path, seconds, folder):
    """Step a rig and its simulated segment in nominal order, into records; all cycles keep their deadlines."""
    fast_ns = round(path.fast_s * 1e9)
    n = round(seconds * 1e9) // (fast_ns * path.every) * path.every
    fast_t = np.arange(n) * fast_ns
    after = np.arange(0, n, path.every)
    forced = {
        "supervisor/enable": np.ones(n),
        "supervisor/reset": np.zeros(n),
        "supervisor/heartbeat": np.arange(n, dtype=float),
        "supervisor/arm": (fast_t >= ARM_S * 1e9).astype(float),
        "supervisor/stop": np.zeros(n),
    }
    seen = np.searchsorted(after + 1, np.arange(n), side="right")
    script = {
        path.fast: Steps(fast_t, {path.slow: seen}, forced),
        path.slow: Steps(fast_t[:: path.every], {path.fast: after}),
    }
    with make_buses(loaded.rig, backends_of(loaded.rig, "simulated")) as buses:
        composed = compose_live(loaded.rig, build_kernels(loaded), buses)
        buses.to_op()
        run_script(composed.plan, script, folder, Console(quiet=True))


def measured(rig, tmp_path, *, amplitude_nm=None, seconds=12.0):
    loaded = load(str(rig))
    path = haptic_path(loaded.rig)
    sweep = sweep_for(loaded, amplitude_nm)
    with_sines, block = excited(loaded, path, sweep, tmp_path, emulated=True)
    stepped(with_sines, path, seconds, tmp_path)
    loop = make_loop(loaded.rig, path, linear_model(loaded, path), delay_s=0.0)
    return measure(tmp_path, with_sines, path, sweep, loop, block)


def test_both_responses_are_within_the_bars(tmp_path):
    found = measured(find_rig("steering_wheel"), tmp_path)
    assert found.hand_over == pytest.approx((1.0, 1.0))
    assert found.torque.worst_db < 0.05
    assert found.torque.worst_deg < 0.5
    assert found.flat_db < 0.1
    assert found.haptic.n_incoherent == 0
    assert found.haptic.worst_db < 1.0
    assert found.haptic.worst_deg < 5.0
    # two cycles, half a hold, and the current loop's lag, less what is read of it within a cycle
    assert found.delay_ms == pytest.approx(0.2 + 0.2 + 0.4, abs=0.1)


@pytest.mark.parametrize("rows", [0, 100])
def test_a_run_without_sines_is_said_to_have_none(tmp_path, monkeypatch, rows):
    # as one that was ended before it was armed
    opened = measure_module.open_record
    monkeypatch.setattr(measure_module, "open_record", lambda path: opened(path)[:rows])
    with pytest.raises(
        NotStartedError, match=r"before any sine was put in: `rigloop report .*` says why"
    ):
        measured(find_rig("steering_wheel"), tmp_path, seconds=1.0)


@pytest.mark.parametrize(("gain", "over"), [(1.9, False), (2.5, True)])
def test_the_wheel_sings_from_the_predicted_gain_on_at_the_predicted_frequency(
    tmp_path, gain, over
):
    # the margin of the rig with hands on is 2.25, at 55.7 Hz
    text = RIG.replace("request_sign = -1", f"request_sign = -1\nrequest_gain = {gain}")
    text = text.replace("amplitude_deg = 60.0", "amplitude_deg = 2.0").replace(
        "coulomb_nm = 0.1", "coulomb_nm = 0.0"
    )
    rig = tmp_path / "rig.toml"
    rig.write_text(text)
    loaded = load(str(rig))
    path = haptic_path(loaded.rig)
    stepped(loaded, path, 4.0, tmp_path)
    record = np.load(tmp_path / f"{path.fast}.npy", mmap_mode="r")
    torque = record["guard/torque_nm"]
    gate = loaded.rig.blocks["guard"]
    assert (np.abs(torque).max() >= 0.5 * gate.limit_nm) == over
    said = singing(loaded.rig, {path.fast: record})
    assert len(said) == over
    assert not over or "guard: the wheel sang at" in said[0]
    if over:
        # as it grows: once the guard limits its slope it is no linear loop any more
        limited = np.flatnonzero(np.abs(np.diff(torque)) >= 0.999 * gate.rate_nm_s * path.fast_s)[0]
        growing = record["wheel/rate_rad_s"][limited - 800 : limited]
        rises = np.flatnonzero(np.diff(np.sign(growing - growing.mean())) > 0)
        hz = (len(rises) - 1) / ((rises[-1] - rises[0]) * path.fast_s)
        loop = make_loop(loaded.rig, path, linear_model(loaded, path))
        mode = worst(modes(loop, wheel_of(loaded.rig, path)), swings=True)
        assert mode.growth_1_s > 0.0
        assert hz == pytest.approx(mode.frequency_hz, rel=0.05)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["steering_wheel", "--amplitude-nm", "7"], "at most 6"),
        (["steering_wheel", "--bus", "eth9"], "--arm"),
        (["latency_bench"], "not an output of a mechanism"),
    ],
)
def test_what_may_not_be_is_refused_before_anything_starts(arguments, words, tmp_path):
    ran = CliRunner().invoke(app, ["bench", "frf", *arguments, "--runs", str(tmp_path / "runs")])
    assert ran.exit_code == 2
    assert words in re.sub(r"\s+", " ", ran.output)
    assert not Path(tmp_path / "runs").exists()


def test_live_it_measures_every_line_and_leaves_what_it_says(rigloop, make_rig, tmp_path):
    runs = tmp_path / "runs"
    done = rigloop("bench", "frf", make_rig(), "--periods", 3, "--runs", runs, "--json")
    outcome = json.loads(done.stdout)
    assert done.returncode == (0 if outcome["good"] else 1)
    # a loaded machine delays cycles, and what is measured with them; it changes no gain of the torque path by much
    assert outcome["frequency_hz"][0] == 0.5
    assert outcome["frequency_hz"][-1] == 30.0
    assert outcome["flat_db"] < 1.0
    assert outcome["torque_path"]["worst_db"] < 1.0
    (folder,) = runs.iterdir()
    assert json.loads((folder / "frf.json").read_text())["haptic"] == outcome["haptic"]
    picture = (folder / "frf.svg").read_text()
    assert picture.count("measured") >= 2
