"""The stand in simulated time: the emulated slaves of this process, stepped through the real exchange and guard."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from io_bridge.buses.simulated_bus import SimulatedBus
from io_bridge.emulator.devices.slave_device import SlaveDevice
from io_bridge.emulator.drive.device import DriveDevice
from io_bridge.master.master import BringUpError, Master
from io_bridge.slaves.errors import SdoAbortError
from io_bridge.slaves.pdo_layout import axes_of
from io_bridge.slaves.sii import Identity
from rig_configs.load import LoadedRig
from rigloop.blocks.kinds.bus import BusBlock
from rigloop.blocks.slaves import emulated_devices
from rigloop.commission.axis import SIGNALS, TASK, Axis, Spring, bus_settings, moved
from rigloop.commission.bits import SeenBits
from rigloop.commission.past_the_cycle import ACTS, acting, input_reader, watch_end
from rigloop.commission.stand import Array, During, Ending, StandError, Take, take_of
from rt_core.loop.offline import Offline
from rt_core.safety.trips import State

WAKE_S = 0.05
MOST_WAKES = 20
REST_S = 0.05
LOOK_NS = 250_000  # of simulated time, for a frame past the cycle
WATCHED = 3.0  # watchdog times
LEAST_WATCHED_S = 0.3


class SteppedStand:
    """An emulated drive; time passes only while something is played, looked at or waited for.

    Parameters
    ----------
    loaded : LoadedRig
    axis : Axis
    devices : sequence of SlaveDevice, optional
        The slaves of its bus in ring order; those of the rig if not given.
    """

    patience_s = 0.6
    changed_bits = 0

    def __init__(
        self, loaded: LoadedRig, axis: Axis, devices: Sequence[SlaveDevice] | None = None
    ) -> None:
        config = loaded.rig.blocks[axis.bus]
        assert isinstance(config, BusBlock)
        self.axis = axis
        self._loaded = loaded
        self.devices = list(devices if devices is not None else emulated_devices(config))
        slaves = bus_settings(loaded, axis)[0]
        self._place = next(
            place
            for place, group in enumerate(axes_of(slaves))
            if any(slave.name == axis.drive for slave in group)
        )
        self._takes = 0
        self._bits = SeenBits()
        self._come_up()

    @property
    def device(self) -> DriveDevice:
        """The emulated drive of the axis."""
        device = self.devices[self._place]
        assert isinstance(device, DriveDevice)
        return device

    def _come_up(self) -> None:
        slaves, settings = bus_settings(self._loaded, self.axis)
        self._bus = SimulatedBus(drives=slaves, devices=self.devices, **settings)
        try:
            self._bus.to_op()
        except BringUpError as error:
            raise StandError(str(error)) from None
        self._moved = moved(self._loaded, self.axis, self._bus)
        self._offline = Offline(self._moved.plan)
        self._cycle = 0
        self._run(REST_S)

    def _run(self, seconds: float, **signals: float | Array) -> dict[str, Array]:
        """Step for some time, with the signals of the supervisor as given; the others are zero."""
        n = max(1, round(seconds / self.axis.period_s))
        t_ns = (self._cycle + np.arange(n)) * self.axis.period_ns
        paths = self._offline.paths(TASK)
        given: dict[str, Any] = dict.fromkeys(SIGNALS, 0.0) | signals
        given["heartbeat"] = self._cycle + np.arange(n) + 1.0
        forced = {
            path: np.zeros(n) + value
            for name, value in given.items()
            if (path := f"supervisor/{name}") in paths
        }
        images = self._offline.run(TASK, t_ns, forced=forced)[TASK]
        self._cycle += n
        seen = {path: images[:, i] for i, path in enumerate(paths)}
        signal = self.axis.signal
        self._bits.see(seen[signal("position_count")], seen[signal("valid")])
        return seen | {"t_ns": t_ns.astype(float)}

    def wait(self, seconds: float) -> None:
        """Let time pass, with the drive off."""
        self._run(seconds)

    def identity(self) -> Identity:
        """Return the identity that the drive reports."""
        return self._bus.identities()[self.axis.drive]

    def count(self) -> float:
        """Return the encoder's count, with the torque at zero and the drive off."""
        count = float(self._run(0.01)[self.axis.signal("position_count")][-1])
        self.changed_bits = self._bits.take()
        return count

    def play(self, torque_nm: Array, spring: Spring | None = None, during: During = None) -> Take:
        """Play a torque; what a hand does meanwhile happens in the middle of it."""
        self._wake()
        take = self._played(torque_nm, spring, during)
        self._run(REST_S, enable=1.0, stop=1.0)
        self._run(REST_S)
        return take

    def _wake(self) -> None:
        for _ in range(MOST_WAKES):
            seen = self._run(WAKE_S, enable=1.0)
            if seen["guard/state"][-1] == State.READY:
                return
        raise StandError(
            f"{self.axis.place}: the drive does not follow (statusword "
            f"{int(seen[self.axis.signal('statusword')][-1]):#06x})"
        )

    def _played(
        self, torque_nm: Array, spring: Spring | None, during: Callable[[], None] | None
    ) -> Take:
        self._takes += 1
        stiffness, damping = (
            (0.0, 0.0) if spring is None else (spring.stiffness_nm_rad, spring.damping_nms)
        )
        self._moved.player.load(torque_nm, stiffness_nm_rad=stiffness, damping_nms=damping)
        self._run(REST_S, enable=1.0, arm=1.0)
        seconds = len(torque_nm) * self.axis.period_s
        parts = [seconds] if during is None else [0.5 * seconds, 0.5 * seconds]
        found = []
        for i, part in enumerate(parts):
            if i and during is not None:
                during()
            found.append(self._run(part, enable=1.0, arm=1.0, play=float(self._takes)))
        columns = {path: np.concatenate([f[path] for f in found]) for path in found[0]}
        return take_of(self.axis, columns, columns["t_ns"])

    def reset(self) -> None:
        """Reset the drive's fault."""
        self._run(REST_S, reset=1.0)
        self._run(REST_S)

    def _master(self) -> tuple[Master, int]:
        master = Master(lambda frame: self._bus.link.transact(frame, LOOK_NS))
        self._bus.introduce(master)
        return master, self._bus.stations()[self.axis.drive]

    def read(self, index: int, subindex: int = 0) -> int | None:
        """Return an object of the drive; None where it has none."""
        master, station = self._master()
        try:
            return int.from_bytes(master.upload(station, index, subindex), "little")
        except SdoAbortError:
            return None
        except BringUpError as error:
            raise StandError(str(error)) from None

    def fault_code(self) -> int | None:
        """Return the error code of the drive; simulated time stood still since it left its operation."""
        return self.read(self.axis.error_object)

    def write(self, index: int, subindex: int, value: int, size: int) -> None:
        """Write an object of the drive."""
        master, station = self._master()
        try:
            master.download(station, index, subindex, value, size)
        except (SdoAbortError, BringUpError) as error:
            raise StandError(f"{self.axis.place}: {index:#06x}: {error}") from None

    def kill(self, torque_nm: Array) -> Ending:
        """Play a torque, step no further, and watch; then come up again."""
        self._wake()
        self._played(torque_nm, None, None)
        segment = self._bus.link.segment
        master, station = self._master()
        read = input_reader(master, station, self.axis.drive_config)
        before_nm = acting(read, ACTS * abs(float(torque_nm[-1])))
        last_s = 1e-9 * segment.now_ns
        longest_s = max(LEAST_WATCHED_S, WATCHED * 1e-3 * self.axis.drive_config.watchdog_ms)
        by = self.axis.rad_per_count
        ending = watch_end(read, lambda: 1e-9 * segment.now_ns, last_s, longest_s, before_nm, by)
        self._bus.close()
        self._come_up()
        # the watchdog has left the drive in its fault state
        self.reset()
        return ending

    def news(self) -> list[str]:
        """Return what was said of the bus since the last call: in simulated time nothing happens beside the cycle."""
        return []

    def close(self) -> None:
        """End at zero torque."""
        self._bus.close()

    def __enter__(self) -> SteppedStand:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
