"""A short slice of the fuzzing of a service; the long one is a command (CONTRIBUTING.md)."""

import json
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).with_name("fuzz_service.py")


def test_hostile_messages_are_refused_and_change_nothing(tmp_path):
    done = subprocess.run(
        [sys.executable, SCRIPT, "--messages", "1500", "--seed", "5"],
        capture_output=True, text=True, cwd=tmp_path, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["messages"] == 1500
    assert {"message", "protocol", "control", "answer"} <= set(found["became"])
