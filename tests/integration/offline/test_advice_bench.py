"""The search for a cheap setting, measured by a command of benchmarks/."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

FOLDER = Path(__file__).parents[3] / "benchmarks"


def test_advice_is_measured_beside_an_exhaustive_search(tmp_path):
    answer = tmp_path / "answer.json"
    done = subprocess.run(
        [sys.executable, FOLDER / "advice.py", "--only", "branch", "--json", answer],
        capture_output=True,
        text=True,
        timeout=240,
        # its parts lie beside it
        env={k: v for k, v in os.environ.items() if k != "PYTHONSAFEPATH"},
    )
    assert "Traceback" not in done.stderr
    (row,) = json.loads(answer.read_text())["rows"]
    assert row["error"] <= row["wanted"]
    assert 12 <= row["kernels"] <= row["all_kernels"]
