"""A few damaged logs of some formats; `fuzz_logs.py` itself sends ten thousand."""

import subprocess
import sys
from pathlib import Path


def test_damaged_logs_are_read_or_refused():
    done = subprocess.run(
        [
            sys.executable,
            Path(__file__).parent / "fuzz_logs.py",
            "--files",
            "4",
            "--forms",
            "csv",
            "npy",
        ],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("\n") == 2
