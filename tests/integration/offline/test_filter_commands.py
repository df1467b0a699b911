"""`rigloop tune`, `identify` and `bench two-stage` from the command line."""

import json
from pathlib import Path

import pytest

LOG = Path(__file__).parents[2] / "data" / "logs" / "phobos_limtoc_k10_free.csv"
STRETCHES = ("--fit", "0", "2", "--judge", "2", "4")


@pytest.mark.slow
def test_tune_answers_with_gains_lags_and_noise(rigloop, tmp_path):
    picture = tmp_path / "lag.svg"
    done = rigloop(
        "tune", "--counts", 131072, "--period-us", 100, "--lag-ms", 6.4, "--plot", picture, "--json"
    )
    assert done.returncode == 0, done.stderr
    tuning = json.loads(done.stdout)["tuning"]
    assert tuning["bandwidth_rad_s"] == pytest.approx(310.4, abs=0.2)
    assert len(tuning["gain"]) == 3
    assert {curve["state"] for curve in tuning["curves"]} == {"angle", "rate", "acceleration"}
    assert "<svg" in picture.read_text()


@pytest.mark.slow
def test_tune_says_all_that_is_missing(rigloop_here):
    done = rigloop_here("tune", "--bandwidth", 100)
    assert done.returncode == 2
    assert "--counts" in done.stderr
    assert "--period-us" in done.stderr


@pytest.mark.slow
def test_identify_judges_on_what_it_has_not_seen(rigloop, tmp_path):
    picture = tmp_path / "torque.png"
    done = rigloop("identify", LOG, *STRETCHES, "--plot", picture, "--json")
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    inertia = answer["identification"]["parameters"][0]
    assert inertia["low"] < inertia["value"] < inertia["high"]
    assert answer["judgement"]["percent"] < 10
    assert picture.stat().st_size > 10_000


@pytest.mark.slow
def test_identify_refuses_to_judge_on_what_it_was_fitted_to(rigloop_here):
    done = rigloop_here("identify", LOG, "--fit", "0", "2", "--judge", "1", "3")
    assert done.returncode == 2
    assert "overlaps" in done.stderr


@pytest.mark.slow
def test_two_stage_prints_its_table_beside_the_reference(rigloop, tmp_path):
    done = rigloop("bench", "two-stage", "--runs", 1, "--plot", tmp_path / "plots", "--json")
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)["rows"]
    # three cases of four filters: the sensor's own noise stands beside the published tuning
    assert len(rows) == 12
    assert sorted(path.name for path in (tmp_path / "plots").glob("*.png")) == [
        "rotations.png", "smooth.png", "step.png",
    ]  # fmt: skip
