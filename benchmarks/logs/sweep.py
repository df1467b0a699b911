"""The overhead of a sweep: wall time of all workers over the time of the replays themselves.

    python benchmarks/logs/sweep.py [--logs 20] [--points 10] [--workers 2]

The logs are copies of one that ships, repeated to be longer; start of the processes and the table are in the overhead,
building the kernel is not.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

LOG = Path(__file__).parents[2] / "tests" / "data" / "logs" / "comma2k19_segment40.csv"


def main() -> int:
    """Print one line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--logs", type=int, default=20)
    parser.add_argument("--points", type=int, default=10)
    parser.add_argument("--workers", type=int, default=2)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        logs = []
        for number in range(asked.logs):
            logs.append(Path(made) / f"{number}.csv")
            logs[-1].write_bytes(LOG.read_bytes())
        command = [sys.executable, "-m", "rigloop", "sweep", *map(str, logs), "--json"]
        command += ["--set", f"blocks.wheel.bandwidth_rad_s=100.0:300.0:{asked.points}"]
        command += ["--workers", str(asked.workers), "--out", f"{made}/sweep.parquet"]
        answer = json.loads(
            subprocess.run([*command, "--force"], stdout=subprocess.PIPE, check=True).stdout
        )
    wall_s, replays_s = answer["wall_s"], answer["replays_s"]
    over = 100 * (wall_s * asked.workers - replays_s) / replays_s
    print(
        f"{answer['replays']} replays of {asked.logs} logs on {asked.workers} workers: {wall_s:.1f} s, "
        f"{replays_s:.1f} s of replays, overhead {over:.1f} %"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
