"""Numbers of a good rig that are most likely in another unit than their key says.

Nothing is refused: a rig may be as strong, as fast or as heavy as it is. Each line names key, value, the usual
range and the mistake that would explain it. Where a number alone says little, it is seen beside another one of
the same rig, such as an inertia beside the stiffness that holds it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from rig_configs.load import LoadedRig
from rig_configs.plants import Plant
from rig_configs.schema import BlockTable, Rig, Verdict
from rig_configs.slaves import Clock, Drive, Terminal
from rigloop.blocks.catalogue import kind_of
from rigloop.blocks.kinds.encoder_filter import EncoderFilterBlock
from rigloop.blocks.kinds.mechanism import MechanismBlock
from rigloop.blocks.kinds.observer import ObserverBlock
from rigloop.blocks.observing import ObservingBlock
from rigloop.blocks.usual import MILLI, MS, TURNS, S, Usual
from rigloop.compose.parts import find_buses, find_guard

TWO_PI = 2.0 * math.pi

# of tables that belong to no kind of block; a kind brings those of its own
USUAL: dict[type[BaseModel], Usual] = {
    Drive: {
        "counts_per_rev": (100, 2**28, "counts, not bits, and after the edges are counted"),
        "rated_torque_nm": (0.01, 1000.0, "mNm are Nm/1000"),
        "peak_torque_nm": (0.02, 5000.0, "mNm are Nm/1000"),
        "velocity_limit_rad_s": (0.1, 2e4, TURNS),
        "watchdog_ms": (1.0, 500.0, MS),
    },
    Plant: {
        "inertia_kg_m2": (1e-6, 50.0, "kg cm² are kg m²/1e4, g m² are kg m²/1000"),
        "viscous_nms": (1e-6, 20.0, "mNms are Nms/1000"),
        "coulomb_nm": (1e-4, 50.0, "mNm are Nm/1000"),
        "torque_lag_s": (1e-6, 0.1, S),
        "hands_stiffness_nm_rad": (0.05, 2000.0, "a value for a degree is one for a rad / 57.3"),
        "hands_damping_nms": (1e-3, 200.0, "mNms are Nms/1000"),
        "amplitude_deg": (0.1, 2000.0, "this one is in degrees"),
        "frequency_hz": (1e-3, 50.0, "rad/s are Hz x 6.28"),
        "offset_deg": (0.01, 2000.0, "this one is in degrees"),
        "start_s": (1e-3, 600.0, S),
    },
    Terminal: {"watchdog_ms": (1.0, 500.0, MS)},
    Clock: {
        "bandwidth_hz": (0.02, 200.0, "rad/s are Hz x 6.28"),
        "tolerance_us": (0.1, 2000.0, "this one is in microseconds"),
        "settle_s": (1e-3, 60.0, S),
        "timeout_s": (0.1, 600.0, S),
        "difference_us": (0.01, 500.0, "this one is in microseconds"),
    },
    Verdict: {
        "max_latency_ms": (0.01, 500.0, MS),
        "max_command_gap_ms": (0.1, 2000.0, MS),
        "max_torque_step_nm": (1e-3, 1000.0, "mNm are Nm/1000"),
        "max_saturated_s": (1e-3, 600.0, S),
        "max_given_j": (1e-3, 1e5, "mJ are J/1000"),
    },
}
# an own value of a mechanism's parameter / that of its file
FAR = 500.0


def magnitudes(loaded: LoadedRig) -> list[str]:
    """Return what of a good rig, and of the mechanisms that it names, looks like a mistaken unit; a line each."""
    rig = loaded.rig
    return [
        *_beyond(rig, ""),
        *_beside_each_other(rig),
        *_filters(rig),
        *_sensors(rig),
        *_of_mechanisms(rig),
    ]


def _beyond(value: Any, key: str) -> Iterator[str]:
    if isinstance(value, BaseModel):
        usual = (
            kind_of(value).usual if isinstance(value, BlockTable) else USUAL.get(type(value), {})
        )
        for name in type(value).model_fields:
            inner, at = getattr(value, name), f"{key}.{name}" if key else name
            if name in usual and isinstance(inner, int | float) and inner:
                low, high, likely = usual[name]
                if not low <= abs(inner) <= high:
                    yield f"{at}: {inner:g}, usual are {low:g} to {high:g}: {likely}"
            yield from _beyond(inner, at)
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield from _beyond(inner, f"{key}.{name}")


def _doubt(
    key: str, value: float, what: str, found: float, usual: tuple[float, float, str]
) -> Iterator[str]:
    low, high, likely = usual
    if not low <= found <= high:
        yield f"{key}: {value:g}: {what} {found:.3g}, usual are {low:g} to {high:g}: {likely}"


def _beside_each_other(rig: Rig) -> Iterator[str]:
    drives = {
        f"blocks.{bus}.drives.{name}": drive
        for bus, config in find_buses(rig).items()
        for name, drive in config.drives.items()
    }
    for at, drive in drives.items():
        ratio = drive.peak_torque_nm / drive.rated_torque_nm
        yield from _doubt(
            f"{at}.peak_torque_nm", drive.peak_torque_nm, "of rated_torque_nm it is", ratio, (1.0, 20.0, MILLI)
        )  # fmt: skip
        plant = drive.plant
        if plant is None:
            continue
        if plant.hands == "spring" and plant.hands_stiffness_nm_rad:
            own_hz = math.sqrt(plant.hands_stiffness_nm_rad / plant.inertia_kg_m2) / TWO_PI
            yield from _doubt(
                f"{at}.plant.inertia_kg_m2", plant.inertia_kg_m2,
                "on hands_stiffness_nm_rad it swings at (Hz)", own_hz, (0.2, 50.0, "g m² are kg m²/1000"),
            )  # fmt: skip
        for key in ("coulomb_nm", "viscous_nms"):
            value = getattr(plant, key)
            if value:
                # of a viscous one, the torque at one turn a second
                torque = value * (TWO_PI if key == "viscous_nms" else 1.0)
                part = torque / drive.peak_torque_nm
                yield from _doubt(
                    f"{at}.plant.{key}",
                    value,
                    "of peak_torque_nm it takes",
                    part,
                    (1e-4, 2.0, MILLI),
                )
    guard = find_guard(rig)
    if guard is not None:
        at, limits = f"blocks.{guard[0]}", guard[1]
        time_s = limits.limit_nm / limits.rate_nm_s
        yield from _doubt(
            f"{at}.rate_nm_s", limits.rate_nm_s, "from 0 to limit_nm it takes (s)", time_s, (2e-5, 2.0, MILLI)
        )  # fmt: skip
        if drives:
            peak = max(drive.peak_torque_nm for drive in drives.values())
            part = limits.limit_nm / peak
            yield from _doubt(
                f"{at}.limit_nm", limits.limit_nm, "of the largest peak_torque_nm it is", part, (0.005, 3.0, MILLI)
            )  # fmt: skip


def _filters(rig: Rig) -> Iterator[str]:
    buses = find_buses(rig).values()
    counts = [drive.counts_per_rev for bus in buses for drive in bus.drives.values()]
    for name, block in rig.blocks.items():
        if not isinstance(block, EncoderFilterBlock):
            continue
        at = f"blocks.{name}"
        a_cycle = block.bandwidth_rad_s * rig.period_us(name) * 1e-6
        yield from _doubt(
            f"{at}.bandwidth_rad_s", block.bandwidth_rad_s, "in a period of its task it is (rad)",
            a_cycle, (1e-4, 2.0, "Hz are rad/s / 6.28"),
        )  # fmt: skip
        if block.noise_rad is not None:
            part = block.noise_rad * block.counts_per_rev / TWO_PI
            yield from _doubt(
                f"{at}.noise_rad", block.noise_rad, "of a count it is", part, (0.05, 100.0, "degrees are rad x 57.3")
            )  # fmt: skip
        nearest = min(counts, key=lambda c: abs(math.log(c / block.counts_per_rev)), default=None)
        if nearest is not None:
            part = block.counts_per_rev / nearest
            yield from _doubt(
                f"{at}.counts_per_rev", block.counts_per_rev,
                f"of the {nearest} of a drive it is", part, (0.01, 100.0, "both count the same turn"),
            )  # fmt: skip


def _sensors(rig: Rig) -> Iterator[str]:
    for name, block in rig.blocks.items():
        if not isinstance(block, ObservingBlock):
            continue
        for sensor, one in getattr(block, "sensors", {}).items():
            at = f"blocks.{name}.sensors.{sensor}"
            if one.kind == "encoder" and abs(one.scale) < 0.1:  # of counts
                part = one.std / abs(one.scale)
                what = "of scale, which is a count, it is"
                yield from _doubt(f"{at}.std", one.std, what, part, (0.05, 100.0, MILLI))
            yield from _doubt(f"{at}.std", one.std, "alone it is", one.std, (1e-9, 1e3, MILLI))
        if isinstance(block, ObserverBlock):
            for place, value in enumerate(block.start_std):
                at = f"blocks.{name}.start_std.{place}"
                yield from _doubt(at, value, "alone it is", value, (1e-9, 1e4, MILLI))


def _of_mechanisms(rig: Rig) -> Iterator[str]:
    from codegen.description.mechanism import find, load
    from codegen.description.plausible import doubts

    seen: set[Path] = set()
    for name, block in rig.blocks.items():
        if not isinstance(block, MechanismBlock | ObservingBlock):
            continue
        path = find(block.mechanism)
        model = load(path)
        if path not in seen:
            yield from (f"{path.name}: {words}" for words in doubts(model, path))
        seen.add(path)
        own = {p.path: p.default for p in model.system.parameters}
        for key, value in block.parameters.items():
            default = own.get(key, 0.0)
            if value and default and not 1.0 / FAR <= abs(value / default) <= FAR:
                yield (
                    f"blocks.{name}.parameters.{key}: {value:g}, in {path.name} it is {default:g}: {MILLI}"
                )
