"""The bus without hardware: the emulated segment in this process, behind the real frames of the
real cycle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from io_bridge.bringup import Master, to_safeop
from io_bridge.bus import Bus, BusFault, list_faults
from io_bridge.drive_config import SENSOR, SIMULATED_IDENTITY, TX_PDO, DriveConfig, DrivePlant
from io_bridge.drive_device import DriveDevice
from io_bridge.exchange import Exchange
from io_bridge.segment import Segment
from io_bridge.segment_link import SegmentLink

SAFE_CYCLES = 4
OP_POLL_NS = 1_000_000


class SimulatedBus(Bus):
    """Drives emulated in this process; no rights, no sockets, simulated time is the cycle's nominal
    time.

    Parameters
    ----------
    plants : sequence of DrivePlant, optional
        One simulated drive each; default one with its defaults.
    drives : sequence of DriveConfig, optional
        What the master believes of them; default taken from the plants, the torque sensor mapped
        too.
    name, paths, budget_us, bad_limit
        As for `Exchange`.
    """

    def __init__(
        self,
        plants: Sequence[DrivePlant] | None = None,
        drives: Sequence[DriveConfig] | None = None,
        *,
        name: str = "bus",
        paths: Mapping[str, str] | None = None,
        budget_us: float = 300.0,
        bad_limit: int = 3,
    ) -> None:
        plants = tuple(plants) if plants is not None else (DrivePlant(),)
        if drives is None:
            drives = [simulated_drive(plant, i, len(plants)) for i, plant in enumerate(plants)]
        self.devices = tuple(DriveDevice(plant) for plant in plants)
        self.segment = Segment(self.devices)
        self.link = SegmentLink(self.segment)
        self._exchange = Exchange(
            drives, name=name, paths=paths, budget_us=budget_us, bad_limit=bad_limit
        )
        self._master: Master | None = None

    def block(self) -> Exchange:
        """Return the cyclic exchange."""
        return self._exchange

    def open(self) -> None:
        """Connect the master to the segment."""
        if self._master is None:
            self._master = Master(self.link.transact)

    def to_op(self, timeout_s: float = 2.0) -> None:
        """Bring the drives to OP; `timeout_s` is simulated time here."""
        self.open()
        exchange = self._exchange
        if exchange.in_service:
            return
        master = self._master
        assert master is not None
        try:
            layouts = to_safeop(master, exchange.drives)
            exchange.configure(
                self.link, layouts, n_slaves=len(layouts), clock_station=layouts[0].station
            )
            exchange.safe = True
            for layout in layouts:
                master.request(layout.station, 8)
            for cycle in range(max(1, int(timeout_s * 1e9) // OP_POLL_NS)):
                exchange.step(cycle * OP_POLL_NS)
                if all(exchange.drive_status(i)[0] == 8 for i in range(len(layouts))):
                    break
            for layout in layouts:
                master.await_state(layout.station, 8)
        except Exception:
            self.close()
            raise
        exchange.safe = False
        exchange.in_service = True

    def close(self) -> None:
        """Zero torque, drives disabled, slaves back to INIT."""
        if self._master is None:
            return
        exchange = self._exchange
        exchange.in_service = False
        exchange.safe = True
        for cycle in range(SAFE_CYCLES):
            exchange.step(cycle * OP_POLL_NS)
        for state in (4, 1):
            self._master.access(8, 0, 0x0120, bytes([state | 0x10, 0]))
        exchange.disconnect()
        self._master = None

    def faults(self) -> list[BusFault]:
        """Return what is wrong now."""
        return list_faults(self._exchange)


def simulated_drive(plant: DrivePlant, position: int = 0, n_drives: int = 1) -> DriveConfig:
    """Return the configuration that fits a simulated drive; named ``drive``, or ``drive0``,
    ``drive1``, ..."""
    return DriveConfig(
        name="drive" if n_drives == 1 else f"drive{position}",
        rated_torque_nm=plant.rated_torque_nm,
        peak_torque_nm=plant.peak_torque_nm,
        counts_per_rev=plant.counts_per_rev,
        identity=SIMULATED_IDENTITY,
        tx_pdo=(*TX_PDO, SENSOR),
    )
