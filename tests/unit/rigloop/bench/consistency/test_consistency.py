"""The consistency bench: what must hold holds, what is wrong is seen, and the command says so by its exit code."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from rigloop.bench.consistency import consistency
from rigloop.bench.consistency.cases import CASES, Case
from rigloop.bench.consistency.consistency import run_case
from rigloop.bench.consistency.plants import encoder_run
from rigloop.bench.consistency.scores import MARKS
from rigloop.cli import app

QUICK = ("A-UKF", "encoder filter", "kinematic observer", "force observer, A", "augmented EKF")


@pytest.mark.slow
@pytest.mark.parametrize("name", [*QUICK, "UKF", "errorEKF"])
def test_filter_that_must_be_consistent_is(name):
    found = run_case(name, 250, 0)
    assert found.good, found
    assert found.why_not == ""
    assert len(found.nees.over_time) == len(MARKS)


def test_required_filters_are_required():
    required = {case.filter for case in CASES if not case.why_not}
    assert {"A-UKF", "UKF", "errorEKF", "encoder filter", "kinematic observer"} <= required


def test_filter_that_is_too_sure_is_seen(monkeypatch):
    # the encoder filter's errors, half as large again as its covariance says
    def make():
        run = encoder_run()
        return lambda rng: tuple(1.5**2 * found for found in run(rng))

    monkeypatch.setattr(consistency, "CASES", (Case("too sure", 3, 1, make),))
    found = run_case("too sure", 100, 0)
    assert not found.good
    assert found.nees.mean > found.nees.most


def test_bounds_are_those_of_the_tables():
    # chi-square of 500 degrees: 439.9 and 563.9
    found = consistency._mean(np.full((250, 3), 2.0), 2)
    assert (found.low, found.high) == pytest.approx((439.94 / 250, 563.85 / 250), abs=1e-3)
    assert found.least < found.low < found.high < found.most


@pytest.mark.slow
def test_command_says_it_as_json_with_its_picture(tmp_path):
    picture = tmp_path / "c.png"
    asked = ["bench", "consistency", "--filter", "force observer, A", "--runs", "50", "--json"]
    done = CliRunner().invoke(app, [*asked, "--plot", str(picture)])
    assert done.exit_code == 0, done.output
    (found,) = json.loads(done.stdout)["filters"]
    assert found["filter"] == "force observer, A"
    assert picture.stat().st_size > 10_000


def test_command_ends_with_one_where_a_filter_is_not_consistent(monkeypatch):
    outcome = consistency.Outcome(False, 20, 0, MARKS, (), 0.1)
    monkeypatch.setattr(consistency, "measure", lambda *_: outcome)
    assert CliRunner().invoke(app, ["bench", "consistency"]).exit_code == 1


def test_unknown_filter_is_named():
    done = CliRunner().invoke(app, ["bench", "consistency", "--filter", "UFK"])
    assert done.exit_code == 2
    assert "UFK" in done.output + done.stderr
