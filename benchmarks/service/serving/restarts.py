"""A service that is killed while its rig runs, and followed by another one, again and again."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import Any

from rigloop import open_run
from rigloop.protocol.answers import Phase
from rigloop.run_folder.manifest import ManifestError, read_manifest
from serving.served import Tell, served
from serving.soak import SHARED_MEMORY, lost_changes, lost_rows

CHANGES = 20
ENDED_S = 60.0  # for the loop to ramp out, and the run to be judged


def restarts(rig: str, folder: Path, n: int, tell: Tell) -> dict[str, Any]:
    """Kill a service `n` times; count what its runs have lost, and what the next one begins with."""
    lost, unwritten, armed, left, bad = 0, 0, 0, 0, 0
    for number in range(n + 1):
        with served(rig, folder, tell) as service:
            armed += service.began_in != Phase.IDLE
            if number == n:
                break
            status = service.status()
            for change in range(CHANGES):
                service.change(change)
            tell(f"restarts: killing service {number + 1} of {n}")
            os.kill(service.process.pid, signal.SIGKILL)
            run = _ended(Path(status.folder))
        table = Path(status.table).name
        left += sum(path.name.startswith(table) for path in SHARED_MEMORY.iterdir())
        lost += lost_rows(run)
        unwritten += lost_changes(run, CHANGES)
        bad += not run.good
    return {
        "restarts": n,
        "restart_lost_rows": float(lost),
        "restart_lost_changes": float(unwritten),
        "restart_armed": float(armed),
        "restart_left_behind": float(left),
        "restart_bad_verdicts": float(bad),
    }


def _ended(folder: Path) -> Any:
    until = time.monotonic() + ENDED_S
    while True:
        try:
            if read_manifest(folder).state == "ended":
                return open_run(folder)
        except ManifestError:
            pass  # it is being written
        if time.monotonic() > until:
            raise TimeoutError(f"{folder}: not judged within {ENDED_S:g} s")
        time.sleep(0.05)
