"""The rig of a frequency response: the same rig with sines added to its torque request, in a file of its own."""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rig_configs.load import LoadedRig
from rig_configs.mistakes import ConfigError, Mistake
from rigloop.blocks.multisine import harmonics_up_to, line_amplitude
from rigloop.compose.blocks import guard_of, paths
from rigloop.compose.wiring import load
from rigloop.haptic.path import HapticPath

BASE_HZ = 0.5
HIGHEST_HZ = 30.0
RAMP_S = 1.0
MOST_SHARE = 0.5  # of the guard's limit, for the peak of the sines
USUAL_SHARE = 0.1
USUAL_NM = 1.0


@dataclass(frozen=True)
class Sweep:
    """What is put in: peak of the sum at the wheel, and its lines."""

    amplitude_nm: float
    base_hz: float
    harmonics: tuple[int, ...]


def sweep_for(loaded: LoadedRig, amplitude_nm: float | None) -> Sweep:
    """Return the sines for a rig, within its guard's limits.

    Raises
    ------
    ConfigError
        They would be too large, or too fast, for its guard.
    """
    gate = guard_of(loaded.rig)[1]
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
    table: dict[str, Any] = tomllib.loads(loaded.text)
    blocks = table["blocks"]
    name = next(
        n for n in ("excitation", *(f"excitation_{i}" for i in range(2, 99))) if n not in blocks
    )
    guard = guard_of(loaded.rig)[1]
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
    order = table["tasks"][path.fast]["blocks"]
    order.insert(order.index(path.guard), name)
    # the sines do work on the hands, which no passive model would
    table.setdefault("verdict", {})["max_given_j"] = 1e6
    plant = blocks[path.bus]["drives"][path.drive].get("plant")
    if emulated and plant is not None:
        plant["amplitude_deg"] = 0.0
        if plant.get("hands") == "prescribed":
            plant["hands"] = "spring"
    file = folder / f"{loaded.name}_excited.toml"
    head = f"# {loaded.name} with sines added to its torque request, by `rigloop bench frf`\n\n"
    file.write_text(head + toml_text(table), encoding="utf-8")
    return load(str(file)), name


def toml_text(table: dict[str, Any], prefix: str = "") -> str:
    """Write tables of text, numbers, truth values and lists as TOML."""
    plain = {k: v for k, v in table.items() if not isinstance(v, dict)}
    lines = [f"{_key(k)} = {_value(v)}" for k, v in plain.items()]
    text = "\n".join(lines) + ("\n\n" if lines else "")
    for key, value in table.items():
        if isinstance(value, dict):
            name = f"{prefix}.{_key(key)}" if prefix else _key(key)
            text += f"[{name}]\n{toml_text(value, name)}"
    return text


def _key(key: str) -> str:
    return json.dumps(key)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        # JSON escapes as TOML does, but for one character
        return json.dumps(value).replace("\x7f", "\\u007f")
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_key(k)} = {_value(v)}" for k, v in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(_value(v) for v in value) + "]"
    return repr(value)
