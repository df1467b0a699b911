"""The page that walks from a mesh to a body that bends: its examples run, and are right."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from codegen.flexible.neutral_file import read
from codegen.flexible.reduction import Wanted, reduce
from rigloop.cli import app

pytestmark = pytest.mark.slow

PAGE = Path(__file__).parents[4] / "docs" / "models" / "finite_elements.md"
BLOCK = re.compile(r"^```(python|toml|)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


@pytest.fixture(scope="module")
def walked(tmp_path_factory):
    """The page, followed from top to bottom: what each command prints, and the names of the examples."""
    folder, names, told = tmp_path_factory.mktemp("walk"), {}, []
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for language, text in BLOCK.findall(PAGE.read_text()):
            if language == "python":
                exec(text, names)
            elif language == "toml":
                Path("head.toml").write_text(text)
            else:
                words = text.split()
                assert words[0] == "rigloop"
                done = CliRunner().invoke(app, [*words[1:], "--json"])
                assert done.exit_code == 0, done.output
                told.append(json.loads(done.stdout))
        words = "model reduce lever_mm.toml --name lever --at hub --keep tip --modes 3 -o mm.toml"
        done = CliRunner().invoke(app, [*words.split(), "--json"])
        assert done.exit_code == 0, done.output
        told.append(json.loads(done.stdout))
    return folder, names, told


def test_the_lever_has_the_mass_and_frequency_of_a_beam(walked):
    _, _, (reduced, _) = walked
    assert reduced["mass_kg"] == pytest.approx(7850.0 * 0.3 * 0.03 * 0.02, rel=1e-9)
    # a slender cantilever in its soft plane; shear lowers it by (h/L)^2 or so, half a per cent
    first = 3.5160 / (2.0 * np.pi) * np.sqrt(2.1e11 / 7850.0) * 0.02 / np.sqrt(12.0) / 0.3**2
    assert reduced["frequency_hz"][0] == pytest.approx(first, rel=0.01)


def test_matrix_market_files_are_the_same_model(walked):
    _, _, (reduced, of_market) = walked
    assert of_market["frequency_hz"] == pytest.approx(reduced["frequency_hz"], rel=1e-6)
    assert of_market["centre_m"] == pytest.approx(reduced["centre_m"], abs=1e-9)


def test_the_strain_of_a_free_lever_needs_more_modes_than_its_frequency(walked):
    # a force at the tip, inertia of a free turn about the hub: the whole mesh is the reference, and a slender beam
    folder, names, _ = walked
    mass, stiffness, freedoms = (names[key] for key in ("M", "K", "freedoms"))
    structure, _ = read(folder / "lever.npz")
    hub, tip = (structure.nodes[name].freedoms for name in ("hub", "tip"))
    force, length = 20.0, 0.3
    load = np.zeros(len(freedoms))
    load[tip[2]] = force
    turn = structure.rigid[:, 4]
    load -= mass @ turn * (load @ turn / (turn @ mass @ turn))
    load[hub[2]] -= load @ structure.rigid[:, 2]
    free = np.setdiff1d(np.arange(len(freedoms)), hub)
    bent = np.zeros(len(freedoms))
    bent[free] = np.linalg.solve(stiffness[np.ix_(free, free)], load[free])
    whole = structure.gauges["bow"] @ bent
    # moment F (x / 2 - x^3 / (2 L^2)), the mean over the length of the gauge; the glued face takes 0.2 per cent
    x = np.linspace(0.0375, 0.075, 101)
    moment = float(np.mean(force * (x / 2.0 - x**3 / (2.0 * length**2))))
    assert whole == pytest.approx(-moment * 0.01 / (2.1e11 * 0.03 * 0.02**3 / 12.0), rel=3e-3)
    shares = {}
    for modes in (3, 12, 30):
        made = reduce(structure, Wanted(("hub",), ("tip",), modes))
        amplitudes = made.shapes.T @ load / made.stiffness
        shares[modes] = float(structure.gauges["bow"] @ made.shapes @ amplitudes) / whole
    assert shares[3] == pytest.approx(0.959, abs=2e-3)
    assert shares[12] == pytest.approx(1.0, abs=3e-3)
    assert shares[30] == pytest.approx(1.0, abs=1e-3)
