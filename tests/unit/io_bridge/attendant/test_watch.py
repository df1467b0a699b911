"""What the watch beside a cycle says of slaves with several axes."""

from io_bridge.attendant.watch import Watch
from io_bridge.bus import gap_words
from io_bridge.bus_events import BusEvents
from io_bridge.buses.simulated_bus import SimulatedBus
from io_bridge.emulator.catalogue.devices import make_device
from io_bridge.slaves.drive_config import DriveConfig

SLAVES = (DriveConfig("left"), DriveConfig("right", axis=1, joined=True), DriveConfig("last"))


def test_an_axis_in_fault_and_the_slave_behind_it_are_asked_for_their_own_error_codes():
    names = ("two_axis_drive", "direct_drive")
    bus = SimulatedBus(drives=SLAVES, devices=[make_device(name) for name in names])
    bus.to_op()
    block = bus.block()
    bus.devices[0].axes[1].trip(0x2310)
    bus.devices[1].trip(0x7305)
    for n in range(5):
        block.step(n * 1_000_000)
    events = BusEvents()
    Watch(bus.recovery().master, block, bus._records, events, 0.0).look()
    said = {event.source: event.words for event in events}
    assert "left" not in said
    assert "error code 0x683F: 0x2310" in said["right"]
    assert "error code 0x603F: 0x7305" in said["last"]
    bus.close()


class Open:
    """An exchange of a ring that is open behind its first slave."""

    slaves = SLAVES
    gap = 1


def test_a_gap_behind_a_drive_with_two_axes_is_between_slaves():
    assert gap_words(Open()) == "the ring is open between left+right and last: cable or power"
