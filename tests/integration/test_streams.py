"""Standard streams that a caller has closed, or that take nothing: the command does its work, and says what it can."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow
RIG = "steering_wheel"


def shell(redirection, *arguments):
    return subprocess.run(
        ["sh", "-c", f'exec "$@" {redirection}', "sh", sys.executable, "-m", "rigloop", *arguments],
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.mark.parametrize("redirection", [">&-", "2>&-", "<&-", "<&- >&- 2>&-"])
def test_a_closed_stream_is_the_null_device(redirection):
    done = shell(redirection, "faults")
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr


def test_a_run_without_streams_is_recorded_and_judged(make_rig, tmp_path):
    rig, runs = str(make_rig()), tmp_path / "runs"
    done = shell("<&- >&- 2>&-", "run", rig, "--for", "0.2", "--runs", str(runs))
    assert done.returncode == 0, done
    (folder,) = runs.iterdir()
    assert (folder / "report.html").exists()


@pytest.mark.parametrize(
    ("arguments", "code"), [(["check", RIG, "--json"], 0), (["faults"], 3), (["--help"], 3)]
)
def test_an_answer_that_nothing_takes_is_said_on_the_other_stream(arguments, code):
    done = shell(">/dev/full", *arguments)
    assert done.stderr == "standard output: cannot be written: No space left on device\n"
    assert done.returncode == code
