"""Which ports each kind of block has: what a rig file is checked against before anything starts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from estimators.encoder import filter as encoder_filter
from io_bridge.slaves import ports as bus_ports
from rig_configs.load import LoadedRig, Ports, load_rig, write_path
from rig_configs.mistakes import ConfigError, Mistake, near
from rig_configs.schema import EncoderFilterBlock, MechanismBlock, ObservingBlock, Rig
from rigloop.compose import excitation, relay
from rigloop.compose.guard_limits import guard_config
from rigloop.compose.observer_block import observer_mistakes, observer_ports
from rigloop.compose.parts import find_bus, find_guard
from rigloop.run_folder.messages import SUPERVISOR_SIGNALS
from rt_core.plan import LOOP_SIGNALS, loop_signal
from rt_core.safety import guard

if TYPE_CHECKING:
    from codegen.system.quantities import Quantity

# of a ramp out by the rate limit alone; a fault that takes longer to end is one that goes on
MOST_TO_ZERO_S = 10.0


def load(name: str) -> LoadedRig:
    """Read a rig by name or path, checked in full: schema, tasks and wiring.

    Raises
    ------
    ConfigError
        With every mistake of the file.
    """
    loaded = load_rig(name, ports_of, other_signals)
    file = str(loaded.path)
    mistakes = [
        *_unguarded(file, loaded.rig),
        *_parameter_mistakes(file, loaded.rig),
        *_option_mistakes(file, loaded.rig),
        *observer_mistakes(file, loaded.rig),
        *_guard_mistakes(file, loaded.rig),
        *_filter_mistakes(file, loaded.rig),
        *_slave_mistakes(file, loaded.rig),
        *_device_mistakes(file, loaded.rig),
    ]
    if mistakes:
        raise ConfigError(mistakes)
    return loaded


def _unguarded(file: str, rig: Rig) -> Iterator[Mistake]:
    """Find what would let a torque reach a drive past the guard."""
    for kind in ("bus", "guard"):
        names = [name for name, block in rig.blocks.items() if block.kind == kind]
        if len(names) > 1:
            problem = f"{len(names)} blocks of kind {kind!r}"
            yield Mistake(file, "blocks", problem, "a rig has one at most")
            return
    found_bus, found_guard = find_bus(rig), find_guard(rig)
    if found_bus is not None and not (found_bus[1].drives or found_bus[1].terminals):
        problem, remedy = (
            "a bus without a slave",
            "describe its drives and terminals, or take it out",
        )
        yield Mistake(file, f"blocks.{found_bus[0]}", problem, remedy)
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
    torque = write_path(guard, rig.blocks[guard].model_dump(), "torque_nm")
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


def _guard_mistakes(file: str, rig: Rig) -> Iterator[Mistake]:
    """Find limits that a guard would refuse, or with which its torque would not end."""
    found = find_guard(rig)
    if found is None:
        return
    name, config = found
    limits = guard_config(rig, name, config)
    for mistake in limits.mistakes():
        key, _, rest = mistake.partition(" = ")
        problem = rest.partition(" ")[2]
        yield Mistake(file, f"blocks.{name}.{key}", problem, value=getattr(limits, key))
    if not config.limit_nm <= MOST_TO_ZERO_S * config.rate_nm_s:
        problem = (
            f"from limit_nm = {config.limit_nm:g} the torque takes "
            f"{config.limit_nm / config.rate_nm_s:.3g} s to zero, at most {MOST_TO_ZERO_S:g} s"
        )
        remedy = f"at least {config.limit_nm / MOST_TO_ZERO_S:.3g}, or a lower limit_nm"
        yield Mistake(file, f"blocks.{name}.rate_nm_s", problem, remedy, config.rate_nm_s)


def _filter_mistakes(file: str, rig: Rig) -> Iterator[Mistake]:
    """Find settings that an encoder filter refuses."""
    from rigloop.compose.blocks import make_filter

    for name, block in rig.blocks.items():
        if isinstance(block, EncoderFilterBlock):
            try:
                make_filter(rig, name, block)
            except ValueError as error:
                problem = str(error).removeprefix(f"encoder filter {name}: ")
                yield Mistake(file, f"blocks.{name}", problem)


def _device_mistakes(file: str, rig: Rig) -> Iterator[Mistake]:
    """Find devices that cannot stand for a slave: no such name or file, a wrong file, an unknown quirk."""
    found = find_bus(rig)
    if found is None:
        return
    bus, config = found
    for kind, slaves in (("drives", config.drives), ("terminals", config.terminals)):
        for name, slave in slaves.items():
            if slave.device is None:
                continue
            from io_bridge.emulator.catalogue.devices import make_device

            try:
                make_device(slave.device)
            except (OSError, ValueError) as error:
                for problem in str(error).splitlines():
                    yield Mistake(
                        file,
                        f"blocks.{bus}.{kind}.{name}.device",
                        problem.removeprefix(f"{slave.device}: "),
                        "`rigloop sim-segment --list` names those that ship, and their quirks",
                        slave.device,
                    )


def _slave_mistakes(file: str, rig: Rig) -> Iterator[Mistake]:
    """Find settings of drives and terminals that the master refuses."""
    from rigloop.compose.bus import drive_config, joined, terminal_config

    found = find_bus(rig)
    if found is None:
        return
    bus, config = found
    try:
        together = joined(config)
    except ValueError as error:
        yield Mistake(file, f"blocks.{bus}", str(error))
        return
    for name, drive in config.drives.items():
        try:
            drive_config(name, drive, emulated=True, is_joined=name in together)
        except ValueError as error:
            problem = str(error).removeprefix(f"drive {name!r}: ")
            yield Mistake(file, f"blocks.{bus}.drives.{name}", problem)
    for name, terminal in config.terminals.items():
        try:
            terminal_config(name, terminal)
        except ValueError as error:
            problem = str(error).removeprefix(f"terminal {name!r}: ")
            yield Mistake(file, f"blocks.{bus}.terminals.{name}", problem)


def _parameter_mistakes(file: str, rig: Rig) -> Iterator[Mistake]:
    for name, block in rig.blocks.items():
        if isinstance(block, MechanismBlock | ObservingBlock):
            known = _kernel(block.mechanism)[1]
            for path, value in block.parameters.items():
                key = f"blocks.{name}.parameters.{path}"
                if path not in known:
                    yield Mistake(file, key, "no such parameter", near(path, known), value)
                elif problem := known[path].problem(value):
                    yield Mistake(file, key, problem, "give a value within its bound", value)


def _option_mistakes(file: str, rig: Rig) -> Iterator[Mistake]:
    from rigloop.compose.kernels import kernel_options

    for name, block in rig.blocks.items():
        if isinstance(block, MechanismBlock | ObservingBlock):
            try:
                options = kernel_options(rig, name, file)
            except ConfigError as error:
                yield from error.mistakes
                continue
            from codegen.description.contact import too_short
            from codegen.description.mechanism import load

            for _, problem, remedy in too_short(load(block.mechanism), options):
                yield Mistake(
                    file, f"blocks.{name}.options.substeps", problem, remedy, options.substeps
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
        case "bus" if isinstance(table.get("drives", {}), dict):
            return Ports(*bus_ports.ports(_slave_ports(table)))
        case "encoder_filter":
            return Ports(
                encoder_filter.READ_PORTS, encoder_filter.WRITE_PORTS, encoder_filter.OPTIONAL_PORTS
            )
        case "guard":
            return Ports(guard.READS, guard.WRITES, guard.OPTIONAL)
        case "relay":
            return Ports(relay.READS, relay.WRITES)
        case "excitation":
            return Ports(excitation.READS, excitation.WRITES)
        case "mechanism" if isinstance(table.get("mechanism"), str):
            return _kernel(table["mechanism"])[0]
        case "observer" | "two_stage_observer" if isinstance(table.get("mechanism"), str):
            return observer_ports(table)
    return None


def _slave_ports(bus: Mapping[str, Any]) -> list[bus_ports.SlavePorts]:
    """Ports of the slaves of a bus, as far as its table can be read."""
    tables = {
        kind: {n: t for n, t in bus[kind].items() if isinstance(t, dict)}
        for kind in ("drives", "terminals")
        if isinstance(bus.get(kind), dict)
    }
    drives = [
        bus_ports.drive_ports(name, str(drive.get("mode", "torque")))
        for name, drive in tables.get("drives", {}).items()
    ]
    terminals = [
        bus_ports.terminal_ports(
            name,
            *(
                t.get(way, {}) if isinstance(t.get(way), dict) else {}
                for way in ("inputs", "outputs")
            ),
        )
        for name, t in tables.get("terminals", {}).items()
    ]
    return drives + terminals


@cache
def _kernel(mechanism: str) -> tuple[Ports, dict[str, Quantity]]:
    """Ports and parameters of the kernel of a mechanism."""
    # only where a rig is checked: the cycle process gets one that has been
    from codegen.description.mechanism import load, ports

    found = load(mechanism)
    return Ports(*ports(found)), {p.path: p for p in found.system.parameters}
