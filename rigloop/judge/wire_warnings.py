"""The warnings of a run's wire, for those who read its verdict."""

from __future__ import annotations

from rigloop.run_folder.messages import Report

MOST = 8
LONGEST = 400


def wire_warnings(report: Report) -> list[str]:
    """Return the warnings among what happened beside the cycle: they decide nothing, and are worth knowing."""
    # the file may be a stranger's
    found = [event for event in report.bus_events if event.get("warns") is True]
    return [f"{event.get('source')}: {event.get('words')}"[:LONGEST] for event in found[:MOST]]
