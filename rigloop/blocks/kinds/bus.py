"""The exchange of one EtherCAT frame a cycle with drives and terminals, in ring order.

It is the first block of its task. Each drive and each channel of a terminal brings ports of its own, under its name:
`wheel/position_count`. `docs/ethercat.md` says how to describe slaves, and `docs/segment.md` how to do without.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from io_bridge.exchange.exchange import FAULTS
from io_bridge.slaves import ports as bus_ports
from rig_configs import units
from rig_configs.hazards import FALSE_SENSOR, LOST_BUS, STALE_COMMAND, answers
from rig_configs.mistakes import Mistake, in_file
from rig_configs.ports import Port, Ports
from rig_configs.schema import Rig
from rig_configs.slaves import Clock
from rigloop.blocks.kind import BlockKind
from rigloop.blocks.slaves import Ring, clock_config, drive_config, joined, terminal_config
from rt_core.settings import SettingsError
from rt_core.task import Cycles

Interface = Annotated[str, Field(pattern=r"^[A-Za-z0-9._-]{1,15}$")]


class BusBlock(Ring):
    """Exchange one EtherCAT frame a cycle with the slaves, in ring order."""

    kind: Literal["bus"]
    backend: Interface = "simulated"
    """Frames go to slaves in this process (`simulated`), to emulated slaves at the other end of a virtual cable
    (`veth`), or out of the network interface of this name."""
    second_interface: Annotated[Interface, Field(examples=["eth1"]), answers(LOST_BUS)] | None = (
        None
    )
    """The last slave's cable comes back to this interface: one cable of the ring may be out."""
    bringup: Literal["auto", "pysoem", "rigloop"] = "auto"
    """The slaves are brought up by pysoem, with our own registers where a slave needs them (`auto`), or by one of the
    two."""
    clock: Annotated[Clock | None, Field(examples=[{"shift_us": 0.0}])] = None
    """The cycle keeps in step with the distributed clocks of the bus; without this table it runs by its own."""
    exchange_budget_us: Annotated[
        int, Field(ge=20, le=1_000_000), answers(STALE_COMMAND, LOST_BUS)
    ] = 100
    """A cycle waits so long for the replies."""
    bad_limit: Annotated[Cycles, answers(LOST_BUS, FALSE_SENSOR)] = 3
    """The number of consecutive bad cycles after which the bus counts as lost."""
    leak_cycles: Annotated[Cycles, answers(LOST_BUS)] = 10
    """The number of good cycles by which one bad cycle is forgotten."""


OF_SLAVES = {
    "torque_nm": ("Nm", "The torque that the drive is asked for."),
    "velocity_rad_s": ("rad/s", "The velocity that the drive is asked for."),
    "position_rad": ("rad", "The position that the drive is asked for."),
    "enable": ("1", "1: the drive shall be enabled."),
    "reset": ("1", "A rising edge resets the drive's fault."),
    "valid": ("1", "1: the inputs are of this cycle and of a slave whose clock moves."),
    "al_state": ("1", "The state of the slave's application layer."),
    "al_code": ("1", "The status code of its application layer."),
    "wkc": ("1", "The working counter of its datagrams."),
    "wkc_expected": ("1", "The working counter that they should have."),
    "wkc_min": ("1", "The least working counter since the bus was brought up."),
    "invalid_cycles": ("1", "Cycles without valid inputs."),
    "dc_difference_ns": ("ns", "The slave's system time less that of the reference clock."),
    "position_count": ("count", "The count of the encoder."),
    "velocity_count_s": ("count/s", "The velocity as the drive reports it."),
    "torque_actual_nm": ("Nm", "The torque as the drive reports it."),
    "statusword": ("1", "The CiA 402 status word."),
    "operational": ("1", "1: the drive follows its command."),
    "sensor_torque_nm": ("Nm", "The torque of a sensor, of a simulated drive."),
}
# by what is read of each drive
USUAL = {
    "torque_nm": "*guard/torque_nm",
    "enable": "supervisor/enable",
    "reset": "supervisor/reset",
}
OF_THE_BUS = {
    "lost": ("1", "Frames that did not come back."),
    "late": ("1", "Frames that came back too late."),
    "exchange_ns": ("ns", "The time that the exchange of this cycle took."),
    "dc_time_ns": ("ns", "The time of the reference clock when the frame passed it."),
    "al_state": ("1", "The states of all slaves, together."),
    "wkc": ("1", "The working counters of all slaves, together."),
    "wkc_expected": ("1", "What they should be."),
    "valid": ("1", "1: the inputs of all slaves are of this cycle."),
    "duplicated": ("1", "Frames that came twice."),
    "dc_error_ns": ("ns", "How much later than wanted the frame passed the reference clock."),
    "dc_locked": ("1", "1: the cycle is in step with the reference clock."),
    "dc_steer_ns": ("ns", "The next deadline is moved by this."),
    "sent_ns": ("ns", "The monotonic time at which the frame left."),
    "ring_open": ("1", "1: a cable is out; not a number without a second interface."),
    "ring_near": ("1", "Slaves before the gap, while it is open."),
    "ring_breaks": ("1", "Times that the ring was found open."),
}
WAYS = ("inputs", "outputs")  # of the channels of a terminal


