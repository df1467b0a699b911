"""Slaves as they are, brought up on an emulated segment: what is written, what is left alone, what is said."""

import dataclasses

import pytest

from io_bridge.buses.simulated_bus import SimulatedBus
from io_bridge.emulator.catalogue.devices import make_device
from io_bridge.emulator.segment import Segment
from io_bridge.emulator.segment_link import SegmentLink
from io_bridge.master.bringup import BringUpError, prepare
from io_bridge.master.master import Master
from io_bridge.slaves.drive_config import TX_PDO, DriveConfig, SdoWrite

MS = 1_000_000
LEFT, RIGHT = DriveConfig("left"), DriveConfig("right", axis=1, joined=True)


def brought_up(cells, slaves, *devices):
    made = [make_device(name) for name in devices]
    bus = SimulatedBus(drives=slaves, devices=made)
    table = cells(bus.block())
    told = []
    bus.to_op(told.append)
    return bus, table, made, told


def step(bus, n, start=0):
    return [bus.block().step((start + k) * MS) for k in range(n)]


class Tap:
    """A wire that notes each frame that leaves."""

    def __init__(self, *devices):
        self.link = SegmentLink(Segment(devices))
        self.frames = []

    def transact(self, frame):
        self.frames.append(bytes(frame))
        return self.link.transact(frame)

    def writes(self, register):
        """Places in the order of frames at which a station's register was written (FPWR)."""
        wanted = register.to_bytes(2, "little")
        return [i for i, f in enumerate(self.frames) if f[16] == 5 and f[20:22] == wanted]


def test_watchdogs_and_sync_managers_are_written_before_safeop_is_asked_for():
    tap = Tap(make_device("direct_drive"))
    prepare(Master(tap.transact), [DriveConfig(watchdog_ms=49.0)])
    safeop = next(i for i in tap.writes(0x0120) if tap.frames[i][26] & 0x0F == 4)
    for register in (0x0400, 0x0420, 0x0810, 0x0600):
        assert tap.writes(register), hex(register)
        assert max(tap.writes(register)) < safeop


def test_a_mapping_that_cannot_be_written_is_left_alone_and_read(cells):
    bus, table, _, _ = brought_up(cells, [DriveConfig()], "fixed_pdo_drive")
    layout = bus._records[0].layout
    assert (layout.n_outputs, layout.n_inputs) == (14, 30)
    assert (0x2100, 1, 1) in layout.outputs
    table["drive/enable"] = 1
    table["drive/torque_nm"] = 1.0
    step(bus, 20)
    assert table["drive/operational"] == 1
    assert table["drive/torque_actual_nm"] == pytest.approx(1.0, abs=0.01)


def test_outputs_that_nobody_commands_keep_the_value_that_the_slave_has(cells):
    setup = (SdoWrite(0x6072, 0, 1234, 2),)
    bus, _, _, _ = brought_up(cells, [DriveConfig(setup=setup)], "fixed_pdo_drive")
    rest = bus._records[0].layout.rest
    # 0x6072 follows 0x1601: 2 + 1 + 1 + 2 bytes
    assert int.from_bytes(rest[6:8], "little") == 1234
    step(bus, 5)
    assert bus._master.upload(0x1001, 0x6072, 0) == (1234).to_bytes(2, "little")


def test_a_fixed_mapping_without_what_the_drive_needs_is_named():
    drive = DriveConfig(mode="velocity")
    with pytest.raises(BringUpError, match=r"drive: .*outputs.*0x60ff:0/32.*rx_assign"):
        SimulatedBus(drives=[drive], devices=[make_device("fixed_pdo_drive")]).to_op()


def test_two_axes_of_one_slave_are_two_drives(cells):
    bus, table, devices, _ = brought_up(cells, [LEFT, RIGHT], "two_axis_drive")
    for name, torque in (("left", 1.0), ("right", -0.5)):
        table[f"{name}/enable"] = 1
        table[f"{name}/torque_nm"] = torque
    step(bus, 20)
    assert table["left/torque_actual_nm"] == pytest.approx(1.0, abs=0.01)
    assert table["right/torque_actual_nm"] == pytest.approx(-0.5, abs=0.01)
    assert table["wkc"] == table["wkc_expected"] == 3
    assert devices[0].al_status == 8


def test_an_axis_that_the_rig_does_not_use_stays_mapped_and_at_rest(cells):
    only = dataclasses.replace(LEFT, tx_pdo=(*TX_PDO, (0x603F, 0, 16)))
    bus, table, _, _ = brought_up(cells, [only], "two_axis_drive")
    layout = bus._records[0].layout
    assert (0x6840, 0, 16) in layout.outputs
    assert (0x6841, 0, 16) in layout.inputs
    assert (0x603F, 0, 16) in layout.inputs
    table["left/enable"] = 1
    step(bus, 20)
    assert table["left/operational"] == 1
    assert bus._master.upload(0x1001, 0x6840, 0) == bytes(2)


def test_what_a_slow_slave_is_waited_for_is_told(cells):
    _, _, _, told = brought_up(cells, [DriveConfig()], "direct_drive+slow_transition:safeop_s=3")
    assert told[0].startswith(
        "slave 0 (drive): SAFEOP asked, it is in PREOP; 0.5 s of at most 10 s"
    )
    assert len(told) == 3


def test_the_first_cause_is_the_one_that_is_told():
    device = make_device("direct_drive+refused_transition:to=preop,code=0x0016,times=0")
    with pytest.raises(BringUpError) as caught:
        SimulatedBus(drives=[DriveConfig()], devices=[device]).to_op()
    assert str(caught.value) == (
        "slave 0 (drive): PREOP asked, it is in INIT+ERROR, 0x0016 invalid mailbox configuration: write its EEPROM "
        "with the maker's tool, which its firmware must agree with"
    )


def test_every_slave_that_fails_is_named():
    names = ("direct_drive+eeprom_blank", "direct_drive+eeprom_mailbox:bytes=4")
    with pytest.raises(BringUpError, match=r"slave 0 \(a\): .*blank.*slave 1 \(b\): .*\(4, 4\)"):
        SimulatedBus(
            drives=[DriveConfig("a"), DriveConfig("b")], devices=[make_device(n) for n in names]
        ).to_op()


def test_losses_before_op_are_kept_apart_from_those_that_count():
    bus = SimulatedBus()
    bus.open()
    bus.link.drop_frames(7)
    bus.to_op()
    assert bus.block().counters["lost"] == 0
    assert bus.block().bringup_counters["lost"] == 7


def test_a_drive_in_its_fault_state_is_named_with_its_code_and_not_reset(cells):
    bus, table, _, _ = brought_up(cells, [DriveConfig()], "direct_drive+fault_at_power_up")
    (said,) = bus.in_fault()
    assert said.startswith("slave 0 (drive): fault (statusword 0x0008), 0x603f: 0x")
    table["drive/enable"] = 1
    step(bus, 50)
    assert table["drive/operational"] == 0
    assert len(bus.in_fault()) == 1
    table["drive/reset"] = 1
    step(bus, 50, 50)
    assert bus.in_fault() == []
