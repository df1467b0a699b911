"""A short slice of the fuzzing run; the long one, under sanitizers, is a command (docs/segment.md)."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from script_paths import beside_its_parts

SCRIPT = Path(__file__).with_name("fuzz_segment.py")
FRAMES = 20_000


@pytest.mark.slow
def test_hostile_frames_and_replies_do_no_harm_and_the_same_seed_gives_the_same():
    def run():
        done = subprocess.run(
            [sys.executable, SCRIPT, "--frames", str(FRAMES), "--seed", "7"],
            capture_output=True,
            text=True,
            timeout=300,
            env=beside_its_parts(),
        )
        assert done.returncode == 0, done.stderr
        return re.sub(r"\d+ s:", "", done.stdout)

    said = run()
    answers = [int(found) for found in re.findall(r"(\d+) answered", said)]
    valid = int(re.search(r"(\d+) valid", said)[1])
    hostile = int(re.search(r"(\d+) hostile", said)[1])
    # it is no test of frames that nobody takes, nor of replies that nobody reads
    assert len(answers) == 2
    assert all(FRAMES / 10 < answered < FRAMES for answered in answers)
    assert valid > 0
    assert hostile > FRAMES / 20
    assert run() == said
