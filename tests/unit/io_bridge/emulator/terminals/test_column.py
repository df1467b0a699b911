"""A column between motor and wheel, against statics and the free frequencies of its parts."""

import math

import numpy as np
import pytest

from io_bridge.emulator.catalogue.device_file import find_device, load_device
from io_bridge.emulator.drive.device import DriveDevice
from io_bridge.emulator.segment import Segment
from io_bridge.emulator.terminals.column import Column
from io_bridge.slaves.drive_config import DrivePlant

SHAFT = {
    "wheel_kg_m2": 0.04, "shaft_kg_m2": 1e-9, "stiffness_nm_rad": 400.0, "damping_nms": 0.0, "bending_hz": 20.0,
    "bending_ratio": 0.02, "wheel_kg": 3.0, "side_n": 0.0, "twist_per_nm": 2e-5, "bow_per_m": 0.1,
}  # fmt: skip
SMOOTH = {"viscous_nms": 0.0, "coulomb_nm": 0.0, "inertia_kg_m2": 0.02, "hands": "free"}


def made(plant=None, **column):
    drive = DriveDevice(DrivePlant(**(SMOOTH | (plant or {}))))
    return drive, Column(drive, **(SHAFT | column))


def moved(drive, column, seconds, every_ns=1_000_000):
    segment, found = Segment([drive]), []
    for k in range(int(seconds * 1e9) // every_ns):
        segment.advance((k + 1) * every_ns)
        found.append((drive.angle_rad, column.wheel_rad, *column.bent_m, column.strains["twist"]))
    return np.array(found)


def hertz(signal, step_s):
    """Frequency by its upward crossings."""
    at = np.flatnonzero((signal[:-1] < 0.0) & (signal[1:] >= 0.0))
    cut = at - signal[at] / (signal[at + 1] - signal[at])
    return (len(cut) - 1) / (cut[-1] - cut[0]) / step_s


def test_motor_and_wheel_swing_against_each_other_at_their_frequency():
    # hands that hold the wheel at another angle, for an instant's push: then the free frequency is in the twist
    soft = {"hands": "spring", "hands_stiffness_nm_rad": 1e-3, "hands_damping_nms": 0.0}
    drive, column = made(soft | {"amplitude_rad": 0.0, "offset_rad": 0.0})
    drive.lead(0.1, 50.0, 0.0)
    moved(drive, column, 0.02)
    drive.let_go()
    found = [
        (drive.angle_rad, column.wheel_rad)
        for k in range(4000)
        if Segment([drive]).advance(20_000_000 + (k + 1) * 250_000) is None
    ]
    twist = np.array(found)[:, 0] - np.array(found)[:, 1]
    right = math.sqrt(400.0 * (1 / 0.02 + 1 / 0.04)) / (2 * math.pi)
    # the midpoint rule is late by (omega h)^2 / 12 at 50 us
    assert hertz(twist - twist.mean(), 250e-6) == pytest.approx(right, rel=1e-4)


def test_gauges_show_the_torque_and_the_weight_of_the_hands():
    still = {"hands": "spring", "offset_rad": 0.3, "amplitude_rad": 0.0, "start_s": 0.0}
    drive, column = made(still | {"viscous_nms": 5.0}, damping_nms=0.5, side_n=12.0)
    found = moved(drive, column, 4.0)
    w = 2 * math.pi * 20.0
    # down by F / (m w^2), along directions that have turned by 0.3 rad
    down = 12.0 / (3.0 * w * w)
    assert found[-1, 2] == pytest.approx(-down * math.cos(0.3), rel=1e-3)
    assert found[-1, 3] == pytest.approx(down * math.sin(0.3), rel=1e-3)
    assert column.strains["bow"] == pytest.approx(0.1 * found[-1, 2], rel=1e-12)
    # nothing turns any more, so nothing twists
    assert abs(found[-1, 4]) < 1e-9


def test_what_hangs_on_a_soft_column_does_not_turn_with_it():
    turning = {"hands": "spring", "amplitude_rad": 2.0, "frequency_hz": 0.5, "start_s": 0.0}
    soft = {"side_n": 12.0, "bending_hz": 2.0, "bending_ratio": 0.0}
    drive, column = made(turning | {"hands_stiffness_nm_rad": 2000.0}, **soft)
    found = moved(drive, column, 0.8)
    angle, first, second = found[:, 0], found[:, 2], found[:, 3]
    assert np.ptp(angle) > 1.5
    # directions turn by the motor's angle: vertical is cos, -sin of them. Nothing but the weight acts, so nothing moves
    aside = first * np.sin(angle) + second * np.cos(angle)
    down = first * np.cos(angle) - second * np.sin(angle)
    still = -12.0 / (3.0 * (2 * math.pi * 2.0) ** 2)
    # what steps of 50 us leave of an explicit coupling
    assert np.abs(aside).max() < 2e-3 * abs(still)
    assert np.abs(down - still).max() < 2e-3 * abs(still)


def test_mistakes_are_told_all_at_once():
    drive = DriveDevice(DrivePlant(hands="prescribed"))
    with pytest.raises(ValueError, match=r"wheel_kg = 0.0: .*; hands = \"prescribed\": .*"):
        Column(drive, **(SHAFT | {"wheel_kg": 0.0}))
    drive, column = made()
    with pytest.raises(ValueError, match="on a shaft already"):
        Column(drive, **SHAFT)
    terminal = load_device(find_device("analog_io"))
    with pytest.raises(ValueError, match="the column has twist, bow"):
        column.connect("bend", terminal, 0, 1e4)
    with pytest.raises(ValueError, match="the terminal has 2 inputs"):
        column.connect("bow", terminal, 5, 1e4)
