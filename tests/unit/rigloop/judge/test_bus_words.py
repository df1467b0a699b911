"""What keeps a bus from being well, slave by slave."""

import pytest

from rigloop.compose.blocks import paths
from rigloop.compose.wiring import load
from rigloop.judge.bus_words import explain_bus

OP, ENABLED = 8, 0x0037


@pytest.fixture
def bus():
    """A bus of three drives that are well, the ports of its signals, and a way to explain it."""
    config = load("pedals_and_wheel").rig.blocks["bus"]
    writes = paths("bus", config)[1]
    ports = {"valid": 1, "wkc": 7}
    for drive in config.drives:
        ports |= {
            f"{drive}/{port}": value
            for port, value in {
                "al_state": OP, "wkc": 2, "wkc_expected": 2, "valid": 1, "statusword": ENABLED, "operational": 1,
            }.items()
        }  # fmt: skip

    def explained():
        values = {writes[port]: float(value) for port, value in ports.items()}
        return explain_bus("bus", config, lambda path: values.get(path, 0.0))

    return ports, explained


def test_a_bus_that_is_well_has_nothing_to_say(bus):
    assert bus[1]() == []


def test_a_drive_in_another_mode_is_named(bus):
    ports, explained = bus
    ports["gas/operational"] = 0
    assert explained() == ["slave 'gas': statusword 0x0037: enabled, but in another mode"]


def test_drives_that_a_bus_gave_up_for_another_slave_are_not_said_to_be_in_another_mode(bus):
    # a bus that is out of patience with one slave has forgotten the state of all drives
    ports, explained = bus
    ports |= {"valid": 0, "gas/al_state": 0, "gas/wkc": 0, "gas/valid": 0}
    ports |= {f"{drive}/operational": 0 for drive in ("wheel", "brake", "gas")}
    assert explained() == [
        "slave 'gas': it does not answer: cable or power, working counter 0, expected 2"
    ]
