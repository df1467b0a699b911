"""The hands at the wheel: what a step may ask of them, and who they belong to."""

from __future__ import annotations

import math
from enum import StrEnum
from typing import Protocol

from rigloop.commission.stepped_stand import SteppedStand

TURN_S = 1.2
LET_GO_S = 0.05


class Act(StrEnum):
    """Something that a hand does."""

    LEFT = "Turn the wheel a quarter of a turn to the left (against the clock), and hold it there."
    ONE_TURN = "Turn the wheel on by one whole turn to the left, mark to mark, and hold it there."
    STRAIGHT = "Turn the wheel to straight ahead, and hold it there."
    LET_GO = "Let go of the wheel, and keep your hands off it."
    PRESS_STOP = "Press the emergency stop now."
    RELEASE_STOP = "Release the emergency stop."


class Hands(Protocol):
    """Somebody at the wheel."""

    def do(self, act: Act) -> None:
        """Ask for an act, and return once it is done; a press of the stop is asked for, and not waited for."""


class EmulatedHands:
    """Hands at an emulated wheel, in a rehearsal: they do at once what they are asked to.

    Parameters
    ----------
    stand : SteppedStand
    error_rad : float
        They turn the wheel further than asked by this.
    """

    def __init__(self, stand: SteppedStand, error_rad: float = 0.0) -> None:
        self._stand = stand
        self._error_rad = error_rad
        self._sense = stand.axis.drive_config.sign * stand.axis.sign

    def do(self, act: Act) -> None:
        """Do it."""
        device = self._stand.device
        match act:
            case Act.LEFT:
                self._turn(device.angle_rad + self._sense * (0.5 * math.pi + self._error_rad))
            case Act.ONE_TURN:
                self._turn(device.angle_rad + self._sense * (2.0 * math.pi + self._error_rad))
            case Act.STRAIGHT:
                self._turn(self._error_rad)
            case Act.LET_GO:
                device.let_go()
                self._stand.wait(LET_GO_S)
            case Act.PRESS_STOP:
                device.press_stop()
            case Act.RELEASE_STOP:
                pass

    def _turn(self, angle_rad: float) -> None:
        self._stand.device.lead(angle_rad)
        self._stand.wait(TURN_S)
