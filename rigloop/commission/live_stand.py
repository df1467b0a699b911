"""The stand on a network interface: a process with the loop, which can be killed, and this one, which looks on."""

from __future__ import annotations

import contextlib
import json
import os
import select
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from io_bridge.master.master import BringUpError, Master
from io_bridge.slaves.errors import SdoAbortError
from io_bridge.slaves.sii import Identity
from io_bridge.wire.acyclic import TOOL_INDEX, AcyclicLine
from rig_configs.load import LoadedRig
from rig_configs.plain import line
from rigloop.commission.axis import Axis, Spring
from rigloop.commission.past_the_cycle import (
    ACTS,
    PRESS_STOP,
    acting,
    input_reader,
    take_torque_away,
    watch_end,
)
from rigloop.commission.stand import Array, During, Ending, StandError, Take, take_of
from rigloop.console import interrupts
from rigloop.fieldbus.objects import Wanted, transfer

START_S = 60.0
ANSWER_S = 40.0
STOP_S = 5.0
WATCHED = 3.0  # watchdog times
LEAST_WATCHED_S = 1.0
LATER = 8
MOST_NEWS = 10


class LiveStand:
    """A real drive, or an emulated one at the other end of a wire.

    Parameters
    ----------
    loaded : LoadedRig
    axis : Axis
    asked : str or None
        The `--bus` of the command.
    sha256 : str
        Hash of the rig; its cycle process refuses another one.
    """

    patience_s = 12.0
    changed_bits = 0

    def __init__(self, loaded: LoadedRig, axis: Axis, asked: str | None, sha256: str) -> None:
        self.axis = axis
        self._about: dict[str, Any] = {}
        self._order = {"rig": str(loaded.path), "guard": axis.guard, "bus": asked, "sha256": sha256}
        self._folder = tempfile.TemporaryDirectory(prefix="rigloop-walk-")
        # of the cycle process: between the lines of a walk nobody would read it
        self._log = Path(self._folder.name) / "cycle.log"
        self._told = 0
        self._left: dict[str, Any] = {}
        self._come_up()

    def _come_up(self) -> None:
        with self._log.open("ab") as log:
            self._child = subprocess.Popen(
                [sys.executable, "-P", "-m", "rigloop.commission.live_process"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                start_new_session=True,
            )
        self._waiting = b""
        try:
            self._send(self._order)
            self._about = self._hear(START_S)
        except BaseException:
            self.close()
            raise

    def _send(self, message: dict[str, Any]) -> None:
        assert self._child.stdin is not None
        try:
            self._child.stdin.write(json.dumps(message).encode() + b"\n")
            self._child.stdin.flush()
        except BrokenPipeError:
            raise StandError("the cycle process of the walk has ended") from None

    def _hear(self, limit_s: float) -> dict[str, Any]:
        assert self._child.stdout is not None
        file = self._child.stdout.fileno()
        until = time.monotonic() + limit_s
        while b"\n" not in self._waiting:
            left = until - time.monotonic()
            ready, _, _ = select.select([file], [], [], max(0.0, left))
            if not ready:
                raise StandError(f"the cycle process of the walk said nothing for {limit_s:g} s")
            more = os.read(file, 1 << 16)
            if not more:
                said = "".join(f": {line}" for line in self.news()[-1:])
                raise StandError(f"the cycle process of the walk has ended{said}")
            self._waiting += more
        line, self._waiting = self._waiting.split(b"\n", 1)
        found = json.loads(line)
        if "error" in found:
            raise StandError(found["error"])
        return dict(found)

    def _ask(self, **order: Any) -> dict[str, Any]:
        self._send(order)
        return self._hear(ANSWER_S)

    def identity(self) -> Identity:
        """Return the identity that the drive reports."""
        return Identity(*self._about["identity"])

    def count(self) -> float:
        """Return the encoder's count, with the torque at zero and the drive off."""
        said = self._ask(do="count")
        self.changed_bits = int(said["changed_bits"])
        return float(said["count"])

    def _begin(self, torque_nm: Array, spring: Spring | None) -> Path:
        file = Path(self._folder.name) / "take.npy"
        np.save(file, torque_nm)
        values = (0.0, 0.0) if spring is None else (spring.stiffness_nm_rad, spring.damping_nms)
        self._send({"do": "play", "file": str(file), "spring": values})
        self._hear(ANSWER_S)
        return file

    def play(self, torque_nm: Array, spring: Spring | None = None, during: During = None) -> Take:
        """Play a torque through the guard of the cycle process."""
        file = self._begin(torque_nm, spring)
        if during is not None:
            during()
        said = self._hear(ANSWER_S + 2.0 * len(torque_nm) * self.axis.period_s)
        self._left = said["left"]
        rows = np.load(file, allow_pickle=False)
        columns = {name: rows[name].astype(float) for name in rows.dtype.names or ()}
        return take_of(self.axis, columns, columns["t_ns"])

    def read(self, index: int, subindex: int = 0) -> int | None:
        """Return an object of the drive; None where it has none."""
        wanted = Wanted(self._about["slave"], index, subindex)
        try:
            return int.from_bytes(transfer(self.axis.backend, wanted).data, "little")
        except SdoAbortError:
            return None
        except (BringUpError, OSError) as error:
            raise StandError(f"{self.axis.place}: {index:#06x}: {error}") from None

    def fault_code(self) -> int | None:
        """Return the error code of the drive as it left its operation in the last take; None where it has none."""
        if "unasked" in self._left:
            raise StandError(f"{self.axis.place}: its error code: {self._left['unasked']}")
        return self._left.get("code")

    def write(self, index: int, subindex: int, value: int, size: int) -> None:
        """Write an object of the drive."""
        wanted = Wanted(self._about["slave"], index, subindex, value, size)
        try:
            transfer(self.axis.backend, wanted)
        except (BringUpError, OSError) as error:
            raise StandError(f"{self.axis.place}: {index:#06x}: {error}") from None

    def reset(self) -> None:
        """Reset the drive's fault."""
        self._ask(do="reset")

    def kill(self, torque_nm: Array) -> Ending:
        """Play a torque, kill the cycle process in the middle of it, and watch the drive; then come up again."""
        line = AcyclicLine(self.axis.backend, TOOL_INDEX, self.axis.second)
        master = Master(line.transact, first_index=TOOL_INDEX)
        killed = False
        try:
            read = input_reader(master, self._about["station"], self.axis.drive_config)
            # longer than it is to act: this process may be late with its kill
            self._begin(np.tile(torque_nm, LATER), None)
            time.sleep(len(torque_nm) * self.axis.period_s)
            before_nm = acting(read, ACTS * abs(float(torque_nm[-1])))
            # before the kill: an interrupt may come right behind it
            killed = True
            self._child.kill()
            last_s = time.monotonic()
            longest_s = max(LEAST_WATCHED_S, WATCHED * 1e-3 * self.axis.drive_config.watchdog_ms)
            by = self.axis.rad_per_count
            ending = watch_end(read, time.monotonic, last_s, longest_s, before_nm, by)
        except (BringUpError, OSError) as error:
            raise StandError(str(error)) from None
        finally:
            line.close()
            if killed:
                # the looks are over, in whichever way: a drive without a watchdog still has its torque
                self._must_be_off()
        self._end()
        self._come_up()
        # the watchdog has left the drive in its fault state
        self.reset()
        return ending

    def _must_be_off(self) -> None:
        """Take the torque of the drive away past the cycle.

        Raises
        ------
        StandError
            The drive does not confirm it.
        """
        if not self._about:
            return  # it was never brought up, and so never enabled
        with (
            contextlib.suppress(OSError),
            contextlib.closing(
                AcyclicLine(self.axis.backend, TOOL_INDEX, self.axis.second)
            ) as line,
        ):
            master = Master(line.transact, first_index=TOOL_INDEX)
            if take_torque_away(master, self._about["station"]):
                return
        interrupts.say(PRESS_STOP)
        raise StandError(PRESS_STOP)

    def _end(self) -> None:
        # at once, also in the middle of a take, in which the cycle process reads no input: it ramps out
        self._child.terminate()
        for pipe in (self._child.stdin, self._child.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        try:
            self._child.wait(STOP_S)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.wait()
            self._must_be_off()

    def news(self) -> list[str]:
        """Return what was said of the bus since the last call, and how often; the newest of it."""
        with self._log.open("rb") as log:
            log.seek(self._told)
            new = log.read()
        self._told += len(new)
        lines = Counter(line(text) for text in new.decode(errors="replace").splitlines() if text)
        said = [words if n == 1 else f"{words} ({n} times)" for words, n in lines.items()]
        return said[-MOST_NEWS:]

    def close(self) -> None:
        """End at zero torque: the cycle process is asked to end, and it ramps out."""
        try:
            self._end()
        finally:
            self._folder.cleanup()

    def __enter__(self) -> LiveStand:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
