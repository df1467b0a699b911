"""Three axes beside one: time of a step of the fast and the slow task, and lateness, on this machine.

    python benchmarks/axes.py [--seconds 10] [--rounds 3]

Runs `pedals_and_wheel` (three drives and mechanisms) and `steering_wheel` (one of each) in turn, at 5 kHz + 1 kHz, and
compares the medians over the rounds: step p50 at most 3.2 times, lateness p99 at most 1.2 times. The exit code is 1
beyond that. Each figure is a ratio of runs beside each other; alone they mean this machine at this hour.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ONE, THREE = "steering_wheel", "pedals_and_wheel"
TASKS = ("estimation", "simulation")
STEP_LIMIT, LATE_LIMIT = 3.2, 1.2
LEAST_LATE_NS = 1000.0  # lateness below it is that of the clock's reading


def measure(rig: str, seconds: float, runs: Path) -> dict[str, dict[str, float]]:
    """Return step p50 and lateness p99 (ns) of each task of a run."""
    command = [sys.executable, "-m", "rigloop", "run", rig, "--for", str(seconds)]
    done = subprocess.run(
        [*command, "--runs", str(runs), "--json"], capture_output=True, text=True, check=False
    )
    if not done.stdout:
        sys.exit(f"{rig}: {done.stderr}")
    folder = Path(json.loads(done.stdout)["folder"])
    timing = json.loads((folder / "manifest.json").read_text())["timing"]
    return {
        task: {"step": timing[task]["step"]["p50"], "late": timing[task]["late"]["p99"]}
        for task in TASKS
    }


def main() -> int:
    """Measure, print the table, and judge."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    found: dict[str, list[dict[str, dict[str, float]]]] = {ONE: [], THREE: []}
    with tempfile.TemporaryDirectory() as runs:
        for _ in range(given.rounds):
            for rig, rounds in found.items():
                rounds.append(measure(rig, given.seconds, Path(runs)))
    good = True
    print(f"{'task':12} {'figure':10} {'one axis':>10} {'three':>10} {'ratio':>7} {'limit':>6}")
    for task in TASKS:
        for figure, limit, name in (
            ("step", STEP_LIMIT, "step p50"),
            ("late", LATE_LIMIT, "late p99"),
        ):
            one, three = (
                statistics.median(r[task][figure] for r in found[rig]) for rig in (ONE, THREE)
            )
            least = LEAST_LATE_NS if figure == "late" else 0.0
            ratio = max(three, least) / max(one, least, 1.0)
            good &= ratio <= limit
            print(
                f"{task:12} {name:10} {one / 1e3:8.2f}us {three / 1e3:8.2f}us {ratio:7.2f} {limit:6.1f}"
            )
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
