"""From the bus block of a rig to its bus, on any back end."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from io_bridge.bus import Bus
from io_bridge.buses.no_bus import NoBus
from io_bridge.buses.simulated_bus import SimulatedBus
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
from rigloop.compose.parts import find_bus


def make_bus(rig: Rig, backend: str, interface: str, second: str | None = None) -> Bus:
    """Return the bus of a rig.

    Parameters
    ----------
    backend : str
        `simulated`: in this process. `veth`: emulated drives at the other end. Else an interface.
    interface : str
        Where the frames go, unless in this process.
    second : str, optional
        The interface at the other end of the ring.

    Raises
    ------
    ValueError
        A drive or plant that cannot be; every reason.
    """
    found = find_bus(rig)
    if found is None:
        return NoBus()
    name, config = found
    reads, writes = paths(name, config)
    emulated = backend in ("simulated", "veth")
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
        return SimulatedBus(drives=slaves, devices=emulated_devices(config), **settings)
    # pysoem comes in only with a bus that needs it
    from io_bridge.buses.ethercat_bus import EthercatBus

    return EthercatBus(
        interface, slaves, second_interface=second, bringup=config.bringup, **settings
    )
