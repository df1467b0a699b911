"""A short slice of the fuzzing of files; the long one is a command (CONTRIBUTING.md)."""

import json
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).with_name("fuzz_files.py")


def test_hostile_files_are_refused_or_compile(tmp_path):
    done = subprocess.run(
        [sys.executable, SCRIPT, "--files", "60", "--load", "0", "--seed", "5"],
        capture_output=True, text=True, cwd=tmp_path, timeout=300, check=False,
    )  # fmt: skip
    found = json.loads(done.stdout)
    assert found["wrong"] == []
    assert found["files"] == 60
    assert {"mechanism refused", "rig refused"} <= set(found["became"])
