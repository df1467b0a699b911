"""A short slice of the fuzzing of logs, ESI, devices and run folders; the long one is a command (CONTRIBUTING.md)."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("fuzz_evidence.py")


@pytest.mark.slow
def test_hostile_evidence_ends_in_words(tmp_path):
    done = subprocess.run(
        [sys.executable, SCRIPT, "--files", "10", "--seed", "3"],
        capture_output=True, text=True, cwd=tmp_path, timeout=300, check=False,
    )  # fmt: skip
    assert done.stdout, done.stderr[-2000:]
    found = json.loads(done.stdout)
    assert found["wrong"] == []
    assert found["tried"] == 10
