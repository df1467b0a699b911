"""The way round of a rig, from its wiring: drive, encoder filter, model, guard, and back to that drive."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

from rig_configs.schema import Rig
from rigloop.blocks.axes import before_added
from rigloop.blocks.kinds.encoder_filter import EncoderFilterBlock
from rigloop.blocks.kinds.mechanism import MechanismBlock
from rigloop.compose.blocks import paths
from rigloop.compose.parts import bus_of_guard, find_guard, guard_of
from rigloop.haptic.gains import Gain, gain_of

FROM_FILTER = {"angle_rad": 0, "rate_rad_s": 1, "acceleration_rad_s2": 2}
MOST_EVERY = 1000


class NoPathError(ValueError):
    """A rig has no haptic loop that could be linearised; the message says why."""


@dataclass(frozen=True)
class HapticPath:
    """The blocks that a rig's haptic loop goes through, and the number of cycles that each hand-over takes.

    Attributes
    ----------
    fast, slow : str
        Tasks of the bus and of the model; they may be one.
    every : int
        Cycles of the fast task to a step of the model.
    guide : tuple of int
        Of each guide port of the model (all guides, three each): the state of the filter that it takes, or -1.
    torque_port : str
        Of the model: what the guard takes.
    age_in, age_out : int
        Cycles of the fast task from the filter's estimate to the step that takes it, and from that step to the guard.
    sample, sent : int
        Cycles from the frame to the filter that takes its count, and from the guard to the frame with its torque.
    gains : tuple of Gain
        Between the model and the guard, in this order.
    """

    bus: str
    drive: str
    encoder: str
    model: str
    guard: str
    fast: str
    slow: str
    fast_s: float
    every: int
    guide: tuple[int, ...]
    torque_port: str
    age_in: int
    age_out: int
    sample: int = 0
    sent: int = 1
    gains: tuple[Gain, ...] = ()


def haptic_path(rig: Rig, axis: str | None = None) -> HapticPath:
    """Find the haptic loop of a rig.

    Parameters
    ----------
    axis : str, optional
        The guard of the loop, in a rig with several; the first one.

    Raises
    ------
    NoPathError
        It has none.
    """
    if find_guard(rig) is None:
        raise NoPathError("no drive is commanded")
    guard, gate = guard_of(rig, axis)
    found_bus = bus_of_guard(rig, guard)
    if found_bus is None:
        raise NoPathError("no drive is commanded")
    bus, exchange = found_bus
    bus_reads, bus_writes = paths(bus, exchange)
    torque = paths(guard, gate)[1]["torque_nm"]
    drive = next((d for d in exchange.drives if bus_reads.get(f"{d}/torque_nm") == torque), None)
    if drive is None:
        raise NoPathError("no drive takes the guard's torque")
    request = before_added(rig, gate.reads["torque_request_nm"])
    model, port, gains = _model(rig, request)
    encoder = next(
        (
            name
            for name, block in rig.blocks.items()
            if isinstance(block, EncoderFilterBlock)
            and block.reads.get("position_count") == bus_writes[f"{drive}/position_count"]
        ),
        "",
    )
    if not encoder:
        raise NoPathError(f"no encoder filter takes the count of the drive {drive!r}")
    guide = _guide(rig, model, encoder)
    if max(guide, default=-1) < 0:
        raise NoPathError(f"no guide of {model!r} follows the encoder filter {encoder!r}")
    task_of = {block: task for task, config in rig.tasks.items() for block in config.blocks}
    fast, slow = task_of[bus], task_of[model]
    if task_of[encoder] != fast or task_of[guard] != fast:
        raise NoPathError(f"bus, {encoder!r} and {guard!r} are not in one task")
    fast_us, slow_us = rig.tasks[fast].period_us, rig.tasks[slow].period_us
    if slow_us % fast_us or slow_us // fast_us > MOST_EVERY:
        raise NoPathError(
            f"the period of {slow!r}, {slow_us} µs, is not a multiple of that of {fast!r}, {fast_us} µs"
        )
    order = rig.tasks[fast].blocks

    def waits(first: str, then: str) -> int:
        return int(order.index(first) > order.index(then))

    chain = [model, *(gain.block for gain in gains), guard]
    age_out = _age(rig, chain, task_of)
    alone = fast == slow
    return HapticPath(
        bus=bus,
        drive=drive,
        encoder=encoder,
        model=model,
        guard=guard,
        fast=fast,
        slow=slow,
        fast_s=fast_us * 1e-6,
        every=slow_us // fast_us,
        guide=guide,
        torque_port=port,
        # a task sees what another had published before the instant that both begin at
        age_in=waits(encoder, model) if alone else 1,
        age_out=age_out,
        sample=waits(bus, encoder),
        sent=1,
        gains=gains,
    )


def _model(rig: Rig, request: str) -> tuple[str, str, tuple[Gain, ...]]:
    """Return the mechanism that a request comes from, its port, and the gains in between."""
    path, gains = request, list[Gain]()
    for _ in rig.blocks:
        model, port = _writer(rig, path, MechanismBlock)
        if model:
            return model, port, tuple(reversed(gains))
        block = next((b for b in rig.blocks if path in paths(b, rig.blocks[b])[1].values()), "")
        gain = gain_of(rig, block) if block else None
        if gain is None:
            break
        gains.append(gain)
        path = before_added(rig, rig.blocks[block].reads["u"])
    raise NoPathError(f"the guard's request {request!r} is not an output of a mechanism")


def _age(rig: Rig, chain: list[str], task_of: dict[str, str]) -> int:
    """Return the cycles of the fast task from the model's step to the guard, by way of the gains."""
    age = 0
    for first, then in itertools.pairwise(chain):
        order = rig.tasks[task_of[first]].blocks
        if task_of[first] != task_of[then] or order.index(first) > order.index(then):
            age += 1
    if age > 1 or not {task_of[one] for one in chain} <= {task_of[chain[0]], task_of[chain[-1]]}:
        between = ", ".join(chain[1:-1])
        raise NoPathError(
            f"{between}: the torque takes {age} hand-overs from {chain[0]!r} to {chain[-1]!r}; put gains behind the "
            "model in its task, or before the guard in its own"
        )
    return age


def _writer(rig: Rig, path: str, kind: type) -> tuple[str, str]:
    for name, block in rig.blocks.items():
        if isinstance(block, kind):
            for port, written in paths(name, block)[1].items():
                if written == path:
                    return name, port
    return "", ""


def _guide(rig: Rig, model: str, encoder: str) -> tuple[int, ...]:
    """State of the filter that each guide port takes."""
    writes = paths(encoder, rig.blocks[encoder])[1]
    states = {writes[port]: state for port, state in FROM_FILTER.items()}
    reads = paths(model, rig.blocks[model])[0]
    # a port that is not wired is called as its signal
    return tuple(
        states.get(before_added(rig, reads.get(port, port)), -1)
        for port in reads
        if port.startswith("guide/")
    )
