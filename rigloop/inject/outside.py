"""The supervisor's side of faults that come from outside the cycle: it tells an agent whom, what and when."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rigloop.host.children import ended
from rigloop.inject.agent import UNPLUG
from rigloop.inject.kinds import ToProcess, ToWire
from rigloop.inject.request import Injection

Tell = Callable[[Mapping[str, int]], None]


def acts_from_outside(injections: Sequence[Injection]) -> bool:
    """Decide if any of them is done to a process or a cable."""
    return any(isinstance(injection.fault.acts, ToProcess | ToWire) for injection in injections)


@contextlib.contextmanager
def agent(folder: Path, injections: Sequence[Injection]) -> Iterator[Tell]:
    """Yield a function to call at arming, with the process of each of the run's roles."""
    if not acts_from_outside(injections):
        yield lambda processes: None
        return
    with (folder / "agent.log").open("wb") as log:
        child = subprocess.Popen(
            [sys.executable, "-P", "-m", "rigloop.inject.agent", str(folder)],
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=log,
            start_new_session=True,
            text=True,
        )

    def tell(processes: Mapping[str, int]) -> None:
        armed_ns = time.monotonic_ns()
        acts = [
            {
                "number": number,
                "at_ns": armed_ns + int(injection.at_s * 1e9),
                **_act(injection, processes),
            }
            for number, injection in enumerate(injections)
            if acts_from_outside([injection])
        ]
        assert child.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            json.dump({"cycle": processes["cycle"], "acts": acts}, child.stdin)
            child.stdin.close()

    with ended(child):
        yield tell


def _act(injection: Injection, processes: Mapping[str, int]) -> dict[str, Any]:
    """Return what the agent does: to a process, or to a cable of a bus."""
    acts, lim = injection.fault.acts, injection.lim
    if isinstance(acts, ToProcess):
        return {"back_s": acts.back_s, "do": acts.do, "pid": processes[acts.whom]}
    assert isinstance(acts, ToWire)
    return {"back_s": acts.back_s, "do": UNPLUG, "bus": lim.bus_name, "cable": lim.position}
