"""The schema of a rig file, but for its blocks: each kind of block brings its own table (`rigloop/blocks`).

Units stand in the key names; every limit has its reason beside it.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from rig_configs.hazards import (
    FALSE_SENSOR,
    MISLEADING_DISPLAY,
    OSCILLATION,
    RESTART,
    STALE_COMMAND,
    STORED_ENERGY,
    SUDDEN_TORQUE,
    SUSTAINED_FORCE,
    WRONG_SIGN,
    WRONG_TORQUE,
    answers,
)
from rig_configs.live import MOST, LiveValue, Stimulus
from rig_configs.names import Line, SignalPath, Word
from rig_configs.numbers import NonNegative, Percent, Positive, PositiveMs, PositiveS, Real
from rig_configs.section import Section
from rt_core.task import Core, Cycles, OffCore, Overrun, Points, Priority


class Task(Section):
    """One periodic thread and the blocks that it steps, in order."""

    period_us: Annotated[int, Field(ge=50, le=1_000_000)]
    """The time from one cycle to the next, in microseconds. Each period is a multiple of the shortest one."""
    blocks: Annotated[list[Word], Field(min_length=1)]
    """The task steps these blocks, in this order, in every cycle."""
    priority: Priority = 80
    """The thread has this SCHED_FIFO priority."""
    core: Annotated[Core, Field(examples=[1])] | None = None
    """The thread is pinned to this core; without it the kernel chooses one."""
    spin_us: Annotated[int, Field(ge=0, le=1_000_000)] | Literal["auto"] = 0
    """The thread spins for so long before each deadline. With `auto` it measures two seconds of wake-ups at the start
    and takes what they need."""
    overrun: Annotated[Overrun, answers(STALE_COMMAND)] = "skip"
    """After too many overruns the task goes on counting (`skip`), reports a fault on which the guard ramps out
    (`safe`), or ends the run (`stop`)."""
    overrun_limit: Annotated[Points, answers(STALE_COMMAND)] = 3
    """The number of points that is too many: an overrun is one point, and one of the task's own making is two."""
    overrun_window: Annotated[Cycles, answers(STALE_COMMAND)] = 10
    """The number of cycles over which points are added up."""
    count_stolen: Annotated[bool, answers(STALE_COMMAND)] = True
    """An overrun that the host made gives a point, too; `false` forgives it."""
    late_limit_us: Annotated[int, Field(ge=1, le=1_000_000_000, examples=[50])] | None = None
    """A cycle that begins later than this is kept in the record of late cycles; the default is the period."""
    off_core: Annotated[OffCore, answers(STALE_COMMAND)] = "count"
    """A thread that runs on another core than its own is counted (`count`), or is a fault of the task (`safe`)."""
    stall_cycles: Annotated[Cycles, answers(STALE_COMMAND)] = 3
    """The number of periods without a new cycle after which the watchdog sends safe outputs and ends the process."""


class BlockTable(Section):
    """The keys of every block; each kind adds its own."""

    kind: Annotated[str, Field(examples=["relay"])]
    """The block is of this kind."""
    reads: dict[SignalPath, SignalPath] = {}
    """Each port that the block reads is wired to a signal: `port = "signal"`."""
    writes: Annotated[
        dict[SignalPath, SignalPath], Field(examples=[{"guide/torque_nm": "model/torque_nm"}])
    ] = {}
    """A port writes the signal `block/port`, or the one that is given here: `port = "signal"`."""


class Roles(Section):
    """The signals that the live table and the report show, by their roles; without one, the angles and
    torques of the first axes, or the first channels of the terminals."""

    angle: SignalPath | None = None
    """The signal is shown as the angle of the actuator."""
    rate: SignalPath | None = None
    """The signal is shown as the rate of the actuator."""
    torque: SignalPath | None = None
    """The signal is shown as the torque of the model."""
    command: SignalPath | None = None
    """The signal is shown as the torque that the drive is asked for."""
    measured_torque: Annotated[
        SignalPath | None, Field(examples=["bus/wheel/sensor_torque_nm"])
    ] = None
    """The signal is shown as the torque that a sensor measures."""
    virtual_torque: Annotated[
        SignalPath | None, Field(examples=["hands/force/hands/torque_nm"])
    ] = None
    """The signal of an observer is shown beside the measured torque."""
    signals: Annotated[list[SignalPath], Field(examples=[["wheel/innovation_rad"]])] = []
    """Any other signals are shown, each by its path."""


