import pytest

from io_bridge.bus import Bus
from io_bridge.buses.simulated_bus import SimulatedBus
from io_bridge.master.bringup import BringUpError
from io_bridge.slaves.drive_config import DriveConfig, DrivePlant
from io_bridge.slaves.sii import Identity

FREE = DrivePlant(hands="free")


def test_a_simulated_bus_is_a_bus():
    assert isinstance(SimulatedBus(), Bus)


def push(bus, table):
    bus.to_op()
    table["drive/enable"] = 1
    table["drive/torque_nm"] = 3.0
    for k in range(20):
        bus.block().step(k * 1_000_000)


def test_close_leaves_no_torque_and_the_slaves_in_init(cells):
    bus = SimulatedBus([FREE])
    table = cells(bus.block())
    with bus:
        push(bus, table)
        assert bus.devices[0].wanted_torque_nm > 2.9
    assert bus.devices[0].wanted_torque_nm == 0
    assert bus.devices[0].al_status == 1
    assert bus.devices[0].motor_torque_nm == pytest.approx(0, abs=0.01)
    assert (table["valid"], table["drive/valid"]) == (1, 1)
    assert bus.block().step(0) == 1
    assert (table["valid"], table["drive/valid"]) == (0, 0)


def test_an_exception_in_the_body_still_ends_at_zero_torque(cells):
    bus = SimulatedBus([FREE])
    table = cells(bus.block())

    def run():
        with bus:
            push(bus, table)
            raise RuntimeError("the body failed")

    with pytest.raises(RuntimeError, match="the body failed"):
        run()
    assert bus.devices[0].wanted_torque_nm == 0


def test_the_lifecycle_is_safe_in_any_order():
    bus = SimulatedBus()
    bus.close()
    bus.open()
    bus.open()
    bus.to_op()
    bus.to_op()
    assert bus.block().step(0) == 0
    bus.close()
    bus.close()
    bus.to_op()
    assert bus.block().step(0) == 0
    bus.close()


def test_time_goes_on_when_a_new_task_counts_from_zero():
    bus = SimulatedBus()
    bus.to_op()
    for k in range(5):
        assert bus.block().step(k * 1_000_000) == 0
    for k in range(5):
        assert bus.block().step(k * 1_000_000) == 0
    assert bus.block().counters["lost"] == 0


def test_the_same_run_gives_the_same_counts(cells):
    def run():
        bus = SimulatedBus()
        table = cells(bus.block())
        bus.to_op()
        table["drive/enable"] = 1
        counts = []
        for k in range(500):
            table["drive/torque_nm"] = 0.01 * (k % 100)
            bus.block().step(k * 1_000_000)
            counts.append(table["drive/position_count"])
        return counts

    assert run() == run()


def test_a_foreign_drive_is_refused():
    bus = SimulatedBus([FREE], [DriveConfig(identity=Identity(1, 2, 3))])
    with pytest.raises(BringUpError, match="vendor 0xa7e, the rig has 0x1"):
        bus.to_op()
    assert bus.devices[0].al_status == 1


def test_an_object_that_cannot_be_mapped_is_named():
    bus = SimulatedBus([FREE], [DriveConfig(tx_pdo=(*DriveConfig().tx_pdo, (0x60FF, 0, 32)))])
    with pytest.raises(BringUpError, match=r"0x1a00:6 aborted: 0x06040041"):
        bus.to_op()


def test_the_witness_counts_frames_sent_and_received(cells, work_of):
    bus = SimulatedBus([FREE, FREE])
    table = cells(bus.block())  # whose memory the block writes
    with bus:
        bus.to_op()
        frames = work_of(bus.block())
        before = frames()
        for k in range(5):
            bus.block().step(k * 1_000_000)
        sent = (frames() - before) / 10
        assert sent >= 1
        assert sent == int(sent)
        assert table["valid"] == 1
