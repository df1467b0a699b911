"""`rigloop model advise`: table, JSON, exit codes, and what it says of wrong input."""

import json

import pytest
from typer.testing import CliRunner

from codegen.kernels.build import build_kernel
from codegen.options.options import KernelOptions
from rigloop.cli import app
from rigloop.model.advise import _looks

FREE = """
name = "hanging"
gravity_m_s2 = [0, -9.81, 0]
[point.P]
position_m = [0.7, 0, 0]
moves = "xy"
[mass.P]
point = "P"
mass_kg = 1.0
[constant_distance.rod]
points = [[0, 0, 0], "P"]
[outputs]
"tip/height_m" = "P_y"
"""


@pytest.fixture
def advise(monkeypatch, tmp_path):
    monkeypatch.setenv("COLUMNS", "160")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "hanging.toml").write_text(FREE)
    return lambda *words: CliRunner().invoke(app, ["model", "advise", *map(str, words)])


@pytest.mark.slow
def test_the_advice_is_what_was_measured_to_be_cheapest(advise, tmp_path):
    done = advise("hanging.toml", "--duration-s", 0.5, "--error", 1e-3, "--json")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    good = [run for run in found["runs"] if run["meets"]]
    assert found["best"] == min(good, key=lambda run: run["us_per_s"])
    assert found["best"]["error"] <= 1e-3
    assert len({(run["formulation"], run["integrator"]) for run in found["runs"]}) == 12
    build_kernel(tmp_path / "hanging.toml", KernelOptions(**found["options"]))


@pytest.mark.slow
def test_a_motion_that_nobody_can_know_is_refused(advise, tmp_path):
    # two masses that tumble: neighbours part by e every half a second
    more = FREE.replace("hanging", "tumbling").replace("[outputs]", """
[point.Q]
position_m = [0.7, 1, 0]
velocity_m_s = [3, 0, 0]
moves = "xy"
[mass.Q]
point = "Q"
mass_kg = 1.0
[constant_distance.second]
points = ["P", "Q"]
[outputs]""")  # fmt: skip
    (tmp_path / "tumbling.toml").write_text(more)
    done = advise("tumbling.toml", "--duration-s", 12, "--error", 1e-6)
    assert done.exit_code == 1, done.output
    assert "no advice" in done.stdout
    assert "is chaotic" in done.stdout


def test_all_mistakes_are_said_at_once(advise):
    done = advise("guided_rod", "--motion", "guide/rod/position_rad=x@1", "--motion", "wheel=1@1")
    assert done.exit_code == 2
    for part in ("is not a sine", "is not an input", "guide/rod/position_rad"):
        assert part in done.stderr, part
    assert advise("steering_62").exit_code == 2
    assert advise("guided_rod", "--error", "0").exit_code == 2


@pytest.mark.parametrize(
    ("duration_s", "period_s", "wanted"),
    [(2.0, None, (0.01, 0.01)), (0.03, None, (5e-4, 5e-4)), (2.0, 1e-3, (0.01, 1e-3)), (0.03, 1e-3, (1e-3, 1e-3))],
)  # fmt: skip
def test_looks_are_whole_steps_and_many(duration_s, period_s, wanted):
    assert _looks(duration_s, period_s) == pytest.approx(wanted)
