"""`rigloop faults` in its three forms."""

import json

import pytest
from typer.testing import CliRunner

from rigloop.cli import app
from rigloop.inject.faults import FAULTS


@pytest.fixture
def faults():
    def run(*arguments):
        return CliRunner().invoke(app, ["faults", *arguments])

    return run


def test_every_fault_is_listed_with_what_the_rig_states(faults):
    done = faults("steering_wheel", "--json")
    assert done.exit_code == 0
    message = json.loads(done.stdout)
    assert (message["rig"], message["period_us"]) == ("steering_wheel", 200)
    assert [row["name"] for row in message["faults"]] == list(FAULTS)


def test_the_table_names_them_all(faults):
    done = faults()
    assert done.exit_code == 0
    assert not [name for name in FAULTS if name not in done.stdout]


def test_a_rig_that_is_not_there_is_told(faults):
    done = faults("no_such_rig", "--json")
    assert done.exit_code == 2
    assert "no_such_rig" in json.loads(done.stdout)["mistakes"][0]
