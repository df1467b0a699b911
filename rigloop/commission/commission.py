"""A rig commissioned: the stand that suits its bus, the walk, and the signature under it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np

from codegen.analysis.linearise import LinearisationError
from io_bridge.slaves.sii import Identity
from rig_configs.bounded import UnreadableError, read_text
from rig_configs.load import LoadedRig
from rig_configs.mistakes import ConfigError, Mistake
from rigloop.commission.axis import Axis, Spring, axis_of
from rigloop.commission.hands import EmulatedHands, Hands
from rigloop.commission.live_stand import LiveStand
from rigloop.commission.progress import ENDING, Kept, StepResult
from rigloop.commission.stand import Stand, StandError
from rigloop.commission.stepped_stand import SteppedStand
from rigloop.commission.talk import NoHandError, PersonHands, Talk
from rigloop.commission.walk import Walked, find_steps, walk
from rigloop.compose.parts import EMULATED, backends_of
from rigloop.console import interrupts
from rigloop.haptic.check import linear_model
from rigloop.haptic.loop import impedance, make_loop
from rigloop.haptic.path import NoPathError, haptic_path
from rigloop.run_folder.clocks import utc_text
from rigloop.run_folder.manifest import versions
from rigloop.run_folder.not_started import NotStartedError
from rigloop.sign_off.limit import refuse_unlimited
from rigloop.sign_off.signed_file import (
    CHANGED,
    Signed,
    SignedAxis,
    SignedDrive,
    SignedError,
    SignedStep,
    drop_axis,
    identity_words,
    read_signed,
    rig_hash,
    signed_path,
    write_signed,
)

SLOW_HZ = 1.0  # of a hand that feels a stiffness
COPY = "copy the rig into a folder of your own, and commission that one"


class Commissioned(msgspec.Struct, frozen=True):
    """The outcome of the command."""

    good: bool
    rig: str
    guard: str
    drive: str
    interface: str
    rehearsal: bool
    """The drive was emulated: nothing is signed."""
    torque_nm: float
    """The largest that the walk commands."""
    steps: tuple[StepResult, ...]
    missing: tuple[str, ...]
    signed: str | None
    """The file that was signed."""


def spring_of(loaded: LoadedRig, guard: str) -> Spring | None:
    """Return the spring and the damper that the model of an axis renders to a slow hand, by its linear loop; None where
    that is not known."""
    try:
        path = haptic_path(loaded.rig, guard)
        loop = make_loop(loaded.rig, path, linear_model(loaded, path))
    except (NoPathError, LinearisationError):
        return None
    (found,) = impedance(loop, np.array([SLOW_HZ]))
    damping = -float(np.imag(found)) / (2.0 * np.pi * SLOW_HZ)
    return Spring(max(0.0, -float(np.real(found))), max(0.0, damping))


def _stiffer(told: Spring | None, stiffness_nm_rad: float | None) -> Spring | None:
    """Return the spring of the model, or a stiffer one that was given: a softer one would hide what the rig renders.

    Raises
    ------
    ConfigError
    """
    if stiffness_nm_rad is None:
        return told
    if told is None:
        return Spring(stiffness_nm_rad, 0.0)
    if not stiffness_nm_rad >= told.stiffness_nm_rad:
        problem = f"the model of this rig renders {told.stiffness_nm_rad:.3g} Nm/rad, which is more"
        remedy = "leave it away, or give a larger one"
        given = f"{stiffness_nm_rad:g}"
        raise ConfigError([Mistake("command line", "--stiffness", problem, remedy, given)])
    return replace(told, stiffness_nm_rad=stiffness_nm_rad)


def check_first(first: str | None) -> None:
    """Refuse a step that there is not.

    Raises
    ------
    ConfigError
    """
    names = [step.name for step in find_steps()]
    if first is not None and first not in names:
        problem = "there is no such step"
        raise ConfigError([Mistake("command line", "--from", problem, ", ".join(names), first)])


def commission(
    loaded: LoadedRig,
    talk: Talk,
    *,
    guard: str | None = None,
    bus: str | None = None,
    first: str | None = None,
    who: str | None = None,
    stiffness_nm_rad: float | None = None,
    answers: bool = True,
) -> Commissioned:
    """Walk through one axis of a rig, and sign it off if every step is good.

    Parameters
    ----------
    first : str, optional
        Begin with this step.
    who : str, optional
        The name under the file; asked for at the end if not given.
    stiffness_nm_rad : float, optional
        The stiffness that the rig renders, where no model of it tells; it may only be above that of a model.
    answers : bool
        Somebody is there; else no step that needs a hand can be good.

    Raises
    ------
    NotStartedError
        The drive could not be brought up.
    """
    check_first(first)
    backends = backends_of(loaded.rig, bus)
    refuse_unlimited(loaded.rig, backends)
    axis = axis_of(loaded, guard, backends)
    if axis.backend == "veth":
        raise NotStartedError(
            "veth is a network of its own without a drive: take --bus simulated for a rehearsal, or an interface"
        )
    axis = replace(axis, spring=_stiffer(spring_of(loaded, axis.guard), stiffness_nm_rad))
    rehearsal = axis.backend in EMULATED
    try:
        sha256 = rig_hash(loaded)
        _introduce(axis, talk, rehearsal)
        if rehearsal:
            with SteppedStand(loaded, axis) as stand:
                return _walked(loaded, sha256, stand, EmulatedHands(stand), talk, first, who)
        with LiveStand(loaded, axis, bus, sha256) as live:
            return _walked(loaded, sha256, live, PersonHands(talk, answers), talk, first, who)
    except (StandError, SignedError) as error:
        raise NotStartedError(str(error)) from None
    except NoHandError as error:
        raise NotStartedError(f"{error}; the results so far are kept, nothing is signed") from None


def _introduce(axis: Axis, talk: Talk, rehearsal: bool) -> None:
    talk.tell(f"{axis.guard}: the drive {axis.place} on {axis.backend}", "bold")
    if rehearsal:
        talk.tell("A rehearsal: the drive is emulated, and so are the hands. Nothing is signed.")
    else:
        talk.tell(
            f"The walk commands at most {axis.walk_nm:.3g} Nm. Fix the rig, keep others away, and keep one hand at "
            "the emergency stop. Ctrl-C ends at zero torque at any time."
        )
        talk.wait("Begin?")


def _walked(
    loaded: LoadedRig,
    sha256: str,
    stand: Stand,
    hands: Hands,
    talk: Talk,
    first: str | None,
    who: str | None,
) -> Commissioned:
    axis = stand.axis
    rehearsal = axis.backend in EMULATED
    file = None if rehearsal else loaded.path.with_name(f"{loaded.path.stem}{ENDING}")
    identity = stand.identity()
    kept = Kept(file, sha256, axis.guard, identity)
    try:
        kept.write()
    except OSError as error:
        raise NotStartedError(f"{file}: cannot be written: {error.strerror}; {COPY}") from None
    interrupts.say("the torque is at zero; the results so far are kept")
    if kept.results and first is None:
        talk.tell(f"{len(kept.results)} steps were measured before; the walk continues after them.")
    revoke = None if rehearsal else lambda: _revoke(loaded, axis.guard)
    walked = walk(stand, hands, talk, kept, first=first, revoke=revoke)
    signed = None
    if walked.good and not rehearsal:
        name = who or talk.ask("Who signs? Your name:")
        signed = sign(loaded, stand, walked, name, sha256=sha256, identity=identity)
        kept.remove()
    return Commissioned(
        walked.good,
        loaded.name,
        axis.guard,
        axis.place,
        axis.backend,
        rehearsal,
        axis.walk_nm,
        walked.results,
        walked.missing,
        None if signed is None else str(signed),
    )


def _revoke(loaded: LoadedRig, guard: str) -> None:
    path = signed_path(loaded)
    try:
        drop_axis(path, guard)
    except OSError as error:
        raise NotStartedError(f"{path}: cannot be written: {error.strerror}; {COPY}") from None


def _refuse_changes(loaded: LoadedRig, stand: Stand, rig_sha256: str, identity: Identity) -> None:
    """Refuse a signature for another rig or drive than the walk began with."""
    try:
        now = rig_hash(replace(loaded, text=read_text(loaded.path)))
    except (SignedError, UnreadableError) as error:
        raise NotStartedError(f"{loaded.path}: {error}: nothing is signed") from None
    if now != rig_sha256:
        raise NotStartedError(f"{loaded.path}, {CHANGED}: nothing is signed; walk again")
    if stand.identity() != identity:
        raise NotStartedError(
            f"{stand.axis.place} is another drive than the one that the walk began with: "
            f"{identity_words(stand.identity())}, then {identity_words(identity)}: nothing is signed; walk again"
        )


def sign(
    loaded: LoadedRig,
    stand: Stand,
    walked: Walked,
    who: str,
    *,
    sha256: str,
    identity: Identity,
) -> Path:
    """Write the signed file beside a rig; other axes of the same rig keep their place in it.

    Parameters
    ----------
    sha256 : str
        Hash of the rig when the walk began.
    identity : Identity
        Of the drive when the walk began.

    Raises
    ------
    NotStartedError
        Nobody signs, the rig or the drive has changed meanwhile, or it cannot be written.
    """
    name = " ".join(who.split())
    if not name:
        raise NotStartedError("nobody has signed: give --who NAME; the results are kept")
    _refuse_changes(loaded, stand, sha256, identity)
    axis, path = stand.axis, signed_path(loaded)
    try:
        before = read_signed(path)
    except SignedError:
        before = None
    others = before.axes if before is not None and before.rig_sha256 == sha256 else {}
    signed = SignedAxis(
        axis.place,
        SignedDrive.of(identity),
        axis.backend,
        name[:400],
        utc_text(),
        tuple(
            SignedStep(r.step, r.measured, r.unit, r.least, r.most, r.words[:400], r.when)
            for r in walked.results
        ),
    )
    try:
        write_signed(path, Signed(loaded.name, sha256, {**others, axis.guard: signed}, versions()))
    except OSError as error:
        raise NotStartedError(f"{path}: cannot be written: {error.strerror}; {COPY}") from None
    return path
