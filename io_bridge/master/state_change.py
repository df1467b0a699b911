"""AL states of single slaves: asked for, waited for as long as the standard allows, asked for once more when refused.

A change is a generator that is resumed until it ends, so that several slaves change beside each other, and a thread
that has other things to do waits for none of them.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Generator, Iterable, Iterator, Sequence

from io_bridge.master.al_remedies import al_remedy
from io_bridge.master.master import Master
from io_bridge.master.processor_watch import why_silent
from io_bridge.master.waiting import Waiting
from io_bridge.slaves import words
from io_bridge.slaves.errors import BringUpError, NoReplyError
from io_bridge.slaves.state_limits import STANDARD, StateLimits

log = logging.getLogger("rigloop.bus")

ERROR_BIT = 0x10
TRIES = 2
"""A slave that was busy with something else refuses once."""
SILENT_LOOKS = 25
"""Looks without any answer, one after the other, until a slave counts as gone; frames are lost now and then."""
DEAD_LINE_S = 1.5
"""No frame comes back at all: a cable that is put back, and a link that comes up again, take so long."""


def reach(
    master: Master, station: int, state: int, limits: StateLimits = STANDARD
) -> Iterator[None]:
    """Ask a slave for an AL state and wait for it; one refusal is acknowledged and asked again.

    Raises
    ------
    BringUpError
        The slave refused twice (the first reason comes first), stayed where it was, or is gone.
    """
    reasons: list[str] = []
    for _ in range(TRIES):
        before = master.state(station)[0]
        if before == state:
            return
        master.request(station, state)
        reason = yield from await_state(master, station, state, limits.of(state, before), reasons)
        if not reason:
            return
        reasons.append(reason)
        if len(reasons) < TRIES:
            text = "%s: %s refused: %s; asked once more"
            log.info(text, master.called(station), words.al_state(state), reason)
    said = reasons[0] if reasons[0] == reasons[1] else f"{reasons[0]}; asked again: {reasons[1]}"
    try:
        remedy = al_remedy(master.state(station)[1])
    except BringUpError:
        remedy = "it has stopped answering since: cable or power"
    raise BringUpError(f"{master.called(station)}: {words.al_state(state)} asked, {said}: {remedy}")


def await_state(
    master: Master, station: int, state: int, limit_s: float, reasons: Sequence[str] = ()
) -> Generator[None, None, str]:
    """Wait until a slave has a state; return nothing, or why it refuses.

    Raises
    ------
    BringUpError
        It stayed where it was, or is gone. `reasons` are its earlier errors.
    """
    watch = Waiting(master.pause_s, limit_s, master.tell)
    status, silent = 0, 0
    lost_since_s: float | None = None
    asked = f"{master.called(station)}: {words.al_state(state)} asked, it is in "
    while True:
        try:
            status, code = master.state(station)
            silent, lost_since_s = 0, None
            if status == state:
                return ""
            if status & ERROR_BIT:
                return f"it is in {words.al_state(status)}, {words.al_code(code)}"
        except NoReplyError as error:
            now_s = watch.waited_s
            lost_since_s = now_s if lost_since_s is None else lost_since_s
            if now_s - lost_since_s >= DEAD_LINE_S:
                raise BringUpError(
                    f"{error}; {words.al_state(state)} was requested, and no frame has come back for {DEAD_LINE_S:g} s"
                ) from error
        except BringUpError:
            silent += 1
            if silent >= SILENT_LOOKS:
                raise
        where = asked + words.al_state(status)
        if not watch.look(where):
            raise BringUpError(
                f"{where} after {watch.waited_s:.1f} s (limit {limit_s:g} s)"
                + "".join(f"; before: {reason}" for reason in reasons)
                + why_silent(master.exchange, station)
            )
        yield


def finish(steps: Iterator[None], pause_s: float) -> None:
    """Resume one change until it ends."""
    for _ in steps:
        if pause_s:
            time.sleep(pause_s)


def together(changes: Iterable[Iterator[None]]) -> Iterator[None]:
    """Resume several changes in turn until all have ended.

    Raises
    ------
    BringUpError
        Some failed; all of them are named, in the order in which they failed.
    """
    left = list(changes)
    failed: list[str] = []
    while left:
        for change in list(left):
            try:
                next(change)
            except StopIteration:
                left.remove(change)
            except BringUpError as error:
                left.remove(change)
                failed.append(str(error))
        if left:
            yield
    if failed:
        raise BringUpError("; ".join(failed))


def reach_now(master: Master, station: int, state: int, limits: StateLimits = STANDARD) -> None:
    """Ask a slave for an AL state, and return once it is there; see `reach`."""
    finish(reach(master, station, state, limits), master.pause_s)
