"""A rig file checked in full: what each kind of block knows of itself, and what no single block can see."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rig_configs.load import LoadedRig, Vocabulary, load_rig
from rig_configs.mistakes import Mistake
from rig_configs.schema import Rig
from rigloop.blocks.catalogue import kind_of, ports_of, rig_model_of, table_mistakes
from rigloop.blocks.kind import written
from rigloop.compose.parts import find_bus, find_guard
from rigloop.run_folder.messages import SUPERVISOR_SIGNALS
from rt_core.plan import LOOP_SIGNALS, LOOP_UNITS, loop_signal


def load(name: str) -> LoadedRig:
    """Read a rig by name or path, checked in full: schema, tasks, wiring and units.

    Raises
    ------
    ConfigError
        With every mistake of the file.
    """
    return load_rig(
        name, Vocabulary(rig_model_of, ports_of, other_signals, table_mistakes, rig_mistakes)
    )


def rig_mistakes(file: str, rig: Rig) -> Iterator[Mistake]:
    """Find what no single block can see, and what each kind knows of its blocks."""
    yield from _unguarded(file, rig)
    for block, config in rig.blocks.items():
        yield from kind_of(config).mistakes(file, rig, block)


def _unguarded(file: str, rig: Rig) -> Iterator[Mistake]:
    """Find what would let a torque reach a drive past the guard."""
    for kind in ("bus", "guard"):
        names = [name for name, block in rig.blocks.items() if block.kind == kind]
        if len(names) > 1:
            problem = f"{len(names)} blocks of kind {kind!r}"
            yield Mistake(file, "blocks", problem, "a rig has one at most")
            return
    found_bus, found_guard = find_bus(rig), find_guard(rig)
    if found_bus is None or found_guard is None:
        if found_bus is not None and found_bus[1].drives:
            problem = f"it has drives ({', '.join(found_bus[1].drives)}), and the rig has no guard"
            remedy = "add a block of kind 'guard' behind it; only a rig without drives goes without"
            yield Mistake(file, f"blocks.{found_bus[0]}", problem, remedy)
        if found_guard is not None and found_bus is None:
            problem = "a guard without a bus has no actuator to guard"
            yield Mistake(file, f"blocks.{found_guard[0]}", problem, "add the bus, or take it out")
        return
    bus, guard = found_bus[0], found_guard[0]
    for task, config in rig.tasks.items():
        if guard in config.blocks and (bus not in config.blocks or config.blocks[-1] != guard):
            problem = "the guard is not the last block of the task that has the bus"
            yield Mistake(
                file, f"tasks.{task}.blocks", problem, "list it last, there", config.blocks
            )
    torque = written(guard, rig.blocks[guard], ("torque_nm",))["torque_nm"]
    for port, path in rig.blocks[bus].reads.items():
        if port.endswith("/torque_nm") and path != torque:
            key = f"blocks.{bus}.reads.{port}"
            yield Mistake(
                file,
                key,
                "this torque does not come from the guard",
                f"wire it to {torque!r}",
                path,
            )


def other_signals(tasks: Iterable[str]) -> dict[str, str | None]:
    """Return the signals that no block writes, the loop's own and the supervisor's, with their units."""
    units: dict[str, str | None] = dict.fromkeys(SUPERVISOR_SIGNALS, "1")
    for task in tasks:
        units |= {loop_signal(task, name): LOOP_UNITS.get(name, "1") for name in LOOP_SIGNALS}
    return units
