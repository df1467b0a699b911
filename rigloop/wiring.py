"""Which ports each kind of block has: what a rig file is checked against before anything starts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from codegen.mechanism import load as load_mechanism
from codegen.mechanism import ports as mechanism_ports
from estimators import encoder_filter
from io_bridge import exchange
from rig_configs.load import LoadedRig, Ports, load_rig
from rigloop.order import SUPERVISOR_SIGNALS
from rt_core import guard
from rt_core.plan import LOOP_SIGNALS, loop_signal


def load(name: str) -> LoadedRig:
    """Read a rig by name or path, checked in full: schema, tasks and wiring.

    Raises
    ------
    ConfigError
        With every mistake of the file.
    """
    return load_rig(name, ports_of, other_signals)


def other_signals(tasks: Iterable[str]) -> Iterator[str]:
    """Return the signals that no block writes: the loop's own, and the supervisor's."""
    yield from SUPERVISOR_SIGNALS
    for task in tasks:
        yield from (loop_signal(task, name) for name in LOOP_SIGNALS)


def ports_of(table: Mapping[str, Any]) -> Ports | None:
    """Return the ports of a block's table; None where it is too wrong to tell.

    Raises
    ------
    ConfigError
        The block names a mechanism that is not there, or has mistakes of its own.
    """
    match table.get("kind"):
        case "bus" if isinstance(table.get("drives"), dict):
            return Ports(*exchange.ports(tuple(table["drives"])))
        case "encoder_filter":
            return Ports(encoder_filter.READ_PORTS, encoder_filter.WRITE_PORTS)
        case "guard":
            return Ports(guard.READS, guard.WRITES)
        case "mechanism" if isinstance(table.get("mechanism"), str):
            return Ports(*mechanism_ports(load_mechanism(table["mechanism"])))
    return None
