import pytest
from al_states import await_now

from io_bridge.emulator.catalogue.device_file import find_device, load_device
from io_bridge.emulator.segment import Segment
from io_bridge.master.bringup import Master
from io_bridge.wire.frame import WireDatagram, build, parse

BRD = 7
CABLE_NS = 100
SLAVE_NS = 300


def make(*names):
    return Segment([load_device(find_device(name)) for name in names], CABLE_NS)


def master_of(segment):
    return Master(lambda frame: segment.process(frame, segment.now_ns + 100_000))


def count(segment, end=0):
    frame = build([WireDatagram(BRD, 1, 0x0000 << 16, b"\0")])
    reply, leaves = segment.process_end(frame, segment.now_ns + 1000, end)
    return (parse(reply)[0].wkc, leaves) if reply else (None, leaves)


RACK = ("ek_coupler", "digital_io", "analog_io", "direct_drive", "direct_drive")


def test_terminals_hang_behind_the_coupler_and_drives_behind_its_second_port():
    assert make(*RACK).parents == ((-1, 0), (0, 1), (1, 1), (0, 2), (3, 1))


def test_port_descriptors_and_link_status_tell_the_tree():
    segment = make(*RACK)
    master = master_of(segment)
    stations = [master.address(i) for i in range(5)]
    ports = [master.read(station, 0x0007, 1)[0] for station in stations]
    assert ports == [0b00_11_10_11, 0b1010, 0b1010, 0b1111, 0b1111]
    links = [
        int.from_bytes(master.read(station, 0x0110, 2), "little") >> 4 & 0xF for station in stations
    ]
    assert links == [0b0111, 0b0011, 0b0001, 0b0011, 0b0001]


def test_a_terminal_without_coupler_is_refused():
    with pytest.raises(ValueError, match="slave 0"):
        make("digital_io")
    with pytest.raises(ValueError, match=r"slave 1 \(DigitalIo\)"):
        make("direct_drive", "digital_io")


def test_arrival_times_at_the_ports_give_the_delay_of_each_cable():
    segment = make(*RACK)
    master = master_of(segment)
    stations = [master.address(i) for i in range(5)]
    master.access(8, 0, 0x0900, bytes(4))

    def port(slave, number):
        data = master.read(stations[slave], 0x0900 + 4 * number, 4)
        return int.from_bytes(data, "little")

    # one terminal behind another: out and back, less the time the frame spends in the inner one
    inside = port(1, 1) - port(1, 0)
    assert inside == SLAVE_NS + 2 * CABLE_NS + SLAVE_NS
    # all that hangs at the E-bus has been passed before the frame leaves at the second port
    assert port(0, 1) - port(0, 0) == SLAVE_NS + 2 * CABLE_NS + inside + SLAVE_NS
    last = port(3, 1) - port(3, 0)
    assert port(0, 2) - port(0, 1) == SLAVE_NS + 2 * CABLE_NS + last + SLAVE_NS


def test_a_pulled_cable_takes_all_behind_it_and_they_come_back_as_they_were():
    segment = make(*RACK)
    master = master_of(segment)
    stations = [master.address(i) for i in range(5)]
    segment.unplug(3)
    assert master.count() == 3
    assert int.from_bytes(master.read(stations[0], 0x0110, 2), "little") >> 4 & 0xF == 0b0011
    segment.unplug(1)
    assert master.count() == 1
    segment.plug(1)
    segment.plug(3)
    assert master.count() == 5
    assert master.read(stations[4], 0x0010, 2) == stations[4].to_bytes(2, "little")


def test_a_slave_without_supply_is_gone_with_all_behind_it_and_forgets():
    segment = make("direct_drive", "direct_drive", "direct_drive")
    master = master_of(segment)
    for i in range(3):
        master.address(i)
    segment.power_off(1)
    assert master.count() == 1
    segment.power_on(1)
    assert master.count() == 3
    assert master.access(1, -1, 0x0010, bytes(2)) == (bytes(2), 1)
    assert master.access(1, -2, 0x0010, bytes(2)) == ((0x1003).to_bytes(2, "little"), 1)


def test_without_the_first_cable_nothing_comes_back_but_time_goes_on():
    segment = make("direct_drive")
    segment.unplug(0)
    before = segment.now_ns
    frame = build([WireDatagram(BRD, 1, 0, b"\0")])
    assert segment.process(frame, before + 5000) is None
    assert segment.now_ns == before + 5000
    segment.plug(0)
    assert master_of(segment).count() == 1


def test_a_mapping_is_lost_with_the_supply_and_kept_with_the_cable():
    segment = make("direct_drive")
    master = master_of(segment)

    def start():
        master.address(0)
        master.set_mailbox(0x1001)
        master.request(0x1001, 2)
        await_now(master, 0x1001, 2)

    start()
    master.download(0x1001, 0x1600, 0, 0, 1)
    segment.unplug(0)
    segment.plug(0)
    assert master.upload(0x1001, 0x1600, 0) == b"\0"
    segment.power_cycle(0)
    start()
    assert master.upload(0x1001, 0x1600, 0) == b"\3"


@pytest.mark.parametrize("broken", [0, 1, 2, 3])
def test_a_ring_with_two_ends_reaches_all_with_one_cable_out(broken):
    segment = make("direct_drive", "direct_drive", "direct_drive", "direct_drive")
    # closed: all are passed one way, none the other
    assert count(segment, 0) == (4, 1)
    assert count(segment, 1) == (0, 0)
    segment.unplug(broken)
    near, far = count(segment, 0), count(segment, 1)
    assert near == ((broken, 0) if broken else (None, 0))
    assert far == (4 - broken, 1)


def test_positions_outside_are_refused():
    segment = make("direct_drive")
    for act in (segment.unplug, segment.plug, segment.power_off, segment.power_cycle):
        with pytest.raises(ValueError, match="slave 2: the segment has 0 to 0"):
            act(2)


def test_without_the_second_cable_a_frame_comes_back_where_it_entered():
    segment = make(*RACK)
    assert count(segment, 0) == (5, 1)
    segment.unplug(5)
    assert count(segment, 0) == (5, 0)
    assert count(segment, 1)[0] is None
    segment.plug(5)
    assert count(segment, 1) == (0, 0)
    with pytest.raises(ValueError, match="slave 6"):
        segment.unplug(6)
