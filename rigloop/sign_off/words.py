"""The lines of `rigloop check` on who has signed a rig off, and on what its torque is without that."""

from __future__ import annotations

from typing import Any

import msgspec

from rig_configs.load import LoadedRig
from rigloop.compose.parts import backends_of
from rigloop.sign_off.limit import limited_by_files, unlimited
from rigloop.sign_off.signed_file import Signed, SignedError, read_signed, rig_hash, signed_path


def signed_words(loaded: LoadedRig) -> list[str]:
    """Return a line for each axis that is signed off for the rig as it is."""
    signed = _valid(loaded)
    axes = {} if signed is None else signed.axes
    return [
        f"{guard}: commissioned {axis.when[:10]} by {axis.who}, drive {axis.drive} on {axis.interface}"
        for guard, axis in axes.items()
    ]


def signed_notes(loaded: LoadedRig) -> list[str]:
    """Return what a reader of `check` has to know: a rig on an interface that nobody has signed off."""
    backends = backends_of(loaded.rig)
    refused = unlimited(loaded.rig, backends)
    if refused:
        return [refused]
    limited = limited_by_files(loaded, backends)[0]
    if limited is not None:
        return [f"{limited.line()}; simulated segments are exempt"]
    try:
        signed = read_signed(signed_path(loaded))
        if signed is not None and signed.rig_sha256 != rig_hash(loaded):
            name = signed_path(loaded).name
            return [f"{name} is of another version of this rig: on an interface it would not count"]
    except SignedError as error:
        return [str(error)]
    return []


def signed_facts(loaded: LoadedRig) -> dict[str, Any]:
    """Return the same for `--json`: the signed axes, and the limit that a run would have."""
    signed = _valid(loaded)
    limited = limited_by_files(loaded, backends_of(loaded.rig))[0]
    return {
        "axes": {} if signed is None else msgspec.to_builtins(signed.axes),
        "limited": None if limited is None else msgspec.to_builtins(limited),
    }


def _valid(loaded: LoadedRig) -> Signed | None:
    try:
        signed = read_signed(signed_path(loaded))
        return signed if signed is not None and signed.rig_sha256 == rig_hash(loaded) else None
    except SignedError:
        return None
