"""How long a device may take, by its ESI."""

from xml.etree.ElementTree import TreeBuilder, XMLParser

import pytest

from io_bridge.esi.document import Located, Reading
from io_bridge.esi.time_limits import read_limits
from io_bridge.slaves.state_limits import STANDARD


@pytest.fixture
def read(tmp_path):
    """Read the limits of a device with these elements in it; notes with them."""

    def of(inside):
        class Builder(TreeBuilder):
            def start(self, tag, attributes):
                made = super().start(tag, attributes)
                made.line, made.path = 1, tag
                return made

        parser = XMLParser(target=Builder(element_factory=Located))
        parser.feed(f"<Device>{inside}</Device>")
        reading = Reading(tmp_path / "d.xml")
        return read_limits(reading, parser.close()), reading

    return of


def states(inside):
    return f"<Info><StateMachine><Timeout>{inside}</Timeout></StateMachine></Info>"


def test_without_any_the_limits_are_those_of_the_standard(read):
    assert read("")[0] == STANDARD
    assert read(states("<PreopTimeout/>"))[0] == STANDARD


def test_milliseconds_become_seconds_and_the_longer_way_back_counts(read):
    given = "<PreopTimeout>#x1F40</PreopTimeout><SafeopOpTimeout>250</SafeopOpTimeout>"
    back = (
        "<BackToInitTimeout>300</BackToInitTimeout><BackToSafeopTimeout>700</BackToSafeopTimeout>"
    )
    limits, reading = read(states(given + back))
    assert (limits.preop_s, limits.safeop_op_s, limits.back_s) == (8.0, 0.25, 0.7)
    assert not reading.notes


@pytest.mark.parametrize("text", ["0", "-1", "1e9", "600001", "99999999999999999999", "soon"])
def test_a_time_that_cannot_be_is_left_out_with_a_note(read, text):
    limits, reading = read(states(f"<PreopTimeout>{text}</PreopTimeout>"))
    assert limits == STANDARD
    assert not reading.mistakes
    assert "1 to 600000 ms" in reading.notes[0]
