"""Drives with PDOs, objects and axes of their own, as device files say them."""

import struct

import pytest
from al_states import await_now
from said import says_each

from io_bridge.emulator.catalogue.device_file import DeviceError, find_device, load_device
from io_bridge.emulator.segment import Segment

DRIVE = 'kind = "drive"\n[identity]\nvendor = 1\nproduct = 2\nrevision = 3\n'


def mapping(device, index):
    """What a mapping object says: (index, subindex, bits)."""
    count = device.object_value(index, 0)[0]
    words = (struct.unpack("<I", device.object_value(index, i))[0] for i in range(1, count + 1))
    return [(word >> 16, word >> 8 & 0xFF, word & 0xFF) for word in words]


def assigned(device, index):
    count = device.object_value(index, 0)[0]
    return [struct.unpack("<H", device.object_value(index, i))[0] for i in range(1, count + 1)]


def test_the_fixed_drive_has_two_pdos_each_way_with_padding_and_many_entries():
    device = load_device(find_device("fixed_pdo_drive"))
    assert assigned(device, 0x1C12) == [0x1601, 0x1605]
    assert assigned(device, 0x1C13) == [0x1A03, 0x1A0A]
    entries = mapping(device, 0x1A03)
    assert len(entries) > 8
    assert (0, 0, 4) in entries
    bits = sum(bits for _, _, bits in (*entries, *mapping(device, 0x1A0A)))
    assert bits % 8 == 0
    # on their bytes although there is padding between
    at = 0
    for index, _, size in entries:
        if size >= 8 and index:
            assert at % 8 == 0
        at += size


def test_two_axes_have_objects_and_pdos_apart_and_motors_of_their_own():
    device = load_device(find_device("two_axis_drive"))
    assert assigned(device, 0x1C12) == [0x1600, 0x1610]
    assert mapping(device, 0x1610) == [(0x6840, 0, 16), (0x6871, 0, 16), (0x6860, 0, 8)]
    segment = Segment([device])
    first, second = device.axes
    first.trip(0x1234)
    assert (first.statusword, second.statusword) == (0x08, 0x40)
    assert device.object_value(0x603F, 0) == b"\x34\x12"
    assert device.object_value(0x683F, 0) == b"\0\0"
    segment.advance(1_000_000)
    assert struct.unpack("<H", device.object_value(0x6841, 0))[0] == 0x40


def test_each_axis_obeys_its_own_outputs(wire_to_op):
    device, outputs = wire_to_op("two_axis_drive", 10, 26)
    for control in (0x06, 0x07, 0x0F, 0x0F):
        outputs(struct.pack("<HhBHhB", control, 100, 10, control & 0x06, -50, 10))
    one, two = device.axes
    assert one.statusword == 0x37
    assert one.wanted_torque_nm == pytest.approx(0.637)
    assert two.wanted_torque_nm == 0.0
    for control in (0x06, 0x07, 0x0F, 0x0F):
        outputs(struct.pack("<HhBHhB", 0x0F, 100, 10, control, -50, 10))
    assert two.wanted_torque_nm == pytest.approx(-0.3185)
    assert one.wanted_torque_nm == pytest.approx(0.637)


def test_the_fixed_drive_runs_on_its_own_pdos(wire_to_op):
    device, outputs = wire_to_op("fixed_pdo_drive", 14, 30)
    for control in (0x06, 0x07, 0x0F, 0x0F):
        outputs(struct.pack("<HBbhHhI", control, 1, 10, 100, 3000, 0, 0))
    assert device.statusword == 0x37
    assert device.wanted_torque_nm == pytest.approx(0.637)
    assert device.object_value(0x2100, 1) == b"\x01"


@pytest.fixture
def wire_to_op():
    """Return a function that brings a device to OP by registers alone, with its own mapping."""
    from io_bridge.master.bringup import Master

    def start(name, n_outputs, n_inputs):
        device = load_device(find_device(name))
        segment = Segment([device])
        master = Master(lambda frame: segment.process(frame, segment.now_ns + 10_000))
        station = master.address(0)
        for number, manager in enumerate(device.description.managers):
            size = manager.size or (n_outputs if manager.use == 3 else n_inputs)
            row = struct.pack("<HHBBBB", manager.start, size, manager.control, 0, 1, 0)
            master.write(station, 0x0800 + 8 * number, row)
        row = struct.pack("<IHBBHBBBxxx", 0, n_outputs, 0, 7, 0x1200, 0, 2, 1)
        master.write(station, 0x0600, row)

        def outputs(data):
            assert len(data) == n_outputs
            assert master.access(11, 0, 0, data)[1] == 1

        for state in (2, 4, 8):
            if state == 8:
                outputs(bytes(n_outputs))
            master.request(station, state)
            await_now(master, station, state)
        return device, outputs

    return start


def test_mistakes_of_pdos_and_objects_of_a_drive_come_at_once(tmp_path):
    path = tmp_path / "drive.toml"
    path.write_text(
        "assign = 99\nname = 'x'\n"
        + DRIVE
        + '[[objects]]\nindex = 0x60FD\ntype = "UINT99"\n'
        + "[[rx_pdos]]\nindex = 0x1601\nroom = -1\nassigned = 1\n"
    )
    with pytest.raises(DeviceError) as caught:
        load_device(path)
    says_each(
        caught.value,
        "assign = 99",
        "name = 'x': unknown key",
        "objects.0.type = 'UINT99'",
        "rx_pdos.0.room = -1",
        "rx_pdos.0.assigned = 1: input should be a valid boolean",
    )
    path.write_text(DRIVE + '[[rx_pdos]]\nindex = 0x1601\nentries = ["0x6041:0"]\n')
    with pytest.raises(DeviceError, match='0x6041:0 is not an object with pdo = "rx"'):
        load_device(path)


@pytest.mark.parametrize("axes", [1, 5, "2", True])
def test_the_number_of_axes_is_checked(tmp_path, axes):
    path = tmp_path / "drive.toml"
    shown = repr(axes).lower() if isinstance(axes, bool) else repr(axes)
    path.write_text(DRIVE.replace('"drive"', '"multi_axis_drive"') + f"[options]\naxes = {shown}\n")
    with pytest.raises(DeviceError, match="axes"):
        load_device(path)
