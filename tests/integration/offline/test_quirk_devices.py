"""Slaves with quirks against the master of the simulated bus: each comes to OP and takes torque, or is refused with a
true sentence in bounded time of the segment."""

import re
import time

import pytest
from block_cells import Cells
from quirk_cases import CASES, Case, of_drive
from quirk_cases import drive as drive_of

from io_bridge.buses.simulated_bus import SimulatedBus
from io_bridge.emulator.serving.sim_segment import motors
from io_bridge.master.master import BringUpError
from io_bridge.slaves.drive_config import DriveConfig
from io_bridge.slaves.state_limits import StateLimits
from io_bridge.slaves.terminal_config import ChannelConfig, TerminalConfig

MS = 1_000_000
TORQUE_NM = 1.0
SLACK_S = 5.0


class Bench:
    """A simulated bus of a case, with cells, stepped at 1 ms."""

    def __init__(self, case):
        self.devices = case.make()
        self.slaves = case.slaves()
        self.bus = SimulatedBus(drives=self.slaves, devices=self.devices)
        self.block = self.bus.block()
        self.cells = Cells(self.block)
        self.cycle = 0

    def step(self, n):
        for _ in range(n):
            self.block.step(self.cycle * MS)
            self.cycle += 1

    @property
    def segment_s(self):
        return 1e-9 * self.bus.segment.now_ns


@pytest.fixture
def bench():
    made = []

    def make(case):
        made.append(Bench(case))
        return made[-1]

    yield make
    for one in made:
        one.bus.close()


def cases(*, refused):
    found = []
    for name, case in CASES.items():
        if bool(case.refusal) == refused:
            found.append(pytest.param(case, id=name))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("case", cases(refused=False))
def test_a_foreign_slave_comes_to_op_and_takes_torque(bench, case):
    found = bench(case)
    found.bus.to_op()
    assert found.segment_s < case.seconds
    assert [device.al_status for device in found.devices] == [8] * len(found.devices)
    drives = [slave.name for slave in found.slaves if isinstance(slave, DriveConfig)]
    for i, name in enumerate(drives):
        found.cells[f"{name}/enable"] = 1
        found.cells[f"{name}/torque_nm"] = TORQUE_NM * (i + 1)
    found.step(20)
    pushing = [motor.wanted_torque_nm for motor in motors(found.devices)]
    for i, name in enumerate(drives):
        assert found.cells[f"{name}/operational"] == 1
        assert found.cells[f"{name}/valid"] == 1
        # per mille of the rated torque
        assert pushing[i] == pytest.approx(TORQUE_NM * (i + 1), abs=0.004)
        assert found.cells[f"{name}/position_count"] != 0
    # an axis that the rig does not have stays still
    assert pushing[len(drives) :] == [0.0] * (len(pushing) - len(drives))


@pytest.mark.parametrize("case", cases(refused=True))
def test_what_cannot_run_is_refused_with_a_true_sentence_in_bounded_time(bench, case):
    found = bench(case)
    with pytest.raises(BringUpError) as caught:
        found.bus.to_op()
    assert re.search(case.refusal, str(caught.value), re.IGNORECASE), str(caught.value)
    assert found.segment_s < case.seconds + SLACK_S


def test_outputs_of_both_sync_managers_arrive_at_their_channels(bench):
    channels = tuple(ChannelConfig(f"lamp{i}", bit=i + 2 * (i > 5)) for i in range(14))
    found = bench(
        Case(
            ("ek_coupler", "two_manager_terminal"),
            "2.6",
            slaves=lambda: (
                TerminalConfig("coupler"),
                TerminalConfig("terminal", outputs=channels),
            ),
        )
    )
    found.bus.to_op()
    for i in (0, 5, 6, 13):
        found.cells[f"terminal/lamp{i}"] = 1
    found.step(3)
    assert found.devices[1].outputs == 1 | 1 << 5 | 1 << 6 | 1 << 13


def test_a_drive_in_fault_at_power_up_is_not_reset_unasked(bench):
    found = bench(of_drive("fault_at_power_up", "2.15"))
    found.cells["drive/enable"] = 1
    found.cells["drive/torque_nm"] = TORQUE_NM
    found.bus.to_op()
    found.step(200)
    (drive,) = found.devices
    assert drive.statusword == 0x08
    assert drive.object_value(0x603F, 0) == b"\x05\x73"
    assert drive.wanted_torque_nm == 0.0


@pytest.mark.parametrize("quirk", ["", "+latched_watchdog"])
@pytest.mark.parametrize("watchdog_ms", [20.0, 50.0])
def test_torque_ends_within_the_watchdog_of_the_rig_where_registers_are_latched_too(
    bench, quirk, watchdog_ms
):
    found = bench(
        Case((f"direct_drive{quirk}",), "2.10", slaves=lambda: drive_of(watchdog_ms=watchdog_ms))
    )
    found.bus.to_op()
    found.cells["drive/enable"] = 1
    found.cells["drive/torque_nm"] = TORQUE_NM
    found.step(20)
    (device,) = found.devices
    assert device.wanted_torque_nm == pytest.approx(TORQUE_NM, abs=0.004)
    segment = found.bus.segment
    silent_ns = segment.now_ns
    while device.wanted_torque_nm:
        segment.advance(segment.now_ns + 100_000)
        assert segment.now_ns - silent_ns < 200 * MS
    assert segment.now_ns - silent_ns == pytest.approx(watchdog_ms * MS, abs=0.2 * MS)


@pytest.mark.slow
def test_a_mailbox_slower_than_the_standard_has_the_time_that_its_rig_gives_it(bench):
    allowed = StateLimits(mailbox_response_s=3.0)
    slow = of_drive(
        "late_reply:ms=2500", "2.13", slaves=lambda: drive_of(mapping="fixed", limits=allowed)
    )
    found = bench(slow)
    found.bus.to_op()
    assert found.devices[0].al_status == 8


@pytest.mark.slow
def test_a_slow_slave_comes_back_after_a_loss_of_power(bench):
    found = bench(of_drive("slow_boot:s=1+slow_transition:safeop_s=1.5", "2.13"))
    found.bus.to_op()
    found.bus.attend()
    found.step(10)
    found.bus.segment.power_cycle(0)
    back_ns = found.bus.segment.now_ns
    until_s = time.monotonic() + 30.0
    while found.devices[0].al_status != 8 and time.monotonic() < until_s:
        found.step(1)
        # the attendant has its turn, as between the cycles of a run
        time.sleep(0.0002)
    assert found.devices[0].al_status == 8
    assert found.bus.segment.now_ns - back_ns > 2.5e9
    found.step(10)
    assert found.cells["drive/valid"] == 1
