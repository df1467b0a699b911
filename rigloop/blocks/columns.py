"""Columns that twist and bend on the simulated segment, and the terminals that measure their strains."""

from __future__ import annotations

from collections.abc import Mapping

from io_bridge.emulator.devices.slave_device import SlaveDevice
from io_bridge.emulator.drive.device import DriveDevice
from rig_configs import slaves as schema


def couple_columns(
    drives: Mapping[str, schema.Drive],
    terminals: Mapping[str, schema.Terminal],
    devices: Mapping[str, SlaveDevice],
) -> None:
    """Put columns between motors and wheels, and wire their gauges to terminals.

    Raises
    ------
    ValueError
        A column that its drive cannot have, a gauge of a drive without a column, or of a device that is no analogue
        terminal: all of them.
    """
    made, wrong = {}, []
    for name, drive in drives.items():
        device = devices.get(name)
        if drive.plant is None or drive.plant.column is None or not isinstance(device, DriveDevice):
            continue
        from io_bridge.emulator.terminals.column import Column

        try:
            made[name] = Column(device, **drive.plant.column.model_dump())
        except ValueError as error:
            wrong.append(f"drive {name!r}: plant.{error}")
    for name, terminal in terminals.items():
        for channel, gauge in terminal.gauges.items():
            from io_bridge.emulator.terminals.analog_io import AnalogIo

            at, device = f"terminal {name!r}: gauges.{channel}", devices[name]
            if gauge.drive not in made:
                known = ", ".join(made) or "none here"
                wrong.append(f"{at}: drive = {gauge.drive!r}: has no plant.column; {known} has")
            elif not isinstance(device, AnalogIo):
                wrong.append(f"{at}: {terminal.device} is not an analogue terminal; take analog_io")
            else:
                try:
                    made[gauge.drive].connect(
                        gauge.gauge, device, int(channel), gauge.volts_per_strain
                    )
                    device.set_noise(int(channel), gauge.noise_volts)
                except ValueError as error:
                    wrong.append(f"{at}: {error}")
    if wrong:
        raise ValueError("; ".join(wrong))