class Verdict(Section):
    """The limits that a good run keeps."""

    max_overrun_percent: Annotated[NonNegative, answers(STALE_COMMAND)] = 1.0
    """The share of cycles that may overrun; this is judged only when the run had real-time rights."""
    max_lost_percent: Annotated[NonNegative, answers(MISLEADING_DISPLAY)] = 0.0
    """The share of cycles that may be missing from the record."""
    max_latency_ms: Annotated[PositiveMs, answers(OSCILLATION)] = 0.5
    """`rigloop bench latency` compares its p99.9 with this, without the drive and beyond a period of simulation."""
    max_command_gap_ms: Annotated[PositiveMs, answers(STALE_COMMAND)] = 10.0
    """The time from one fresh command at the drive to the next may be so long: the driver's hand feels it."""
    max_torque_step_nm: Annotated[Positive, answers(SUDDEN_TORQUE)] = 1.0
    """The torque may step so far across such a gap."""
    max_saturated_percent: Annotated[Percent, answers(SUSTAINED_FORCE, WRONG_SIGN)] = 10.0
    """The request may be at the guard's limit for so much of the armed time."""
    max_saturated_s: Annotated[PositiveS, answers(SUSTAINED_FORCE, WRONG_SIGN)] = 1.0
    """The request may be at the guard's limit for so long in one piece."""
    max_given_j: (
        Annotated[Positive, Field(examples=[6.0]), answers(WRONG_SIGN, STORED_ENERGY)] | None
    ) = None
    """The motor may do so much net work on the hands: a passive model gives back what it got, and a wrong
    `request_sign` gives more. The default is what `limit_nm` does over half a radian."""
    max_tone_nm: Annotated[Positive, Field(examples=[1.0]), answers(OSCILLATION)] | None = None
    """The torque may swing by so much to either side in one tone beyond 15 Hz, which no hand makes: more is a wheel
    that sings. The default is a twentieth of `limit_nm`."""
    max_rearmed: Annotated[int, Field(ge=0, le=100), answers(RESTART)] = 0
    """The number of times that the torque may go and come back, see `rearm` of the guard."""
    max_nis: Annotated[Positive, answers(FALSE_SENSOR)] = 1e4
    """The mean normalised innovation squared of a filter or observer may be so large; it is 1 for the right noise.
    Rounding is all that an encoder filter knows of noise: a lively wheel on a fine encoder comes to more, and is judged
    by its motion."""
    max_refused_percent: Annotated[Percent, answers(FALSE_SENSOR)] = 2.0
    """The share of samples that a gate may refuse."""
    max_left_out_percent: Annotated[Percent, answers(FALSE_SENSOR)] = 50.0
    """The share of samples that a filter may leave out after it lost the signal."""
    max_missing_percent: Annotated[Percent, answers(FALSE_SENSOR, MISLEADING_DISPLAY)] = 20.0
    """The share of expected samples that may be missing; this is judged in replay."""
    max_bad_status_percent: Annotated[Percent, answers(WRONG_TORQUE)] = 1.0
    """The share of cycles that may be without a position."""


class Metric(Section):
    """A number that sums a signal up over a replay: `rigloop sweep` has a column for each."""

    signal: Annotated[SignalPath, Field(examples=["steering/guide/torque_nm"])]
    """The metric is of this signal."""
    measure: Annotated[
        Literal["rms", "mean", "min", "max", "peak", "range", "last", "settled_s"],
        Field(examples=["rms"]),
    ]
    """The value is the root of the mean square, the mean, the least, the largest, the largest magnitude, the distance
    of largest and least, the last one, or the time from which on the signal stays near `target`."""
    from_s: Annotated[Real, Field(ge=0.0, le=1e6)] = 0.0
    """Cycles before this time do not count."""
    target: Real = 0.0
    """A settled signal stays near this value."""
    tolerance: Annotated[Positive, Field(examples=[0.1])] | None = None
    """A settled signal stays so near to its target; `settled_s` needs it."""


class Rig(Section):
    """A whole rig file has these keys and tables."""

    # `rigloop.blocks.catalogue` makes the model whose blocks are those of the kinds that there are

    title: Annotated[Line, Field(examples=["Steering-wheel force feedback"])]
    """One line says what the rig is."""
    tasks: Annotated[dict[Word, Task], Field(min_length=1)]
    """Each periodic thread has a table of its own."""
    blocks: Annotated[dict[Word, BlockTable], Field(min_length=1)]
    """Each block has a table of its own."""
    live: Annotated[dict[Word, LiveValue], Field(max_length=MOST)] = {}
    """Each value that may be changed while the rig runs has a table of its own."""
    stimuli: Annotated[dict[Word, Stimulus], Field(max_length=MOST)] = {}
    """Each signal that may be added to an input for a while has a table of its own."""
    show: Roles = Roles()
    """The live table and the report show these signals."""
    verdict: Verdict = Verdict()
    """A run must keep these limits to be called good."""
    metrics: dict[Word, Metric] = {}
    """Each number that a sweep compares has a table of its own."""

    def period_us(self, block: str) -> int:
        """Return the period of the task that steps a block."""
        return next(task.period_us for task in self.tasks.values() if block in task.blocks)
