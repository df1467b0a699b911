"""The exchange of one EtherCAT frame in each cycle with drives and terminals, in ring order.

The bus is the first block of its task. Each drive and each channel of a terminal adds ports under its own name:
`wheel/position_count`. `docs/ethercat.md` explains how to describe slaves, and `docs/segment.md` how to emulate them.
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
    """The cable of the last slave returns to this interface, so that one cable of the ring may be out."""
    bringup: Literal["auto", "pysoem", "rigloop"] = "auto"
    """The slaves are brought up by pysoem, with rigloop's own register settings if a slave needs them (`auto`), by
    pysoem alone, or by rigloop alone."""
    clock: Annotated[Clock | None, Field(examples=[{"shift_us": 0.0}])] = None
    """The cycle follows the distributed clocks of the bus; without this table it follows the clock of the machine."""
    exchange_budget_us: Annotated[
        int, Field(ge=20, le=1_000_000), answers(STALE_COMMAND, LOST_BUS)
    ] = 100
    """A cycle waits at most this time for the replies."""
    bad_limit: Annotated[Cycles, answers(LOST_BUS, FALSE_SENSOR)] = 3
    """After this number of consecutive bad cycles the bus counts as lost."""
    leak_cycles: Annotated[Cycles, answers(LOST_BUS)] = 10
    """One bad cycle is forgotten after this number of good cycles."""


OF_SLAVES = {
    "torque_nm": ("Nm", "The torque command for the drive."),
    "velocity_rad_s": ("rad/s", "The velocity that the drive is asked for."),
    "position_rad": ("rad", "The position that the drive is asked for."),
    "enable": ("1", "1: the drive is to be enabled."),
    "reset": ("1", "A rising edge resets the drive's fault."),
    "valid": ("1", "1: the inputs belong to this cycle, and the slave's clock runs."),
    "al_state": ("1", "The state of the slave's application layer."),
    "al_code": ("1", "The status code of its application layer."),
    "wkc": ("1", "The working counter of its datagrams."),
    "wkc_expected": ("1", "The expected working counter of its datagrams."),
    "wkc_min": ("1", "The lowest working counter since the bus was brought up."),
    "invalid_cycles": ("1", "The number of cycles without valid inputs."),
    "dc_difference_ns": ("ns", "The slave's system time minus that of the reference clock."),
    "position_count": ("count", "The count of the encoder."),
    "velocity_count_s": ("count/s", "The velocity as the drive reports it."),
    "torque_actual_nm": ("Nm", "The torque as the drive reports it."),
    "statusword": ("1", "The CiA 402 status word."),
    "operational": ("1", "1: the drive follows its command."),
    "sensor_torque_nm": ("Nm", "The torque that the sensor of a simulated drive measures."),
}
# by what is read of each drive
USUAL = {
    "torque_nm": "*guard/torque_nm",
    "enable": "supervisor/enable",
    "reset": "supervisor/reset",
}
OF_THE_BUS = {
    "lost": ("1", "The number of frames that did not come back."),
    "late": ("1", "The number of frames that came back too late."),
    "exchange_ns": ("ns", "The time that the exchange of this cycle took."),
    "dc_time_ns": ("ns", "The time of the reference clock when the frame passed it."),
    "al_state": ("1", "The combined states of all slaves."),
    "wkc": ("1", "The sum of the working counters of all slaves."),
    "wkc_expected": ("1", "The expected sum of the working counters."),
    "valid": ("1", "1: the inputs of all slaves belong to this cycle."),
    "duplicated": ("1", "The number of frames that came twice."),
    "dc_error_ns": ("ns", "The delay of the frame at the reference clock, relative to `shift_us`."),
    "dc_locked": ("1", "1: the cycle is locked to the reference clock."),
    "dc_steer_ns": ("ns", "The shift of the next deadline."),
    "sent_ns": ("ns", "The monotonic time at which the frame left."),
    "ring_open": ("1", "1: a cable is out; NaN without a second interface."),
    "ring_near": ("1", "The number of slaves before the gap, while the ring is open."),
    "ring_breaks": ("1", "The number of times that the ring was found open."),
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
