"""`rigloop commission` as a command: a rehearsal, and what it refuses."""

import json

import pytest
from typer.testing import CliRunner
from walked_rig import write_rig

from rigloop.cli import app

TURNS = (
    # a second drive, with a speed of its own
    (
        '"wheel/reset" = "supervisor/reset"\n',
        '"wheel/reset" = "supervisor/reset"\n"turner/velocity_rad_s" = "swing/y"\n'
        '"turner/enable" = "supervisor/enable"\n"turner/reset" = "supervisor/reset"\n',
    ),
    (
        "[blocks.wheel]\n",
        '[blocks.bus.drives.turner]\nmode = "velocity"\ncounts_per_rev = 1048576\nrated_torque_nm = 6.37\n'
        'peak_torque_nm = 19.1\n\n[blocks.swing]\nkind = "sine"\nfrequency_hz = 0.5\nunit = "rad/s"\n\n'
        "[blocks.wheel]\n",
    ),
    ('blocks = ["relay"]', 'blocks = ["relay", "swing"]'),
)


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


def test_an_input_that_ends_is_a_line_and_no_traceback(tmp_path):
    done = commission(write_rig(tmp_path, "eth9").path)
    assert done.exit_code == 3
    assert (
        "there is no answer: the input has ended; the results so far are kept, nothing"
        in done.output
    )


@pytest.mark.parametrize("command", ["run", "commission"])
def test_a_rig_with_a_drive_that_follows_no_torque_is_refused_on_an_interface(command, tmp_path):
    rig = write_rig(tmp_path, "eth9", *TURNS).path
    where = ["--runs", str(tmp_path / "runs")] if command == "run" else []
    done = CliRunner().invoke(app, [command, str(rig), *where])
    assert done.exit_code == 3
    assert "bus/turner (mode 'velocity'): does not follow a torque" in done.output
    assert list(tmp_path.iterdir()) == [rig]


def test_a_bad_step_is_the_verdict(tmp_path):
    rig = write_rig(tmp_path, "simulated").path
    done = commission(rig)
    assert done.exit_code == 1
    assert "BAD" in done.stdout
    assert "not good yet: stability" in done.stdout
