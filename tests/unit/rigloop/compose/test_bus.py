"""From the bus block to slaves: axes that share a position, who stands for them, and what cannot be."""

import pytest

from rig_configs.slaves import Terminal
from rigloop.blocks.kinds.bus import BusBlock
from rigloop.blocks.slaves import emulated_ring, joined, ring, terminal_config

SCALES = {"counts_per_rev": 4096, "rated_torque_nm": 1.0, "peak_torque_nm": 2.0}


def block(terminals=None, **drives):
    return BusBlock.model_validate(
        {
            "kind": "bus",
            "reads": {},
            "drives": {name: SCALES | more for name, more in drives.items()},
            "terminals": terminals or {},
        }
    )


def test_drives_at_one_position_are_axes_of_one_slave_in_their_order():
    config = block(
        right={"position": 1, "axis": 1},
        left={"position": 1, "device": "two_axis_drive"},
        other={"position": 0},
    )
    assert list(ring(config)) == ["other", "left", "right"]
    assert joined(config) == {"right"}
    assert emulated_ring(config)[1:] == ["two_axis_drive"]


@pytest.mark.parametrize(
    "drives", [{"a": {"position": 0}, "b": {"position": 0}}, {"a": {"position": 2}, "b": {}}]
)
def test_two_slaves_at_one_place_or_one_beyond_the_last_are_refused(drives):
    with pytest.raises(ValueError, match="position"):
        ring(block(**drives))


def test_axes_say_of_their_slave_what_its_first_says():
    both = {"a": {"position": 0, "watchdog_ms": 50.0}, "b": {"position": 0, "axis": 1}}
    assert list(ring(block(**both))) == ["a", "b"]
    both["b"] |= {"watchdog_ms": 20.0, "limits": {"preop_s": 9.0}}
    with pytest.raises(
        ValueError,
        match=r"drive 'b': limits: it is an axis .* of 'a', .*; drive 'b': watchdog_ms: ",
    ):
        ring(block(**both))


def test_an_axis_without_hardware_needs_a_device_that_has_it():
    with pytest.raises(ValueError, match="drive 'a': device: name one that has its axis"):
        emulated_ring(block(a={"position": 0, "axis": 1}))


def test_a_terminal_takes_setup_assignment_and_limits():
    given = {
        "setup": [{"object": "0x8000:2", "value": 1, "bytes": 1}],
        "tx_assign": ["0x1A01"],
        "limits": {"preop_s": 8.0},
    }
    made = terminal_config("t", Terminal.model_validate(given))
    assert made.tx_assign == (0x1A01,)
    assert (made.setup[0].index, made.setup[0].subindex) == (0x8000, 2)
    assert (made.limits.preop_s, made.limits.back_s) == (8.0, 5.0)
