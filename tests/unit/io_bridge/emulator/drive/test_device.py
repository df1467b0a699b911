import math
import struct

import pytest
from al_states import await_now

from io_bridge.emulator.drive.device import DriveDevice
from io_bridge.master.bringup import to_safeop
from io_bridge.slaves.cia402 import drive_state
from io_bridge.slaves.drive_config import SENSOR, TX_PDO, DriveConfig, DrivePlant
from io_bridge.slaves.pdo_layout import pdo_downloads
from io_bridge.slaves.words import DRIVE_STATES

CONFIG = DriveConfig(tx_pdo=(*TX_PDO, SENSOR))


@pytest.fixture
def in_op(segment_master):
    """Return a function that starts a drive in OP, and one that exchanges a controlword and a
    torque with it."""

    def start(**plant):
        device = DriveDevice(DrivePlant(**plant))
        master = segment_master(device)
        layout = to_safeop(master, [CONFIG])[0]

        def exchange(control, permille=0, mode=10):
            master.access(11, layout.outputs_at, 0, struct.pack("<HhB", control, permille, mode))
            data, _ = master.access(10, layout.inputs_at, 0, bytes(layout.n_inputs))
            return struct.unpack("<HiihBi", data)

        exchange(0)
        master.request(0x1001, 8)
        await_now(master, 0x1001, 8)
        return device, exchange

    return start


def states(exchange, *controls):
    return [DRIVE_STATES[drive_state(exchange(control)[0])] for control in controls]


def test_a_drive_climbs_the_state_machine(in_op):
    _, exchange = in_op()
    assert states(exchange, 0x00, 0x06, 0x07, 0x0F) == [
        "switch on disabled",
        "ready to switch on",
        "switched on",
        "operation enabled",
    ]


def test_a_drive_does_not_skip_the_shutdown(in_op):
    _, exchange = in_op()
    assert states(exchange, 0x0F, 0x07) == ["switch on disabled"] * 2


@pytest.mark.parametrize(
    ("control", "state"),
    [
        (0x0D, "switch on disabled"),
        (0x0B, "quick stop active"),
        (0x06, "ready to switch on"),
        (0x07, "switched on"),
    ],
)
def test_an_enabled_drive_obeys_and_drops_its_torque(in_op, control, state):
    device, exchange = in_op(hands="free")
    states(exchange, 0x06, 0x07, 0x0F)
    exchange(0x0F, 500)
    assert device.wanted_torque_nm == pytest.approx(0.5 * 6.37)
    exchange(control, 500)
    assert device.wanted_torque_nm == 0.0
    assert DRIVE_STATES[drive_state(device.statusword)] == state


def test_a_mode_that_the_drive_has_not_gives_no_torque(in_op):
    device, exchange = in_op()
    states(exchange, 0x06, 0x07, 0x0F)
    exchange(0x0F, 500, mode=1)
    assert device.wanted_torque_nm == 0.0


TARGETS = ((0x6040, 0, 16), (0x607A, 0, 32), (0x60FF, 0, 32), (0x6060, 0, 8))


@pytest.fixture
def servo(segment_master):
    """A free drive in OP with position and velocity targets mapped; a function that runs it for some
    milliseconds."""
    device = DriveDevice(DrivePlant(hands="free"))
    master = segment_master(device)
    layout = to_safeop(master, [CONFIG])[0]
    # the same again with other outputs
    master.request(0x1001, 2)
    await_now(master, 0x1001, 2)
    for index, sub, value, size in pdo_downloads(0x1C12, 0x1600, TARGETS):
        master.download(0x1001, index, sub, value, size)
    master.write(0x1001, 0x0812, struct.pack("<H", 11))
    master.write(0x1001, 0x0604, struct.pack("<H", 11))
    master.write(0x1001, 0x0610, struct.pack("<I", 16))
    master.request(0x1001, 4)
    await_now(master, 0x1001, 4)
    master.request(0x1001, 8)

    def run(ms, mode, position=0, velocity=0, control=0x0F):
        data = struct.pack("<HiiB", control, position, velocity, mode)
        for _ in range(10 * ms):
            assert master.access(11, layout.outputs_at, 0, data)[1] == 1

    for control in (0, 6, 7, 15):
        run(1, 9, control=control)
    return device, run


