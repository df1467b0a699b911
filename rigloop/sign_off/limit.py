"""The torque that a rig has on an interface: its own limits once it is signed off, else a twentieth of them.

The limit goes into the guard's own arithmetic, before the loop starts: the rig that the blocks are made of has it in
place of `limit_nm`. Emulated slaves are exempt, in this process and on a veth pair of our own: no hand is there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from io_bridge.slaves.own_scale import OwnScale
from io_bridge.slaves.sii import Identity
from rig_configs.load import LoadedRig
from rig_configs.schema import Rig
from rigloop.blocks.axes import drives_of, without_torque
from rigloop.compose.parts import EMULATED, find_buses, find_guards
from rigloop.run_folder.clocks import utc_text
from rigloop.run_folder.limited import Limited
from rigloop.run_folder.not_started import NotStartedError
from rigloop.sign_off.signed_file import (
    Signed,
    SignedError,
    age_of,
    identity_words,
    read_signed,
    rig_hash,
    signed_path,
    step_names,
)
from rigloop.sign_off.twentieth import SHARE, rescaled, twentieth_of


@dataclass(frozen=True)
class Standing:
    """The answer of the files beside a rig.

    Attributes
    ----------
    why : mapping of guard to str
        Guards with a drive on an interface that are not signed off, and the reason.
    signed : mapping of guard to Identity
        The identity of the drive of each guard that is.
    """

    why: Mapping[str, str] = field(default_factory=dict)
    signed: Mapping[str, Identity] = field(default_factory=dict)


def on_interface(rig: Rig, backends: Mapping[str, str]) -> dict[str, str]:
    """Return the guards with a drive on a network interface, and bus and name of that drive."""
    return {
        guard: f"{bus}/{drive}"
        for guard in find_guards(rig)
        for bus, drive in drives_of(rig, guard)
        if backends[bus] not in EMULATED
    }


def unlimited(rig: Rig, backends: Mapping[str, str]) -> str:
    """Return a sentence on the drives of an interface that follow no torque: no guard limits them, and no walk can
    sign them off. It is empty where there are none."""
    found = [
        f"{bus}/{drive} (mode {mode!r})"
        for bus, drive, mode in without_torque(rig)
        if backends[bus] not in EMULATED
    ]
    if not found:
        return ""
    return (
        f"{', '.join(found)}: does not follow a torque, so no guard limits it and it cannot be signed off: it does "
        "not run on an interface; use mode = 'torque', or --bus simulated"
    )


def refuse_unlimited(rig: Rig, backends: Mapping[str, str]) -> None:
    """Refuse a run with such a drive.

    Raises
    ------
    NotStartedError
    """
    problem = unlimited(rig, backends)
    if problem:
        raise NotStartedError(problem)


def standing(
    loaded: LoadedRig, backends: Mapping[str, str], copies: Mapping[str, str] | None = None
) -> Standing:
    """Return which guards of a rig are signed off, as far as its files tell.

    A rig that a benchmark derives from another one stands as that one does, as long as guards and drives are the same.

    Parameters
    ----------
    copies : mapping of str to str, optional
        The copies of the files that the rig names, where a run reads those.
    """
    of = loaded.origin or loaded
    drives = on_interface(loaded.rig, backends)
    if not drives:
        return Standing()
    path = signed_path(of)
    try:
        signed = read_signed(path)
        problem = _problem(of, signed, copies) or _unlike(loaded.rig, of.rig)
    except SignedError as error:
        signed, problem = None, str(error)
    if signed is None or problem:
        return Standing(dict.fromkeys(drives, problem or f"there is no {path.name} beside the rig"))
    why, numbers, steps = {}, {}, step_names()
    for guard, drive in drives.items():
        axis = signed.axes.get(guard)
        if axis is None or axis.drive != drive:
            why[guard] = f"{path.name} has not {guard} with the drive {drive}"
        elif age_of(axis.when) is None:
            why[guard] = (
                f"{path.name} has the date {axis.when} for {guard}, and the clock says {utc_text()}: set the clock, "
                "or walk again"
            )
        elif missing := steps - {step.step for step in axis.steps}:
            why[guard] = f"{path.name} has no {', '.join(sorted(missing))} of {guard}"
        else:
            numbers[guard] = axis.identity.identity
    return Standing(why, numbers)


def limited_by(
    rig: Rig,
    backends: Mapping[str, str],
    why: Mapping[str, str],
    argument: str,
    own: Mapping[str, OwnScale] | None = None,
) -> Limited | None:
    """Return the limit of guards that are not signed off; None where all are.

    Parameters
    ----------
    argument : str
        What a command line takes for the rig.
    own : mapping of bus and drive to OwnScale, optional
        The scale of the torque as the drives say it; without it that of the rig counts.
    """
    if not why:
        return None
    reasons = dict.fromkeys(why.values())
    return Limited(
        {guard: twentieth_of(rig, guard, own or {}) for guard in why},
        tuple(f"not commissioned: {reason}" for reason in reasons),
        100.0 * SHARE,
        _remedy(rig, backends, tuple(why), argument),
    )


def _remedy(rig: Rig, backends: Mapping[str, str], guards: Sequence[str], argument: str) -> str:
    """Return the commands that walk through some guards where the frames of a run go."""
    buses = find_buses(rig)
    other = {bus: to for bus, to in backends.items() if to != buses[bus].backend}
    asked = ",".join(to if len(buses) == 1 else f"{bus}={to}" for bus, to in other.items())
    command = f"rigloop commission {argument}" + (f" --bus {asked}" if asked else "")
    if len(find_guards(rig)) == 1:
        return f"`{command}` walks through it"
    each = [f"`{command} --guard {guard}`" for guard in guards]
    return f"{', '.join(each)} {'walks' if len(each) == 1 else 'walk'} through it"


def limited_by_files(
    loaded: LoadedRig, backends: Mapping[str, str], copies: Mapping[str, str] | None = None
) -> tuple[Limited | None, dict[str, Identity]]:
    """Return the limit of a run as far as the files beside its rig tell, and the drives that were signed off.

    Parameters
    ----------
    copies : mapping of str to str, optional
        The copies of the files that the rig names, where a run reads those: name as written → path.
    """
    found = standing(loaded, backends, copies)
    whose = loaded.origin or loaded
    limited = limited_by(loaded.rig, backends, found.why, whose.argument)
    return limited, dict(found.signed)


def limited_by_drives(
    rig: Rig,
    backends: Mapping[str, str],
    known: Limited | None,
    signed: Mapping[str, Identity],
    found: Mapping[str, Identity],
    argument: str,
    own: Mapping[str, OwnScale] | None = None,
) -> Limited | None:
    """Return the limit of a run whose slaves are known: a drive that is not the one signed off, or that says another
    scale of its torque, limits its guard.

    Parameters
    ----------
    known : Limited, optional
        As far as the files tell.
    signed : mapping of guard to Identity
    found : mapping of bus and drive to Identity
    argument : str
        What a command line takes for the rig.
    own : mapping of bus and drive to OwnScale, optional
        As the drives say it.
    """
    scales = own or {}
    if known is not None:
        # of these the files were read alone
        limits_nm = {guard: twentieth_of(rig, guard, scales) for guard in known.limits_nm}
        known = msgspec.structs.replace(known, limits_nm=limits_nm)
    changed = {}
    for guard, drive in on_interface(rig, backends).items():
        if known is not None and guard in known.limits_nm:
            continue
        wanted = signed.get(guard)
        there = found.get(drive)
        if wanted is None or there is None:
            changed[guard] = f"{guard} is not signed off"
        elif there != wanted:
            changed[guard] = (
                f"{drive} is another drive than the one signed off: {identity_words(there)}, "
                f"signed off {identity_words(wanted)}"
            )
        elif problem := rescaled(rig, drive, scales.get(drive)):
            changed[guard] = problem
    more = limited_by(rig, backends, changed, argument, scales)
    if known is None or more is None:
        return known or more
    return Limited(
        {**known.limits_nm, **more.limits_nm},
        (*known.why, *more.why),
        known.percent,
        _remedy(rig, backends, (*known.limits_nm, *more.limits_nm), argument),
    )


def limited_rig(rig: Rig, limited: Limited | None) -> Rig:
    """Return a rig whose guards have the limits of a run; the rig itself where there are none."""
    if limited is None:
        return rig
    guards = {
        name: guard.model_copy(update={"limit_nm": min(guard.limit_nm, limited.limits_nm[name])})
        for name, guard in find_guards(rig).items()
        if name in limited.limits_nm
    }
    return rig.model_copy(update={"blocks": {**rig.blocks, **guards}})


def _unlike(rig: Rig, signed: Rig) -> str:
    """Return what keeps a rig from standing as the one that it is derived from: another guard, or another drive."""
    if _parts(rig) != _parts(signed):
        return "it has another guard or drive than the rig that was signed"
    return ""


def _parts(rig: Rig) -> dict[str, dict[str, Any]]:
    """Return what a signature is about, guards and drives, without their wiring and without what is emulated."""
    guards = {name: guard.model_dump(exclude={"reads"}) for name, guard in find_guards(rig).items()}
    return guards | {
        f"{bus}/{name}": drive.model_dump(exclude={"plant"})
        for bus, block in find_buses(rig).items()
        for name, drive in block.drives.items()
    }


def _problem(loaded: LoadedRig, signed: Signed | None, copies: Mapping[str, str] | None) -> str:
    if signed is None:
        return ""
    name = signed_path(loaded).name
    if signed.rig_sha256 != rig_hash(loaded, copies):
        return f"the rig, or a file that it names, has changed since {name} was signed"
    return ""
