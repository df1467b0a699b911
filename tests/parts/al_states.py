"""A slave's AL state, waited for by one who has nothing else to do."""

import time

from io_bridge.master.state_change import await_state
from io_bridge.slaves import words
from io_bridge.slaves.errors import BringUpError
from io_bridge.slaves.state_limits import STANDARD


def await_now(master, station, state, limits=STANDARD):
    """Return once a slave is in an AL state that was asked for; raise BringUpError where it refused or stayed."""
    began = master.state(station)[0]
    waiting = await_state(master, station, state, limits.of(state, began))
    while True:
        try:
            next(waiting)
        except StopIteration as end:
            reason = end.value
            break
        time.sleep(master.pause_s)
    if reason:
        raise BringUpError(f"{master.called(station)}: {words.al_state(state)} asked, {reason}")
