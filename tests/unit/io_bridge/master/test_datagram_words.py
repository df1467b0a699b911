"""What a lost frame was to do, in words."""

import pytest

from io_bridge.master.datagram_words import asked_words, register_words
from io_bridge.master.master import STATION, BringUpError, Master
from io_bridge.slaves.errors import NoReplyError

FPRD, BRD, APWR = 4, 7, 2


@pytest.mark.parametrize(
    ("command", "address", "register", "words"),
    [
        (FPRD, STATION, 0x0130, "slave 0 (wheel): the frame that was to read its AL state (register 0x0130)"),
        (APWR, -1, 0x0010, "slave 1: the frame that was to write its station address (register 0x0010)"),
        (BRD, 0, 0x0000, "all slaves: the frame that was to read what its controller can do (register 0x0000)"),
        (5, 0x2001, 0x1000, "slave 0x2001: the frame that was to write its mailbox or process data (address 0x1000)"),
    ],
)  # fmt: skip
def test_a_lost_frame_names_slave_and_purpose(command, address, register, words):
    master = Master(lambda frame: None)
    master.names[STATION] = "wheel"
    with pytest.raises(NoReplyError) as caught:
        master.access(command, address, register, bytes(2))
    assert str(caught.value).startswith(f"{words} did not come back")
    assert "cable" in str(caught.value)
    assert asked_words(command, address, register, master.called, STATION) == words


def test_a_slave_that_passes_a_frame_on_untouched_is_named_with_what_to_look_at():
    master = Master(lambda frame: frame)
    with pytest.raises(
        BringUpError, match=r"slave 0: no answer when its AL state .* is read: .*cable"
    ):
        master.read(STATION, 0x0130, 6)


def test_every_register_has_words():
    assert all(register_words(register) for register in range(0x3000))
