"""`rigloop commission` as a person sees it: the command on a terminal, the real loop on a veth pair, an emulated drive
at the other end, and somebody who does what the terminal asks for. Each mistake that a drive or a rig file can have is
planted, one walk each.

    python benchmarks/commissioning/live_commission.py [--rig steering_wheel_veth] [--guard G] [--only "dead watchdog"]
        [--right 1] [--text] [--json]

It takes a network namespace of its own, and a minute of quiet machine for each two walks. With `--text` the terminal of
each walk is printed, and the file that was signed.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import pty
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import tomlkit
from commission import PLANTED

sys.path.append(str(Path(__file__).parents[1]))

from timing.loads import beside

from io_bridge.emulator.drive.device import DriveDevice
from io_bridge.emulator.segment import Segment
from io_bridge.emulator.serving.sim_segment import Beside, serve_until
from io_bridge.host import namespace
from io_bridge.slaves.drive_config import SIMULATED_IDENTITY, DrivePlant
from io_bridge.wire.packet_socket import PacketSocket
from rig_configs.load import find_rig
from rigloop.blocks.axes import drives_of
from rigloop.commission.hands import Act
from rigloop.compose.parts import one_guard
from rigloop.compose.wiring import load

FAR = "veth1"
INSIDE = "RIGLOOP_WALKS_INSIDE"
ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
ENTER, NAME = "[Enter] ", "> "
TURN_S, LOOK_S = 1.5, 0.8
WALK_S = 180.0
# both ends of the wire share two cores: a frame that is late says nothing of the drive
PATIENT_CYCLES = 10_000
PATIENT_BUS = {"exchange_budget_us": 50_000, "bad_limit": 1000}
PATIENT_GUARD = {
    "max_gap_ms": 2000.0,
    "max_request_age_ms": 2000.0,
    "heartbeat_timeout_ms": 2000.0,
    "sensor_hold_ms": 1e5,
    "sensor_bucket_ms": 1e6,
    "skip_bucket_ms": 1e6,
}
TURNS = {Act.LEFT: 0.25, Act.ONE_TURN: 1.0}


@contextlib.contextmanager
def served(device: DriveDevice) -> Iterator[None]:
    """Serve a drive at the far end of the pair."""
    wire = PacketSocket(FAR, 0x00, 0xFF)
    segment = Segment([device])

    def serve(is_over: Callable[[], bool]) -> None:
        serve_until(segment, (wire, None), time.monotonic_ns(), is_over, Beside(None))

    with contextlib.closing(wire), beside(serve):
        yield


class Person:
    """Somebody at the wheel who reads the terminal and does what it says.

    Parameters
    ----------
    device : DriveDevice
    """

    def __init__(self, device: DriveDevice) -> None:
        self._device = device
        self.text = ""
        self._seen = 0
        self._pressed = False

    def read(self, more: str) -> str:
        """Take what the terminal has printed, do what it asks for, and return what is typed."""
        self.text += ANSI.sub("", more).replace("\r", "")
        new = " ".join(self.text[self._seen :].split())
        if Act.PRESS_STOP.value in new and not self._pressed:
            self._pressed = True
            time.sleep(LOOK_S)
            self._device.press_stop()
            return ""
        if self.text.endswith(ENTER):
            self._seen = len(self.text)
            for act in Act:
                if act.value in new:
                    self._do(act)
            return "\n"
        if self.text.endswith(NAME) and "Who signs?" in new:
            self._seen = len(self.text)
            return "Ada Lovelace\n"
        return ""

    def _do(self, act: Act) -> None:
        if act in TURNS:
            self._turn(self._device.angle_rad + TURNS[act] * 6.283185307)
        elif act is Act.STRAIGHT:
            self._turn(0.0)
        elif act is Act.LET_GO:
            self._device.let_go()

    def _turn(self, angle_rad: float) -> None:
        self._device.lead(angle_rad)
        time.sleep(TURN_S)


def walked(command: list[str], device: DriveDevice) -> tuple[int, str]:
    """Run the command on a terminal, with a person at the drive; return its exit code and all that it printed."""
    near, far = pty.openpty()
    environment = {**os.environ, "COLUMNS": "100", "NO_COLOR": "1"}
    with served(device):
        child = subprocess.Popen(
            command, stdin=far, stdout=far, stderr=far, env=environment, start_new_session=True
        )
        os.close(far)
        person = Person(device)
        until = time.monotonic() + WALK_S
        try:
            while time.monotonic() < until:
                more = os.read(near, 1 << 16).decode(errors="replace")
                if typed := person.read(more):
                    os.write(near, typed.encode())
        except OSError:
            pass  # a terminal that nobody has open any more
        finally:
            if child.poll() is None:
                child.terminate()
            code = child.wait()
            os.close(near)
    return code, person.text


def a_walk(
    folder: Path, rig: str, guard: str | None, mistake: dict[str, Any]
) -> tuple[int, str, Path]:
    """Walk one drive of a rig of its own, with a mistake planted."""
    mistake = dict(mistake)
    identity = mistake.pop("identity", SIMULATED_IDENTITY)
    stated, lag = mistake.pop("stated", 1.0), mistake.pop("lag", None)
    spring = mistake.pop("spring", None)
    drive_keys = mistake.pop("drive", {})
    tables: Any = tomlkit.parse(find_rig(rig).read_text())
    shipped = load(rig)
    gate = one_guard(shipped.rig, guard)
    assert gate is not None
    ((bus, drive),) = drives_of(shipped.rig, gate)
    for task in tables["tasks"].values():
        task["stall_cycles"] = PATIENT_CYCLES
    for name, block in tables["blocks"].items():
        if block["kind"] == "bus":
            block["backend"] = "veth0" if name == bus else "simulated"
            block.update(PATIENT_BUS)
        elif block["kind"] == "guard":
            block.update(PATIENT_GUARD)
    table = tables["blocks"][bus]["drives"][drive]
    plant = table["plant"]
    numbers = {
        key: float(plant[key])
        for key in ("inertia_kg_m2", "viscous_nms", "coulomb_nm")
        if key in plant
    }
    plant["inertia_kg_m2"] = stated * numbers["inertia_kg_m2"]
    if lag is not None:
        plant["torque_lag_s"] = numbers["torque_lag_s"] = lag
    # a rig that means this drive
    i = SIMULATED_IDENTITY
    table["identity"] = {"vendor": i.vendor, "product": i.product, "revision": i.revision}
    scale = {
        key: float(table[key]) for key in ("rated_torque_nm", "peak_torque_nm") if key in table
    }
    table.update(drive_keys)
    device = DriveDevice(DrivePlant(**{**numbers, **scale, "hands": "free", **mistake}), identity)
    path = folder / f"{rig}.toml"
    path.write_text(tomlkit.dumps(tables))
    command = [sys.executable, "-P", "-m", "rigloop", "commission", str(path)]
    command += ["--guard", guard] if guard else []
    command += ["--stiffness", str(spring.stiffness_nm_rad)] if spring else []
    code, text = walked(command, device)
    return code, text, path.with_name(f"{path.stem}.commissioned.json")


def last_step(text: str) -> str:
    """Return number and title of the last step that a terminal shows."""
    heads = re.findall(r"^ *(\d+/\d+  .+?) *$", text, re.MULTILINE)
    return heads[-1] if heads else "none"


def main() -> int:
    """Walk the right rig, then each mistake."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rig", default="steering_wheel_veth")
    parser.add_argument("--guard")
    parser.add_argument("--right", type=int, default=1, help="walks without a mistake")
    parser.add_argument("--only", action="append", help="a planted mistake; all if not given")
    parser.add_argument("--no-mistakes", action="store_true")
    parser.add_argument("--text", action="store_true", help="print what the terminal shows")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    if INSIDE not in os.environ:
        command = namespace.wrap([sys.executable, *sys.argv])
        os.execvpe(command[0], command, {**os.environ, INSIDE: "1"})
    mistakes = [] if given.no_mistakes else given.only or list(PLANTED)
    todo = [("", {})] * given.right + [(name, PLANTED[name]) for name in mistakes]
    results = []
    for name, mistake in todo:
        began = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            code, text, signed = a_walk(Path(folder), given.rig, given.guard, mistake)
            if given.text:
                print(text)
                print(signed.read_text() if signed.exists() else "nothing is signed")
            good = code == 0 and signed.exists()
        right = good if not name else code == 1
        results.append(
            {
                "mistake": name,
                "as_it_should": right,
                "code": code,
                "ended_at": last_step(text),
                "said": " ".join(text[text.find("  BAD") :].split()) if "  BAD" in text else "",
                "seconds": round(time.monotonic() - began, 1),
            }
        )
        if not given.json:
            row = results[-1]
            print(
                f"{'ok   ' if right else 'WRONG'} {name or 'right rig':34} {row['ended_at']:34} {row['seconds']} s"
            )
            if not right:
                print(f"      {row['said']}")
            sys.stdout.flush()
    if given.json:
        print(json.dumps(results, indent=2))
    return 0 if all(row["as_it_should"] for row in results) else 1


if __name__ == "__main__":
    sys.exit(main())
