"""Cores and interfaces that a service has claimed on this machine, as long as it lives, whichever user it belongs to.

A claim is a name in the abstract socket namespace, as the owner of a wire is (`io_bridge/wire/owner.py`): nothing lies
in a folder, and the kernel takes it back however its process ends. Runs claim nothing; they ask.
"""

from __future__ import annotations

import errno
import os
import socket
from collections.abc import Iterable
from typing import Self

from rig_configs.schema import Rig
from rigloop.host.interface import cards
from rigloop.run_folder.not_started import NotStartedError

HELD = "rigloop-claim"
SAID = "rigloop-claimant"


def needs_of(rig: Rig, backends: dict[str, str]) -> list[str]:
    """Return the cores and interfaces that a rig cannot share: `core 3`, `interface eth1`."""
    cores = sorted({task.core for task in rig.tasks.values() if task.core is not None})
    return [f"core {core}" for core in cores] + [
        f"interface {card}" for card in sorted(cards(rig, backends))
    ]


class Reservation:
    """Claims, from its making to `close` or the end of the process.

    Parameters
    ----------
    service : str
        Name of the service, for those who are refused.
    needs : iterable of str
        As `needs_of` returns them.

    Raises
    ------
    NotStartedError
        Another service has one of them; none is taken then.
    """

    def __init__(self, service: str, needs: Iterable[str]) -> None:
        self._sockets: list[socket.socket] = []
        try:
            for need in sorted(set(needs)):
                self._take(need, service)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Let go of all of them. Harmless when repeated."""
        for one in self._sockets:
            one.close()
        self._sockets.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _take(self, need: str, service: str) -> None:
        try:
            self._sockets.append(_bound(f"{HELD} {need}"))
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise
            raise NotStartedError(_taken(need)) from None
        self._sockets.append(_bound(f"{SAID} {os.getpid()} {service[:40]} {need}"))


def refuse_claimed(needs: Iterable[str], but: int) -> None:
    """Refuse a run that needs what a service has claimed.

    Parameters
    ----------
    needs : iterable of str
    but : int
        The service that has started this run, by its process.

    Raises
    ------
    NotStartedError
        The message names the service.
    """
    claimed = _claims()
    for need in needs:
        if need in claimed and claimed[need][0] != but:
            raise NotStartedError(_taken(need))


def _taken(need: str) -> str:
    pid, service = _claims().get(need, (0, "another service"))
    who = f"service {service} (process {pid})" if pid else service
    return (
        f"{need}: {who} has it for its rigs; take another one in the rig file, or end that service"
    )


def _claims() -> dict[str, tuple[int, str]]:
    """Return process and name of the service that has each claim."""
    found = {}
    try:
        with open("/proc/net/unix", errors="replace") as table:
            for row in table:
                _, is_abstract, name = row.rstrip("\n").partition(f" @{SAID} ")
                pid, _, rest = name.partition(" ")
                service, _, need = rest.partition(" ")
                if is_abstract and pid.isdecimal():
                    found[need] = int(pid), service
    except OSError:
        pass
    return found


def _bound(name: str) -> socket.socket:
    made = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC)
    try:
        made.bind(f"\0{name}")
    except OSError:
        made.close()
        raise
    return made
