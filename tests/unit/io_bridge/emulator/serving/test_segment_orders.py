import os
import time

import pytest

from io_bridge.emulator.drive.device import DriveDevice
from io_bridge.emulator.segment import Segment
from io_bridge.emulator.serving.segment_orders import Orders
from io_bridge.wire.frame import WireDatagram, build, parse


@pytest.fixture
def ordered(capsys):
    """A segment, and what writes orders to it and returns how many slaves answer, and what was said."""
    segment = Segment([DriveDevice() for _ in range(3)])
    source, ear = os.pipe()
    orders = Orders(source)

    def order(text):
        os.write(ear, text.encode())
        orders.obey(segment)
        frame = build([WireDatagram(7, 1, 0, b"\0")])
        reply = segment.process(frame, segment.now_ns + 1000)
        return parse(reply)[0].wkc if reply else 0, capsys.readouterr()

    order.obeyed = orders.obeyed
    yield order
    os.close(ear)
    orders.obey(segment)
    orders.obey(segment)  # nobody writes any more
    os.close(source)


def test_cables_and_supplies_are_taken_and_given_back(ordered):
    for text, answer in (("unplug 1", 1), ("plug 1", 3), ("power-off 2", 2), ("power-on 2", 3)):
        found, said = ordered(f"{text}\n")
        assert found == answer
        assert said.out == f"{text}\n"
    words, times = zip(*ordered.obeyed, strict=True)
    assert words == ("unplug 1", "plug 1", "power-off 2", "power-on 2")
    assert sorted(times) == list(times)
    assert time.monotonic_ns() - times[0] < 60_000_000_000


def test_an_order_is_carried_out_when_its_line_is_whole(ordered):
    assert ordered("unplug")[0] == 3
    found, said = ordered(" 2\n\nunplug 1\n")
    assert found == 1
    assert said.out.splitlines() == ["unplug 2", "unplug 1"]


@pytest.mark.parametrize(
    ("text", "remedy"),
    [
        ("burn 1", "write unplug, plug, power-off, power-on"),
        ("unplug", "and a position"),
        ("unplug one", "and a position"),
        ("unplug 7", "slave 7: the segment has 0 to 2"),
        ("power-off 3", "slave 3: the segment has 0 to 2"),
        ("\xff\xfe", "write unplug"),
    ],
)
def test_a_wrong_order_is_told_and_changes_nothing(ordered, text, remedy):
    found, said = ordered(f"{text}\n")
    assert found == 3
    assert said.out == ""
    assert remedy in said.err
