"""Metrics of signals, from pieces of a replay as they come: nothing is kept but a few numbers each."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from rig_configs.schema import Metric, Rig
from rigloop.compose.shown import shown_roles

Array = NDArray[np.float64]
USUAL: tuple[Literal["rms"], Literal["peak"]] = ("rms", "peak")
SHOWN = ("angle", "torque", "virtual_torque")


def metrics_of(rig: Rig) -> dict[str, Metric]:
    """Return the metrics that a rig declares; RMS and peak of what it shows, where it declares none."""
    if rig.metrics:
        return dict(rig.metrics)
    roles = shown_roles(rig)
    chosen = {role: path for role, path in roles.items() if role in SHOWN} or roles
    return {
        f"{role}_{measure}": Metric(signal=path, measure=measure)
        for role, path in chosen.items()
        for measure in USUAL
    }


class Gauge:
    """One metric while it is measured."""

    def __init__(self, metric: Metric) -> None:
        self.metric = metric
        self._n = 0
        self._sum = self._squares = 0.0
        self._least, self._largest = math.inf, -math.inf
        self._last = math.nan
        self._settled_s = math.nan
        self._is_near = False

    def take(self, t_ns: NDArray[np.int64], values: Array) -> None:
        """Take the next values of the signal."""
        metric = self.metric
        from_ns = round(metric.from_s * 1e9)
        low = int(np.searchsorted(t_ns, from_ns)) if len(t_ns) and t_ns[0] < from_ns else 0
        # a column of images is read more than once
        t_ns, values = t_ns[low:], np.ascontiguousarray(values[low:])
        if not len(values):
            return
        self._n += len(values)
        self._sum += float(np.sum(values))
        self._squares += float(np.sum(np.square(values)))
        # of a signal with a NaN, least and largest are NaN
        self._least = float(np.minimum(self._least, np.min(values)))
        self._largest = float(np.maximum(self._largest, np.max(values)))
        self._last = float(values[-1])
        if metric.tolerance is not None:
            away = np.flatnonzero(~(np.abs(values - metric.target) <= metric.tolerance))
            first = int(away[-1]) + 1 if len(away) else 0
            if len(away) or not self._is_near:
                self._is_near = first < len(values)
                self._settled_s = float(t_ns[first]) * 1e-9 if self._is_near else math.nan

    @property
    def place(self) -> dict[str, float]:
        """Return what it goes on from."""
        return {name: value for name, value in vars(self).items() if name != "metric"}

    def put_back(self, place: Mapping[str, float]) -> None:
        """Go on from a place."""
        vars(self).update(place)

    def value(self) -> float:
        """Return the metric; NaN without any value, or of a signal that has not settled."""
        if not self._n:
            return math.nan
        match self.metric.measure:
            case "rms":
                return math.sqrt(self._squares / self._n)
            case "mean":
                return self._sum / self._n
            case "min":
                return self._least
            case "max":
                return self._largest
            case "peak":
                return max(abs(self._least), abs(self._largest))
            case "range":
                return self._largest - self._least
            case "settled_s":
                return self._settled_s
            case _:
                return self._last


def gauges(metrics: Mapping[str, Metric]) -> dict[str, Gauge]:
    """Return a gauge for each metric."""
    return {name: Gauge(metric) for name, metric in metrics.items()}
