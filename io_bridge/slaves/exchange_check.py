"""Check the parts of an exchange, and the signal of every port; all mistakes are reported at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from io_bridge.slaves.drive_config import DriveConfig
from io_bridge.slaves.ports import ports, ports_of
from io_bridge.slaves.terminal_config import TerminalConfig


class Bucket(NamedTuple):
    """The settings of an exchange that say when frames are late, and how many may be."""

    budget_us: float
    bad_limit: int
    leak_cycles: int


def checked_ports(
    name: str,
    slaves: Sequence[DriveConfig | TerminalConfig],
    paths: Mapping[str, str],
    most: tuple[int, int],
    bucket: Bucket,
) -> tuple[dict[str, str], dict[str, str]]:
    """Return the signal of every port that is read, and of every one that is written.

    Parameters
    ----------
    name, slaves, paths
        As for `Exchange`.
    most : (int, int)
        Drives and terminals that there is room for.
    bucket : Bucket

    Raises
    ------
    ValueError
        With every mistake.
    """
    budget_us, bad_limit, leak_cycles = bucket
    names = [slave.name for slave in slaves]
    n_drives = sum(isinstance(slave, DriveConfig) for slave in slaves)
    n_terminals = len(slaves) - n_drives
    mistakes = []
    if not slaves or n_drives > most[0] or n_terminals > most[1]:
        mistakes.append(
            f"{n_drives} drives and {n_terminals} terminals: 1 to {most[0]} drives and {most[1]} "
            "terminals are possible"
        )
    if len(set(names)) != len(names):
        mistakes.append(f"names {names} must differ")
    if not 1.0 <= budget_us <= 1e6:
        mistakes.append(f"budget_us = {budget_us}: 1 to 1000000")
    if bad_limit < 1:
        mistakes.append(f"bad_limit = {bad_limit}: at least 1")
    if leak_cycles < 1:
        mistakes.append(f"leak_cycles = {leak_cycles}: at least 1")
    reads, writes = ports([ports_of(slave) for slave in slaves])
    unknown = sorted(set(paths) - set(reads) - set(writes))
    if unknown:
        known = ", ".join((*reads, *writes))
        mistakes.append(f"paths: no port {', '.join(unknown)}; the ports are {known}")
    if mistakes:
        raise ValueError(f"bus {name!r}: " + "; ".join(mistakes))
    return (
        {port: paths.get(port, f"{name}/{port}") for port in reads},
        {port: paths.get(port, f"{name}/{port}") for port in writes},
    )
