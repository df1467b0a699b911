"""Values that are pushed: when, and to whom."""

import time
from types import SimpleNamespace

import numpy as np
import pytest

from io_bridge.doorway.door import Client
from rigloop.service.subscriptions import Subscriptions

RATE_HZ = 49.0


@pytest.fixture
def pushed(monkeypatch):
    """Return subscriptions of three clients on a played clock, and what was sent at which time."""
    clock, sent = SimpleNamespace(now=1000.0), []
    monkeypatch.setattr(time, "monotonic", lambda: clock.now)
    door = SimpleNamespace(send=lambda client, raw: sent.append((clock.now, client.name)))
    session = SimpleNamespace(reader=SimpleNamespace(read=lambda paths: np.zeros(len(paths))))
    found = Subscriptions(door)
    for number in range(3):
        clock.now += 0.0033
        found.add(Client("local", bytes([number])), session, ["a"], RATE_HZ)
    return clock, found, sent


def test_those_of_one_rate_are_due_together_whenever_they_were_made(pushed):
    clock, found, sent = pushed
    for _ in range(1000):
        clock.now = found.next_s()
        found.push()
    times = sorted({at for at, _ in sent})
    assert len(times) == 1000
    assert len(sent) == 3000
    assert np.diff(times) == pytest.approx(1.0 / RATE_HZ)


def test_what_was_missed_is_not_made_up_for(pushed):
    clock, found, sent = pushed
    clock.now += 10.0
    found.push()
    assert len(sent) == 3
    assert clock.now < found.next_s() <= clock.now + 1.0 / RATE_HZ
