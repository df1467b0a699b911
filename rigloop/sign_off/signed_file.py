"""The file beside a rig that says who has commissioned it, when, with which drives, and what was measured.

It is read by people, and by `run` before a torque goes to an interface. It holds for the bytes of the rig file and of
the files that the rig names, and for the drives that were on the wire; and only as a file that no stranger could have
put there.
"""

from __future__ import annotations

import hashlib
import os
import pkgutil
from collections.abc import Mapping
from dataclasses import asdict, astuple
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from io_bridge.slaves.sii import Identity
from rig_configs.json_message import decode
from rig_configs.load import LoadedRig
from rig_configs.named_files import content_of
from rig_configs.whole_file import write_whole
from rigloop.sign_off.own_file import MODE, ForeignError, read_own

ENDING = ".commissioned.json"
FORMAT: Literal[1] = 1
CHANGED = "or a file that it names, has changed since the walk began"
CLOCKS_DIFFER = timedelta(minutes=1)

Sha256 = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{64}$")]
Hex = Annotated[str, msgspec.Meta(pattern=r"^0x[0-9a-f]{8}$")]
Line = Annotated[str, msgspec.Meta(min_length=1, max_length=400)]


class SignedError(ValueError):
    """The file cannot be read, or is not of this format: says why."""


class SignedDrive(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The identity of a drive as the wire had it."""

    vendor: Hex
    product: Hex
    revision: Hex
    serial: Hex

    @classmethod
    def of(cls, identity: Identity) -> SignedDrive:
        """Return the identity in the form of the file."""
        return cls(*(f"{n:#010x}" for n in astuple(identity)))

    @property
    def identity(self) -> Identity:
        """The numbers."""
        return Identity(
            *(int(text, 16) for text in (self.vendor, self.product, self.revision, self.serial))
        )


class SignedStep(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One step of the walk: its measured value beside its limit, and its sentence."""

    step: Line
    measured: float | None
    unit: str
    least: float | None
    most: float | None
    words: Line
    when: str = ""
    """UTC, ISO 8601."""


class SignedAxis(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One axis, by its guard: all of its steps were good."""

    drive: Line
    """Bus and name of the drive."""
    identity: SignedDrive
    interface: Line
    """The frames went there."""
    who: Line
    when: Line
    """UTC, ISO 8601."""
    steps: tuple[SignedStep, ...]


class Signed(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The signed file of a rig."""

    rig: Line
    rig_sha256: Sha256
    axes: dict[str, SignedAxis]
    versions: dict[str, str] = {}
    format: Literal[1] = FORMAT


def signed_path(loaded: LoadedRig) -> Path:
    """Return the place of a rig's signed file: beside the rig."""
    return loaded.path.with_name(f"{loaded.path.stem}{ENDING}")


def step_names() -> set[str]:
    """Return the names of the steps of today's walk: those of the modules in its folder, none of which is imported."""
    folder = Path(__file__).parents[1] / "commission" / "steps"
    return {module.name for module in pkgutil.iter_modules([str(folder)])}


def rig_hash(loaded: LoadedRig, copies: Mapping[str, str] | None = None) -> str:
    """Return the hash of a rig file and of each file that it names.

    Parameters
    ----------
    copies : mapping of str to str, optional
        The copies that a run reads, in place of the files themselves, which may change while it starts: name as
        written → path.

    Raises
    ------
    SignedError
        One of those files is gone.
    """
    digest = hashlib.sha256(hashlib.sha256(loaded.text.encode()).digest())
    for written, path in sorted(loaded.files.items()):
        place = path if copies is None else copies.get(written, "")
        try:
            content = content_of(Path(place))
        except OSError as error:
            raise SignedError(f"{path}: cannot be read: {error}") from None
        for part in (written.encode(errors="surrogatepass"), content):
            digest.update(hashlib.sha256(part).digest())
    return digest.hexdigest()


def read_signed(path: Path) -> Signed | None:
    """Read a signed file; None where there is none.

    Raises
    ------
    SignedError
        It cannot be read, is not of this format, or somebody else could have put it there.
    """
    if not os.path.lexists(path):
        return None
    try:
        return decode(read_own(path), type=Signed)
    except ForeignError as error:
        raise SignedError(str(error)) from error
    except (OSError, msgspec.DecodeError) as error:
        raise SignedError(f"{path}: cannot be read: {str(error).splitlines()[0]}") from None


def age_of(when: str, now: datetime | None = None) -> timedelta | None:
    """Return how long ago a date of these files was; None where it is none, or of the future."""
    try:
        age = (now or datetime.now(UTC)) - datetime.fromisoformat(when)
    except (ValueError, TypeError):
        return None
    return age if age >= -CLOCKS_DIFFER else None


def write_signed(path: Path, signed: Signed) -> None:
    """Write a signed file, all of it or nothing.

    Raises
    ------
    OSError
        It cannot be written.
    """
    text = msgspec.json.format(msgspec.json.encode(signed), indent=2)
    decode(text, type=Signed)
    write_whole(path, text + b"\n", lasting=True, mode=MODE)


def drop_axis(path: Path, guard: str) -> None:
    """Take an axis out of a signed file, and the file away when it was the only one, or when it signs nothing here.

    A file that cannot be read signs nothing for anybody, and is left.

    Raises
    ------
    OSError
        It cannot be written.
    """
    try:
        signed = read_signed(path)
    except SignedError as error:
        # it may count for somebody else; and its other axes are not to become those of a file of ours
        if isinstance(error.__cause__, ForeignError):
            path.unlink()
        return
    if signed is None or guard not in signed.axes:
        return
    others = {name: axis for name, axis in signed.axes.items() if name != guard}
    if others:
        write_signed(path, msgspec.structs.replace(signed, axes=others))
    else:
        path.unlink()


def identity_words(found: Identity) -> str:
    """Return an identity in words."""
    return ", ".join(f"{name} {number:#x}" for name, number in asdict(found).items())
