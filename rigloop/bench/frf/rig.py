"""The rig of a frequency response: the same rig with sines added to its torque request, in a file of its own."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rig_configs.load import LoadedRig
from rig_configs.mistakes import ConfigError, Mistake
from rigloop.blocks.multisine import harmonics_up_to, line_amplitude
from rigloop.compose.blocks import find_guards, guard_of, paths
from rigloop.compose.derived_rig import derived
from rigloop.haptic.path import HapticPath

BASE_HZ = 0.5
HIGHEST_HZ = 30.0
RAMP_S = 1.0
MOST_SHARE = 0.5  # of the guard's limit, for the peak of the sines
USUAL_SHARE = 0.1
USUAL_NM = 1.0


@dataclass(frozen=True)
class Sweep:
    """The excitation: peak of the sum at the wheel, and its lines."""

    amplitude_nm: float
    base_hz: float
    harmonics: tuple[int, ...]


def sweep_for(loaded: LoadedRig, amplitude_nm: float | None, guard: str | None = None) -> Sweep:
    """Return the sines for a rig, within its guard's limits.

    Raises
    ------
    ConfigError
        They would be too large, or too fast, for its guard.
    """
    gate = guard_of(loaded.rig, guard)[1]
    peak = min(USUAL_NM, USUAL_SHARE * gate.limit_nm) if amplitude_nm is None else amplitude_nm
    most = MOST_SHARE * gate.limit_nm
    if not 0.0 < peak <= most:
        problem = f"the sines may have {MOST_SHARE:.0%} of guard.limit_nm = {gate.limit_nm:g}"
        raise ConfigError(
            [Mistake("command line", "--amplitude-nm", problem, f"above 0, at most {most:g}", peak)]
        )
    harmonics = tuple(harmonics_up_to(round(HIGHEST_HZ / BASE_HZ)))
    # all lines at their steepest at once: more than ever happens
    slope = line_amplitude(peak, harmonics) * sum(harmonics) * BASE_HZ * 6.2832
    if slope > gate.rate_nm_s:
        would = peak * gate.rate_nm_s / slope
        problem = f"the sines would change by up to {slope:.3g} Nm/s, guard.rate_nm_s is {gate.rate_nm_s:g}"
        raise ConfigError(
            [Mistake("command line", "--amplitude-nm", problem, f"at most {would:.2g}", peak)]
        )
    return Sweep(peak, BASE_HZ, harmonics)


def excited(
    loaded: LoadedRig, path: HapticPath, sweep: Sweep, folder: Path, *, emulated: bool
) -> tuple[LoadedRig, str]:
    """Return a rig with sines added before its guard, and the name of the block that adds them.

    Emulated hands stand still, so that the model is measured where it was linearised.

    Parameters
    ----------
    folder : Path
        Gets the file.
    """
    name = next(
        n
        for n in ("excitation", *(f"excitation_{i}" for i in range(2, 99)))
        if n not in loaded.rig.blocks
    )
    guard = guard_of(loaded.rig, path.guard)[1]

    def change(tables: dict[str, Any]) -> None:
        blocks = tables["blocks"]
        reads = blocks[path.guard]["reads"]
        blocks[name] = {
            "kind": "excitation",
            "amplitude_nm": sweep.amplitude_nm / guard.request_gain,
            "base_hz": sweep.base_hz,
            "harmonics": list(sweep.harmonics),
            "ramp_s": RAMP_S,
            "reads": {
                "request_nm": reads["torque_request_nm"],
                "ramp": paths(path.guard, guard)[1]["ramp"],
            },
        }
        reads["torque_request_nm"] = f"{name}/torque_nm"
        stepped = tables["tasks"][path.fast]["blocks"]
        # guards are the last blocks
        first = min(stepped.index(n) for n in find_guards(loaded.rig) if n in stepped)
        stepped.insert(first, name)
        # the sines do work on the hands, which no passive model would
        tables.setdefault("verdict", {})["max_given_j"] = 1e6
        plant = blocks[path.bus]["drives"][path.drive].get("plant")
        if emulated and plant is not None:
            plant["amplitude_deg"] = 0.0
            if plant.get("hands") == "prescribed":
                plant["hands"] = "spring"

    return derived(loaded, folder, "excited", change), name
