import math
from dataclasses import replace
from types import SimpleNamespace

import pytest

from io_bridge.buses.simulated_bus import SimulatedBus
from io_bridge.emulator.drive.device import DriveDevice
from io_bridge.exchange.exchange import Exchange
from io_bridge.slaves.drive_config import DriveConfig, DrivePlant
from io_bridge.slaves.terminal_config import ChannelConfig, TerminalConfig, channel_bytes
from io_bridge.wire.frame import parse

device_file = pytest.importorskip("io_bridge.emulator.catalogue.device_file")
MS = 1_000_000
LWR = 11


def device(name):
    return device_file.load_device(device_file.find_device(name))


COUPLER = TerminalConfig("coupler")
DIGITAL = TerminalConfig(
    "digital",
    inputs=(ChannelConfig("door", 3), ChannelConfig("level", 4, bits=4)),
    outputs=(ChannelConfig("lamp", 0), ChannelConfig("code", 5, bits=3)),
)
ENCODER = TerminalConfig(
    "encoder",
    inputs=(ChannelConfig("count", 16, bits=32, scale=-0.5, offset=10.0),),
    outputs=(ChannelConfig("set", 2), ChannelConfig("value", 16, bits=32)),
)


@pytest.fixture
def rack(rig):
    """A coupler, a digital terminal, an encoder terminal and a drive in OP."""
    devices = [
        device("ek_coupler"),
        device("digital_io"),
        device("encoder_input"),
        DriveDevice(DrivePlant(hands="free")),
    ]
    made = rig(drives=[COUPLER, DIGITAL, ENCODER, DriveConfig("drive")], devices=devices)
    made.devices = devices
    return made


def test_a_coupler_takes_part_without_process_data(rack):
    assert rack.step(3) == 0
    assert rack.cells["coupler/al_state"] == 8
    assert rack.cells["coupler/valid"] == 1
    assert rack.cells["coupler/wkc_expected"] == 0
    # four states; inputs and outputs of three slaves
    assert rack.cells["wkc"] == rack.cells["wkc_expected"] == 4 + 6


def test_bits_reach_their_channels(rack):
    digital = rack.devices[1]
    digital.inputs = 0b1010_1000
    rack.cells["digital/lamp"] = 1
    rack.cells["digital/code"] = 5
    assert rack.step(3) == 0
    assert rack.cells["digital/door"] == 1
    assert rack.cells["digital/level"] == 0b1010
    assert digital.outputs == 0b1010_0001


@pytest.mark.parametrize(
    ("bits", "inputs", "number"),
    [(4, 0b1000_0000, -8), (4, 0b1111_1000, -1), (4, 0b0111_1000, 7), (3, 0b0100_0000, -4)],
)
def test_a_signed_input_has_its_sign_in_its_highest_bit(rig, bits, inputs, number):
    terminal = replace(
        DIGITAL, inputs=(ChannelConfig("level", 4, bits=bits, signed=True),), outputs=()
    )
    devices = [device("ek_coupler"), device("digital_io")]
    made = rig(drives=[COUPLER, terminal], devices=devices)
    devices[1].inputs = inputs
    assert made.step(3) == 0
    assert made.cells["digital/level"] == number


def test_outputs_are_held_within_their_bits(rack):
    rack.cells["digital/code"] = 99
    rack.cells["digital/lamp"] = -3
    rack.step(2)
    assert rack.devices[1].outputs == 0b1110_0000


@pytest.mark.parametrize(
    ("bits", "signed", "asked", "sent"),
    [
        (3, False, 0.4, 0), (3, False, 2.5, 3), (3, False, 6.4, 6), (3, False, 7.6, 7), (3, False, 99.0, 7),
        (3, False, -0.6, 0), (3, True, -1.0, 0b111), (3, True, -4.0, 0b100), (3, True, -99.0, 0b100),
        (3, True, 3.0, 0b011), (3, True, 99.0, 0b011), (1, True, -1.0, 1), (1, True, 1.0, 0),
    ],
)  # fmt: skip
def test_an_output_is_rounded_and_held_within_what_its_bits_can_say(rig, bits, signed, asked, sent):
    terminal = replace(
        DIGITAL, inputs=(), outputs=(ChannelConfig("level", 4, bits=bits, signed=signed),)
    )
    devices = [device("ek_coupler"), device("digital_io")]
    made = rig(drives=[COUPLER, terminal], devices=devices)
    made.cells["digital/level"] = asked
    assert made.step(3) == 0
    assert devices[1].outputs == sent << 4


