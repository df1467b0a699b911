"""The page that walks from a mesh to a body that bends: its examples run, and are right."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

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
