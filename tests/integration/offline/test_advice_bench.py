"""The search for a cheap setting, measured by a command of benchmarks/."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from script_paths import beside_its_parts

pytestmark = pytest.mark.slow

FOLDER = Path(__file__).parents[3] / "benchmarks"


def test_advice_is_measured_beside_an_exhaustive_search(tmp_path):
    answer = tmp_path / "answer.json"
    done = subprocess.run(
        [sys.executable, FOLDER / "advice.py", "--only", "branch", "--json", answer],
        capture_output=True,
        text=True,
        timeout=240,
        env=beside_its_parts(),
    )
    assert "Traceback" not in done.stderr
    (row,) = json.loads(answer.read_text())["rows"]
    assert row["error"] <= row["wanted"]
    assert 12 <= row["kernels"] <= row["all_kernels"]
