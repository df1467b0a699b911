"""`rigloop bench latency` in this process: help, and what it says of wrong input."""

import json

import pytest
from typer.testing import CliRunner

from rigloop.cli import app


@pytest.fixture
def bench(monkeypatch):
    # the width that help is wrapped to
    monkeypatch.setenv("COLUMNS", "120")
    return lambda *words: CliRunner().invoke(app, ["bench", *map(str, words)])


def test_help_has_an_example_and_the_options(bench):
    text = bench("latency", "--help").stdout
    assert "Example: rigloop bench latency --period-ms 1 --period-ms 5" in text
    for option in ("--rig", "--bus", "--period-ms", "--for", "--runs", "--json"):
        assert option in text


def test_a_rig_without_a_relay_is_wrong_input(bench, tmp_path):
    done = bench("latency", "--rig", "steering_wheel", "--runs", tmp_path)
    assert done.exit_code == 2
    assert "0 blocks of kind 'relay': a latency test has one" in done.stderr.replace(";", ":")


def test_a_period_that_does_not_fit_is_wrong_input_before_anything_runs(bench, tmp_path):
    done = bench("latency", "--period-ms", 1, "--period-ms", 1.03, "--runs", tmp_path, "--json")
    assert done.exit_code == 2
    (mistake,) = json.loads(done.stdout)["mistakes"]
    assert "tasks.simulation.period_us = 1030: not a multiple" in mistake
    (folder,) = tmp_path.iterdir()
    assert [path for path in folder.iterdir() if path.is_dir()] == []


def test_an_unknown_rig_is_wrong_input(bench, tmp_path):
    done = bench("latency", "--rig", "latency_bensh", "--runs", tmp_path)
    assert done.exit_code == 2
    assert "'latency_bench'" in done.stderr


@pytest.mark.parametrize("option", ["--for", "--period-ms"])
def test_what_is_no_number_is_wrong_input(bench, tmp_path, option):
    done = bench("latency", option, "nan", "--runs", tmp_path)
    assert done.exit_code == 2
    assert f"Invalid value for '{option}'" in done.stderr
    assert not list(tmp_path.iterdir())


def test_the_time_must_hold_some_sign_changes(bench):
    assert bench("latency", "--for", 0.5).exit_code == 2
