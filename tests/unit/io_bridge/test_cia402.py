import pytest

from io_bridge.cia402 import controlword, drive_state
from io_bridge.words import DRIVE_STATES

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
    assert controlword(0x006F, enable=True) == 0


def test_a_drive_is_led_up_one_state_at_a_time():
    words = [controlword(s, enable=True) for s in (0x0040, 0x0021, 0x0023, 0x0027)]
    assert words == [0x06, 0x07, 0x0F, 0x0F]


def test_a_drive_not_wanted_is_shut_down():
    assert {controlword(s, enable=False) for s in (0x0021, 0x0023, 0x0027)} == {0x06}


@pytest.mark.parametrize("enable", [False, True])
def test_a_fault_waits_for_a_reset(enable):
    assert controlword(0x0008, enable=enable) == 0
    assert controlword(0x0008, enable=enable, reset=True) == 0x80
    assert controlword(0x0027, enable=True, reset=True) == 0x0F
