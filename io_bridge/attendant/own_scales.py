"""The torque of a drive in its own words: what 1000 per mille are, and how much it gives at most."""

from __future__ import annotations

from collections.abc import Sequence

from io_bridge.exchange.exchange import Exchange
from io_bridge.master.bringup import has_mailbox
from io_bridge.master.master import Master
from io_bridge.slaves.errors import SdoAbortError
from io_bridge.slaves.moving_objects import AXIS_STEP
from io_bridge.slaves.own_scale import OwnScale
from io_bridge.slaves.pdo_layout import SlaveRecord, axes_of

RATED, MOST = 0x6076, 0x6072
RATED_BYTES, MOST_BYTES = 4, 2


def own_scales(
    exchange: Exchange, master: Master, records: Sequence[SlaveRecord]
) -> dict[str, OwnScale]:
    """Return what each drive says, by its name; before the cycle, for its objects take their time.

    Raises
    ------
    BringUpError
        A drive that has objects does not answer.
    """
    stations = {
        slave.name: record.layout.station
        for group, record in zip(axes_of(exchange.slaves), records, strict=True)
        for slave in group
        if has_mailbox(record)
    }
    found = {}
    for drive in exchange.drives:
        station = stations.get(drive.name)
        if station is None:
            found[drive.name] = OwnScale(None, None)  # it has no objects
            continue
        by = AXIS_STEP * drive.axis
        rated = _number(master, station, RATED + by, RATED_BYTES)
        most = _number(master, station, MOST + by, MOST_BYTES)
        found[drive.name] = OwnScale(1e-3 * rated if rated else None, most or None)
    return found


def _number(master: Master, station: int, index: int, size: int) -> int | None:
    try:
        return int.from_bytes(master.upload(station, index, 0)[:size], "little")
    except SdoAbortError:
        return None
