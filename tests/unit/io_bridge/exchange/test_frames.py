import pytest

from io_bridge.buses.simulated_bus import SimulatedBus, simulated_drive
from io_bridge.exchange.exchange import Exchange
from io_bridge.slaves.drive_config import RX_PDO, TX_PDO, DriveConfig, DrivePlant
from io_bridge.slaves.pdo_layout import SlaveLayout
from io_bridge.slaves.terminal_config import TerminalConfig

FREE = DrivePlant(hands="free")


def test_a_layout_that_contradicts_the_pdo_is_refused(rig):
    r = rig()
    with pytest.raises(ValueError, match="drive maps 4 bytes of outputs, its PDO has 5"):
        r.block.configure(r.bus.link, [SlaveLayout(0x1001, 0, 4, 4, 17)], n_slaves=1)
    with pytest.raises(ValueError, match="2 layouts for 1 slaves"):
        r.block.configure(r.bus.link, [SlaveLayout(0x1001, 0, 5, 5, 17)] * 2, n_slaves=1)


def test_indices_of_the_cycle_never_meet_those_of_pysoem(rig):
    r = rig()
    # 128 indices, several times round
    r.step(400)
    assert r.cells["lost"] == r.cells["late"] == 0


def test_eight_drives_share_a_frame(rig):
    r = rig([FREE] * 8)
    r.step(3)
    assert r.cells["wkc"] == r.cells["wkc_expected"] == 8 * 3
    assert all(r.cells[f"drive{i}/valid"] == 1 for i in range(8))


def test_more_than_one_frame_is_matched_as_one_exchange(rig):
    r = rig([FREE] * 16)
    assert r.block.n_frames == 2
    for i in range(16):
        r.cells[f"drive{i}/enable"] = 1
        r.cells[f"drive{i}/torque_nm"] = 0.1 * (i + 1)
    assert r.step(12) == 0
    assert r.cells["wkc"] == r.cells["wkc_expected"] == 16 * 3
    for i, device in enumerate(r.bus.devices):
        assert device.wanted_torque_nm == pytest.approx(0.1 * (i + 1), abs=0.00637)
    assert (r.cells["lost"], r.cells["late"], r.cells["duplicated"]) == (0, 0, 0)


def test_one_frame_lost_of_several_is_a_lost_cycle(rig):
    r = rig([FREE] * 16)
    r.step(3)
    r.bus.link.drop_frames(1)
    r.step()
    assert (r.cells["lost"], r.cells["valid"], r.cells["drive15/valid"]) == (1, 0, 0)
    r.step()
    assert (r.cells["lost"], r.cells["valid"], r.cells["drive15/valid"]) == (1, 1, 1)


def test_slaves_that_do_not_fit_four_frames_are_refused():
    big = {"tx_pdo": (*TX_PDO, *((0, 0, 64),) * 3), "rx_pdo": (*RX_PDO, *((0, 0, 64),) * 5)}
    drives = [DriveConfig(**{**vars(simulated_drive(FREE, i, 16)), **big}) for i in range(16)]
    layouts = [SlaveLayout(0x1001 + i, 80 * i, 45, 80 * i + 45, 37) for i in range(16)]
    exchange = Exchange(drives)
    exchange.configure(SimulatedBus().link, layouts, n_slaves=16)
    assert exchange.n_frames == 2
    huge = [SlaveLayout(0x1001 + i, 2000 * i, 0, 2000 * i, 1400) for i in range(5)]
    terminals = [TerminalConfig(f"t{i}") for i in range(5)]
    with pytest.raises(ValueError, match="exceed four frames"):
        Exchange(terminals).configure(SimulatedBus().link, huge, n_slaves=5)
