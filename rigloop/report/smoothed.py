"""The motion of a replayed run, seen from its end: smoother beside encoder filter, kept, then shown."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from estimators.encoder.rts_smoother import smooth
from rig_configs.bounded import MOST_KEPT_BYTES, read_bytes
from rig_configs.json_message import decode
from rig_configs.load import LoadedRig
from rigloop.blocks.kinds.encoder_filter import EncoderFilterBlock
from rigloop.compose.blocks import paths

Array = NDArray[np.float64]

KEPT = "smoothed.json"
STATES = {"constant_velocity": 2, "constant_acceleration": 3, "constant_jerk": 4}
LEAST_SAMPLES = 100
MOST_SAMPLES = 1_000_000  # the smoother keeps a covariance of each
CLOSE_UP_S = 0.5


class Smoothed(msgspec.Struct, frozen=True):
    """An encoder filter beside the smoother of the same samples.

    `rate_rms_rad_s` and `acceleration_rms_rad_s2` are of the difference, `lag_ms` is by how much the
    filter's acceleration is late; 0 of a filter that has none.
    """

    name: str
    samples: int
    rate_rms_rad_s: float
    acceleration_rms_rad_s2: float
    lag_ms: float
    svg: str


def keep_smoothed(folder: Path, loaded: LoadedRig, records: Mapping[str, np.ndarray]) -> None:
    """Smooth what every encoder filter of a run took, and keep it in the folder of the replay."""
    found = []
    for task, config in loaded.rig.tasks.items():
        for name in config.blocks:
            block = loaded.rig.blocks[name]
            if isinstance(block, EncoderFilterBlock):
                made = _smoothed(name, block, loaded.rig.period_us(name) * 1e-6, records[task])
                found += [made] if made is not None else []
    if found:
        (folder / KEPT).write_bytes(msgspec.json.encode(found))


def smoothed_sections(folder: Path) -> list[Smoothed]:
    """Return the sections of the report."""
    try:
        return decode(read_bytes(folder / KEPT, MOST_KEPT_BYTES), type=list[Smoothed])
    except (OSError, ValueError, RecursionError):
        return []


def _smoothed(
    name: str, block: EncoderFilterBlock, period_s: float, record: np.ndarray
) -> Smoothed | None:
    # matplotlib loads here, not with the command line
    from rigloop.plots.figures import time_plot

    writes = paths(name, block)[1]
    taken = np.asarray(record[writes["trusted"]]) == 1.0
    at = np.flatnonzero(taken)[:MOST_SAMPLES]
    if len(at) < LEAST_SAMPLES:
        return None
    t_s = np.asarray(record["t_ns"])[at] * 1e-9
    rad = block.sign * 2.0 * math.pi / block.counts_per_rev
    angle = rad * (np.asarray(record[writes["unwrapped_count"]])[at] - block.zero_count)
    # 1/sqrt(12) of a count where the rig does not say
    noise_rad = block.noise_rad or abs(rad) / math.sqrt(12.0)
    state, _ = smooth(
        t_s, angle, block.bandwidth_rad_s, period_s, noise_rad, n_states=STATES[block.model]
    )
    live = [np.asarray(record[writes[p]])[at] for p in ("rate_rad_s", "acceleration_rad_s2")]
    rate_rms = float(np.sqrt(np.mean((live[0] - state[:, 1]) ** 2)))
    shown = [("rate (rad/s)", live[0], state[:, 1])]
    lag_ms = acceleration_rms = 0.0
    if state.shape[1] > 2:
        difference = live[1] - state[:, 2]
        acceleration_rms = float(np.sqrt(np.mean(difference**2)))
        # least squares: the live one is the smoothed one, lag_ms later
        jerk = np.gradient(state[:, 2], t_s)
        power = float(jerk @ jerk)
        lag_ms = -1e3 * float(difference @ jerk) / power if power > 0.0 else 0.0
        shown.append(("acceleration (rad/s²)", live[1], state[:, 2]))
    near = _busiest(t_s, state[:, -1])
    svg = time_plot(
        [
            (label, [("live", t_s[near], now[near]), ("smoothed", t_s[near], seen[near])])
            for label, now, seen in shown
        ]
    )
    return Smoothed(name, len(at), rate_rms, acceleration_rms, lag_ms, svg)


def _busiest(t_s: Array, value: Array) -> slice:
    """Samples of `CLOSE_UP_S` about the largest change of a value, all of it within the run."""
    half = CLOSE_UP_S / 2
    within = (t_s >= t_s[0] + half) & (t_s <= t_s[-1] - half)
    change = np.where(within, np.abs(np.gradient(value, t_s)), -1.0)
    middle = t_s[int(np.argmax(change))]
    begin, end = np.searchsorted(t_s, (middle - half, middle + half))
    return slice(int(begin), int(end))
