"""Claims of services on cores and interfaces: one has each, and the others learn who."""

import os
from itertools import count

import pytest

from rigloop.host.reservations import Reservation, needs_of, refuse_claimed
from rigloop.run_folder.not_started import NotStartedError

NUMBERS = count(10_000 + os.getpid() % 10_000 * 100)


@pytest.fixture
def core():
    """Give a core that no machine has, so that tests beside each other do not meet."""
    return f"core {next(NUMBERS)}"


def test_the_second_service_learns_who_has_the_core(core):
    with Reservation("lab", [core]):
        with pytest.raises(
            NotStartedError, match=rf"{core}: service lab \(process {os.getpid()}\)"
        ):
            Reservation("other", ["core 99999", core])
        with Reservation("third", ["core 99999"]):
            pass
    with Reservation("other", [core]):
        pass


def test_a_run_is_refused_unless_its_own_service_has_the_core(core):
    with Reservation("lab", [core]):
        refuse_claimed([core], but=os.getpid())
        with pytest.raises(NotStartedError, match="service lab"):
            refuse_claimed([core], but=1)
    refuse_claimed([core], but=1)


def test_a_rig_needs_its_cores_and_its_cards(rigs):
    rig = rigs("steering_wheel").rig
    assert needs_of(rig, {"bus": "simulated"}) == ["core 0", "core 1"]
    assert needs_of(rig, {"bus": "eth1"}) == ["core 0", "core 1", "interface eth1"]
