import math

import pytest

from io_bridge.exchange.exchange import Exchange
from io_bridge.slaves.drive_config import TX_PDO, DriveConfig, DrivePlant

FREE = DrivePlant(hands="free")


def test_cells_must_match_the_ports():
    block = Exchange([DriveConfig()])
    with pytest.raises(ValueError, match="0 and 0 cells for 3 inputs"):
        block.bind([], [])
    with pytest.raises(ValueError, match="address is 0"):
        block.bind([0] * len(block.reads), [0] * len(block.writes))


def test_what_is_not_mapped_is_not_a_number(rig):
    r = rig([FREE], [DriveConfig(tx_pdo=TX_PDO[:2])])
    r.step()
    assert r.cells["drive/valid"] == 1
    for port in ("velocity_count_s", "torque_actual_nm", "sensor_torque_nm"):
        assert math.isnan(r.cells[f"drive/{port}"])
