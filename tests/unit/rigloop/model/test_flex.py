"""`rigloop model flex`: tables, JSON, pictures, films, and what it says of wrong input."""

import json

import pytest
from mechanisms.flexible_mechanisms import free_shaft, spin_up
from PIL import Image
from typer.testing import CliRunner

from rigloop.cli import app


@pytest.fixture
def flex(monkeypatch, tmp_path):
    monkeypatch.setenv("COLUMNS", "160")
    monkeypatch.chdir(tmp_path)
    return lambda *words: CliRunner().invoke(app, ["model", "flex", *map(str, words)])


def test_tables_have_frequencies_effective_masses_and_what_was_left_out(flex, tmp_path):
    done = flex(free_shaft(modes=3, line=[(0, 0, 0), (0.7, 0, 0)]).save(tmp_path))
    assert done.exit_code == 0, done.output
    for part in ("shaft", "1.42147 kg", "7.056", "79.1 %", "shapes from", "bow", "root, knee, tip"):
        assert part in done.stdout, part


def test_json_has_everything(flex, tmp_path):
    done = flex(spin_up().save(tmp_path), "--json")
    (body,) = json.loads(done.stdout)["bodies"]
    assert body["mass_kg"] == pytest.approx(12.0)
    assert body["modes"][0]["frequency_hz"] == pytest.approx(0.60443, rel=1e-4)
    assert body["modes"][0]["effective_share"][1] == pytest.approx(0.613, abs=1e-3)
    assert body["coordinates"] == 17


def test_modes_are_drawn_and_filmed(flex, tmp_path):
    path = spin_up(modes=1).save(tmp_path)
    assert flex(path, "-o", "modes.png").exit_code == 0
    assert Image.open(tmp_path / "modes.png").width > 1000
    assert flex(path, "-o", "modes.gif", "--json").exit_code == 0
    assert Image.open(tmp_path / "modes.gif").n_frames > 10


def test_wrong_input_is_refused_with_a_remedy(flex, tmp_path):
    done = flex("five_bar")
    assert done.exit_code == 2
    assert "nothing bends" in done.stderr
    done = flex(spin_up().save(tmp_path), "-o", "modes.txt")
    assert done.exit_code == 2
    assert ".gif" in done.stderr