@pytest.mark.parametrize(("scale", "offset", "asked"), [(0.5, 1.0, 3.5), (-2.0, 0.0, -10.0)])
def test_an_output_is_scaled_as_its_reading_would_be(rig, scale, offset, asked):
    terminal = replace(
        DIGITAL, inputs=(), outputs=(ChannelConfig("level", 4, bits=4, scale=scale, offset=offset),)
    )
    devices = [device("ek_coupler"), device("digital_io")]
    made = rig(drives=[COUPLER, terminal], devices=devices)
    made.cells["digital/level"] = asked
    assert made.step(3) == 0
    assert devices[1].outputs == 5 << 4


@pytest.mark.parametrize(
    ("lamp", "code"), [(math.nan, 5.0), (1.0, math.nan), (1.0, math.inf), (-math.inf, math.inf)]
)
def test_an_output_that_is_no_number_sends_nothing_of_its_terminal(rack, lamp, code):
    rack.cells["digital/lamp"], rack.cells["digital/code"] = lamp, code
    for _ in range(3):
        rack.step()
        assert rack.devices[1].outputs == 0


def test_numbers_are_scaled(rack):
    rack.cells["encoder/value"] = 4000
    rack.cells["encoder/set"] = 1
    rack.step(4)
    assert rack.cells["encoder/count"] == -0.5 * 4000 + 10.0


def test_outputs_go_off_with_a_fault_and_the_drive_works_beside_them(rack):
    rack.cells["digital/lamp"] = 1
    rack.cells["drive/enable"] = 1
    rack.cells["drive/torque_nm"] = 1.0
    rack.step(10)
    assert rack.devices[3].wanted_torque_nm == pytest.approx(1.0, abs=0.00637)
    assert rack.devices[1].outputs == 1
    rack.devices[2].mute = True
    assert rack.step(5) == 3
    assert rack.devices[1].outputs == 0
    assert rack.devices[3].wanted_torque_nm == 0
    assert any(f.source == "encoder" and "does not answer" in f.words for f in rack.bus.faults())


@pytest.mark.parametrize("channel", ["digital/lamp", "encoder/set", "encoder/value"])
def test_an_output_that_is_no_number_is_a_fault(rack, channel):
    rack.cells["digital/code"] = 5
    rack.step(2)
    rack.cells[channel] = float("nan")
    assert [rack.step(), rack.step()] == [7, 7]
    assert rack.devices[1].outputs == 0
    rack.cells[channel] = 0
    assert rack.step(3) == 0
    assert rack.devices[1].outputs == 0
    rack.cells["drive/reset"] = 1
    rack.step()
    assert rack.devices[1].outputs == 0b1010_0000


def test_a_channel_that_is_taken_back_goes_off(rack):
    rack.cells["digital/lamp"] = rack.cells["digital/code"] = 1
    rack.step()
    assert rack.devices[1].outputs == 0b0010_0001
    rack.cells["digital/lamp"] = 0
    rack.step()
    assert rack.devices[1].outputs == 0b0010_0000


def test_the_inputs_of_a_terminal_that_does_not_answer_stay(rack):
    rack.devices[1].inputs = 0b1010_1000
    rack.step()
    rack.devices[1].mute = True
    rack.devices[1].inputs = 0
    rack.step()
    assert (rack.cells["digital/valid"], rack.cells["coupler/valid"]) == (0, 1)
    assert (rack.cells["digital/door"], rack.cells["digital/level"]) == (1, 0b1010)


def test_outputs_are_off_while_they_are_forced_to_rest(rack):
    rack.cells["digital/lamp"] = 1
    rack.step()
    rack.block.safe = True
    rack.step()
    assert rack.devices[1].outputs == 0
    rack.block.safe = False
    rack.step()
    assert rack.devices[1].outputs == 1


@pytest.mark.parametrize("enabled", [0, 1])
def test_outputs_stay_at_zero_after_a_fault_until_an_enable_comes_again(rack, enabled):
    # also where no drive was pushing
    rack.cells["digital/lamp"] = 1
    rack.cells["drive/enable"] = enabled
    rack.step(5)
    rack.bus.link.drop_frames(3)
    assert rack.step(3) == 2
    assert rack.step(20) == 0
    assert rack.devices[1].outputs == 0
    rack.cells["drive/enable"] = 0
    rack.step(5)
    assert rack.devices[1].outputs == 0
    rack.cells["drive/enable"] = 1
    rack.step()
    assert rack.devices[1].outputs == 1


