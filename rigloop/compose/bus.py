"""From the bus blocks of a rig to its buses, each on its back end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from io_bridge.bus import Bus
from rig_configs.schema import Rig
from rig_configs.slaves import Drive
from rigloop.blocks.axes import apart
from rigloop.blocks.catalogue import paths
from rigloop.blocks.slaves import (
    clock_config,
    drive_config,
    emulated_devices,
    joined,
    ring,
    terminal_config,
)
from rigloop.compose.parts import EMULATED, find_buses

if TYPE_CHECKING:
    from io_bridge.buses.buses import Buses


class Interfaces(NamedTuple):
    """The interfaces that the frames of a bus go to; the second is None without cable redundancy."""

    first: str
    second: str | None = None


def make_buses(
    rig: Rig, backends: Mapping[str, str], interfaces: Mapping[str, Interfaces] | None = None
) -> Buses:
    """Return the buses of a rig.

    Parameters
    ----------
    backends : mapping of str to str
        Of each bus. `simulated`: in this process. `veth`: emulated drives at the other end. Else an interface.
    interfaces : mapping of str to Interfaces, optional
        Where the frames of each bus go, unless to the interface that its back end names.

    Raises
    ------
    ValueError
        A drive or plant that cannot be; every reason.
    """
    given = {name: Interfaces(backend) for name, backend in backends.items()} | dict(
        interfaces or {}
    )
    # only where buses are made: most of a command's processes look at a rig alone
    from io_bridge.buses.buses import Buses

    return Buses({name: _make(rig, name, backends[name], given[name]) for name in find_buses(rig)})


def _make(rig: Rig, name: str, backend: str, interfaces: Interfaces) -> Bus:
    config = find_buses(rig)[name]
    reads, writes = paths(name, config)
    emulated = backend in EMULATED
    own = apart(rig, name)
    slaves = [
        replace(drive_config(key, slave, emulated, key in joined(config)), has_own_guard=key in own)
        if isinstance(slave, Drive)
        else terminal_config(key, slave)
        for key, slave in ring(config).items()
    ]
    settings: dict[str, Any] = {
        "name": name,
        "paths": reads | writes,
        "budget_us": float(config.exchange_budget_us),
        "bad_limit": config.bad_limit,
        "leak_cycles": config.leak_cycles,
        "clock": clock_config(config.clock, rig.period_us(name)),
    }
    if backend == "simulated":
        from io_bridge.buses.simulated_bus import SimulatedBus

        return SimulatedBus(drives=slaves, devices=emulated_devices(config), **settings)
    # pysoem comes in only with a bus that needs it
    from io_bridge.buses.ethercat_bus import EthercatBus

    return EthercatBus(
        interfaces.first,
        slaves,
        second_interface=interfaces.second,
        bringup=config.bringup,
        **settings,
    )
