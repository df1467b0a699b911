"""A wheel that sang in a run: one tone of torque, faster than any hand, ruled what the motor did.

A hand turns a wheel at 5 Hz and trembles at 12 Hz. A torque that swings in one tone beyond comes from the loop itself:
the model is too stiff or too heavy for its delay. (Who gives the power says less: a swing of the loop is nearly free of
losses, and a tenth of a millisecond of delay turns its sign.)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from rig_configs.schema import Rig
from rigloop.blocks.axes import drives_of
from rigloop.blocks.kinds.excitation import ExcitationBlock
from rigloop.blocks.kinds.guard import GuardBlock
from rigloop.compose.blocks import find_guards, paths
from rt_core.safety.trips import State

WINDOW_S = 1.0
SLOWEST_HZ = 15.0
TONE = 0.6  # share of the torque's power beyond that one tone has; noise and a bump spread theirs
BESIDE = 3  # lines of the spectrum on either side that belong to a tone of a Hann window
LEAST_SHARE = 0.05  # amplitude, of the guard's limit


class _Tone(NamedTuple):
    """The tone that rules the torque of a window."""

    at_s: float
    frequency_hz: float
    torque_nm: float


def singing(rig: Rig, records: Mapping[str, np.ndarray]) -> list[str]:
    """Say where a wheel, or whatever a drive turns, sang; no line where none did.

    Parameters
    ----------
    records : mapping of str to structured ndarray
        Record of each task.
    """
    if any(isinstance(block, ExcitationBlock) for block in rig.blocks.values()):
        return []  # sines that a bench adds are no song
    found = (_of_guard(rig, name, guard, records) for name, guard in find_guards(rig).items())
    return [line for line in found if line]


def most_tone_nm(rig: Rig, config: GuardBlock) -> float:
    """Return the torque to either side that one tone may have in a good run."""
    return rig.verdict.max_tone_nm or LEAST_SHARE * config.limit_nm


def _of_guard(rig: Rig, name: str, config: GuardBlock, records: Mapping[str, np.ndarray]) -> str:
    writes = paths(name, config)[1]
    torque, state = writes["torque_nm"], writes["state"]
    record = next(
        (r for r in records.values() if {torque, state} <= set(r.dtype.names or ())), None
    )
    if record is None:
        return ""
    limit_nm = most_tone_nm(rig, config)
    tones = [
        tone
        for tone in _tones(record, torque, state, rig.period_us(name) * 1e-6)
        if tone.torque_nm > limit_nm
    ]
    if not tones:
        return ""
    worst = max(tones, key=lambda tone: tone.torque_nm)
    turned = next((drive for _, drive in drives_of(rig, name)), "motor")
    return (
        f"{name}: the {turned} sang at {worst.frequency_hz:.1f} Hz: from {tones[0].at_s:.1f} s on the torque had a "
        f"single tone, with an amplitude of {worst.torque_nm:.2g} Nm at {worst.at_s:.1f} s, limit "
        f"verdict.max_tone_nm = {limit_nm:.3g}; no hand moves so fast: "
        f"the model is too stiff or too heavy for the delay of the loop; lower "
        f"blocks.{name}.request_gain = {config.request_gain:g}, `rigloop check` says how far, or raise the limit for a "
        "model that shakes by itself"
    )


def _tones(record: np.ndarray, torque: str, state: str, period_s: float) -> list[_Tone]:
    """Return the tone of each window in which the guard followed its request and one tone ruled."""
    rows = round(WINDOW_S / period_s)
    hz = np.fft.rfftfreq(max(rows, 1), period_s)
    if hz[-1] < 2.0 * SLOWEST_HZ:
        return []  # cycles too slow for such a tone
    window = np.hanning(rows)
    norm = 4.0 / (rows * (window**2).sum())  # squares of lines to the square of an amplitude
    first = int(np.searchsorted(hz, SLOWEST_HZ))
    found = []
    for start in range(0, len(record) - rows + 1, rows // 2):
        piece = record[start : start + rows]
        pushed = np.asarray(piece[torque], dtype=float)
        if not (np.all(piece[state] == State.RUNNING) and np.isfinite(pushed).all()):
            continue
        squares = norm * np.abs(np.fft.rfft((pushed - pushed.mean()) * window)) ** 2
        peak = first + int(np.argmax(squares[first:]))
        near = slice(max(first, peak - BESIDE), peak + BESIDE + 1)
        tone = float(squares[near].sum())
        # the first line may be the foot of something slower
        if peak == first or not tone > TONE * float(squares[first:].sum()):
            continue
        centre = float((hz[near] * squares[near]).sum()) / tone
        found.append(_Tone(float(piece["t_ns"][0]) * 1e-9, centre, float(np.sqrt(tone))))
    return found
