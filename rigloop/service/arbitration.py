"""Cores and interfaces of a service's rigs: each has one owner, among these rigs and among services and runs here."""

from __future__ import annotations

from collections.abc import Sequence

from rig_configs.load import LoadedRig
from rigloop.compose.parts import backends_of
from rigloop.host.reservations import Reservation, needs_of
from rigloop.run_folder.not_started import NotStartedError


def reserved(service: str, rigs: Sequence[LoadedRig], bus: str | None) -> Reservation:
    """Claim all that some rigs need, for a service.

    Raises
    ------
    NotStartedError
        Two of the rigs, or another service, need the same.
    """
    owners: dict[str, str] = {}
    for loaded in rigs:
        for need in needs_of(loaded.rig, backends_of(loaded.rig, bus)):
            if need in owners:
                raise NotStartedError(
                    f"{need}: rigs {owners[need]} and {loaded.name} both need it; give one of them another in its file"
                )
            owners[need] = loaded.name
    return Reservation(service, owners)
