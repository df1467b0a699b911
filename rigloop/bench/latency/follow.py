"""Every sign change of the encoder in a recorded run, followed through the rig to the torque of the new sign."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rigloop.bench.latency.events import EVENT, Found, Path

Array = NDArray[np.float64]

SETTLED_RAD = 1e-6  # what is left of a bridged jump; passed within a microsecond


def find_events(
    fast: np.ndarray, slow: np.ndarray, path: Path, zero_ns: float, *, nominal_clock: bool
) -> Found:
    """Follow every sign change of the encoder through the records of both tasks.

    Parameters
    ----------
    fast, slow : structured ndarray
        Records of the tasks, see `io_bridge.recording.record`.
    zero_ns : float
        CLOCK_MONOTONIC at which both tasks' `t_ns` is zero.
    nominal_clock : bool
        The device's clock is the nominal time of the cycle, as on the simulated segment: then a torque
        arrives when its frame is sent, not when it was due. False: the clock is a real one.

    Returns
    -------
    Found
    """
    run = _Run(fast, slow, path, zero_ns, nominal_clock)
    changes = list(_sign_changes(run))
    rows: list[tuple] = []
    unarmed = bridged = crowded = lost = unrecorded = 0
    # between two sign changes the torque must have time to arrive, and more to be sure of it
    clear_ns = 2.0 * path.slow_ns + 10.0 * path.fast_ns
    for i, (row, t0, sign) in enumerate(changes):
        before = t0 - changes[i - 1][1] if i else np.inf
        after = changes[i + 1][1] - t0 if i + 1 < len(changes) else np.inf
        if not run.armed[max(0, row - 1) : row + 1].all():
            unarmed += 1
        elif run.bridged[max(0, row - 1) : row + 1].any():
            bridged += 1
        elif min(before, after) < clear_ns:
            crowded += 1
        elif (event := _follow(run, row, t0, sign, before, after)) is None:
            # the answer to the last one may lie beyond the end of the record
            lost += bool(np.isfinite(after))
        elif run.lacks_cycles(event):
            unrecorded += 1
        elif not run.armed[row : event[6] + 1].all():
            unarmed += 1
        elif run.bridged[row : event[6] + 1].any():
            bridged += 1
        else:
            rows.append(event)
    clock = "nominal" if nominal_clock else "device" if has_clock(fast, path) else "host"
    return Found(np.array(rows, EVENT), unarmed, bridged, crowded, lost, unrecorded, clock)


class _Run:
    """Columns of both records, each in one piece: in a record they lie a row apart."""

    def __init__(
        self, fast: np.ndarray, slow: np.ndarray, path: Path, zero_ns: float, nominal: bool
    ) -> None:
        self.path, self.nominal = path, nominal
        self.t = np.array(fast["t_ns"], float)
        self.late = np.array(fast[f"loop/{path.fast}/late_ns"])
        # t_ns has gone on by the whole periods of the lateness
        self.begin = zero_ns + self.t + self.late % path.fast_ns
        self.sent = np.array(fast[path.sent_ns])
        self.device = device_times(fast, path)
        # on a real clock a sample was taken when its frame passed; else at the deadline of its cycle
        self.host = zero_ns + self.t if nominal else self.sent
        self.came_back = np.array(fast[path.bus_valid]) == 1
        self.sample = np.flatnonzero((np.array(fast[path.drive_valid]) == 1) & self.came_back)
        self.angle = np.array(fast[path.angle_rad])
        self.torque = np.array(fast[path.torque_nm])
        self.actual = np.array(fast[path.torque_actual_nm])
        # half a count: the encoder shows the whole counts below the angle
        self.value = path.sign * (np.array(fast[path.count]) - path.zero_count) + 0.5
        self.bridged = np.abs(np.array(fast[path.offset_rad])) > SETTLED_RAD
        self.armed = (np.array(fast[path.ramp]) == 1) & (np.array(fast[path.operational]) == 1)
        self.fast_lost = path.fast_ns * (np.array(fast[f"loop/{path.fast}/elapsed"]) - 1)
        self.fast_cause = np.array(fast[f"loop/{path.fast}/cause"])
        self.slow_lost = path.slow_ns * (np.array(slow[f"loop/{path.slow}/elapsed"]) - 1)
        self.slow_cause = np.array(slow[f"loop/{path.slow}/cause"])
        self.fast_cycle = np.array(fast[f"loop/{path.fast}/cycle"])
        self.seen_cycle = np.array(fast[f"loop/{path.slow}/cycle"])
        self.slow_cycle = np.array(slow[f"loop/{path.slow}/cycle"])
        self.slow_late = np.array(slow[f"loop/{path.slow}/late_ns"])
        self.slow_begin = zero_ns + np.array(slow["t_ns"], float) + self.slow_late % path.slow_ns
        self.slow_step = np.array(slow[f"loop/{path.slow}/step_ns"])
        self.slow_angle = np.array(slow[path.angle_rad])
        self.slow_saw = np.array(slow[f"loop/{path.fast}/cycle"])

    def lacks_cycles(self, event: tuple) -> bool:
        """Decide if a cycle between sign change and torque, or the tick before, is missing from the records."""
        _, _, k, f, s, _, a, *_ = event
        first = max(0, min(k, f) - 1)
        ticks = self.slow_cycle[max(0, s - 1) : s + 1]
        return bool(
            self.fast_cycle[a] - self.fast_cycle[first] != a - first
            or ticks[-1] - ticks[0] != len(ticks) - 1
        )


def device_times(fast: np.ndarray, path: Path) -> Array:
    """Return when each frame passed the device, by its own clock; by the host's if it has none."""
    return np.array(fast[path.device_ns if has_clock(fast, path) else path.sent_ns])