@pytest.mark.parametrize("turns_per_s", [0.5, -2.0])
def test_the_velocity_mode_reaches_its_target_and_holds_it(servo, turns_per_s):
    device, run = servo
    run(400, 9, velocity=int(turns_per_s * 2**20))
    # a count per second and the encoder's quantisation are far below
    assert device.rate_rad_s == pytest.approx(2 * math.pi * turns_per_s, rel=1e-3)
    run(1, 9, velocity=int(turns_per_s * 2**20), control=0x06)
    assert device.wanted_torque_nm == 0.0


def test_the_position_mode_goes_the_shorter_way_round_the_counter(servo):
    device, run = servo
    run(600, 8, position=-(2**18))
    assert device.angle_rad == pytest.approx(-math.pi / 2, abs=2e-3)
    assert abs(device.rate_rad_s) < 0.02


def test_the_velocity_loop_keeps_to_the_torque_limit(servo):
    device, run = servo
    run(3, 9, velocity=2**30)
    assert device.wanted_torque_nm == pytest.approx(19.1, abs=0.00637)


def test_the_velocity_loop_does_not_wind_up_at_the_torque_limit(servo):
    # as long as it pushes with all it has, it learns nothing of what the load needs
    device, run = servo
    run(200, 9, velocity=2**30)
    assert device.wanted_torque_nm == pytest.approx(19.1, abs=0.00637)
    run(2, 9, velocity=-(2**20))
    assert device.wanted_torque_nm < 0.0


def test_a_fault_is_left_by_a_rising_reset_bit_only(in_op):
    device, exchange = in_op()
    states(exchange, 0x06, 0x07, 0x0F)
    exchange(0x0F, 500)
    device.trip(0x2310)
    assert device.wanted_torque_nm == 0.0
    assert states(exchange, 0x0F, 0x06, 0x80, 0x80) == [
        "fault",
        "fault",
        *["switch on disabled"] * 2,
    ]
    device.trip(0x2310)
    assert states(exchange, 0x80, 0x00, 0x80) == ["fault", "fault", "switch on disabled"]


def test_the_torque_is_limited_to_the_motor_peak(in_op):
    device, exchange = in_op(hands="free")
    states(exchange, 0x06, 0x07, 0x0F)
    exchange(0x0F, -32768)
    assert device.wanted_torque_nm == pytest.approx(-19.1, abs=0.00637)


@pytest.mark.parametrize("turns", [-0.25, 0.25, 3000.4, -2050.3])
def test_the_count_is_quantised_and_wraps_at_32_bit(in_op, turns):
    _, exchange = in_op(hands="free", offset_rad=2 * math.pi * turns)
    count = exchange(0)[1]
    expected = math.floor(turns * 2**20)
    assert (count - expected) % 2**32 in (0, 2**32 - 1, 1)
    assert -(2**31) <= count < 2**31


def test_the_sensor_reads_the_hands_torque(in_op):
    device, exchange = in_op(hands="spring", offset_rad=0.0, amplitude_rad=0.5, start_s=0.0)
    for _ in range(300):
        sensor = exchange(0)[5]
    assert device.sensor_torque_nm != 0
    assert sensor == pytest.approx(1000 * device.sensor_torque_nm, abs=0.51)


def test_a_power_cycle_forgets_the_state_but_not_the_wheel(in_op):
    device, exchange = in_op(hands="free", offset_rad=1.0)
    states(exchange, 0x06, 0x07, 0x0F)
    device.power_on()
    assert device.al_status == 1
    assert DRIVE_STATES[drive_state(device.statusword)] == "switch on disabled"
    assert device.memory(0x0010, 2) == b"\0\0"
    assert device.angle_rad == 1.0


def test_a_read_of_memory_outside_is_refused(in_op):
    device, _ = in_op()
    with pytest.raises(ValueError, match="0x3000"):
        device.memory(0x2FFF, 2)
