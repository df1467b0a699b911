"""The bring-up of a run's bus, and its losses on the way: stated in manifest and report, judged by nothing.

No torque can flow before OP. A slave that takes its time, or a link that comes up late, loses frames there.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated

import msgspec

if TYPE_CHECKING:
    from rigloop.run_folder.messages import Report

Count = Annotated[int, msgspec.Meta(ge=0)]
LONGEST_S = 1e6


class BroughtUp(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """From the first frame to OP."""

    to_op_s: Annotated[float, msgspec.Meta(ge=0)]
    lost: Count = 0
    """Frames of the cycle that did not come back in time."""
    late: Count = 0
    duplicated: Count = 0
    foreign: Count = 0

    @property
    def losses(self) -> str:
        """The losses, in words."""
        found = [
            f"{n} {words}"
            for n, words in (
                (self.lost, "frames lost"),
                (self.late, "replies late"),
                (self.duplicated, "duplicated"),
                (self.foreign, "foreign"),
            )
            if n
        ]
        return f"{', '.join(found) or 'nothing lost'} before OP, not part of the verdict"


def brought_up(report: Report) -> BroughtUp | None:
    """Return how the bus came to OP by what the cycle process reported; None: it did not, or there is none."""
    if not report.bringup:
        return None
    # the file may be a stranger's
    counts = {
        key: min(int(report.bringup.get(key, 0)), 2**53)
        for key in ("lost", "late", "duplicated", "foreign")
        if report.bringup.get(key, 0) >= 0
    }
    to_op_s = report.to_op_s
    right = math.isfinite(to_op_s) and 0.0 <= to_op_s <= LONGEST_S
    return BroughtUp(to_op_s if right else 0.0, **counts)


def bring_up_figures(found: BroughtUp | None) -> list[tuple[str, str, str]]:
    """Return the row of the figures of a run."""
    return [] if found is None else [("bus in OP after", f"{found.to_op_s:.2f} s", found.losses)]
