import math

import pytest

from io_bridge.slaves.drive_config import (
    TX_PDO,
    DriveConfig,
    DrivePlant,
    SdoWrite,
    pdo_bytes,
    pdo_offset,
)
from io_bridge.slaves.moving_objects import MOVING


def test_offsets_follow_the_order_of_the_pdo():
    assert [pdo_offset(TX_PDO, index) for index, _, _ in TX_PDO] == [0, 2, 6, 10, 12]
    assert pdo_offset(TX_PDO, 0x2077) == -1
    assert pdo_bytes(TX_PDO) == 13


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"name": "a/b"}, "name = 'a/b'"),
        (
            {"rated_torque_nm": 0.0},
            "rated_torque_nm = 0.0: input should be greater",
        ),
        ({"peak_torque_nm": 300.0}, "peak_torque_nm = 300.0"),
        ({"peak_torque_nm": math.nan}, "peak_torque_nm = nan"),
        ({"counts_per_rev": 0}, "counts_per_rev = 0"),
        ({"sign": 0}, "sign = 0: input should be -1 or 1"),
        ({"watchdog_ms": 0}, "watchdog_ms = 0: input should be greater than or equal to 0.1"),
        ({"rx_pdo": ((0x6040, 0, 16),)}, "0x6071:0 with 16 bits is missing"),
        ({"tx_pdo": ((0, 0, 4), *TX_PDO[:2])}, "0x6064:0 .* does not begin on a whole byte"),
    ],
)
def test_a_wrong_drive_says_which_value_and_its_limit(change, message):
    with pytest.raises(ValueError, match=message):
        DriveConfig(**change)


@pytest.mark.parametrize("index", MOVING)
@pytest.mark.parametrize("axis", [0, 1, 7])
def test_a_setup_that_moves_the_drive_past_its_guard_is_refused(index, axis):
    writes = SdoWrite(index + 0x800 * axis, 0, 500, 2)
    with pytest.raises(
        ValueError, match=f"setup = '{writes.index:#06x}:0': writes {MOVING[index]}"
    ):
        DriveConfig(setup=(SdoWrite(0x6072, 0, 1000, 2), writes))


def test_a_setup_of_limits_and_of_the_maker_is_taken():
    writes = tuple(SdoWrite(index, 0, 1, 2) for index in (0x6072, 0x6087, 0x3071, 0xE071))
    assert DriveConfig(setup=writes).setup == writes


def test_all_mistakes_of_a_plant_come_at_once():
    with pytest.raises(ValueError, match="inertia_kg_m2 = 0") as caught:
        DrivePlant(
            inertia_kg_m2=0.0,
            viscous_nms=-1.0,
            hands="loose",
            offset_rad=math.inf,
            amplitude_rad=-2e6,
        )
    for part in (
        "viscous_nms = -1.0",
        "hands = 'loose'",
        "offset_rad = inf",
        "amplitude_rad = -2000000.0",
    ):
        assert part in str(caught.value)