def has_clock(fast: np.ndarray, path: Path) -> bool:
    """True: the device's clock moves."""
    return bool(len(fast) and fast[path.device_ns][0] != fast[path.device_ns][-1])


def _sign_changes(run: _Run) -> Iterator[tuple[int, float, int]]:
    """Yield row of the first sample, device time and new sign of each sign change."""
    rows = run.sample
    positive = run.value[rows] > 0
    for i in np.flatnonzero(positive[1:] != positive[:-1]):
        a, b = rows[i], rows[i + 1]
        part = run.value[a] / (run.value[a] - run.value[b])
        t0 = run.device[a] + part * (run.device[b] - run.device[a])
        yield int(b), float(t0), 1 if positive[i + 1] else -1


def _follow(run: _Run, k: int, t0: float, sign: int, before: float, after: float) -> tuple | None:
    """Return the event of a sign change, None if its torque did not arrive before the next one."""
    margin = int(min(before, after, 10 * run.path.slow_ns) / 2 / run.path.fast_ns)
    # a filter that extrapolates may be ahead of the sample
    first = max(0, k - margin)
    last = int(np.searchsorted(run.device, t0 + after)) if np.isfinite(after) else len(run.t)
    f = _first(sign * run.angle[first:last] > 0, first)
    tick_from = int(np.searchsorted(run.slow_saw, run.fast_cycle[first]))
    s = _first(sign * run.slow_angle[tick_from:] > 0, tick_from)
    if f is None or f == first or s is None:
        return None
    g_from = int(np.searchsorted(run.seen_cycle, run.slow_cycle[s]))
    g = _first(sign * run.torque[g_from:last] > 0, g_from)
    if g is None:
        return None
    # a frame takes the torque of the cycle before; one that did not come back may not have arrived
    a = _first(run.came_back[g + 1 : last], g + 1)
    if a is None:
        return None
    return _event(run, t0, sign, _Rows(k, f, s, g, a), last)


class _Rows(NamedTuple):
    """The rows of an event: sample, filtered angle, step, guard and arrival at the drive."""

    k: int
    f: int
    s: int
    g: int
    a: int


def _event(run: _Run, t0: float, sign: int, rows: _Rows, last: int) -> tuple:
    k, f, s, g, a = rows
    # a cycle that was taken off its core right after it began saw what was published later: it is counted from there
    seen = min(int(np.searchsorted(run.fast_cycle, run.slow_saw[s])), len(run.t) - 1)
    tick = max(run.slow_begin[s], run.begin[seen])
    step_end = tick + run.slow_step[s]
    guard = max(run.begin[g], step_end)
    wire = 0.0
    if not run.nominal:
        wire = (run.device[a] - run.device[k]) - (run.sent[a] - run.sent[k])
    stages = (
        run.device[k] - t0,
        run.host[f] - run.host[k],
        tick - run.host[f],
        run.slow_step[s],
        guard - step_end,
        run.sent[a] - guard + wire,
    )
    nominal = run.device[k] - t0 + run.t[a] - run.t[k]
    late = max(run.late[k], run.late[f], run.slow_late[s], run.late[g], run.late[a])
    response = _response(run, sign, k, last) - t0
    lost = _lost(run, min(k, f), a, s)
    return (t0, sign, *rows, *stages, sum(stages), nominal, response, late, *lost)


def _lost(run: _Run, first: int, a: int, s: int) -> tuple[float, int]:
    """Return the longest time without a cycle that was due, and its cause; 0 and 0 if there was none."""
    fast = first + int(np.argmax(run.fast_lost[first : a + 1]))
    # a tick that outlived its period shows in the one after
    slow = s + int(np.argmax(run.slow_lost[s : s + 2]))
    if run.fast_lost[fast] >= run.slow_lost[slow]:
        lost, cause = run.fast_lost[fast], run.fast_cause[fast]
    else:
        lost, cause = run.slow_lost[slow], run.slow_cause[slow]
    return (float(lost), int(cause)) if lost > 0 else (0.0, 0)


def _response(run: _Run, sign: int, k: int, last: int) -> float:
    """Return the device time at which the drive's own torque takes the new sign, NaN if it does not."""
    rows = run.sample[np.searchsorted(run.sample, k) : np.searchsorted(run.sample, last)]
    torque = sign * run.actual[rows]
    i = _first(torque > 0, 0)
    if not i or not torque[i - 1] <= 0:
        return np.nan
    part = torque[i - 1] / (torque[i - 1] - torque[i])
    a, b = run.device[rows[i - 1]], run.device[rows[i]]
    return float(a + part * (b - a))


def _first(which: NDArray[np.bool_], offset: int) -> int | None:
    at = int(np.argmax(which)) if len(which) else 0
    return offset + at if len(which) and which[at] else None
