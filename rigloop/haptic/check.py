"""The margin of a rig's haptic loop for `rigloop check`: a mistake where the wheel would sing, else notes."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import msgspec

from codegen.analysis.linearise import LinearisationError, LinearStep, linearise_step
from codegen.kernels.build import build_kernel
from rig_configs.load import LoadedRig
from rig_configs.mistakes import Mistake
from rigloop.blocks.kinds.encoder_filter import EncoderFilterBlock
from rigloop.blocks.kinds.guard import GuardBlock
from rigloop.blocks.kinds.mechanism import MechanismBlock
from rigloop.blocks.mechanisms import kernel_options
from rigloop.compose.parts import drive_of, find_guards
from rigloop.haptic.gains import at_start, ends
from rigloop.haptic.loop import make_loop, wheel_of
from rigloop.haptic.margin import Margin, margin
from rigloop.haptic.path import HapticPath, NoPathError, haptic_path

ENOUGH = 2.0  # factor of the torque that a loop ought to bear; less is noted


class HandsMargin(msgspec.Struct, frozen=True):
    """The margin of a rig's loop with one pair of hands."""

    hands: str
    """`off` or `on`."""
    request_gain: float
    """Gain of the guard, or of a live gain at the limit that `live` names."""
    limit: float | None
    """Gain from which on the axis oscillates; None: there is none up to a thousandfold."""
    frequency_hz: float
    delay_ms: float | None
    """Further dead time that the loop bears; None: more than 100 ms."""
    stiffness_nm_rad: float
    damping_nms: float
    inertia_kg_m2: float
    """Inertia of the wheel, as it is declared."""
    guard: str = ""
    """Guard of the axis, in a rig with several."""
    turned: str = "wheel"
    """The name of the drive, for what it turns."""
    live: str = ""
    """Key of the limit of a live gain between model and guard, at which the margin is; empty: there is none."""

    @property
    def ratio(self) -> float:
        """Return the factor of the gain from which on the axis sings."""
        return math.inf if self.limit is None else self.limit / self.request_gain


@dataclass(frozen=True)
class Examined:
    """The haptic loop of a rig in figures."""

    margins: tuple[HandsMargin, ...] = ()
    mistakes: tuple[Mistake, ...] = ()
    notes: tuple[str, ...] = ()


def linear_model(
    loaded: LoadedRig, path: HapticPath, tell: Callable[[str], None] = lambda stage: None
) -> LinearStep:
    """Linearise the model of a rig where its wheel starts, through the kernel that the rig steps.

    Raises
    ------
    LinearisationError
        The model cannot be, there.
    """
    block = loaded.rig.blocks[path.model]
    assert isinstance(block, MechanismBlock)
    # single precision has too few digits for differences, and its rounding is no dynamics
    options = replace(
        kernel_options(loaded.rig, path.model, str(loaded.path)),
        precision="float64",
        wrapper="class",
    )
    module = build_kernel(block.mechanism, options, on_stage=tell).module
    plant = drive_of(loaded.rig, path.bus, path.drive).plant
    encoder = loaded.rig.blocks[path.encoder]
    assert isinstance(encoder, EncoderFilterBlock)
    start = encoder.sign * math.radians(plant.offset_deg) if plant is not None else 0.0
    guide = [start if state == 0 else 0.0 for state in path.guide]
    return linearise_step(module, [path.torque_port], guide=guide, parameters=block.parameters)


def examine_loop(loaded: LoadedRig, tell: Callable[[str], None] = lambda stage: None) -> Examined:
    """Compute how far the wheel of a rig is from singing, let go and held; of several axes each."""
    guards = list(find_guards(loaded.rig))
    if len(guards) < 2:
        return _examine_axis(loaded, tell, None)
    found = [_examine_axis(loaded, tell, guard) for guard in guards]
    return Examined(
        tuple(
            msgspec.structs.replace(m, guard=name)
            for name, axis in zip(guards, found, strict=True)
            for m in axis.margins
        ),
        tuple(mistake for axis in found for mistake in axis.mistakes),
        tuple(note for axis in found for note in axis.notes),
    )


