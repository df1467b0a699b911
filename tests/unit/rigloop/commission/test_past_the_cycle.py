"""A drive past its cycle: its torque is taken away, also where its watchdog is dead, and a silent one is told of."""

import numpy as np
from walked_rig import write_rig
from walks import stand_of

from io_bridge.master.master import Master
from rigloop.commission.past_the_cycle import take_torque_away, torque_reader


def test_a_drive_without_a_watchdog_loses_its_torque(tmp_path):
    with stand_of(write_rig(tmp_path, "simulated"), has_watchdog=False) as stand:
        stand._wake()
        stand._played(np.full(500, 0.4), None, None)
        master, station = stand._master()
        read = torque_reader(master, station, stand.axis.drive_config)
        assert read() > 0.3
        assert take_torque_away(master, station)
        for _ in range(100):
            master.state(station)
        assert abs(stand.device.motor_torque_nm) < 0.04


def test_a_drive_that_does_not_answer_has_confirmed_nothing():
    assert not take_torque_away(Master(lambda frame: None), 0x1001)
