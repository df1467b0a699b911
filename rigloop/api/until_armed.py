"""Wait for a run that was just started until its torque follows."""

from __future__ import annotations

import time
from pathlib import Path

from rigloop.api.supervisor import Supervisor
from rigloop.api.watched import Watched
from rigloop.run_folder.not_started import NotStartedError
from rt_core.safety.trips import State
from rt_core.signals.layout import TableError

LOOK_S = 0.005


def until_armed(supervisor: Supervisor, name: str, timeout_s: float) -> Watched:
    """Return the run once its torque follows, or a rig without torque runs.

    Parameters
    ----------
    supervisor : Supervisor
    name : str
        Of the rig, for the message.
    timeout_s : float

    Raises
    ------
    NotStartedError
        It ended before; the message says why.
    TimeoutError
        It was not armed in time.
    """
    until = time.monotonic() + timeout_s
    watched: Watched | None = None
    while time.monotonic() < until:
        if watched is None:
            try:
                watched = Watched(Path(supervisor.table))
            except FileNotFoundError:
                pass
            except TableError as error:
                raise NotStartedError(str(error)) from None
        # FAULT: what trips a guard at once is for whoever watches to see
        if watched is not None and watched.state in (State.RUNNING, State.HOLD, State.FAULT):
            return watched
        if supervisor.ended:
            if watched is not None:
                watched.close()
            raise _too_short(supervisor) or supervisor.refusal()
        time.sleep(LOOK_S)
    if watched is not None:
        watched.close()
    raise TimeoutError(f"{name}: not armed within {timeout_s:g} s")


def _too_short(supervisor: Supervisor) -> NotStartedError | None:
    outcome = supervisor.outcome
    if outcome is None or not outcome.good:
        return None
    return NotStartedError(
        f"{outcome.folder}: was over before it could be looked at; give it more seconds"
    )
