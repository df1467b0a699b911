"""The description of a rig: whole after its bytes, small, and enough to draw its mechanism."""

import msgspec
import pytest

from rigloop.monitor.sources.description import description_of
from rigloop.protocol.description import ToDescribe
from rigloop.protocol.limits import MOST_WIRE_BYTES


@pytest.mark.parametrize("name", ["steering_wheel", "live_bench", "pedals_and_wheel"])
def test_a_description_is_the_same_after_its_bytes(rigs, name):
    of = description_of(rigs(name))
    raw = msgspec.msgpack.encode(of)
    assert msgspec.msgpack.decode(raw, type=ToDescribe) == of
    assert len(raw) < MOST_WIRE_BYTES / 8


def test_it_has_guards_live_values_and_mechanisms(rigs):
    assert [g.name for g in description_of(rigs("pedals_and_wheel")).guards]
    live = {one.name: one for one in description_of(rigs("live_bench")).live}
    assert (live["stiffness"].upper, live["stiffness"].group) == (40.0, "spring")
    (mechanism,) = description_of(rigs("steering_wheel")).mechanisms
    assert mechanism.task == "simulation"
    assert 'name = "steering_26"' in mechanism.text
