"""A short slice of the fuzzing of the page's server; the long one is a command (CONTRIBUTING.md)."""

import json
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).with_name("fuzz_page.py")


def test_hostile_requests_and_messages_change_nothing(tmp_path):
    done = subprocess.run(
        [sys.executable, SCRIPT, "--messages", "600", "--seed", "5"],
        capture_output=True, text=True, cwd=tmp_path, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["messages"] == 600
    assert {"sent", "http 403", "http 400"} <= set(found["seen"])
