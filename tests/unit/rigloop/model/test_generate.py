"""Sources of a kernel from the command line."""

import pytest
from typer.testing import CliRunner

from rigloop.cli import app


def generate(*words):
    return CliRunner().invoke(app, ["model", "generate", *words])


def test_writes_the_target_that_is_asked_for(tmp_path):
    done = generate(
        "guided_rod", "--target", "c99", "--output", str(tmp_path), "--option", "kappa=1e5"
    )
    assert done.exit_code == 0, done.output
    assert "kappa=100000.0" in (tmp_path / "guided_rod.h").read_text()
    assert "guided_rod_example.c" in done.output


@pytest.mark.parametrize(("words", "told"), [
    (["guided_rood"], "guided_rod"), (["guided_rod", "--option", "kapa=1"], "kappa"),
    (["guided_rod", "--target", "fortran"], "c99"),
])  # fmt: skip
def test_wrong_input_is_told_in_a_line(tmp_path, words, told):
    done = generate(*words, "--output", str(tmp_path / "out"))
    assert done.exit_code == 2
    assert told in done.output
    assert not (tmp_path / "out").exists()
