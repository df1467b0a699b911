"""The walk of `rigloop commission` against emulated drives: false alarms on right rigs, and planted mistakes found.

    python benchmarks/commissioning/commission.py [--walks 50] [--planted 5] [--seed 1] [--json]

A right rig is drawn from a seed: inertia, damping and dry friction of the wheel, its lag, the place where it stands,
the hands' error at each mark, and a small error of the stated inertia. A walk on it is a false alarm if any step is
bad. Then each mistake is planted into such rigs, one at a time; it counts as found if the walk is not good. Time is
simulated.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import sys
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import tomlkit
from rich.console import Console

from io_bridge.emulator.drive.device import DriveDevice
from io_bridge.slaves.drive_config import SIMULATED_IDENTITY, DrivePlant
from io_bridge.slaves.sii import Identity
from rig_configs.load import LoadedRig, find_rig
from rigloop.commission.axis import Spring, axis_of
from rigloop.commission.hands import EmulatedHands
from rigloop.commission.progress import Kept
from rigloop.commission.stepped_stand import SteppedStand
from rigloop.commission.talk import TerminalTalk
from rigloop.commission.walk import Walked, walk
from rigloop.compose.parts import backends_of
from rigloop.compose.wiring import load

RIG = "steering_wheel"
SPRING = Spring(20.0, 0.4)
HANDS_RAD = math.radians(2.0)
STATED = 0.05  # the inertia that a rig states is as good as this
# what is different from the rig file
PLANTED: dict[str, dict[str, Any]] = {
    "swapped encoder sign": {"encoder_sign": -1},
    "counts per turn: half": {"counts_per_rev": 1 << 19},
    "counts per turn: fourfold": {"counts_per_rev": 1 << 22},
    "zero 7 degrees off": {"encoder_offset_count": 20_388},
    "swapped torque sign": {"torque_sign": -1},
    "drive torque limit too high": {"peak_torque_nm": 40.0},
    "drive torque limit absent": {"keeps_max_torque": False},
    "torque constant 30 % high": {"torque_factor": 1.3},
    "torque constant 30 % low": {"torque_factor": 0.7},
    "rated torque three times that of the rig": {"rated_torque_nm": 19.1},
    "drive slower than the rate limit": {"torque_slope_nm_s": 100.0},
    "delay 4 ms longer than declared": {"torque_delay_s": 0.004},
    "dead watchdog": {"has_watchdog": False},
    "unconnected emergency stop": {"stop_wired": False},
    "another drive": {"identity": Identity(1, 2, 3, 4)},
    "stated inertia 40 % wrong": {"stated": 1.4},
    "counts per turn: double": {"counts_per_rev": 1 << 21},
    "encoder and torque both swapped": {"encoder_sign": -1, "torque_sign": -1},
    "torque constant 25 % high": {"torque_factor": 1.25},
    "torque constant 25 % low": {"torque_factor": 0.75},
    "delay 2 ms longer than declared": {"torque_delay_s": 0.002},
    "drive that gives less than the rig has": {"peak_torque_nm": 6.0},
    "watchdog that works once": {"watchdog_once": True},
    "emergency stop that only warns": {"stop_does": "warn"},
    "emergency stop that leaves the torque on": {"stop_does": "run on"},
    "torque in one way only": {"torque_one_way": True},
    "current loop of 8 ms": {"torque_lag_s": 0.008},
    "torque that outlasts a stop by 80 ms": {"torque_outlasts_s": 0.08},
    "torque that outlasts the watchdog by 150 ms": {"torque_outlasts_s": 0.15},
    "rig that sings": {"lag": 0.006, "spring": Spring(100.0, 0.3)},
    "encoder on a shaft of another ratio, 9 to 8": {"counts_per_rev": 932_068},
    "bit 5 of the encoder stuck": {"encoder_stuck_bits": 1 << 5},
    "bit 13 of the encoder stuck": {"encoder_stuck_bits": 1 << 13},
    "drive that clips and does not say so": {"torque_clip_nm": 0.35},
    "torque turned round at low speed": {"torque_inverts_below_rad_s": 0.1},
    "torque of its own beside the command": {"torque_bias_nm": 0.2},
    "spring at the wheel": {"spring_nm_rad": 3.0},
    "delay of eight cycles": {"torque_delay_s": 0.0016},
    "rated torque of the rig in mNm": {"drive": {"rated_torque_nm": 6370.0}},
    "end of the torque that is said and not done": {
        "torque_outlasts_s": 1.0,
        "says_no_torque": True,
    },
    "stop that leaves the torque on and says there is none": {
        "stop_does": "run on",
        "says_no_torque": True,
    },
}


@dataclass(frozen=True)
class Drawn:
    """A rig and its drive."""

    loaded: LoadedRig
    plant: DrivePlant
    identity: Identity
    error_rad: float
    spring: Spring


def drawn(seed: int, folder: Path, **mistake: Any) -> Drawn:
    """Draw a right rig, and plant a mistake if there is one."""
    pick = random.Random(seed)
    inertia = pick.uniform(0.03, 0.12)
    lag = mistake.pop("lag", pick.uniform(0.0002, 0.001))
    stated = mistake.pop("stated", 1.0) * inertia * (1.0 + pick.uniform(-STATED, STATED))
    spring = mistake.pop("spring", SPRING)
    identity = mistake.pop("identity", SIMULATED_IDENTITY)
    drive = mistake.pop("drive", {})
    plant = DrivePlant(
        inertia_kg_m2=inertia,
        viscous_nms=pick.uniform(0.01, 0.15),
        coulomb_nm=pick.uniform(0.0, 0.2),
        coulomb_rad_s=pick.uniform(0.02, 0.08),
        torque_lag_s=mistake.pop("torque_lag_s", lag),
        hands="free",
        offset_rad=pick.uniform(-3.0, 3.0),
        **mistake,
    )
    tables = tomlkit.parse(find_rig(RIG).read_text())
    stated_drive: Any = tables["blocks"]["bus"]["drives"]["wheel"]  # type: ignore[index]
    stated_drive.update(drive)
    stated_plant = stated_drive["plant"]
    stated_plant["inertia_kg_m2"] = stated
    stated_plant["torque_lag_s"] = lag
    path = folder / f"rig_{seed}.toml"
    path.write_text(tomlkit.dumps(tables))
    return Drawn(load(str(path)), plant, identity, pick.uniform(-HANDS_RAD, HANDS_RAD), spring)


def walked(rig: Drawn) -> Walked:
    """Walk through a rig."""
    axis = replace(axis_of(rig.loaded, None, backends_of(rig.loaded.rig)), spring=rig.spring)
    with SteppedStand(rig.loaded, axis, [DriveDevice(rig.plant, rig.identity)]) as stand:
        kept = Kept(None, "0" * 64, axis.guard, stand.identity())
        hands = EmulatedHands(stand, rig.error_rad)
        return walk(stand, hands, TerminalTalk(Console(quiet=True)), kept)


def main() -> int:
    """Run both parts."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--walks", type=int, default=50)
    parser.add_argument("--planted", type=int, default=5, help="rigs for each mistake")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    began = time.monotonic()
    alarms, missed, at = [], [], {}
    with tempfile.TemporaryDirectory() as text:
        folder = Path(text)
        for seed in range(given.seed, given.seed + given.walks):
            found = walked(drawn(seed, folder))
            if not found.good:
                alarms.append({"seed": seed, "words": found.results[-1].words})
        for name, mistake in PLANTED.items():
            steps = []
            for seed in range(given.seed, given.seed + given.planted):
                found = walked(drawn(seed, folder, **mistake))
                if found.good:
                    missed.append({"mistake": name, "seed": seed})
                else:
                    steps.append(found.results[-1].step)
            at[name] = sorted(set(steps))
    result = {
        "walks": given.walks,
        "false_alarms": alarms,
        "planted": len(PLANTED) * given.planted,
        "missed": missed,
        "found_at": at,
        "seconds": round(time.monotonic() - began, 1),
    }
    if given.json:
        print(json.dumps(result, indent=2))
    else:
        print(f"{given.walks} walks on right rigs: {len(alarms)} false alarms")
        for alarm in alarms:
            print(f"  seed {alarm['seed']}: {alarm['words']}")
        print(f"{len(PLANTED)} mistakes in {given.planted} rigs each: {len(missed)} missed")
        for name, steps in at.items():
            print(f"  {name}: {', '.join(steps) or 'not found'}")
        for miss in missed:
            print(f"  missed: {miss['mistake']}, seed {miss['seed']}")
        print(f"{result['seconds']} s")
    return 1 if alarms or missed else 0


if __name__ == "__main__":
    sys.exit(main())
