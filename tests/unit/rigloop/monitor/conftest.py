"""The time of a recorded run that plays."""

import pytest

from rigloop.monitor.sources import recorded_source


class Clock:
    """A time that a test sets."""

    def __init__(self):
        self.now_s = 0.0

    def monotonic(self):
        return self.now_s


@pytest.fixture
def clock(monkeypatch):
    made = Clock()
    monkeypatch.setattr(recorded_source, "time", made)
    return made
