"""The messages of packed topics: paths as messages in messages, with names that ROS takes."""

import numpy as np

from io_bridge.exports.mcap_file import message_of, schema_text
from io_bridge.exports.measured import Group


def test_paths_become_fields_that_are_not_taken_twice():
    paths = ("bus/0/wkc", "bus/Angle", "bus/angle", "bus", "bus/0/x_2", "bus/0/x__2")
    rows = np.zeros(1, [("t_ns", "<i8"), *((path, "<f8") for path in paths)])
    group = Group("estimation", rows, paths, ("",) * 5 + ("rad",), 1)
    root = message_of(group)
    # the numbers of a message stand in the order of its fields
    assert [*root.leaves()] == [0, 4, 5, 1, 2, 3]
    assert schema_text(root, group).splitlines() == [
        "rigloop/EstimationBus bus",
        "float64 bus_2 # bus",
        "=" * 80,
        "MSG: rigloop/EstimationBus",
        "rigloop/EstimationBus0 n0",
        "float64 angle # bus/Angle",
        "float64 angle_2 # bus/angle",
        "=" * 80,
        "MSG: rigloop/EstimationBus0",
        "float64 wkc # bus/0/wkc",
        "float64 x_2 # bus/0/x_2",
        "float64 x_2_2 # bus/0/x__2 [rad]",
    ]
