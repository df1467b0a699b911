import math
import struct

import numpy as np
import pytest

from io_bridge.emulator.catalogue.device_file import find_device, load_device


def test_digital_outputs_drive_their_terminals_in_op_only(rack):
    found = rack("digital_io")
    found.exchange(b"\xa5")
    assert found.terminal.outputs == 0xA5
    found.to(4)
    assert found.terminal.outputs == 0


def test_digital_inputs_show_their_levels(rack):
    found = rack("digital_io")
    found.terminal.inputs = 0x3C
    assert found.exchange(b"\0") == b"\x3c"
    with pytest.raises(ValueError, match="the terminal has 8"):
        found.terminal.inputs = 0x100


def test_a_bitwise_fmmu_moves_single_bits_and_leaves_its_neighbours(rack):
    found = rack("digital_io")
    master, station = found.master, found.station[1]
    # logical bits 2 to 4 of one byte are the outputs 4 to 6
    fmmu = struct.pack("<IHBBHBBBxxx", 0x20000, 1, 2, 4, 0x1000, 3, 2, 1)
    found.exchange(b"\x81")
    master.write(station, 0x0600, fmmu)
    assert master.access(11, 0, 2, b"\x0c")[1] == 1
    found.transact(b"")
    assert found.terminal.outputs == 0x81 | 0b011 << 3
    # and inputs 4 to 6 are read into the same place, the other bits as they were sent
    master.write(station, 0x0610, fmmu[:8] + struct.pack("<HBBBxxx", 0x1100, 3, 1, 1))
    found.terminal.inputs = 0b101 << 3
    assert master.access(10, 0, 2, b"\xe3") == (b"\xf7", 1)


def test_the_watchdog_switches_digital_outputs_off(rack):
    found = rack("digital_io")
    found.exchange(b"\xff")
    assert found.terminal.outputs == 0xFF
    found.segment.advance(found.segment.now_ns + 200_000_000)
    assert found.terminal.outputs == 0
    assert (found.terminal.al_status, found.terminal.al_code) == (0x14, 0x1B)


def test_analog_inputs_convert_and_tell_what_is_beyond_the_range(rack):
    found = rack("analog_io")

    def channel(number):
        status, value = struct.unpack_from("<Hh", found.exchange(bytes(4)), 4 * number)
        return status, value

    found.terminal.set_volts(0, 2.5)
    found.terminal.set_volts(1, -20.0)
    status, value = channel(0)
    assert value == round(2.5 / 10 * 32767)
    assert status & 0x7FFF == 0
    status, value = channel(1)
    assert value == -32768
    assert status & 0x7FFF == 0x41
    # a bit tells one conversion from the next: read once a frame, of which there are two here
    toggles = {channel(0)[0] >> 15 for _ in range(4)}
    found.transact(b"")
    found.master.read(found.station[1], 0, 1)
    assert toggles | {channel(0)[0] >> 15} == {0, 1}
    with pytest.raises(ValueError, match="finite"):
        found.terminal.set_volts(0, math.inf)


def test_an_amplifier_adds_white_noise_that_is_the_same_in_every_run(rack):
    counts = []
    for _ in range(2):
        found = rack("analog_io")
        found.terminal.set_volts(0, 1.0)
        found.terminal.set_noise(0, 6e-4)
        read = [struct.unpack_from("<h", found.exchange(bytes(4)), 2)[0] for _ in range(800)]
        counts.append(np.array(read[1:]) - 1.0 / 10 * 32767)
    assert (counts[0] == counts[1]).all()
    step_v = 10 / 32767
    # noise and rounding: 800 samples tell a deviation to 2.5 %, a correlation to 0.035; four times that
    assert np.std(counts[0]) == pytest.approx(math.sqrt((6e-4 / step_v) ** 2 + 1 / 12), rel=0.1)
    assert abs(np.corrcoef(counts[0][1:], counts[0][:-1])[0, 1]) < 0.14
    with pytest.raises(ValueError, match="must be from 0 to 10"):
        found.terminal.set_noise(0, -1.0)


def test_analog_outputs_are_zero_without_op(rack):
    found = rack("analog_io")
    found.exchange(struct.pack("<hh", 32767, -16384))
    assert found.terminal.volts_out(0) == pytest.approx(10.0)
    assert found.terminal.volts_out(1) == pytest.approx(-5.0, abs=1e-3)
    found.to(2)
    assert found.terminal.volts_out(0) == 0.0


def counter(data):
    return struct.unpack("<HII", data)


def test_the_encoder_counts_edges_of_its_shaft(rack):
    found = rack("encoder_input")
    found.terminal.rate_rad_s = 2 * math.pi
    first = counter(found.exchange(bytes(6)))[1]
    found.segment.advance(found.segment.now_ns + 500_000_000)
    found.master.request(found.station[1], 8)
    # half a turn of 4096 edges and a few ms of frames
    gone = (counter(found.exchange(bytes(6)))[1] - first) % 2**32
    assert gone == pytest.approx(2048, abs=4 * 4096 // 1000 + 2)


def test_the_encoder_counts_backwards_through_zero(rack):
    found = rack("encoder_input")
    found.terminal.rate_rad_s = -1.0
    for _ in range(20):
        data = found.exchange(bytes(6))
    assert 0x80000000 < counter(data)[1] <= 0xFFFFFFFF


def test_the_counter_can_be_set_and_says_so(rack):
    found = rack("encoder_input")
    status, value, _ = counter(found.exchange(struct.pack("<HI", 4, 123456)))
    assert (status & 4, value) == (4, 123456)
    assert counter(found.exchange(struct.pack("<HI", 0, 0)))[0] & 4 == 0


def test_the_index_pulse_latches_once_when_armed(rack):
    found = rack("encoder_input")
    found.exchange(struct.pack("<HI", 4, 1000))
    found.terminal.rate_rad_s = 40.0
    latched = None
    for _ in range(300):
        status, value, latch = counter(found.exchange(struct.pack("<HI", 1, 0)))
        if status & 1 and latched is None:
            latched = latch
    # the shaft stood at a pulse when the counter was set; the next one is a turn of 4096 further
    assert latched == 1000 + 4096
    assert latch == latched
    assert value > latched + 4096


def test_an_encoder_sits_on_the_shaft_of_a_drive(rack):
    found = rack("encoder_input", "direct_drive")
    found.terminal.measure(found.others[0])
    first = counter(found.exchange(bytes(6)))[1]
    start = found.others[0].angle_rad
    for _ in range(300):
        data = found.exchange(bytes(6))
    turned = found.others[0].angle_rad - start
    assert turned != 0
    edges = (counter(data)[1] - first + 2**31) % 2**32 - 2**31
    assert edges == pytest.approx(4096 * turned / (2 * math.pi), abs=2)


def test_a_described_device_gives_its_values():
    device = load_device(find_device("analog_io"))
    assert device.object_value(0x1018, 1) == (0xA7E).to_bytes(4, "little")
    with pytest.raises(KeyError, match="0x5555:0"):
        device.object_value(0x5555, 0)
