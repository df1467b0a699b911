"""Time limits of a slave: the defaults of the standard, or the values of its ESI."""

from __future__ import annotations

from dataclasses import dataclass

from rig_configs.section import Seconds
from rt_core.settings import check

PREOP, SAFEOP, OP = 2, 4, 8


@dataclass(frozen=True)
class StateLimits:
    """Limits of one slave.

    Attributes
    ----------
    preop_s : float
        From INIT to PREOP.
    safeop_op_s : float
        From PREOP to SAFEOP, and from SAFEOP to OP.
    back_s : float
        Back to a lower state.
    mailbox_request_s, mailbox_response_s : float
        Until the slave takes a request, and until it answers.

    Notes
    -----
    Source: defaults of ETG.1020; `Info/StateMachine/Timeout` and `Info/Mailbox/Timeout` of an ESI (ETG.2000).
    """

    preop_s: Seconds = 3.0
    safeop_op_s: Seconds = 10.0
    back_s: Seconds = 5.0
    mailbox_request_s: Seconds = 0.1
    mailbox_response_s: Seconds = 2.0

    def __post_init__(self) -> None:
        check("time limits", self)

    def of(self, state: int, before: int) -> float:
        """Return the limit of the way from one AL state to another."""
        if (state & 0x0F) < (before & 0x0F):
            return self.back_s
        return self.preop_s if state == PREOP else self.safeop_op_s


STANDARD = StateLimits()
