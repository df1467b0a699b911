"""`rigloop model reduce`: from a finite-element model to a body of a mechanism."""

import json

import numpy as np
import pytest
from mechanisms.truss import gauge, truss
from typer.testing import CliRunner

from codegen.description.builder import MechanismBuilder
from codegen.description.mechanism import MechanismError, load, parse
from codegen.pose.assembly import assemble
from rigloop.cli import app


@pytest.fixture
def reduce(monkeypatch, tmp_path):
    monkeypatch.setenv("COLUMNS", "160")
    monkeypatch.chdir(tmp_path)
    arrays = truss()
    strain = {"strain": gauge(arrays)[None, :], "strain_names": np.array(["bar"])}
    np.savez(tmp_path / "truss.npz", **arrays | strain)

    def run(*words):
        given = ["model", "reduce", "truss.npz", "--name", "arm", "-o", "arm.toml", *words]
        return CliRunner().invoke(app, given)

    return run


def mechanism(folder):
    made = MechanismBuilder("swinging", gravity_m_s2=(0, 0, -9.81))
    made.point("O", position_m=(1, 0, 0.05))
    for name, direction in (("ex", (1, 0, 0)), ("ey", (0, 1, 0)), ("ez", (0, 0, 1))):
        made.unit_vector(name, direction=direction)
    head = made.text()
    body = '[flexible_body.arm]\npoints = ["O"]\nvectors = ["ex", "ey", "ez"]\n'
    told = (folder / "arm.toml").read_text()
    return head + body + told.replace("freedoms =", "origin_m = [1, 0, 0]\nfreedoms =", 1)


def test_table_is_a_body_with_the_mass_and_modes_of_the_model(reduce, tmp_path):
    done = reduce("--modes", "3", "--keep", "far", "--free-free", "--json")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert found["mass_kg"] == pytest.approx(1.0)
    assert found["centre_m"] == pytest.approx([0.2, 0.05, 0.05])
    assert found["modal_mass_error"] < 1e-9  # every mass is in the shape integrals
    assert len(found["frequency_hz"]) == 6  # three of them, and the far node's static shapes
    text = mechanism(tmp_path)
    system = parse(text, "swinging.toml").system
    body = system.flexible["arm"]
    assert list(body.modes.gauges) == ["bar"]
    assert assemble(system).dof == 6 + 6
    far = [system.initial(x) for x in system.points["arm_far"]]
    assert far == pytest.approx([1.4, 0.1, 0.1])
    (tmp_path / "swinging.toml").write_text(text)
    shown = CliRunner().invoke(app, ["model", "flex", "swinging.toml", "-o", "modes.png"])
    assert shown.exit_code == 0, shown.output
    assert load(tmp_path / "swinging.toml").name == "swinging"


def test_words_say_mass_frequencies_and_remarks(reduce):
    done = reduce("--modes", "2")
    for part in (
        "mass 1 kg",
        "Hz",
        "nodes without rotations: near, side, far",
        "no K_geo",
        "arm.toml",
    ):
        assert part in done.stdout, part


def test_wrong_options_are_refused_with_a_remedy(reduce):
    done = reduce("--at", "near")
    assert done.exit_code == 2
    assert "does not hold the body" in done.stderr
    done = reduce("--keep", "nose")
    assert "nodes are near, side, far" in done.stderr
    done = reduce("--keep", "far")
    assert "do not hold the body; name one more node" in done.stderr


def test_table_that_was_changed_by_hand_is_refused(reduce, tmp_path):
    reduce("--modes", "2")
    text = mechanism(tmp_path)
    for old, new, told in (
        ("mass_kg = [", "mass_kg = [1.0, ", "has not 2 numbers"),
        ("stiffness_n_per_m = [", "stiffness_n_per_m = [-", "is not above 0"),
        ("gram = [[1.0,", "gram = [[-1.0,", "is not symmetric and positive"),
        ("points = ", "modes = 3\npoints = ", "is settled by the reduction"),
    ):
        assert old in text
        with pytest.raises(MechanismError, match=told):
            parse(text.replace(old, new, 1), "swinging.toml")
