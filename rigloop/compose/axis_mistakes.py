"""Mistakes that would let a torque reach a drive past its guard: each drive has one, among the last of its task."""

from __future__ import annotations

from collections.abc import Iterator

from rig_configs.mistakes import Mistake
from rig_configs.schema import Rig
from rigloop.blocks.axes import commands_of, drives_of, torque_of
from rigloop.compose.parts import EMULATED, find_buses, find_guards
from rt_core.plan import LOOP_SIGNALS, loop_signal

LAST = "list it last, there"
OF_OWN_TASK = ("own_fault", "own_cycle", "elapsed", "own_stop")


def axis_mistakes(file: str, rig: Rig) -> Iterator[Mistake]:
    """Find what would let a torque reach a drive past its guard."""
    guards, buses = find_guards(rig), find_buses(rig)
    yield from _shared_by_buses(file, rig)
    if not guards:
        for bus, config in buses.items():
            if config.drives:
                problem = f"it has drives ({', '.join(config.drives)}), and the rig has no guard"
                remedy = (
                    "add a block of kind 'guard' behind it; only a rig without drives goes without"
                )
                yield Mistake(file, f"blocks.{bus}", problem, remedy)
        return
    if not buses:
        for guard in guards:
            problem = "a guard without a bus has no actuator to guard"
            yield Mistake(file, f"blocks.{guard}", problem, "add the bus, or take it out")
        return
    for guard in guards:
        yield from _mistakes_of(file, rig, guard)
    yield from _past_a_guard(file, rig)
    yield from _partly_rearmed(file, rig)


def _shared_by_buses(file: str, rig: Rig) -> Iterator[Mistake]:
    """Find what two buses cannot share: an interface, and the clock that all tasks keep step with."""
    buses = find_buses(rig)
    taken: dict[str, str] = {}
    for bus, config in buses.items():
        for key, card in (
            ("backend", config.backend),
            ("second_interface", config.second_interface),
        ):
            if card is None or card in EMULATED:
                continue
            if taken.setdefault(card, bus) != bus:
                problem = f"the frames of bus {taken[card]!r} go to this interface"
                yield Mistake(file, f"blocks.{bus}.{key}", problem, "give each its own", card)
    steering = [bus for bus, config in buses.items() if config.clock is not None]
    for bus in steering[1:]:
        problem = f"all tasks keep step with the clock of bus {steering[0]!r} already"
        yield Mistake(file, f"blocks.{bus}.clock", problem, "leave one of the two tables")
    virtual = {bus: config.backend == "veth" for bus, config in buses.items()}
    for bus, config in buses.items():
        if any(virtual.values()) and config.backend not in EMULATED:
            other = next(name for name, is_virtual in virtual.items() if is_virtual)
            problem = f"bus {other!r} is on veth, in a network of its own without this interface"
            remedy = "use veth for all buses, or combine simulated with an interface"
            yield Mistake(file, f"blocks.{bus}.backend", problem, remedy, config.backend)


def _mistakes_of(file: str, rig: Rig, guard: str) -> Iterator[Mistake]:
    """Find a guard that guards no drive or several, or is stepped before something that could change its torque."""
    guards, buses = find_guards(rig), find_buses(rig)
    drives = drives_of(rig, guard)
    theirs = {bus for bus, _ in drives} or set(buses)
    for task, config in rig.tasks.items():
        if guard not in config.blocks:
            continue
        behind = config.blocks[config.blocks.index(guard) + 1 :]
        if not theirs <= set(config.blocks) or any(block not in guards for block in behind):
            problem = "the guard is not the last block of the task that has the bus"
            if len(guards) > 1:
                problem = (
                    f"the guard {guard!r} is not among the last blocks of the task that has the bus"
                )
            yield Mistake(file, f"tasks.{task}.blocks", problem, LAST, config.blocks)
        yield from _of_another_task(file, rig, guard, task)
    # two motors of one shaft may share the torque of the only guard, which any fault of the bus ends
    if len(drives) > 1 and len(guards) > 1:
        named = ", ".join(f"{bus}/{drive}" for bus, drive in drives)
        problem = f"its torque goes to {len(drives)} drives: {named}"
        yield Mistake(
            file, f"blocks.{guard}", problem, "give each drive a guard of its own: one for one"
        )
    if not drives and len(guards) > 1:
        problem = f"no drive takes its torque {torque_of(rig, guard)!r}"
        remedy = "wire it to a drive's torque_nm, or take the guard out"
        yield Mistake(file, f"blocks.{guard}", problem, remedy)


def _of_another_task(file: str, rig: Rig, guard: str, own: str) -> Iterator[Mistake]:
    """Find signals of its own task that a guard takes from another one: it would be blind to the faults of its own."""
    of_loop = {loop_signal(task, s): (task, s) for task in rig.tasks for s in LOOP_SIGNALS}
    for port in OF_OWN_TASK:
        task, signal = of_loop.get(rig.blocks[guard].reads.get(port, ""), (own, ""))
        if task != own:
            problem = f"is of task {task!r}, and the guard is stepped in {own!r}"
            remedy = f"wire it to {loop_signal(own, signal)!r}"
            yield Mistake(file, f"blocks.{guard}.reads.{port}", problem, remedy)


def _past_a_guard(file: str, rig: Rig) -> Iterator[Mistake]:
    torques = {torque_of(rig, guard): guard for guard in find_guards(rig)}
    for bus, drive, path in commands_of(rig):
        if path not in torques:
            problem = "this torque does not come from the guard"
            remedy = f"wire it to {next(iter(torques))!r}"
            if len(torques) > 1:
                problem = "this torque does not come from a guard"
                remedy = f"wire it to one of {', '.join(map(repr, torques))}"
            yield Mistake(file, f"blocks.{bus}.reads.{drive}/torque_nm", problem, remedy, path)


def _partly_rearmed(file: str, rig: Rig) -> Iterator[Mistake]:
    """Find a guard that would stay out where all others are armed again: they have one `arm` of the supervisor."""
    guards = find_guards(rig)
    without = [name for name, guard in guards.items() if guard.rearm is None]
    if not without or len(without) == len(guards):
        return
    for name in without:
        problem = "other guards of this rig arm again after a bus fault, and this one does not"
        remedy = (
            "give all of them a table `rearm`, or none: the supervisor arms all of them together"
        )
        yield Mistake(file, f"blocks.{name}", problem, remedy)
