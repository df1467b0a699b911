"""The pages: the tutorial's block works as it is printed, and the table is that of the library."""

import re
from pathlib import Path

import numpy as np
import pytest

from rigloop.blocks.compiled.declaration import Declaration, Parameter, State
from rigloop.blocks.compiled.declared import read_declared
from rigloop.blocks.compiled.kind import CompiledKind
from rigloop.blocks.compiled.page import page
from rigloop.blocks.compiled.trust import trust

DOCS = Path(__file__).parents[5] / "docs"
TUTORIAL = (DOCS / "own_blocks.md").read_text()


LANGUAGES = {"c": ".pyx", "pyx": ".c"}  # each with the source that is left out


@pytest.fixture(params=LANGUAGES)
def backlash(request, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    for name, text in re.findall(
        r"```\w+\n(?:#|//) (backlash\.\w+)\n(.*?)```", TUTORIAL, re.DOTALL
    ):
        (tmp_path / name).write_text(text)
    (tmp_path / f"backlash{LANGUAGES[request.param]}").unlink()
    declared = read_declared(tmp_path / "backlash.toml")
    trust(declared.hash)
    return CompiledKind(declared)


def test_the_block_of_the_tutorial_is_the_play_of_a_gear_pair(backlash, run):
    u = np.cumsum(np.random.default_rng(6).normal(size=300))
    wanted, y = [], u[0]
    for value in u:
        y = min(max(y, value - 0.5), value + 0.5)
        wanted.append(y)
    assert np.array_equal(run(backlash, u=u, gap=1.0)["y"], wanted)
    assert np.isnan(run(backlash, u=[np.nan], gap=1.0)["y"]).all()


@pytest.mark.parametrize("other", ["c", "cython"])
def test_the_tutorial_has_at_most_forty_lines_of_code_in_either_language(other):
    found = re.findall(r"```(\w+)\n(.*?)```", TUTORIAL, re.DOTALL)
    code = "".join(text for language, text in found if language != other)
    assert 0 < len(code.splitlines()) <= 40


@pytest.mark.parametrize("model", [Declaration, Parameter, State])
def test_the_tutorial_names_every_key(model):
    missing = [name for name in model.model_fields if not re.search(rf"`{name}\b", TUTORIAL)]
    assert not missing


def test_the_table_is_that_of_the_library():
    assert (DOCS / "blocks.md").read_text() == page(), (
        "run python -m rigloop.blocks.compiled.page docs/blocks.md"
    )
