import pytest

from io_bridge.slaves.cia402 import WISHES, controlword, drive_state
from io_bridge.slaves.words import DRIVE_STATES

STATUSWORDS = {
    "not ready to switch on": 0x0000,
    "switch on disabled": 0x0040,
    "ready to switch on": 0x0021,
    "switched on": 0x0023,
    "operation enabled": 0x0027,
    "quick stop active": 0x0007,
    "fault reaction active": 0x000F,
    "fault": 0x0008,
}


@pytest.mark.parametrize(("words", "statusword"), STATUSWORDS.items())
@pytest.mark.parametrize("other_bits", [0x0000, 0x0010, 0x0280, 0x9710])
def test_a_state_is_told_whatever_the_other_bits_say(words, statusword, other_bits):
    assert DRIVE_STATES[drive_state(statusword | other_bits)] == words


def test_a_pattern_of_no_state_is_called_so():
    assert DRIVE_STATES[drive_state(0x006F)] == "no CiA 402 state"
    assert controlword(0x006F, wish="on") == 0


def test_a_drive_is_led_up_one_state_at_a_time():
    words = [controlword(s, wish="on") for s in (0x0040, 0x0021, 0x0023, 0x0027)]
    assert words == [0x06, 0x07, 0x0F, 0x0F]


def test_a_drive_not_wanted_is_shut_down():
    assert {controlword(s, wish="off") for s in (0x0021, 0x0023, 0x0027)} == {0x06}


@pytest.mark.parametrize("wish", WISHES)
def test_a_fault_waits_for_a_reset(wish):
    assert controlword(0x0008, wish) == 0
    assert controlword(0x0008, wish, reset=True) == 0x80
    assert controlword(0x0027, wish="on", reset=True) == 0x0F


def test_a_stop_brakes_an_enabled_drive_and_holds_it():
    assert controlword(0x0027, "stop") == 0x02
    assert controlword(0x0007, "stop") == 0x02
    # on again: disable voltage first, then from the start
    assert controlword(0x0007, "on") == 0x00
    assert controlword(0x0040, "stop") == 0x06


def test_no_wish_enables_a_drive_in_one_step():
    enabling = {s for s in STATUSWORDS.values() for w in WISHES if controlword(s, w) == 0x0F}
    assert enabling == {0x0023, 0x0027}
