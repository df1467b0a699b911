"""`rigloop model show --transfer`: the equation of a tree in text, LaTeX and JSON, and what has none."""

import json

import pytest
from command_here import rigloop_here
from mechanisms.written_rods import branches


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return branches().save(tmp_path_factory.mktemp("transfer"))


def test_the_equation_is_shown_block_by_block_and_as_latex(path):
    done = rigloop_here("model", "show", path, "--transfer")
    assert done.returncode == 0
    text = done.stdout
    assert "(H[O1,I2] U[8,I2] - H[a,m]) U[5] U[4] U[3]" in text
    assert r"\mathbf{U}_{7,I_1-I_2} \hat{\mathbf{U}}_{8,I_1} \mathbf{U}_{1}" in text
    assert "body with 2 inputs" in text


def test_json_has_elements_lines_and_latex(path):
    done = rigloop_here("model", "show", path, "--transfer", "--json")
    (found,) = json.loads(done.stdout)
    assert found["root"] == "rod7"
    assert found["tips"] == ["rod1", "rod3"]
    assert found["elements"][0] == ["1", "rod1", "body"]
    assert found["lines"][0] == "U_all z_all = 0"


def test_a_loop_is_refused_by_what_closes_it():
    done = rigloop_here("model", "show", "four_bar", "--transfer")
    assert done.returncode == 2
    assert "this equation is of trees" in done.stderr + done.stdout
