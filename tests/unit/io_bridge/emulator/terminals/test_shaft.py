import math
import struct

import pytest
from al_states import await_now

from io_bridge.emulator.catalogue.device_file import find_device, load_device
from io_bridge.emulator.drive.device import DriveDevice
from io_bridge.emulator.segment import Segment
from io_bridge.emulator.terminals.shaft import Shaft
from io_bridge.master.bringup import Master, to_safeop
from io_bridge.slaves.drive_config import SENSOR, TX_PDO, DriveConfig, DrivePlant

FREE = {"hands": "free", "viscous_nms": 0.0, "coulomb_nm": 0.0, "torque_lag_s": 0.0}


def drive(inertia, **more):
    return DriveDevice(DrivePlant(**{**FREE, "inertia_kg_m2": inertia, **more}))


class Bench:
    """Two drives on a shaft, enabled in torque mode."""

    def __init__(self, first, second, **shaft):
        self.drives = first, second
        self.shaft = Shaft(first, second, **shaft)
        self.segment = Segment(self.drives)
        master = Master(self.transact)
        configs = [DriveConfig(name, tx_pdo=(*TX_PDO, SENSOR)) for name in ("a", "b")]
        self.layouts = to_safeop(master, configs)
        self.master = master
        self.step_ns = 10_000
        self.exchange((0, 0), control=0)
        for layout in self.layouts:
            master.request(layout.station, 8)
            await_now(master, layout.station, 8)
        for control in (6, 7, 15):
            self.exchange((0, 0), control)

    def transact(self, frame):
        return self.segment.process(frame, self.segment.now_ns + getattr(self, "step_ns", 10_000))

    def exchange(self, permille, control=0x0F):
        for layout, torque in zip(self.layouts, permille, strict=True):
            data = struct.pack("<HhB", control, torque, 10)
            assert self.master.access(11, layout.outputs_at, 0, data)[1] == 1


def test_the_free_bench_swings_at_the_frequency_of_two_inertias_and_a_spring():
    # no damping, no friction: a push on one side leaves the difference swinging for ever
    j1, j2, k = 0.02, 0.05, 400.0
    bench = Bench(drive(j1), drive(j2), stiffness_nm_rad=k, damping_nms=0.0, sensor_hz=1e6)
    bench.exchange((500, 0))
    bench.segment.advance(bench.segment.now_ns + 2_000_000)
    bench.exchange((0, 0))
    crossings, last = [], None
    for _ in range(20_000):
        bench.segment.advance(bench.segment.now_ns + 20_000)
        rate = bench.drives[0].rate_rad_s - bench.drives[1].rate_rad_s
        if last is not None and last < 0 <= rate:
            crossings.append(bench.segment.now_ns)
        last = rate
    period = 1e-9 * (crossings[-1] - crossings[0]) / (len(crossings) - 1)
    exact = math.sqrt(k * (1 / j1 + 1 / j2))
    # the implicit midpoint rule is slow by (w h)^2 / 12 = 8e-6 here
    assert 2 * math.pi / period == pytest.approx(exact, rel=1e-4)


def test_the_shaft_neither_makes_nor_loses_momentum():
    j1, j2 = 0.02, 0.05
    bench = Bench(drive(j1), drive(j2), stiffness_nm_rad=400.0, damping_nms=0.5)
    start = bench.segment.now_ns
    bench.exchange((500, 0))
    begin = bench.segment.now_ns - 10_000
    for _ in range(50):
        bench.segment.advance(bench.segment.now_ns + 1_000_000)
    momentum = j1 * bench.drives[0].rate_rad_s + j2 * bench.drives[1].rate_rad_s
    torque = 0.5 * bench.drives[0].parameters.rated_torque_nm
    assert begin > start
    assert momentum == pytest.approx(torque * 1e-9 * (bench.segment.now_ns - begin), rel=1e-3)


