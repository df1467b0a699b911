"""`rigloop commission` as a command: a rehearsal, and what it refuses."""

import json

import pytest
from typer.testing import CliRunner
from walked_rig import write_rig

from rigloop.cli import app


def commission(*arguments):
    return CliRunner().invoke(app, ["commission", *map(str, arguments)])


def test_a_rehearsal_walks_to_its_end_and_says_that_it_is_one(tmp_path):
    done = commission(write_rig(tmp_path, "simulated").path, "--stiffness", 5, "--json")
    assert done.exit_code == 0, done.output
    outcome = json.loads(done.stdout)
    assert (outcome["rehearsal"], outcome["signed"], len(outcome["steps"])) == (True, None, 12)
    assert outcome["torque_nm"] == pytest.approx(0.6)


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("--from", "dance"), 2, "there is no such step; identity, encoder_direction"),
        (("--bus", "veth"), 3, "take --bus simulated for a rehearsal, or an interface"),
        (("--answers", "nothing.txt"), 2, "--answers"),
        (("--guard", "brake"), 3, "this rig has the guards guard"),
    ],
)
def test_wrong_arguments_are_refused_in_a_line(arguments, code, words, tmp_path):
    done = commission(write_rig(tmp_path, "simulated").path, *arguments)
    assert done.exit_code == code
    assert words in done.output


def test_a_bad_step_is_the_verdict(tmp_path):
    rig = write_rig(tmp_path, "simulated").path
    done = commission(rig)
    assert done.exit_code == 1
    assert "BAD" in done.stdout
    assert "not good yet: stability" in done.stdout
