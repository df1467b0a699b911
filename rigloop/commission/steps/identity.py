"""The identity of the drive, against the one that the rig states."""

from __future__ import annotations

from rigloop.commission.step import Bench, Measured, Step
from rigloop.sign_off.signed_file import identity_words


def measure(bench: Bench) -> Measured:
    """Compare what the drive reports with what the rig states; a serial number of 0 stands for any."""
    found, stated = bench.stand.identity(), bench.axis.identity
    words = f"The drive reports {identity_words(found)}"
    if found.serial == 0:
        words += "; it has no serial number: another one of its type would pass for it"
    if stated is None:
        nothing = "Nothing was compared, for the rig states no identity."
        return Measured(0.0, "differences", 0.0, 0.0, f"{words}.", sentence=nothing)
    differs = [
        f"{name} {getattr(stated, name):#x}"
        for name in ("vendor", "product", "revision", "serial")
        if getattr(found, name) != getattr(stated, name)
        and not (name == "serial" and stated.serial == 0)
    ]
    said = f"{words}; the rig has {', '.join(differs)}." if differs else f"{words}."
    return Measured(float(len(differs)), "differences", 0.0, 0.0, said)


STEP = Step(
    place=1,
    name="identity",
    title="Identity",
    question="Is this the drive that the rig means?",
    commands="",
    measure=measure,
    good="The drive is the one that the rig means.",
    bad="Another drive is on the wire.",
    remedy="Connect the right drive, or correct the drive's identity in the rig file.",
)