def test_at_rest_the_transducer_reads_what_the_motors_push_against_each_other():
    bench = Bench(drive(0.005, viscous_nms=0.01), drive(0.005, viscous_nms=0.01))
    bench.exchange((400, -400))
    for _ in range(300):
        bench.segment.advance(bench.segment.now_ns + 1_000_000)
        bench.exchange((400, -400))
    wanted = 0.4 * bench.drives[0].parameters.rated_torque_nm
    assert bench.shaft.sensor_torque_nm == pytest.approx(wanted, rel=1e-3)
    assert bench.drives[0].sensor_torque_nm == pytest.approx(-wanted, rel=1e-3)
    assert bench.drives[1].sensor_torque_nm == pytest.approx(wanted, rel=1e-3)
    twist = bench.drives[0].angle_rad - bench.drives[1].angle_rad
    assert twist == pytest.approx(wanted / 4000.0, rel=1e-3)


def test_the_transducer_is_a_low_pass_of_its_bandwidth():
    bench = Bench(drive(0.005), drive(0.005), sensor_hz=50.0, damping_nms=5.0)
    bench.exchange((400, -400))
    lag = 1 / (2 * math.pi * 50.0)
    before = bench.shaft.twist_torque_nm - bench.shaft.sensor_torque_nm
    for _ in range(100):
        bench.segment.advance(bench.segment.now_ns + 50_000)
        error = bench.shaft.twist_torque_nm - bench.shaft.sensor_torque_nm
    assert before != error
    # constant torque in the shaft by then: the rest decays with the lag
    a = bench.shaft.twist_torque_nm - bench.shaft.sensor_torque_nm
    bench.segment.advance(bench.segment.now_ns + 2_000_000)
    b = bench.shaft.twist_torque_nm - bench.shaft.sensor_torque_nm
    assert b / a == pytest.approx(math.exp(-0.002 / lag), rel=0.05)


def test_one_drive_holds_the_speed_while_the_other_pushes():
    bench = Bench(drive(0.02, torque_lag_s=0.0005), drive(0.02, torque_lag_s=0.0005))
    station = bench.layouts[1].station
    bench.master.download(station, 0x60FF, 0, 1 << 18, 4)
    data = struct.pack("<HhB", 0x0F, 0, 9)
    push = struct.pack("<HhB", 0x0F, 100, 10)
    bench.step_ns = 500_000
    for _ in range(600):
        bench.master.access(11, bench.layouts[0].outputs_at, 0, push)
        bench.master.access(11, bench.layouts[1].outputs_at, 0, data)
    assert bench.drives[1].rate_rad_s == pytest.approx(2 * math.pi / 4, rel=5e-3)
    pushed = 0.1 * bench.drives[0].parameters.rated_torque_nm
    assert bench.shaft.sensor_torque_nm == pytest.approx(pushed, rel=0.02)


def test_an_analogue_terminal_measures_the_torque():
    bench = Bench(drive(0.005, viscous_nms=0.01), drive(0.005, viscous_nms=0.01))
    coupler, terminal = (load_device(find_device(name)) for name in ("ek_coupler", "analog_io"))
    bench.shaft.connect(terminal, 1, volts_per_nm=0.5)
    rack = Segment([coupler, terminal])
    for _ in range(300):
        bench.exchange((400, -400))
        bench.segment.advance(bench.segment.now_ns + 1_000_000)
    rack.advance(1_000_000)
    value = int.from_bytes(terminal.object_value(0x6010, 17), "little", signed=True)
    volts = 0.5 * 0.4 * bench.drives[0].parameters.rated_torque_nm
    assert value == pytest.approx(volts / 10 * 32767, rel=2e-3)
    with pytest.raises(ValueError, match="channel 2: the terminal has 2 inputs"):
        bench.shaft.connect(terminal, 2)


def test_all_that_is_wrong_with_a_shaft_is_told_at_once():
    held = DriveDevice(DrivePlant(hands="spring", name="held"))
    with pytest.raises(ValueError, match=r"stiffness_nm_rad = 0.*damping_nms = -1.*held: hands"):
        Shaft(drive(0.01), held, stiffness_nm_rad=0.0, damping_nms=-1.0)
    a, b, c = (drive(0.01, name=name) for name in "abc")
    Shaft(a, b)
    with pytest.raises(ValueError, match="b: is on a shaft already"):
        Shaft(b, c)
