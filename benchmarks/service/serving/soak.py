"""A service for hours in minutes: connections, changes of a live value, and restarts of everything but the loop.

Connections of a service, changes and restarts of a recorder are events: what grows, grows with their number. Everything
but the loop is clients, which leave or vanish as a process that was killed, and the recorder, which is killed and
followed by another one, as often as a supervisor does that. The service and the supervisor are no such part: a loop
ends with them, so that no torque stays that nobody looks after.
"""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import Any

from rigloop import open_run
from rigloop.api.recorded_run import RecordedRun
from rigloop.live_values.journal import read_journal
from rigloop.protocol import requests as asked
from rigloop.protocol.client import ServiceClient
from rigloop.soak.processes import processes_of_run, sample
from serving.served import Served, Tell

SHARED_MEMORY = Path("/dev/shm")
TOLD_EVERY_S = 1.0
SWEPT_S = 10.0  # until clients that have vanished are known to be gone
# of the connections, before memory is looked at: libraries keep what they once had
FIRST = 0.2
VANISHES = 10  # each such client does not say good-bye
FOLLOWED_S = 30.0  # for a recorder that was killed to be followed by another one


class Footprint:
    """Memory and descriptors of a service and of the processes of its run, and the shared memory of the run."""

    def __init__(self, service: Served) -> None:
        status = service.status()
        found = {"service": service.process.pid, **processes_of_run(status.supervisor)}
        # the recorder is another one each time
        self.processes = {
            role: one
            for role, pid in found.items()
            if role != "recorder" and (one := sample(pid)) is not None
        }
        name = Path(status.table).name
        self.shared = sum(path.name.startswith(name) for path in SHARED_MEMORY.iterdir())

    def since(self, before: Footprint) -> dict[str, float]:
        """Return how much more there is than before."""
        pairs = {role: (before.processes[role], one) for role, one in self.processes.items()}
        memory = {
            f"soak_{role}_memory_kb": float(max(0, now.own_kib - then.own_kib))
            for role, (then, now) in pairs.items()
        }
        return memory | {
            "soak_descriptors": float(sum(max(0, b.files - a.files) for a, b in pairs.values())),
            "soak_shared_memory": float(max(0, self.shared - before.shared)),
        }


def soak(
    service: Served, connections: int, changes: int, restarts: int, tell: Tell
) -> dict[str, Any]:
    """Connect often, change, kill what may be killed; then end the run and count."""
    folder = Path(service.status().folder)
    restart_at = {(i + 1) * connections // (restarts + 1) for i in range(restarts)}
    every, changed, killed = connections // changes, 0, 0
    began = told = time.monotonic()
    before = Footprint(service)
    for number in range(connections):
        if number == round(FIRST * connections):
            before = Footprint(service)
        client = ServiceClient(service.rig, f"soak {number}")
        client.ask(asked.Status)
        if number % every == 0 and changed < changes:
            changed += 1
            service.change(number)
        if number % VANISHES == 0:
            client._caller._context.destroy(linger=0)
        else:
            client.close()
        if number in restart_at:
            killed += _kill_recorder(service)
        now = time.monotonic()
        if now > told + TOLD_EVERY_S:
            told = now
            left_s = (now - began) / (number + 1) * (connections - number - 1)
            tell(f"soak: {number + 1} of {connections} connections, {left_s:.0f} s left")
    tell("soak: clients that have vanished are swept")
    time.sleep(SWEPT_S)
    found = Footprint(service).since(before)
    took_s = time.monotonic() - began
    service.stop()
    run = open_run(folder)
    return {
        "soak_s": took_s,
        "soak_connections": connections,
        "soak_changes": changed,
        "soak_recorders_killed": killed,
        **found,
        "soak_lost_rows": float(lost_rows(run)),
        "soak_lost_changes": float(lost_changes(run, changed)),
    }


def lost_rows(run: RecordedRun) -> int:
    """Return how many cycles of a run have no row, between its first and its last one."""
    lost = 0
    for task in run.tasks:
        cycles = run.records[task][f"loop/{task}/cycle"]
        lost += int(cycles[-1] - cycles[0]) + 1 - len(cycles)
    return lost


def lost_changes(run: RecordedRun, changes: int) -> int:
    """Return how many of some changes the journal of a run does not have."""
    return changes - sum(entry.sequence > 0 for entry in read_journal(run.folder))


def _kill_recorder(service: Served) -> int:
    """Kill the recorder of the run, whichever it is now; return once another one is there."""
    supervisor = service.status().supervisor
    recorder = processes_of_run(supervisor).get("recorder")
    if recorder is None:
        return 0
    os.kill(recorder, signal.SIGKILL)
    until = time.monotonic() + FOLLOWED_S
    while processes_of_run(supervisor).get("recorder") in (None, recorder):
        if time.monotonic() > until:
            raise TimeoutError(f"no other recorder within {FOLLOWED_S:g} s")
        time.sleep(0.05)
    return 1
