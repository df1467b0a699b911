"""The hazards of a rig that people touch, and the mark by which a key of a rig file names those that it answers.

A key says so where it is declared, beside its sentence: `Annotated[Limit, answers(SUDDEN_TORQUE)]`. `docs/rig.md`,
`docs/safety.md` and `rigloop safety` follow from these marks.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Hazard:
    """A way in which a rig can hurt somebody, or mislead whoever works at it.

    Attributes
    ----------
    name : str
        In a few words, with hyphens.
    harm : str
        The events and their effect on a person, as a sentence.
    outside : str
        The part that has to be outside software, as a sentence.
    built_in : str
        A protection without a key, as a sentence; empty: there is none.
    only_outside : bool
        No key, fault or other part of rigloop answers it.
    """

    name: str
    harm: str
    outside: str
    built_in: str = ""
    only_outside: bool = False

    @property
    def title(self) -> str:
        """Return the name as words."""
        return self.name.replace("-", " ")


@dataclass(frozen=True)
class Answers:
    """The mark of a key: the hazards that its limit answers."""

    hazards: tuple[Hazard, ...]


def answers(*hazards: Hazard) -> Answers:
    """Return the mark of a key that answers these hazards."""
    return Answers(hazards)


SUDDEN_TORQUE = Hazard(
    "sudden-torque",
    "The torque jumps, and turns a wrist or a thumb before anybody can let go.",
    "A drive whose peak torque a hand can hold, or a clutch or mechanical torque limiter.",
)
WRONG_TORQUE = Hazard(
    "wrong-torque",
    "The model fails, and requests a torque that is NaN or meaningless.",
    "The limit in the drive itself (0x6072), set to the torque that a hand can bear.",
)
WRONG_SIGN = Hazard(
    "wrong-sign",
    "The motor pushes in the direction in which the hand moves: the wheel runs from stop to stop.",
    "A person who tests each axis at a small torque first, with no hands in the way.",
    "`rigloop check` demands the sign if the torque of the model grows with the distance from its equilibrium.",
)
WRONG_SCALE = Hazard(
    "wrong-scale",
    "Counts, gear or rated torque are wrong: the torque is ten times that of the model.",
    "The limit in the drive itself (0x6072), and a measured torque before a hand is on the wheel.",
)
OSCILLATION = Hazard(
    "oscillation",
    "The loop sings or shakes: it numbs hands, loosens grips and screws, and heats the motor.",
    "A damper, or a wheel with more inertia; a person who can reach the stop although the wheel shakes both "
    "hands.",
    "`rigloop check` refuses a rig whose wheel would sing.",
)
SUSTAINED_FORCE = Hazard(
    "sustained-force",
    "A steady torque holds a hand against a part, or tires an arm.",
    "Room to move out of the way, and an emergency stop within reach of the free hand.",
)
STORED_ENERGY = Hazard(
    "stored-energy",
    "A spring, a raised mass or a turned wheel releases its stored energy, also with the drive off.",
    "Guards around springs, a brake for each mass that may fall, and a way to release the energy by hand.",
)
SUDDEN_RELEASE = Hazard(
    "sudden-release",
    "The torque ends while a person leans against it, and the hand or foot falls through.",
    "Mechanical end stops, and a stop category of the drive that suits the load (STO lets it coast).",
)
RUNAWAY = Hazard(
    "runaway",
    "The axis turns too fast, or beyond its permitted range.",
    "Mechanical end stops; a speed limit that the drive itself enforces (SLS).",
)
CAUGHT = Hazard(
    "caught",
    "Fingers, hair, a sleeve or a strap is caught between spokes, pedals and frame, or wound up.",
    "Covers, gaps that no finger can enter, a rim without spokes if it may spin; tight sleeves, tied hair.",
    only_outside=True,
)
RESTART = Hazard(
    "restart",
    "The torque comes back without notice, while somebody has reached into the rig.",
    "A hardware reset that a person must press after each stop, at a place with a view of the whole rig.",
    "A fault latches: a guard arms again only as its table `rearm` allows, and a new run begins at zero torque.",
)
LOST_STOP = Hazard(
    "lost-stop",
    "The operator's stop has no effect: the supervisor hangs, or its terminal or computer is gone.",
    "An emergency stop button, wired to STO and not through this computer.",
)
WRONG_RIG = Hazard(
    "wrong-rig",
    "The file belongs to another rig, or the drive was changed: the limits of the file do not suit the "
    "hardware.",
    "A label on the rig with the name of its file, and a test after each change.",
    "An axis on a network interface has 5 % of its `limit_nm`, or of the drive's `peak_torque_nm` if that is "
    "smaller, until `rigloop commission` has signed it off, and again after a change of the rig file or of the "
    "drive (`docs/commission.md`). A run writes the hash of its rig file and the identity of each slave into "
    "`manifest.json`.",
)
STALE_COMMAND = Hazard(
    "stale-command",
    "A task, a thread or the whole host stands still, and the drive keeps applying an old torque.",
    "The watchdog of the drive, switched on and tested on this very drive: nothing else ends the torque of a "
    "cycle that hangs inside its bus exchange.",
)
FALSE_SENSOR = Hazard(
    "false-sensor",
    "The encoder is lost, repeats itself, jumps or sticks, and the torque belongs to another angle.",
    "A second encoder, or a sensor that the drive itself monitors; rigloop cannot detect an encoder that sticks "
    "at rest.",
)
LOST_BUS = Hazard(
    "lost-bus",
    "A cable, a slave or the drive fails, and the loop no longer reaches the motor.",
    "The watchdog of the drive, and a stop that does not need the bus.",
)
OTHER_AXIS = Hazard(
    "other-axis",
    "One axis has stopped, and another one continues to push or moves into it.",
    "One emergency stop for all axes that a person can reach at once.",
)
MISLEADING_DISPLAY = Hazard(
    "misleading-display",
    'A screen shows zero, "good" or an old value while the axis pushes, or a record has gaps.',
    "A lamp or meter on the drive's own enable or STO circuit: nobody may reach in because a page says so.",
    "A frozen loop is shown as frozen, and is ended after a second; each unrecorded row is counted.",
)
FOREIGN_MASTER = Hazard(
    "foreign-master",
    "A second master or a service tool commands the same drives.",
    "A network of the rig's own, with no open port.",
    "One process owns an interface, and listens for another master before the first frame and while the loop "
    "runs (`docs/ethercat.md`).",
)
REMOTE_COMMAND = Hazard(
    "remote-command",
    "Somebody who does not see the rig arms it or changes a value over the network, while somebody's hands are "
    "on it.",
    "A switch at the rig that enables the drive, and that only the person at the rig operates.",
    "One client at a time has control of a rig, by its own key; a take-over is reported to the client that "
    "loses control, and recorded in a journal; a service that starts arms nothing (`docs/service.md`).",
)
UNGUARDED_OUTPUT = Hazard(
    "unguarded-output",
    "A brake, a valve or an amplifier at a terminal's output moves: no guard limits it, and no sign-off covers "
    "it.",
    "A limit in that device itself, and an emergency stop that is also wired to it.",
    "Outputs of terminals are zero until the loop runs, and after a fault until it is armed again; a drive that is "
    "described as a terminal is refused.",
)
UNCOMMANDED_TORQUE = Hazard(
    "uncommanded-torque",
    "The drive produces torque without a request: its output stage, its firmware or its wiring is at fault.",
    "STO, and an emergency stop that cuts the drive's power.",
    only_outside=True,
)
LOOSE_PART = Hazard(
    "loose-part",
    "A hub, a clamp, a screw or the whole bench comes loose under the torque, and falls, tips or flies.",
    "Fixings that are made for the drive's peak torque and not only for the limit in the rig file, secured, and "
    "inspected before each session.",
    only_outside=True,
)
POWER = Hazard(
    "power",
    "Mains and DC-link voltage, hot motors and resistors, noise; a DC link stays charged after it is switched off.",
    "Earth, fuses, covers, the drive's manual and an electrician.",
    only_outside=True,
)

HAZARDS = (
    SUDDEN_TORQUE,
    WRONG_TORQUE,
    WRONG_SIGN,
    WRONG_SCALE,
    OSCILLATION,
    SUSTAINED_FORCE,
    STORED_ENERGY,
    SUDDEN_RELEASE,
    RUNAWAY,
    CAUGHT,
    RESTART,
    LOST_STOP,
    WRONG_RIG,
    STALE_COMMAND,
    FALSE_SENSOR,
    LOST_BUS,
    OTHER_AXIS,
    MISLEADING_DISPLAY,
    FOREIGN_MASTER,
    REMOTE_COMMAND,
    UNGUARDED_OUTPUT,
    UNCOMMANDED_TORQUE,
    LOOSE_PART,
    POWER,
)
"""All of them, in the order of the pages."""
