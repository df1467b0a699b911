"""The examples run as their first lines say, and what they print is right."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


def run(name: str, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples" / name), *arguments],
        capture_output=True,
        text=True,
        timeout=300,  # a kernel may have to be compiled first
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def number(pattern: str, text: str) -> float:
    found = re.search(pattern, text)
    assert found, text
    return float(found[1])


def test_a_log_is_replayed_to_a_peak_torque():
    said = run("replay_a_log.py", "tests/data/logs/phobos_limtoc_k10_step.csv")
    assert "read as phobos_limtoc_k10" in said
    assert re.search(r"index jump: 1, first at row 554", said)
    # a handlebar let go at 0.7 rad swings back in a second
    assert 1.0 < abs(number(r"peak torque (\S+) Nm", said)) < 1000.0
    assert 0.0 < number(r"Nm at (\S+) s", said) < 1.0


def test_a_kernel_agrees_with_its_twin():
    said = run("step_a_kernel.py")
    assert number(r"peak torque (\S+) Nm", said) > 1.0
    assert number(r"twin: (\S+) in q", said) < 1e-9
    # the twin's dense solve is conditioned like its penalty of 1e6
    assert number(r"in q, (\S+) Nm", said) < 1e-5


@pytest.mark.parametrize("path", EXAMPLES, ids=[path.stem for path in EXAMPLES])
def test_an_example_is_short_and_says_how_to_run_it(path):
    text = path.read_text()
    assert len(text.splitlines()) < 80
    assert f"python examples/{path.name}" in text
