"""Which ports each kind of block has: what a rig file is checked against before anything starts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from codegen.mechanism import load as load_mechanism
from codegen.mechanism import ports as mechanism_ports
from estimators import encoder_filter
from io_bridge import exchange
from rig_configs.load import LoadedRig, Ports, load_rig, write_path
from rig_configs.mistakes import ConfigError, Mistake, near
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
    loaded = load_rig(name, ports_of, other_signals)
    mistakes = [*_role_mistakes(loaded), *_parameter_mistakes(loaded)]
    if mistakes:
        raise ConfigError(mistakes)
    return loaded


def _role_mistakes(loaded: LoadedRig) -> Iterator[Mistake]:
    """Tell what a rig lacks to be safe: one bus, and one guard between the model and every drive."""
    rig, file = loaded.rig, str(loaded.path)
    named = {
        kind: [name for name, block in rig.blocks.items() if block.kind == kind]
        for kind in ("bus", "guard")
    }
    for kind, names in named.items():
        if len(names) != 1:
            found = f"{len(names)} blocks of kind {kind!r}" + "".join(f", {n}" for n in names)
            yield Mistake(file, "blocks", found, "a rig has exactly one")
    if any(len(names) != 1 for names in named.values()):
        return
    ((bus,), (guard,)) = named["bus"], named["guard"]
    for task, table in rig.tasks.items():
        if bus in table.blocks and guard not in table.blocks:
            remedy = f"list {guard!r} in it: what leaves must pass the guard in the same cycle"
            yield Mistake(file, f"tasks.{task}.blocks", f"steps {bus!r} without the guard", remedy)
    checked = write_path(guard, rig.blocks[guard].model_dump(), "torque_nm")
    for port, path in rig.blocks[bus].reads.items():
        if port.endswith("/torque_nm") and path != checked:
            key = f"blocks.{bus}.reads.{port}"
            yield Mistake(file, key, "does not come from the guard", f"wire it to {checked!r}", path)


def _parameter_mistakes(loaded: LoadedRig) -> Iterator[Mistake]:
    for name, block in loaded.rig.blocks.items():
        if block.kind != "mechanism":
            continue
        known = [quantity.path for quantity in load_mechanism(block.mechanism).system.parameters]
        for path, value in block.parameters.items():
            if path not in known:
                key = f"blocks.{name}.parameters.{path}"
                yield Mistake(
                    str(loaded.path), key, "no such parameter", near(path, known), value
                )


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