def _examine_axis(loaded: LoadedRig, tell: Callable[[str], None], axis: str | None) -> Examined:
    rig, file = loaded.rig, str(loaded.path)
    try:
        path = haptic_path(rig, axis)
    except NoPathError as error:
        whose = f"{axis}: " if axis else ""
        return Examined(notes=(f"{whose}no haptic loop to compute a margin of: {error}",))
    wheel = wheel_of(rig, path)
    if wheel is None:
        words = (
            f"blocks.{path.bus}.drives.{path.drive}: no plant describes the load of the drive: the margin of the "
            "haptic loop is not known; describe plant.inertia_kg_m2, viscous_nms and torque_lag_s, also of a real wheel"
        )
        return Examined(notes=(words,))
    try:
        lin = linear_model(loaded, path, tell)
    except LinearisationError as error:
        return Examined(
            notes=(f"blocks.{path.model}: the margin of the haptic loop is not known: {error}",)
        )
    gate = rig.blocks[path.guard]
    assert isinstance(gate, GuardBlock)
    wheels = {"off": wheel.without_hands()}
    if wheel != wheels["off"]:
        wheels["on"] = wheel
    notes = []
    if not lin.settled:
        notes.append(
            f"blocks.{path.model}: the model is not in equilibrium at the position of its guide: its margin "
            "holds for one instant"
        )
    margins, runs_away = [], False
    for end in ends(path.gains):
        loop = make_loop(rig, path, lin, gain=end.factor)
        value = end.value if end.key else gate.request_gain
        for hands, w in wheels.items():
            m = margin(loop, w)
            shown = _shown(hands, m, value, wheel.inertia_kg_m2, path.drive)
            margins.append(msgspec.structs.replace(shown, live=end.key))
            runs_away |= m.runs_away and end.factor * at_start(path.gains) > 0.0
    if runs_away:
        notes.append(
            f"blocks.{path.guard}.request_sign = {gate.request_sign}: about the start pose the torque pushes the "
            f"{path.drive} away from that pose; this is right for an unstable pose, otherwise the sign is wrong"
        )
    mistakes: tuple[Mistake, ...] = ()
    least = min(margins, key=lambda m: m.ratio)
    key = least.live or f"blocks.{path.guard}.request_gain"
    if least.ratio <= 1.0:
        mistakes = (Mistake(file, key, *_sings(least), least.request_gain),)
    elif least.limit is not None and least.ratio < ENOUGH:
        notes.append(
            f"{key} = {least.request_gain:g}: with hands {least.hands} the {path.drive} sings above {least.limit:.3g}, "
            f"at {least.frequency_hz:.3g} Hz: a margin of {least.ratio:.2f}, {ENOUGH:g} is good practice"
        )
    return Examined(tuple(margins), mistakes, tuple(notes))


def _shown(hands: str, m: Margin, gain: float, inertia: float, turned: str) -> HandsMargin:
    return HandsMargin(
        hands,
        gain,
        m.gain * gain if math.isfinite(m.gain) else None,
        m.frequency_hz,
        1e3 * m.delay_s if math.isfinite(m.delay_s) else None,
        m.stiffness_nm_rad,
        m.damping_nms,
        inertia,
        turned=turned,
    )


def _sings(m: HandsMargin) -> tuple[str, str]:
    """Problem and remedy of an axis that would sing."""
    assert m.limit is not None
    where = f"with hands {m.hands} the {m.turned} would sing"
    if m.limit == 0.0:
        return (
            f"{where} with any gain: the delay of the loop takes more out of its damping than there is",
            f"give the {m.turned} (plant.viscous_nms) or the model damping, or shorten the periods of the tasks",
        )
    # half of the limit, in two digits, rounded down
    half = 0.5 * abs(m.limit)
    digit = 10.0 ** (math.floor(math.log10(half)) - 1)
    would = math.copysign(math.floor(half / digit + 1e-9) * digit, m.limit)
    problem = (
        f"{where} at {m.frequency_hz:.3g} Hz: limit {m.limit:.3g}, from stiffness {m.stiffness_nm_rad:.3g} Nm/rad and "
        f"damping {m.damping_nms:.2g} Nms/rad that come late to a {m.turned} of {m.inertia_kg_m2:g} kg m²"
    )
    remedy = (
        f"{would:g} would do, half of the limit; or shorter periods, a faster filter, less inertia or stiffness in "
        "the model"
    )
    return problem, remedy


def in_words(margins: tuple[HandsMargin, ...]) -> list[str]:
    """Return a line for each pair of hands."""
    lines = []
    for m in margins:
        whose = f"{m.guard}: " if m.guard else ""
        if m.limit is None:
            lines.append(
                f"{whose}hands {m.hands}: the {m.turned} does not sing at any gain up to 1000"
            )
            continue
        delay = "more than 100 ms" if m.delay_ms is None else f"{m.delay_ms:.3g} ms"
        lines.append(
            f"{whose}hands {m.hands}: {m.live or 'gain'} {m.request_gain:g}, the {m.turned} sings above "
            f"{m.limit:.3g}, at {m.frequency_hz:.3g} Hz; it tolerates {delay} of additional delay"
        )
    return lines
