"""`rigloop model linearize`: tables, JSON, files, and what it says of wrong input."""

import json
import math

import numpy as np
import pytest
from typer.testing import CliRunner

from rigloop.cli import app


@pytest.fixture
def linearize(monkeypatch, tmp_path):
    monkeypatch.setenv("COLUMNS", "160")
    monkeypatch.chdir(tmp_path)
    return lambda *words: CliRunner().invoke(app, ["model", "linearize", *map(str, words)])


@pytest.mark.slow
def test_tables_name_equilibrium_modes_and_shapes(linearize):
    done = linearize("five_bar")
    assert done.exit_code == 0, done.output
    for part in ("0.70361", "1.0394", "oscillates", "right/angle_rad 1 rad", "neutral", "found in"):
        assert part in done.stdout, part


def test_json_has_everything(linearize):
    done = linearize("guided_rod", "--input", f"guide/rod/position_rad={math.pi / 2}", "--json")
    found = json.loads(done.stdout)
    assert found["dof"] == 0
    assert found["modes"] == []
    assert found["at"]["rod/angle_rad"] == pytest.approx(math.pi / 2)
    torque = found["outputs"].index("guide/torque_nm")
    assert found["d"][torque][0] == pytest.approx(-2.0 * 9.81 * 0.15)


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["svg", "png"])
def test_files_are_written(linearize, tmp_path, ending):
    for name in ("steering_26", "double_four_bar", "guided_rod"):
        done = linearize(name, "-o", "a.npz", "--plot", f"a.{ending}", "--json")
        found = json.loads(done.stdout)
        with np.load(tmp_path / "a.npz") as kept:
            assert kept["a"].tolist() == found["a"]
            assert kept["d"].tolist() == found["d"]
            assert list(kept["outputs"]) == found["outputs"]
            assert len(kept["poles_rad_s"]) == len(found["modes"])
        assert (tmp_path / f"a.{ending}").stat().st_size > 5000


def test_all_mistakes_are_said_at_once(linearize):
    done = linearize("guided_rod", "--input", "x", "--parameter", "m=heavy", "--plot", "a.txt")
    assert done.exit_code == 2
    for part in ("has no '='", "is not name=number", "a.txt", ".svg"):
        assert part in done.stderr, part


def test_what_cannot_rest_is_refused_with_the_reason(linearize):
    done = linearize("slider_crank")
    assert done.exit_code == 2
    assert "the pose is singular" in done.stderr
    assert linearize("steering_62").exit_code == 2
    assert linearize("guided_rod", "-o", "no/a.npz").exit_code == 2
    assert "position_rad" in linearize("guided_rod", "--input", "q=1").stderr