def ports(table: Mapping[str, Any]) -> Ports | None:
    """Return the ports of a bus, as far as its table can be read."""
    if not isinstance(table.get("drives", {}), dict):
        return None
    channels = {
        f"{name}/{channel}"
        for name, terminal in _tables(table, "terminals").items()
        for way in WAYS
        for channel in _all(terminal.get(way))
    }
    reads, writes = bus_ports.ports(_slave_ports(table))
    read_ports, written_ports = (
        tuple(_port(p, p in channels) for p in side) for side in (reads, writes)
    )
    return Ports(read_ports, written_ports)


def _port(name: str, is_channel: bool) -> Port:
    slave, _, last = name.rpartition("/")
    if is_channel:
        return Port(
            name, units.of_name(last), "A channel of a terminal, scaled; its name may say its unit."
        )
    unit, about = (OF_SLAVES if slave else OF_THE_BUS)[last]
    return Port(name, unit, about, usual=USUAL.get(last, ""))


def _tables(table: Mapping[str, Any], key: str) -> dict[str, Any]:
    """Return the sub-tables of a key, as far as they are tables."""
    found = table.get(key)
    return (
        {n: t for n, t in found.items() if isinstance(t, dict)} if isinstance(found, dict) else {}
    )


def _slave_ports(bus: Mapping[str, Any]) -> list[bus_ports.SlavePorts]:
    drives = [
        bus_ports.drive_ports(name, str(drive.get("mode", "torque")))
        for name, drive in _tables(bus, "drives").items()
    ]
    terminals = [
        bus_ports.terminal_ports(name, *(_all(terminal.get(way)) for way in WAYS))
        for name, terminal in _tables(bus, "terminals").items()
    ]
    return drives + terminals


def _all(channels: Any) -> dict[str, Any]:
    return channels if isinstance(channels, dict) else {}


def table_mistakes(file: str, name: str, table: Mapping[str, Any]) -> Iterator[Mistake]:
    """Find a second interface that makes no ring with the first one."""
    second = table.get("second_interface")
    if not isinstance(second, str):
        return
    backend = table.get("backend", "simulated")
    key = f"blocks.{name}.second_interface"
    if backend == "simulated":
        problem = "the simulated bus has no cables"
        yield Mistake(file, key, problem, "take it out, or give backend an interface", second)
    elif (backend == "veth") != (second == "veth"):
        problem = f"backend is {backend!r}: both ends are interfaces, or both `veth`"
        yield Mistake(file, key, problem, "give both the same kind", second)
    elif second == "simulated" or (second == backend and backend != "veth"):
        problem = f"backend is {backend!r}: a ring needs two interfaces"
        yield Mistake(file, key, problem, "name the card of the second cable", second)


def mistakes(file: str, rig: Rig, name: str) -> Iterator[Mistake]:
    """Find slaves that the master refuses, and devices that cannot stand for one."""
    config = rig.blocks[name]
    assert isinstance(config, BusBlock)
    if not (config.drives or config.terminals):
        problem = "a bus without a slave"
        remedy = "describe its drives and terminals, or take it out"
        yield Mistake(file, f"blocks.{name}", problem, remedy)
    yield from _slave_mistakes(file, name, config, rig.period_us(name))
    yield from _device_mistakes(file, name, config)


def _slave_mistakes(file: str, bus: str, config: BusBlock, period_us: int) -> Iterator[Mistake]:
    try:
        together = joined(config)
    except ValueError as error:
        yield Mistake(file, f"blocks.{bus}", str(error))
        return
    for name, drive in config.drives.items():
        try:
            drive_config(name, drive, emulated=True, is_joined=name in together)
        except SettingsError as error:
            yield from in_file(file, f"blocks.{bus}.drives.{name}", error.wrong)
    for name, terminal in config.terminals.items():
        try:
            terminal_config(name, terminal)
        except SettingsError as error:
            yield from in_file(file, f"blocks.{bus}.terminals.{name}", error.wrong)
    try:
        clock_config(config.clock, period_us)
    except SettingsError as error:
        for found in error.wrong:
            key = found.key.replace("_ns", "_us")
            value = getattr(config.clock, key)
            yield Mistake(file, f"blocks.{bus}.clock.{key}", found.problem, value=value)


def _device_mistakes(file: str, bus: str, config: BusBlock) -> Iterator[Mistake]:
    """Find devices that cannot stand for a slave: no such name or file, a wrong file, an unknown quirk."""
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


KIND = BlockKind(
    name="bus",
    schema=BusBlock,
    ports=ports,
    make=None,  # of the back end, which is more than a block
    about=__doc__,
    mistakes=mistakes,
    table_mistakes=table_mistakes,
    faults=FAULTS,
)
