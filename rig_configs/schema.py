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
    """The thread spins for this time before each deadline. With `auto` it measures wake-ups for two seconds at the
    start and chooses the time accordingly."""
    overrun: Annotated[Overrun, answers(STALE_COMMAND)] = "skip"
    """After too many overruns the task only continues to count (`skip`), reports a fault so that the guard ramps out
    (`safe`), or ends the run (`stop`)."""
    overrun_limit: Annotated[Points, answers(STALE_COMMAND)] = 3
    """This number of points counts as too many: an overrun is one point, and an overrun by the task's own work is two
    points."""
    overrun_window: Annotated[Cycles, answers(STALE_COMMAND)] = 10
    """Points are added up over this number of cycles."""
    count_stolen: Annotated[bool, answers(STALE_COMMAND)] = True
    """An overrun that the host caused also gives a point; with `false` it gives none."""
    late_limit_us: Annotated[int, Field(ge=1, le=1_000_000_000, examples=[50])] | None = None
    """A cycle that begins later than this is stored in the record of late cycles; the default is the period."""
    off_core: Annotated[OffCore, answers(STALE_COMMAND)] = "count"
    """A thread that runs on another core than its own is counted (`count`), or is a fault of the task (`safe`)."""
    stall_cycles: Annotated[Cycles, answers(STALE_COMMAND)] = 3
    """After this number of periods without a new cycle, the watchdog sends safe outputs and ends the process."""


class BlockTable(Section):
    """The keys of every block; each kind adds its own."""

    kind: Annotated[str, Field(examples=["relay"])]
    """The block is of this kind."""
    reads: dict[SignalPath, SignalPath] = {}
    """Each port that the block reads is wired to a signal: `port = "signal"`."""
    writes: Annotated[
        dict[SignalPath, SignalPath], Field(examples=[{"guide/torque_nm": "model/torque_nm"}])
    ] = {}
    """A port writes the signal `block/port`, unless another signal is given here: `port = "signal"`."""


class Roles(Section):
    """The signals that the live table and the report show, by their roles; by default the angles and torques of
    the first axes, or the first channels of the terminals."""

    angle: SignalPath | None = None
    """The signal is shown as the angle of the actuator."""
    rate: SignalPath | None = None
    """The signal is shown as the rate of the actuator."""
    torque: SignalPath | None = None
    """The signal is shown as the torque of the model."""
    command: SignalPath | None = None
    """The signal is shown as the torque command of the drive."""
    measured_torque: Annotated[
        SignalPath | None, Field(examples=["bus/wheel/sensor_torque_nm"])
    ] = None
    """The signal is shown as the torque that a sensor measures."""
    virtual_torque: Annotated[
        SignalPath | None, Field(examples=["hands/force/hands/torque_nm"])
    ] = None
    """The signal of an observer is shown together with the measured torque."""
    signals: Annotated[list[SignalPath], Field(examples=[["wheel/innovation_rad"]])] = []
    """Any other signals are shown, each by its path."""


class Verdict(Section):
    """The limits of a good run."""

    max_overrun_percent: Annotated[NonNegative, answers(STALE_COMMAND)] = 1.0
    """The share of cycles that may overrun; this limit applies only if the run had real-time rights."""
    max_lost_percent: Annotated[NonNegative, answers(MISLEADING_DISPLAY)] = 0.0
    """This share of the cycles may be missing from the record."""
    max_latency_ms: Annotated[PositiveMs, answers(OSCILLATION)] = 0.5
    """The p99.9 of `rigloop bench latency`, without the drive and in excess of a period of simulation, may be this
    large."""
    max_command_gap_ms: Annotated[PositiveMs, answers(STALE_COMMAND)] = 10.0
    """The time from one new command at the drive to the next may be this long; the driver's hand feels a longer one."""
    max_torque_step_nm: Annotated[Positive, answers(SUDDEN_TORQUE)] = 1.0
    """The torque may step by this amount across such a gap."""
    max_saturated_percent: Annotated[Percent, answers(SUSTAINED_FORCE, WRONG_SIGN)] = 10.0
    """The request may be at the guard's limit for this share of the armed time."""
    max_saturated_s: Annotated[PositiveS, answers(SUSTAINED_FORCE, WRONG_SIGN)] = 1.0
    """The request may be at the guard's limit for this time without interruption."""
    max_given_j: (
        Annotated[Positive, Field(examples=[6.0]), answers(WRONG_SIGN, STORED_ENERGY)] | None
    ) = None
    """The motor may do this net work on the hands: a passive model returns at most the energy that it received, and a
    wrong `request_sign` returns more. The default is the work of `limit_nm` over half a radian."""
    max_tone_nm: Annotated[Positive, Field(examples=[1.0]), answers(OSCILLATION)] | None = None
    """A single tone of the torque above 15 Hz, which no hand can produce, may have this amplitude: with a larger one
    the wheel sings. The default is a twentieth of `limit_nm`."""
    max_rearmed: Annotated[int, Field(ge=0, le=100), answers(RESTART)] = 0
    """The guard may be rearmed this number of times, see `rearm` of the guard."""
    max_nis: Annotated[Positive, answers(FALSE_SENSOR)] = 1e4
    """The mean normalised innovation squared of a filter or observer may be this large; it is 1 if the noise is
    right. An encoder filter knows only the noise of rounding: a fast-moving wheel with a fine encoder exceeds it,
    and is evaluated by its motion."""
    max_refused_percent: Annotated[Percent, answers(FALSE_SENSOR)] = 2.0
    """A gate may reject this share of the samples."""
    max_left_out_percent: Annotated[Percent, answers(FALSE_SENSOR)] = 50.0
    """A filter may skip this share of the samples after it lost the signal."""
    max_missing_percent: Annotated[Percent, answers(FALSE_SENSOR, MISLEADING_DISPLAY)] = 20.0
    """This share of the expected samples may be missing; the limit applies to replays."""
    max_bad_status_percent: Annotated[Percent, answers(WRONG_TORQUE)] = 1.0
    """This share of the cycles may have no position."""


class Metric(Section):
    """A number that summarises a signal over a replay: `rigloop sweep` has a column for each."""

    signal: Annotated[SignalPath, Field(examples=["steering/guide/torque_nm"])]
    """The metric describes this signal."""
    measure: Annotated[
        Literal["rms", "mean", "min", "max", "peak", "range", "last", "settled_s"],
        Field(examples=["rms"]),
    ]
    """The metric is the root mean square, the mean, the minimum, the maximum, the largest magnitude, the range, the
    last value, or the time after which the signal stays near `target`."""
    from_s: Annotated[Real, Field(ge=0.0, le=1e6)] = 0.0
    """Cycles before this time do not count."""
    target: Real = 0.0
    """A settled signal stays near this value."""
    tolerance: Annotated[Positive, Field(examples=[0.1])] | None = None
    """A settled signal stays within this distance of its target; `settled_s` needs it."""


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
    """Each value that may change while the rig runs has a table of its own."""
    stimuli: Annotated[dict[Word, Stimulus], Field(max_length=MOST)] = {}
    """Each signal that may be added to an input for some time has a table of its own."""
    show: Roles = Roles()
    """These signals are shown in the live table and the report."""
    verdict: Verdict = Verdict()
    """A good run must stay within these limits."""
    metrics: dict[Word, Metric] = {}
    """Each number that a sweep compares has a table of its own."""

    def period_us(self, block: str) -> int:
        """Return the period of the task that steps a block."""
        return next(task.period_us for task in self.tasks.values() if block in task.blocks)
