"""The cycle process of a walk on a network interface: the loop, and a line of JSON on its input for each order.

It ends at zero torque when its input ends, on SIGTERM, and when its parent dies; a SIGKILL, which a step sends on
purpose, leaves the torque to the drive's own watchdog.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import select
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import astuple
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

from io_bridge.attendant.dead_sockets import clear_dead_sockets
from io_bridge.buses.ethercat_bus import EthercatBus
from io_bridge.slaves.errors import BringUpError, SdoAbortError
from io_bridge.wire.owner import introduce
from rigloop.commission.axis import SIGNALS, TASK, Axis, axis_of, bus_settings, moved
from rigloop.commission.bits import SeenBits
from rigloop.compose.parts import backends_of
from rigloop.compose.wiring import load
from rigloop.fieldbus.objects import Wanted, transfer
from rigloop.run_folder.not_started import NotStartedError
from rigloop.run_folder.tables import clear_orphans, held, table_path
from rigloop.sign_off.signed_file import CHANGED, rig_hash
from rt_core.host.parent_death import end_with_parent
from rt_core.host.rights import acquire_rights
from rt_core.loop.loop import Loop
from rt_core.safety.trips import State
from rt_core.signals.table import RingReader, SignalTable

BEAT_S = 0.01
WAKE_S = 3.0
REST_S = 0.05


class Session:
    """A loop that plays what it is asked to.

    Parameters
    ----------
    axis : Axis
    bus : EthercatBus
        In OP.
    table : SignalTable
    loop : Loop
    player : Player
    read_code : callable
        Reads the drive's error code.
    """

    def __init__(
        self, axis: Axis, table: SignalTable, loop: Loop, player: Any, read_code: Callable[[], int]
    ) -> None:
        self._axis, self._table, self._loop, self._player = axis, table, loop, player
        self._read_code = read_code
        self._ring = RingReader(table, TASK)
        self._bits = SeenBits()
        self._beats = 0
        self._takes = 0

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *error: object) -> None:
        self._ring.close()

    def beat(self, **signals: float) -> np.ndarray:
        """Publish a heartbeat with some signals, the others zero; return the cycles since the last one."""
        self._beats += 1
        given = dict.fromkeys(SIGNALS, 0.0) | signals | {"heartbeat": float(self._beats)}
        self._table.publish({f"supervisor/{name}": value for name, value in given.items()})
        if self._loop.wait(BEAT_S):
            raise NotStartedError("the loop was asked to end")
        rows = self._ring.drain()
        count, valid = (self._axis.signal(name) for name in ("position_count", "valid"))
        self._bits.see(rows[count].astype(float), rows[valid].astype(float))
        return rows

    def rest(self, seconds: float, **signals: float) -> None:
        """Let time pass."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            self.beat(**signals)

    def count(self) -> tuple[float, int]:
        """Return the encoder's count, and the bits of it that have changed since the last call."""
        self.rest(REST_S)
        return self._table.value(self._axis.signal("position_count")), self._bits.take()

    def reset(self) -> None:
        """Reset the drive's fault."""
        self.rest(REST_S, reset=1.0)
        self.rest(REST_S)

    def play(
        self, torque_nm: np.ndarray, spring: tuple[float, float], begun: Callable[[], None]
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Play a torque; return the cycles meanwhile, and the error code of a drive that left its operation.

        Raises
        ------
        NotStartedError
            The drive does not follow.
        """
        until = time.monotonic() + WAKE_S
        while self._table.value("guard/state") != State.READY:
            self.beat(enable=1.0)
            if time.monotonic() > until:
                word = int(self._table.value(self._axis.signal("statusword")))
                raise NotStartedError(
                    f"{self._axis.place}: the drive does not follow (statusword {word:#06x})"
                )
        self._takes += 1
        self._player.load(torque_nm, stiffness_nm_rad=spring[0], damping_nms=spring[1])
        self._arm()
        begun()
        until = time.monotonic() + 2.0 * len(torque_nm) * self._axis.period_s + 1.0
        taken: list[np.ndarray] = []
        left: dict[str, Any] = {}
        while time.monotonic() < until:
            taken.append(self.beat(enable=1.0, arm=1.0, play=float(self._takes)))
            if not left and self._table.value(self._axis.signal("operational")) < 0.5:
                left = self._left()
            if self._table.value("player/at") >= len(torque_nm):
                break
        self.rest(REST_S, enable=1.0, stop=1.0)
        self.rest(REST_S)
        return np.concatenate(taken), left

    def _arm(self) -> None:
        """Arm the guard, again where it was not ready at that very moment: a lost frame is enough for that.

        Raises
        ------
        NotStartedError
            It does not arm.
        """
        until = time.monotonic() + WAKE_S
        while True:
            self.rest(REST_S, enable=1.0, arm=1.0)
            # one that has tripped is left as it is: the take says why
            if self._table.value("guard/state") not in (State.INIT, State.READY):
                return
            if time.monotonic() > until:
                raise NotStartedError(f"{self._axis.place}: its guard does not arm")
            self.rest(REST_S, enable=1.0)

    def _left(self) -> dict[str, Any]:
        """Return the error code at once: until the take is over another one may stand in its place."""
        try:
            return {"code": self._read_code()}
        except SdoAbortError:
            return {"code": None}
        except (BringUpError, OSError) as error:
            return {"unasked": str(error)}


def main() -> int:
    """Bring a bus up, and obey until the input ends."""
    end_with_parent()
    order = json.loads(sys.stdin.readline())
    try:
        loaded = load(order["rig"])
        if rig_hash(loaded) != order["sha256"]:
            raise NotStartedError(f"{loaded.path}, {CHANGED}")
        axis = axis_of(loaded, order["guard"], backends_of(loaded.rig, order["bus"]))
        introduce(f"rigloop commission, {loaded.name}")
        # of a walk whose cycle was killed on purpose
        clear_orphans()
        clear_dead_sockets()
        slaves, settings = bus_settings(loaded, axis)
        rights = acquire_rights(80, set())
        with EthercatBus(
            axis.backend, slaves, second_interface=axis.second, bringup=axis.bringup, **settings
        ) as bus:
            bus.to_op()
            bus.attend()
            walk = moved(loaded, axis, bus)
            path = table_path()
            table = SignalTable.create(path, walk.plan)
            try:
                gc.freeze()
                loop = Loop(walk.plan, table, fifo=rights.fifo, safe="guard/safe")
                signal.signal(signal.SIGTERM, _stops(loop))
                found = bus.identities()[axis.drive]
                station = bus.stations()[axis.drive]
                slave = sorted(set(bus.stations().values())).index(station)
                session = Session(axis, table, loop, walk.player, code_reader(axis, slave))
                with held(path), session, loop:
                    _say({"identity": astuple(found), "station": station, "slave": slave})
                    _obey(session)
            finally:
                table.close(unlink=True)
    except (OSError, ValueError, RuntimeError, ImportError) as error:
        _say({"error": str(error) or type(error).__name__})
        return 3
    return 0


def code_reader(axis: Axis, slave: int) -> Callable[[], int]:
    """Return what reads the error code of the drive, through the loop."""
    wanted = Wanted(slave, axis.error_object, 0)
    return lambda: int.from_bytes(transfer(axis.backend, wanted).data, "little")


def _obey(session: Session) -> None:
    poll = select.poll()
    poll.register(0, select.POLLIN)
    waiting = b""
    while True:
        try:
            session.beat()
        except NotStartedError:
            return
        if not poll.poll(0):
            continue
        more = os.read(0, 1 << 16)
        if not more:
            return
        waiting += more
        while b"\n" in waiting:
            line, waiting = waiting.split(b"\n", 1)
            try:
                _say(_answer(session, json.loads(line)))
            except (NotStartedError, ValueError) as error:
                _say({"error": str(error)})


def _answer(session: Session, order: dict[str, Any]) -> dict[str, Any]:
    match order["do"]:
        case "count":
            count, changed = session.count()
            return {"count": count, "changed_bits": changed}
        case "reset":
            session.reset()
            return {}
        case "play":
            file = Path(order["file"])
            rows, left = session.play(
                np.load(file, allow_pickle=False),
                tuple(order["spring"]),
                lambda: _say({"playing": True}),
            )
            np.save(file, rows)
            return {"played": len(rows), "left": left}
    raise ValueError(f"no such order: {order['do']}")


def _stops(loop: Loop) -> Callable[[int, FrameType | None], None]:
    return lambda number, frame: loop.request_stop()


def _say(message: dict[str, Any]) -> None:
    with contextlib.suppress(BrokenPipeError):
        # nobody may be left to hear it; the input has ended then
        os.write(1, json.dumps(message).encode() + b"\n")


if __name__ == "__main__":
    sys.exit(main())