def test_a_fault_while_every_output_is_zero_holds_none(rack):
    rack.step(5)
    rack.bus.link.drop_frames(3)
    assert rack.step(10) == 0
    rack.cells["digital/lamp"] = 1
    rack.step()
    assert rack.devices[1].outputs == 1


def test_only_what_left_since_the_last_fault_holds_outputs_after_the_next(rack):
    rack.cells["digital/lamp"] = 1
    rack.step(5)
    rack.bus.link.drop_frames(3)
    rack.step(10)
    rack.cells["digital/lamp"] = 0
    rack.cells["drive/enable"] = 1
    assert rack.step(5) == 0
    rack.bus.link.drop_frames(3)
    assert rack.step(10) == 0
    rack.cells["digital/lamp"] = 1
    rack.step()
    assert rack.devices[1].outputs == 1


@pytest.mark.parametrize(("after_fault", "outputs"), [("hold", 0), ("resume", 1)])
def test_outputs_of_a_bus_without_drives_come_back_only_where_the_rig_says_so(
    rig, after_fault, outputs
):
    devices = [device("ek_coupler"), device("digital_io")]
    made = rig(drives=[COUPLER, replace(DIGITAL, after_fault=after_fault)], devices=devices)
    made.cells["digital/lamp"] = 1
    made.step(3)
    assert devices[1].outputs == 1
    made.bus.link.drop_frames(3)
    assert made.step(3) == 2
    # the frame after the fault carries none
    made.step()
    assert devices[1].outputs == 0
    assert made.step(50) == 0
    assert devices[1].outputs == outputs


def test_what_a_terminal_does_after_a_fault_is_one_of_two():
    with pytest.raises(
        ValueError, match="after_fault = 'maybe': input should be 'hold' or 'resume'"
    ):
        TerminalConfig("digital", after_fault="maybe")


def test_outputs_are_held_off_after_a_fault_while_a_drive_was_pushing(rack):
    rack.cells["digital/lamp"] = 1
    rack.cells["drive/enable"] = 1
    rack.cells["drive/torque_nm"] = 1.0
    rack.step(10)
    rack.bus.link.drop_frames(3)
    rack.step(30)
    assert rack.devices[1].outputs == 0
    rack.cells["drive/enable"] = 0
    rack.step()
    assert rack.devices[1].outputs == 0
    rack.cells["drive/enable"] = 1
    rack.step()
    assert rack.devices[1].outputs == 1


def test_the_watchdog_entry_puts_every_output_off(rack, step_of):
    rack.cells["digital/lamp"] = rack.cells["digital/code"] = 1
    rack.cells["encoder/set"] = 1
    rack.cells["encoder/value"] = 77
    rack.step(3)
    rack.bus.link.catch_frames()
    step_of(SimpleNamespace(capsule=rack.block.safe_capsule))(rack.cycle * MS)
    (frame,) = rack.bus.link.caught_frames()
    data = [datagram.data for datagram in parse(frame) if datagram.command == LWR]
    assert data[:2] == [bytes(1), bytes(6)]
    assert rack.devices[1].outputs == 0


def test_channels_must_lie_within_what_the_terminal_maps():
    far = TerminalConfig("digital", inputs=(ChannelConfig("far", 8),))
    with pytest.raises(RuntimeError, match="maps 1 bytes of inputs, its channels need 2"):
        SimulatedBus(
            drives=[COUPLER, far], devices=[device("ek_coupler"), device("digital_io")]
        ).to_op()


def test_every_mistake_of_a_terminal_is_named():
    with pytest.raises(ValueError, match=r"watchdog_ms = 0.*after_fault = 'never'"):
        TerminalConfig("t", watchdog_ms=0, after_fault="never")
    with pytest.raises(ValueError, match=r"channel 'x': bits = 33.*scale = 0.0: must not be 0"):
        ChannelConfig("x", 0, bits=33, scale=0.0)
    assert channel_bytes((ChannelConfig("x", 7, bits=2),)) == 2


def test_ports_of_a_terminal_are_its_channels():
    block = Exchange([DIGITAL])
    assert list(block.reads) == ["digital/lamp", "digital/code"]
    assert "digital/door" in block.writes
