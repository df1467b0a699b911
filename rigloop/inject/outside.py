"""The supervisor's side of faults that come from outside the cycle: it tells an agent whom, what and when."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from rigloop.children import ended
from rigloop.inject.kinds import ToProcess
from rigloop.inject.request import Injection

Tell = Callable[[Mapping[str, int]], None]


def acts_from_outside(injections: Sequence[Injection]) -> bool:
    """Whether any of them is done to a process."""
    return any(isinstance(injection.fault.acts, ToProcess) for injection in injections)


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
                "pid": processes[acts.whom],
                "do": acts.do,
                "back_s": acts.back_s,
                "at_ns": armed_ns + int(injection.at_s * 1e9),
            }
            for number, injection in enumerate(injections)
            if isinstance(acts := injection.fault.acts, ToProcess)
        ]
        assert child.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            json.dump({"cycle": processes["cycle"], "acts": acts}, child.stdin)
            child.stdin.close()

    with ended(child):
        yield tell
